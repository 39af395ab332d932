//! What the cases of a run went through.

use std::collections::BTreeMap;

/// A thing that a case can go through: an accept shape, a refusal, a state. The text is `group: name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point {
    /// The group, as `bucket` or `roll-up refusal`.
    pub group: &'static str,
    /// The name within the group.
    pub name: String,
}

impl Point {
    /// A point.
    pub fn new(group: &'static str, name: impl Into<String>) -> Self {
        Self { group, name: name.into() }
    }
}

/// How many cases went through each point.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Coverage(BTreeMap<Point, u64>);

impl Coverage {
    /// Counts one case.
    pub fn add(&mut self, points: impl IntoIterator<Item = Point>) {
        for point in points {
            *self.0.entry(point).or_insert(0) += 1;
        }
    }

    /// The number of cases that went through a point.
    #[must_use]
    pub fn count(&self, group: &'static str, name: &str) -> u64 {
        self.0.get(&Point::new(group, name)).copied().unwrap_or(0)
    }

    /// Every point that was reached, by group and name.
    pub fn iter(&self) -> impl Iterator<Item = (&Point, u64)> {
        self.0.iter().map(|(point, count)| (point, *count))
    }

    /// The number of different points that were reached.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no point was reached.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A point that runs of some length must reach; see [`super::FuzzReport::missing`].
pub(crate) struct Required {
    pub(crate) group: &'static str,
    pub(crate) name: &'static str,
    /// The shortest run that is asked for it.
    pub(crate) cases: u64,
}

const fn from(cases: u64, group: &'static str, name: &'static str) -> Required {
    Required { group, name, cases }
}

/// A run of 300 cases, which every change goes through, reaches each of its points in about twenty cases at least.
pub(crate) const REQUIRED: &[Required] = &[
    from(300, "bucket", "index"),
    from(300, "bucket", "literal"),
    from(300, "bucket", "scan"),
    from(300, "history", "append"),
    from(300, "history", "delete"),
    from(300, "history", "update"),
    from(300, "history", "merge insert"),
    from(300, "history", "rewrite columns"),
    from(300, "history", "bitmap index"),
    from(300, "history", "b-tree index"),
    from(300, "history", "zone map index"),
    from(300, "history", "optimize indices"),
    from(300, "history", "merge indices"),
    from(300, "history", "compact"),
    from(300, "plan", "as written"),
    from(300, "plan", "column reuse"),
    from(300, "plan", "roll-up"),
    from(300, "pushdown refusal", "group_by"),
    from(300, "pushdown refusal", "nothing_answered"),
    from(300, "query", "distinct measure"),
    from(300, "query", "filtered measure"),
    from(300, "query", "grand total over no rows"),
    from(300, "query", "grouping sets"),
    from(300, "query", "having"),
    from(300, "query", "keys by name or position"),
    from(300, "query", "offset"),
    from(300, "query", "order by an expression or position"),
    from(300, "query", "rows, not groups"),
    from(300, "query", "select distinct"),
    from(300, "query", "truth test"),
    from(300, "relation", "FILTER is CASE"),
    from(300, "relation", "TRUE, FALSE and unknown rows are all rows"),
    from(300, "relation", "TRUE, FALSE and unknown groups are all groups"),
    from(300, "relation", "WHERE keeps the rows whose predicate is TRUE"),
    from(300, "relation", "an old version's answer stays"),
    from(300, "relation", "fragments add up"),
    from(300, "relation", "groups roll up to the total"),
    from(300, "settings", "exact floats"),
    from(300, "settings", "priced"),
    from(300, "settings", "stock provider"),
    from(300, "table", "deletions"),
    from(300, "table", "in memory"),
    from(300, "table", "stable row ids"),
    from(300, "table", "an older version is read"),
    from(300, "table", "an older storage version"),
    from(1000, "history", "add column of NULL"),
    from(1000, "history", "add column with values"),
    from(1000, "history", "compact with deferred remap"),
    from(1000, "history", "drop column"),
    from(1000, "history", "drop index"),
    from(1000, "index", "several on a column"),
    from(1000, "index", "several segments"),
    from(1000, "query", "date_trunc"),
    from(1000, "query", "join"),
    from(1000, "query", "limit 0"),
    from(1000, "query", "sub-query"),
    from(1000, "column type", "Binary"),
    from(1000, "column type", "Float32"),
    from(1000, "column type", "LargeUtf8"),
    from(1000, "column type", "Timestamp(ns)"),
    from(1000, "column type", "UInt64"),
    from(1000, "table", "floats that are no numbers"),
];
