//! What it costs to answer an aggregate straight from its table.

use std::fmt;

use asap_types::QueryExpr;

/// A number of rows, or that nobody knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Estimate {
    /// That many rows.
    Known(u64),
    /// No statistics tell.
    Unknown,
}

impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(1) => f.write_str("1 row"),
            Self::Known(rows) => write!(f, "{rows} rows"),
            Self::Unknown => f.write_str("unknown rows"),
        }
    }
}

/// Prices the leaf of a plan: an adapter fills it from what the storage answers nearly free.
pub trait LeafCost {
    /// The rows that answering an aggregate as it is written reads from its table, after what manifest facts and indexes
    /// answer.
    fn rows_read(&self, aggregate: &QueryExpr) -> Estimate;

    /// The most rows that an aggregate can have: one without keys, and never more than it reads.
    fn output_rows(&self, aggregate: &QueryExpr) -> Estimate {
        if aggregate.schema().is_unique_key(&[]) { Estimate::Known(1) } else { self.rows_read(aggregate) }
    }
}

/// Knows nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct UnknownLeafCost;

impl LeafCost for UnknownLeafCost {
    fn rows_read(&self, _: &QueryExpr) -> Estimate {
        Estimate::Unknown
    }
}
