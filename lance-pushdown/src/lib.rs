//! Aggregate pushdown for [Lance](https://docs.rs/lance) tables in DataFusion.
mod count_from_mask;
mod error;
mod handle;
mod options;
mod provider;
mod reasons;
mod registry;
mod report;
mod rule;
mod schema_invariant;

pub use count_from_mask::{
    CountSource, FragmentPushdownPlan, IndexBinding, IndexKind, IndexReadMetrics, IndexReader,
    IndexedAggregateExec, LanceIndexReader, LiveRows, MaskQueries,
};
pub use error::{PushdownError, Result};
pub use handle::LancePushdown;
pub use options::PushdownOptions;
pub use reasons::{Refusal, ScanReason};
pub use report::{Bucket, BucketSizes, FragmentReport, PushdownReport};
pub use rule::AggregatePushdown;
pub use schema_invariant::{SchemaMismatch, check_branch_schema};
