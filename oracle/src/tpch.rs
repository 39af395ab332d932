//! TPC-H `lineitem` as a Lance dataset with all that the pushdown must cope with: several fragments, bitmap indexes, a
//! fragment that no index covers, deletions, and NULLs, also in an indexed column.

mod batches;
mod write;

pub use write::{LineitemOptions, LineitemProgress, LineitemSummary, write_lineitem};
