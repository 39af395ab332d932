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

/// A run of 300 cases, which every change goes through, reaches each of its points in at least ten cases.
pub(crate) const REQUIRED: &[Required] = &[
    from(300, "bucket", "index"),
    from(300, "bucket", "literal"),
    from(300, "bucket", "scan"),
    from(300, "plan", "roll-up"),
    from(300, "query", "filtered measure"),
    from(300, "query", "grand total over no rows"),
];
