//! Every coverage point that there is, and what proves that it is reached. A run that reaches another one fails.

use std::collections::BTreeMap;

use super::coverage::{Coverage, Point};

mod points;

/// What proves that a coverage point is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proof {
    /// Runs reach it: once in so many cases at least. Shorter runs are not asked for it.
    Generated {
        /// Cases per required hit.
        every: u64,
    },
    /// A test, as `path/to/file.rs::name`, as cases that runs draw do not reach it or too seldom.
    Constructed {
        /// The test.
        test: &'static str,
    },
    /// Nothing does, as nothing that is known leads there: a guard.
    Guard {
        /// Why.
        reason: &'static str,
    },
}

/// A point of the catalogue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The point.
    pub point: Point,
    /// What proves that it is reached.
    pub proof: Proof,
}

impl Known {
    /// How many of `cases` cases must reach it.
    #[must_use]
    pub fn quota(&self, cases: u64) -> u64 {
        match self.proof {
            Proof::Generated { every } => cases / every.max(1),
            Proof::Constructed { .. } | Proof::Guard { .. } => 0,
        }
    }
}

/// Points of this group depend on which of several threads is faster, so that they are no part of what follows from a
/// seed: defects of the libraries that strike at random.
pub const BY_CHANCE: &str = "fails where the plain plan answers";

/// Every point, in the order of its declaration.
pub fn catalogue() -> impl Iterator<Item = Known> {
    let generated = points::GENERATED.iter().flat_map(|(group, every, names)| {
        names.iter().map(|&name| Known { point: Point::new(group, name), proof: Proof::Generated { every: *every } })
    });
    let constructed = points::CONSTRUCTED.iter().flat_map(|(group, test, names)| {
        names.iter().map(|&name| Known { point: Point::new(group, name), proof: Proof::Constructed { test } })
    });
    let guards = points::GUARDS
        .iter()
        .map(|(group, name, reason)| Known { point: Point::new(group, *name), proof: Proof::Guard { reason } });
    generated.chain(constructed).chain(guards)
}

/// The group of this name, of points that the catalogue holds.
pub(crate) fn group(name: &str) -> Option<&'static str> {
    catalogue().map(|known| known.point.group).find(|group| *group == name)
}

/// A point that too few cases reached.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct UnderQuota {
    /// The point.
    pub point: Point,
    /// The cases that reached it.
    pub reached: u64,
    /// The cases that should have.
    pub quota: u64,
}

/// What a run of so many cases should have reached and did not, or not often enough.
pub(crate) fn under_quota(coverage: &Coverage, cases: u64) -> Vec<UnderQuota> {
    let asked = catalogue().map(|known| UnderQuota {
        reached: coverage.count(known.point.group, &known.point.name),
        quota: known.quota(cases),
        point: known.point,
    });
    asked.filter(|asked| asked.reached < asked.quota).collect()
}

/// What was reached and stands nowhere in the catalogue.
pub(crate) fn unknown(coverage: &Coverage) -> Vec<Point> {
    let known: BTreeMap<Point, Proof> = catalogue().map(|known| (known.point, known.proof)).collect();
    let reached = coverage.iter().map(|(point, _)| point);
    reached.filter(|point| point.group != BY_CHANCE && !known.contains_key(point)).cloned().collect()
}
