//! What a strategy sees and proposes.

use std::sync::Arc;

use asap_types::{Aggregate, QueryExpr, SummaryFamily};

use crate::{MappingError, Refusal, Rewrite};

/// An aggregate of the workload that could be computed in another way.
#[derive(Clone, Debug)]
pub struct Target {
    /// The aggregate.
    pub node: Arc<QueryExpr>,
}

/// A way to compute a target.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Candidate {
    /// As it is written.
    KeepPreAsap,
    /// As a summary of its input.
    Summary(Box<Summary>),
    /// From another aggregate of the workload.
    Rewrite(Rewrite),
}

/// A summary that answers a target.
#[derive(Clone, Debug)]
pub struct Summary {
    /// What is summarized, and how.
    pub family: SummaryFamily,
    /// The aggregate that the summary answers.
    pub aggregate: Aggregate<Arc<QueryExpr>>,
    /// The strategy that proposes it.
    pub strategy: &'static str,
}

/// A source that a strategy looked at and did not take.
#[derive(Clone, Debug)]
pub struct Refused {
    /// The aggregate that was considered as a source.
    pub source: Arc<QueryExpr>,
    /// The strategy.
    pub strategy: &'static str,
    /// Why not.
    pub reason: Refusal,
}

/// What a strategy says about a target.
#[derive(Clone, Debug, Default)]
pub struct Replacements {
    /// What it proposes.
    pub candidates: Vec<Candidate>,
    /// What it looked at and did not take.
    pub refused: Vec<Refused>,
}

/// Proposes ways to compute a target. A strategy proposes all that is legal and ranks nothing: selection does.
pub trait ReplacementStrategy: Send + Sync {
    /// A short name for EXPLAIN.
    fn name(&self) -> &'static str;

    /// Whether the strategy has anything to say about a target.
    fn matches(&self, target: &Target) -> bool;

    /// The legal replacements, and the reasons for what is not.
    ///
    /// # Errors
    /// A replacement that does not fit its target: a defect of the strategy, never of the query.
    fn replacements(&self, target: &Target) -> Result<Replacements, MappingError>;
}
