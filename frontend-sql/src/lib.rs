//! SQL text to the workload IR of [`asap_types`]: lowered exactly, or refused with a typed reason and a place.
//!
//! ```text
//! text -> parse_workload   statements with their own text, span and name
//!      -> refused::find    constructs that the IR does not hold, with their place in the text
//!      -> planner::plan    DataFusion's SqlToRel and analyzer: names, types, coercions
//!      -> lower            the unoptimized plan as an UnresolvedQuery
//!      -> check            names and types equal those of DataFusion's plan
//! ```
//!
//! # Use
//!
//! DataFusion decides what names and types mean, exactly as a session with default settings does; this crate decides
//! what a construct *means* as an operator of the IR. Nothing physical, no I/O, no table data: a [`Catalog`] gives the
//! schema of a table.
//!
//! Take this crate when you have SQL aggregate queries and want the IR without running anything: for a planner of your
//! own, or to ask which queries of a log compute the same. It needs table schemas and nothing else; what it plans is what
//! a stock DataFusion 54.1 session would plan.
//!
//! A workload with one refused statement still has the others: [`lower_workload`] returns a result for each statement.
//! Only text that does not parse is an error of the whole workload.
//!
//! ```
//! use arrow_schema::{DataType, Field, Schema};
//! use asap_frontend_sql::{TableCatalog, TableSchema, lower_workload};
//!
//! let mut catalog = TableCatalog::new();
//! let fields = vec![Field::new("job", DataType::Utf8, true), Field::new("bytes", DataType::Int64, false)];
//! catalog.insert("metrics", TableSchema::new(Schema::new(fields)));
//!
//! let text = "-- name: per_job\nSELECT job, sum(bytes) FROM metrics GROUP BY job;\nSELECT 1;";
//! let workload = lower_workload(text, &catalog)?;
//! assert_eq!(workload[0].statement.name(), Some("per_job"));
//! assert_eq!(workload[0].query.as_ref().unwrap().schema().field_names(), ["job", "sum(metrics.bytes)"]);
//! let refusal = workload[1].query.as_ref().unwrap_err();
//! assert_eq!(&text[refusal.span()], "SELECT 1");
//!
//! // A CASE without ELSE is a filter of its measure: one scan, one grouping.
//! let text = "SELECT job, count(CASE WHEN bytes > 9 THEN 1 END) AS big, sum(bytes) FILTER (WHERE bytes < 3) AS small
//!             FROM metrics GROUP BY job";
//! let query = lower_workload(text, &catalog)?.remove(0).query?;
//! let dag = asap_types::PostAsapDag::from_queries([("q", &query)]).unwrap();
//! let tree = dag.render(asap_types::GraphFormat::Tree);
//! assert!(tree.contains("Aggregate(by job: count(*) filter (bytes > 9), sum(bytes) filter (bytes < 3))"));
//! # Ok::<(), asap_frontend_sql::FrontendError>(())
//! ```
//!
//! `examples/lower.rs` lowers a workload from standard input and prints each plan or refusal.
//!
//! # What holds
//!
//! - A lowered query has the names, types and rows of DataFusion's plan of the same text. Its nullability is derived by
//!   [`asap_types`] and may be wider or narrower.
//! - `COUNT(x)` counts rows under the filter `x IS NOT NULL`, which is left out where `x` is never NULL. FILTER, and a CASE
//!   without ELSE in a measure, become the measure's filter. A CASE with another value for the rows that its condition
//!   rejects stays a CASE, as does one whose value can fail or is volatile.
//! - A refusal says which [`Feature`] or name it is, where in the text, and what to do.
//!
//! # Scope
//!
//! SELECT over one table or sub-select, with WHERE, GROUP BY, HAVING, ORDER BY, LIMIT, DISTINCT and CTEs; the aggregates
//! count, sum, min, max, avg and corr. Joins, set operations, windows, grouping sets, subqueries in expressions and
//! DISTINCT aggregates are refused.

mod catalog;
mod check;
mod error;
mod feature;
mod functions;
mod line_ends;
mod lower;
mod nesting;
mod own_stack;
mod plan_error;
mod planner;
mod refused;
mod source;
mod statement;
mod workload;

pub use catalog::{Catalog, TableCatalog, TableSchema};
pub use error::FrontendError;
pub use feature::Feature;
pub use statement::{Statement, parse_workload};
pub use workload::{LoweredStatement, lower_workload};
