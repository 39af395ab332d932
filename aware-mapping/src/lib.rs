//! Proves, proposes and prices derivations between the aggregates of a workload: one query's aggregate from another's.
//!
//! Take this crate when several aggregates over the same tables are planned together, and an answer may come from another
//! answer: a dashboard, a cube, a scheduler of reports. It takes queries of [`asap_types`], and gives back one plan.
//!
//! - [`derive()`] is the one prover: rows, keys and each measure, or a typed [`Refusal`].
//! - A [`ReplacementStrategy`] is a preset of what it may use of the prover: [`RollupStrategy`] (one exact measure, plain
//!   keys), [`MultiMeasureStrategy`] (everything), [`ExactSummaryStrategy`] (a summary of its own).
//! - [`search_workload`] lists the candidates of every aggregate; [`select`] prices them with a [`LeafCost`] and builds one
//!   [`PostAsapDag`](asap_types::PostAsapDag).
//!
//! # Use
//!
//! ```
//! use arrow_schema::DataType;
//! use asap_aware_mapping::{FloatPolicy, UnknownLeafCost, derive, search_workload, select};
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
//!
//! // What cannot be derived says why.
//! let refusal = derive(&space.roots[0], &space.roots[1]).unwrap_err();
//! assert_eq!(refusal.to_string(), "a key is no function of the source's keys");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/rollup.rs` prints the candidates, the choice and the plan.
//!
//! # What holds
//!
//! - A rewrite has the names, types and order of the columns that it replaces, and never a wider nullability.
//! - It gives the rows that the aggregate itself gives, to the bit, unless it says [`Requires::Reassociate`]: then floats
//!   may differ in their last bits, and [`FloatPolicy`] decides whether it may be chosen.
//! - A count over no rows is 0 and a sum is NULL, whatever it is derived from. A query never fails because of an
//!   expression that only another query evaluates.
//! - A plan has no cycle, computes each shared aggregate once, and takes no derivation that reads more rows than the
//!   aggregate as it is written, by the estimates of the [`LeafCost`].
//! - Every source that is not taken has a [`Refusal`]. Output never depends on hash order.
//!
//! # Scope
//!
//! Exact count, sum, min, max, and averages from their parts. Approximate counts, rates, DISTINCT aggregates and
//! aggregates that are known by name only are not combined; groupings by labels take no part. A filtered measure is never
//! bound to a summary. Nothing here executes, parses or reads: the crate depends on `asap-types` alone.

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
pub use rewrite::{Rewrite, RewritePlan};
pub use search::{CandidateSpace, TargetCandidates, search_workload, search_workload_with};
pub use select::{Choice, FloatPolicy, Selection, select};
pub use strategies::{ExactSummaryStrategy, MultiMeasureStrategy, RollupStrategy, is_legal_rollup_source};
pub use strategy::{Candidate, Refused, ReplacementStrategy, Replacements, Summary, Target};
