//! The search: every legal way to compute every aggregate of a workload.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use asap_types::{Operator, QueryExpr, cse};

use crate::{
    Candidate, Derivation, ExactSummaryStrategy, MappingError, MultiMeasureStrategy, Refused, ReplacementStrategy,
    RollupStrategy, Target,
};

/// The candidates of a workload: per target, not per whole plan.
#[derive(Clone, Debug)]
pub struct CandidateSpace {
    /// The queries, after sharing equal nodes.
    pub roots: Vec<Arc<QueryExpr>>,
    /// The aggregates, inputs before their readers.
    pub targets: Vec<TargetCandidates>,
}

impl CandidateSpace {
    /// The targets whose prices decide a choice: those that could be derived from another aggregate, and those that they
    /// could be derived from. [`select`](crate::select) asks for the prices of others only to tell them in its
    /// [`Choice`](crate::Choice).
    #[must_use]
    pub fn compared(&self) -> Vec<&TargetCandidates> {
        let sources: HashSet<*const QueryExpr> =
            self.targets.iter().flat_map(TargetCandidates::sources).map(Arc::as_ptr).collect();
        let is_compared = |target: &&TargetCandidates| {
            sources.contains(&Arc::as_ptr(&target.target.node)) || target.sources().next().is_some()
        };
        self.targets.iter().filter(is_compared).collect()
    }
}

/// A target and what the strategies say about it.
#[derive(Clone, Debug)]
pub struct TargetCandidates {
    /// The target.
    pub target: Target,
    /// [`Candidate::KeepPreAsap`], then what the strategies propose, in their order.
    pub candidates: Vec<Candidate>,
    /// What they looked at and did not take.
    pub refused: Vec<Refused>,
}

impl TargetCandidates {
    /// The aggregates that the target could be derived from.
    fn sources(&self) -> impl Iterator<Item = &Arc<QueryExpr>> {
        self.candidates.iter().filter_map(|candidate| match candidate {
            Candidate::Rewrite(rewrite) => Some(&rewrite.source),
            _ => None,
        })
    }
}

/// Searches with every strategy of this crate.
///
/// # Errors
/// A defect of a strategy; no query causes one.
pub fn search_workload(roots: &[Arc<QueryExpr>]) -> Result<CandidateSpace, MappingError> {
    search_workload_with(roots, &[&ExactSummaryStrategy])
}

/// Searches with the given strategies and, after them, the roll-up strategies over the aggregates of the workload.
///
/// # Errors
/// A defect of a strategy; no query causes one.
pub fn search_workload_with(
    roots: &[Arc<QueryExpr>],
    strategies: &[&dyn ReplacementStrategy],
) -> Result<CandidateSpace, MappingError> {
    let roots = cse(roots)?;
    let nodes = QueryExpr::reachable(&roots);
    let aggregates: Vec<Arc<QueryExpr>> =
        nodes.iter().filter(|node| matches!(node.operator(), Operator::Aggregate(_))).cloned().collect();
    let roll_up = RollupStrategy::new(&aggregates);
    let multi_measure = MultiMeasureStrategy::new(&aggregates);
    let of_the_workload: [&dyn ReplacementStrategy; 2] = [&roll_up, &multi_measure];
    let targets = aggregates
        .iter()
        .map(|node| {
            let target = Target { node: Arc::clone(node) };
            let mut candidates = vec![Candidate::KeepPreAsap];
            let mut refused = Vec::new();
            for strategy in strategies.iter().chain(&of_the_workload).filter(|strategy| strategy.matches(&target)) {
                let found = strategy.replacements(&target)?;
                candidates.extend(new_candidates(&candidates, found.candidates));
                refused.extend(found.refused);
            }
            Ok(TargetCandidates { target, candidates, refused })
        })
        .collect::<Result<_, MappingError>>()?;
    Ok(CandidateSpace { roots, targets })
}

/// What is not known yet: two strategies may derive a target in one way from one source.
fn new_candidates(known: &[Candidate], found: Vec<Candidate>) -> Vec<Candidate> {
    let known: HashMap<*const QueryExpr, &Derivation> = known
        .iter()
        .filter_map(|candidate| match candidate {
            Candidate::Rewrite(known) => Some((Arc::as_ptr(&known.source), &known.derivation)),
            _ => None,
        })
        .collect();
    let is_known = |candidate: &Candidate| matches!(candidate, Candidate::Rewrite(new) if known.get(&Arc::as_ptr(&new.source)) == Some(&&new.derivation));
    found.into_iter().filter(|candidate| !is_known(candidate)).collect()
}
