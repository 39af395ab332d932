//! The workload IR of asap: what the queries of a workload compute, independent of who parses and who runs them.
//!
//! A query travels through this crate in one direction:
//!
//! ```text
//! UnresolvedQuery (columns by name) -> resolve -> QueryExpr (columns by position)
//!     -> canonicalize (spelling stops to matter) -> cse (one DAG for the whole workload)
//!     -> PostAsapDag (flat, what is executed and what goes over the wire)
//! ```
//!
//! - [`Operator`] is the one relational operator type. It is generic over its child (`Arc<QueryExpr>` in memory,
//!   [`NodeId`] in a DAG) and over its column reference ([`ColumnRef`] before [`resolve`], [`ColumnId`] after).
//! - [`Aggregate`] holds keys and measure arguments as expressions, and a predicate per measure with the semantics of
//!   SQL's `FILTER (WHERE …)`.
//! - [`Schema`] is derived in one place, with SQL's nullability and the unique keys that can be proven.
//!
//! Take this crate when you plan several aggregate queries together, in whatever language they are written, and want
//! equal computations to be equal values: build an [`UnresolvedQuery`] (or a [`QueryExpr`], if columns are positions
//! already), canonicalize, share, and hand the plan on as JSON.
//!
//! # Use
//!
//! ```
//! use arrow_schema::DataType;
//! use asap_types::{Aggregate, AggIntent, Expr, Field, MeasureFilters, Operator, QueryExpr, Reduction, Schema, TableRef};
//!
//! let schema = Schema::new(vec![
//!     Field::new("job", DataType::Utf8, true),
//!     Field::new("bytes", DataType::Int64, false),
//! ]);
//! let scan = QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema, predicates: vec![] })?;
//! let by_job = QueryExpr::new(Operator::Aggregate(Aggregate {
//!     reduction: Reduction::by(vec![Expr::column(0)]),
//!     measures: vec![AggIntent::Sum { arg: Expr::column(1) }],
//!     filters: MeasureFilters::none(),
//!     output_names: vec!["job".into(), "bytes".into()],
//!     having: None,
//!     input: scan,
//! }))?;
//! assert_eq!(by_job.schema().field_names(), ["job", "bytes"]);
//! assert!(by_job.schema().is_unique_key(&[0]));
//!
//! // Equal nodes become one node, and the plan of the workload goes over the wire.
//! use asap_types::{PostAsapDag, canonicalize, cse};
//! let roots = cse(&[canonicalize(&by_job)?, canonicalize(&by_job)?])?;
//! let dag = PostAsapDag::from_queries(["one", "other"].into_iter().zip(&roots))?;
//! assert_eq!(dag.nodes().len(), 2);
//! assert_eq!(PostAsapDag::from_json(&dag.to_json()?)?, dag);
//! # Ok::<(), asap_types::TypesError>(())
//! ```
//!
//! `examples/canonical.rs` resolves names and shows two spellings of one query becoming one node.
//!
//! # What holds
//!
//! - A node that exists is valid: columns are in range, types fit, filters are parallel to measures or absent. What is
//!   wrong is a [`TypesError`] when the node is built or read.
//! - A measure's filter lets a row in only where it is TRUE; groups are formed from all rows. "No filter" has one value,
//!   however it is spelled, in equality, hash and JSON.
//! - [`canonicalize`] is idempotent and keeps columns, names, duplicates and the order of what can fail. [`cse`] shares by
//!   structure; a predicate of a measure is part of it, and what is volatile is never shared.
//! - A document of a newer version is refused for its version, one with an unknown field for that field. Documents of
//!   version 2 are read for ever.
//! - The crate holds no DataFusion, no Lance, no async and no I/O; every plan is `Send + Sync`.
//!
//! # Scope
//!
//! One input per operator: no joins, set operations, window functions or grouping sets. Groupings by labels
//! ([`Reduction::PerEntity`], `without`) can be held and sent; they have no provable key. Nothing here parses, rewrites
//! one aggregate into another, prices or executes.

mod aggregate;
mod canonicalize;
mod column;
mod cse;
mod dag;
mod derive;
mod display;
mod error;
mod expr;
mod facts;
mod literal;
mod operator;
mod query;
mod resolve;
mod schema;
mod simplify;

pub use aggregate::{AccuracyTarget, AggIntent, Aggregate, MeasureFilters, Reduction};
pub use canonicalize::canonicalize;
pub use column::{ColumnId, ColumnRef, TableRef};
pub use cse::cse;
pub use dag::{
    DagBuilder, ExactOperation, NodeId, POST_ASAP_DAG_WIRE_VERSION, PostAsapDag, PostOperator, Root, SummaryFamily,
};
pub use derive::{average_type, sum_type};
pub use display::{ExprDisplay, GraphFormat};
pub use error::TypesError;
pub use expr::{ArithmeticOp, CompareOp, Expr, LogicalOp, Predicate, UnaryOp};
pub use facts::{AggregateFacts, FunctionFacts, Volatility};
pub use literal::{F64Bits, Literal, LiteralValue};
pub use operator::{NamedExpr, Operator, SortKey};
pub use query::{QueryExpr, UnresolvedQuery};
pub use resolve::{resolve, visible_name};
pub use schema::{Field, Schema};
pub use simplify::simplify;
