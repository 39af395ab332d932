//! Facts about the columns of a fragment, and what they prove about a filter.
//!
//! All of it is in memory before a query is planned: the manifest's own facts, and zone maps read once when a table is
//! registered. A fact is used for what it is: a bound decides which fragments a filter matches, only an exact fact
//! becomes a count.

mod containers;
mod facts;
mod filter;
mod zone_map;
mod zones;

pub use filter::Undecided;

pub(crate) use containers::verdicts;
pub(crate) use facts::{FragmentStatistics, NullFact};
pub(crate) use filter::{DecidableFilter, Verdict};
pub(crate) use zone_map::ZoneMaps;
