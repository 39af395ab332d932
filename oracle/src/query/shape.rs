//! What a query's clauses may be beside their expressions.

use serde::{Deserialize, Serialize};

/// Several groupings at once: the answer has the groups of each, with NULL in the keys that a grouping leaves out.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Grouping {
    /// By all keys, by all but the last one, and so on, down to none.
    Rollup,
    /// By every choice of keys.
    Cube,
    /// By these, as positions of the keys.
    Sets(Vec<Vec<usize>>),
}

impl Grouping {
    /// The keys of each grouping, as positions among `keys` of them.
    #[must_use]
    pub fn sets(&self, keys: usize) -> Vec<Vec<usize>> {
        match self {
            Self::Rollup => (0..=keys).rev().map(|kept| (0..kept).collect()).collect(),
            Self::Cube => (0..1_usize << keys.min(16))
                .map(|chosen| (0..keys).filter(|key| chosen >> key & 1 == 1).collect())
                .collect(),
            Self::Sets(sets) => sets.clone(),
        }
    }

    /// Is each of so many keys in a grouping, and nothing else? A key that is in none is no key.
    #[must_use]
    pub fn fits(&self, keys: usize) -> bool {
        let sets = self.sets(keys);
        sets.iter().flatten().all(|&key| key < keys) && (0..keys).all(|key| sets.iter().any(|set| set.contains(&key)))
    }
}

/// How GROUP BY and ORDER BY name an output column. All mean the same.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spelling {
    /// ORDER BY: its name. GROUP BY: the expression.
    #[default]
    Usual,
    /// Its position, from 1.
    Position,
    /// ORDER BY: the expression. GROUP BY: the output's name.
    Other,
}

/// What `date_trunc` cuts to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DateUnit {
    /// The first of January.
    Year,
    /// The first day of January, April, July or October.
    Quarter,
    /// The first day.
    Month,
    /// Monday.
    Week,
    /// Midnight.
    Day,
    /// The full hour.
    Hour,
    /// The full minute.
    Minute,
    /// The full second.
    Second,
}

impl DateUnit {
    /// All of them, the coarsest first.
    pub const ALL: [Self; 8] =
        [Self::Year, Self::Quarter, Self::Month, Self::Week, Self::Day, Self::Hour, Self::Minute, Self::Second];

    /// SQL's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Year => "year",
            Self::Quarter => "quarter",
            Self::Month => "month",
            Self::Week => "week",
            Self::Day => "day",
            Self::Hour => "hour",
            Self::Minute => "minute",
            Self::Second => "second",
        }
    }
}
