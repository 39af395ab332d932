//! Aggregate pushdown for [Lance](https://docs.rs/lance) tables in DataFusion.
//!
//! A physical optimizer rule answers ungrouped `COUNT(*)` and `COUNT(column)` fragment by fragment, from the cheapest
//! source that is exact:
//!
//! - **(b) literal**: facts in memory decide the filter and know the count; it is in the plan, and nothing is read;
//! - **(a) index**: bitmap indexes select the rows; their sets are counted without the deleted rows, and no column is
//!   read;
//! - **(c) scan**: whatever is left keeps the original partial aggregate over just those fragments.
//!
//! ```text
//! SELECT count(*) FROM t WHERE x <> 3      -- two fragments under a bitmap index on x, one appended since
//!
//! AggregateExec: mode=Final
//!   UnionExec
//!     IndexedAggregateExec: fragments=[0-1], filter=NOT([x = 3]@x_idx(Bitmap)), …
//!     AggregateExec: mode=Partial
//!       LanceRead: num_fragments=1, full_filter=x != Int32(3)
//! ```
//!
//! # Use
//!
//! ```no_run
//! # use std::sync::Arc;
//! # use datafusion::prelude::{SessionConfig, SessionContext};
//! # async fn run(dataset: lance::Dataset) -> datafusion::error::Result<()> {
//! use lance_pushdown::LancePushdown;
//!
//! let pushdown = LancePushdown::new();
//! let session = SessionContext::new_with_state(pushdown.session_state(SessionConfig::new()));
//! session.register_table("t", pushdown.open_table(Arc::new(dataset)).await?)?;
//! session.sql("SELECT count(*) FROM t WHERE x = 1").await?.show().await?;
//! for report in pushdown.take_reports() {
//!     tracing::info!("{report}");
//! }
//! # Ok(())
//! # }
//! ```
//!
//! In a session of your own, [`LancePushdown::register_rule`] inserts the rule into your list of physical optimizer
//! rules. What the rule knows depends on the table:
//!
//! | table | known while planning |
//! | --- | --- |
//! | a stock `LanceTableProvider` | the manifest, and the index that the scan's own filter uses |
//! | [`LancePushdown::table`] | all index metadata too, loaded by the first scan: columns outside the filter, indexes shadowed by others, stable row ids |
//! | [`LancePushdown::open_table`] | the contents of zone maps too, read at once |
//!
//! # Statistics
//!
//! For a fragment and a column there may be facts: the least and the greatest value and the number of NULLs, each exact or
//! a bound. A column without data in the fragment is NULL throughout, one that is declared so is never NULL, and the zones
//! of a zone map add up if they cover every row of the fragment once. DataFusion's `PruningPredicate` then proves that
//! no row passes the filter, or that none fails it; the latter counts only if no compared column may be NULL. Rows
//! deleted since leave bounds valid, and a number of NULLs only if it was none or all.
//!
//! Not decided are filters beyond comparisons of a column with literals of its own type and NULL tests, comparisons of
//! floats, nested columns, and zone maps under stable row ids or a deferred remap: [`Undecided`] has each reason.
//!
//! # What holds
//!
//! - Planning is synchronous and reads nothing: it looks at the plan, the manifest, and what was loaded before.
//!   An index is asked at execution, through [`IndexReader`].
//! - Whatever cannot be answered exactly keeps its plan, and says why: a [`Refusal`] for the query, a [`ScanReason`] for
//!   the fragment and an [`Undecided`] for its statistics, in the [`PushdownReport`].
//! - Every branch emits the schema of the partial aggregate that it replaces ([`check_branch_schema`]).
//! - An index that answers inexactly where an exact answer was planned is an error, never a count.
//! - A plan reads the dataset version that it was made for.
//!
//! [`PushdownOptions`] has a switch per capability: `SET lance_pushdown.index_counts = false`.
//!
//! # Scope
//!
//! Bitmap indexes and zone maps on top-level columns; filters that either decide as a whole; comparisons on floating-point
//! columns excluded, since an index orders NaN and tells the zeros apart. With stable row ids, indexes of one segment.
//! Fragments with data overlays are left to the scan, and so is everything
//! while indexes await a deferred remap, if index metadata was preloaded; a stock provider's plan does not tell, and Lance
//! remaps the index while it is opened.

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
mod statistics;

pub use count_from_mask::{
    CountSource, FragmentPushdownPlan, IndexBinding, IndexKind, IndexReadMetrics, IndexReader, IndexedAggregateExec,
    LanceIndexReader, LiveRows, MaskQueries,
};
pub use error::{PushdownError, Result};
pub use handle::LancePushdown;
pub use options::PushdownOptions;
pub use reasons::{Refusal, ScanReason};
pub use report::{Bucket, BucketSizes, FragmentReport, LiteralSource, PushdownReport};
pub use rule::AggregatePushdown;
pub use schema_invariant::{SchemaMismatch, check_branch_schema};
pub use statistics::Undecided;
