//! Category one of index-answered aggregates: a count is the size of a set of rows.
//!
//! `COUNT(*)` is the size of the filter's mask among the live rows; `COUNT(column)` is the same without the
//! rows where the column is NULL. Nothing else is read.

mod counts;
mod exec;
mod fragment_plan;
mod leaf;
mod reader;

pub use counts::LiveRows;
pub use exec::IndexedAggregateExec;
pub use fragment_plan::{CountSource, FragmentPushdownPlan, IndexBinding, IndexKind, MaskQueries};
pub use reader::{IndexReadMetrics, IndexReader, LanceIndexReader};
