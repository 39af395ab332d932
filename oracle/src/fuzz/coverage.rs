//! What the cases of a run went through.

use std::collections::BTreeMap;
use std::fmt;

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

impl fmt::Display for Point {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.group, self.name)
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
