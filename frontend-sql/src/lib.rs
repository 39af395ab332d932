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
//! DataFusion decides what names and types mean, exactly as a session with default settings does; this crate decides
//! what a construct *means* as an operator of the IR. Nothing physical, no I/O, no table data: a [`Catalog`] gives the
//! schema of a table.
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
//! # Ok::<(), asap_frontend_sql::FrontendError>(())
//! ```
//!
//! Nullability in the lowered schema is derived by [`asap_types`] and may be wider or narrower than DataFusion's; names
//! and types never differ.

mod catalog;
mod check;
mod error;
mod feature;
mod functions;
mod line_ends;
mod lower;
mod nesting;
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
