//! Runs planned workloads on DataFusion, each shared node once, and compares results.
//!
//! - [`run`] executes a [`PostAsapDag`](asap_types::PostAsapDag) in a `SessionContext`: nodes in topological order,
//!   a set of rows that several others read computed once, kept under the session's memory pool, spilled past it and
//!   dropped after its last reader. Each query has its own answer or error. A table is whatever the session's catalog
//!   returns.
//! - [`compare`] says whether two answers are equal, and where they first differ.
//!
//! The plain plan of a query is `ctx.sql(text)` in a stock session: it never passes through here.
//!
//! ```
//! use asap_types::{Field, Operator, PostAsapDag, QueryExpr, Schema, TableRef};
//! use datafusion::arrow::datatypes::DataType;
//! use datafusion::prelude::SessionContext;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let ctx = SessionContext::new();
//! ctx.sql("CREATE TABLE metrics AS SELECT 'a' AS job, 1 AS bytes").await?.collect().await?;
//! let schema = Schema::new(vec![
//!     Field::new("job", DataType::Utf8, true),
//!     Field::new("bytes", DataType::Int64, true),
//! ]);
//! let scan = QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema, predicates: vec![] })?;
//! let dag = PostAsapDag::from_queries([("all", &scan)])?;
//! let results = asap_execution::run(&dag, &ctx).await;
//! assert_eq!(results[0].as_ref().map(|all| all.row_count()).ok(), Some(1));
//! # Ok(())
//! # }
//! ```

mod average;
mod compare;
mod error;
mod expr;
mod in_lists;
mod literal;
mod materialize;
mod panic;
mod plan;
mod run;
mod sharing;
mod truth_test;

pub use compare::{Comparison, Difference, FloatTolerance, RowOrder, compare};
pub use error::ExecutionError;
pub use panic::catch_panic;
pub use plan::{Inputs, to_logical_plan};
pub use run::{QueryResult, RunObserver, SharedNode, run, run_observed};
