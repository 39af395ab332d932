//! Proves, proposes and prices derivations between the aggregates of a workload: one query's aggregate from another's.
//!
//! - [`derive()`] is the one prover: rows, keys and each measure, or a typed [`Refusal`].
//! - A [`ReplacementStrategy`] is a preset of what it may use of the prover: [`RollupStrategy`] (one exact measure, plain
//!   keys), [`MultiMeasureStrategy`] (everything), [`ExactSummaryStrategy`] (a summary of its own).
//! - [`search_workload`] lists the candidates of every aggregate; [`select`] prices them with a [`LeafCost`] and builds one
//!   [`PostAsapDag`](asap_types::PostAsapDag).
//!
//! Nothing here executes, parses or reads: the crate depends on `asap-types` alone.
//!
//! ```
//! use arrow_schema::DataType;
//! use asap_aware_mapping::{FloatPolicy, UnknownLeafCost, search_workload, select};
//! use asap_types::*;
//!
//! let schema = Schema::new(vec![
//!     Field::new("job", DataType::Utf8, true),
//!     Field::new("region", DataType::Utf8, true),
//!     Field::new("bytes", DataType::Int64, true),
//! ]);
//! let scan = QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema, predicates: vec![] })?;
//! let by = |keys: &[usize], names: &[&str]| QueryExpr::new(Operator::Aggregate(Aggregate {
//!     reduction: Reduction::by(keys.iter().map(|&key| Expr::column(key)).collect()),
//!     measures: vec![AggIntent::Sum { arg: Expr::column(2) }],
//!     filters: MeasureFilters::none(),
//!     output_names: names.iter().map(|name| name.to_string()).collect(),
//!     having: None,
//!     input: scan.clone(),
//! }));
//! let workload = [by(&[0, 1], &["job", "region", "bytes"])?, by(&[0], &["job", "bytes"])?];
//! let space = search_workload(&workload)?;
//! let selection = select(&space, &["fine", "coarse"], &UnknownLeafCost, FloatPolicy::Exact)?;
//! assert_eq!(selection.dag.render(GraphFormat::Tree), "\
//! fine
//!   n1 = Aggregate(by job, region: sum(bytes))
//!     Scan(metrics)
//! coarse
//!   RollUp(by job: sum(bytes))
//!     n1 (see above)
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod combinator;
mod cost;
mod error;
mod explain;
mod prover;
mod refusal;
mod rewrite;
mod search;
mod select;
mod siblings;
mod strategies;
mod strategy;

pub use combinator::{Combinator, combinator};
pub use cost::{Estimate, LeafCost, UnknownLeafCost};
pub use error::MappingError;
pub use prover::{Combined, Derivation, MeasureDerivation, Requires, derive, has_unique_groups};
pub use refusal::Refusal;
pub use rewrite::Rewrite;
pub use search::{CandidateSpace, TargetCandidates, search_workload, search_workload_with};
pub use select::{Choice, FloatPolicy, Selection, select};
pub use strategies::{ExactSummaryStrategy, MultiMeasureStrategy, RollupStrategy, is_legal_rollup_source};
pub use strategy::{Candidate, Refused, ReplacementStrategy, Replacements, Summary, Target};
