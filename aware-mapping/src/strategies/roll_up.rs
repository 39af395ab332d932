//! The strictest preset: one exact, unfiltered measure, and plain keys that are a strict subset of the source's.
//!
//! ```text
//! before: coarse = Aggregate(by job: sum(bytes)) <- metrics
//! after:  coarse = Aggregate(by job: sum(sum_bytes)) <- fine = Aggregate(by job, region: sum(bytes)) <- metrics
//! ```

use std::sync::Arc;

use asap_types::{Expr, Operator, QueryExpr, Schema};

use crate::combinator;
use crate::prover::{Derivation, Keys, derive, relational_aggregate};
use crate::siblings::Siblings;
use crate::{MappingError, Refusal, ReplacementStrategy, Replacements, Target};

const NAME: &str = "roll-up";

/// Derives a single-measure aggregate from a strictly finer one over the identical input.
#[derive(Clone, Debug)]
pub struct RollupStrategy {
    siblings: Siblings,
}

impl RollupStrategy {
    /// The strategy over the aggregates of a workload.
    #[must_use]
    pub fn new(aggregates: &[Arc<QueryExpr>]) -> Self {
        Self { siblings: Siblings::new(aggregates) }
    }
}

/// Whether `fine` is a legal source of `coarse` under this preset.
///
/// # Errors
/// The first reason why it is not.
pub fn is_legal_rollup_source(coarse: &QueryExpr, fine: &QueryExpr) -> Result<(), Refusal> {
    derive_strictly(coarse, fine).map(drop)
}

fn derive_strictly(coarse: &QueryExpr, fine: &QueryExpr) -> Result<Derivation, Refusal> {
    let (coarse_aggregate, coarse_by) = relational_aggregate(coarse)?;
    let (fine_aggregate, fine_by) = relational_aggregate(fine)?;
    for aggregate in [coarse_aggregate, fine_aggregate] {
        if aggregate.measures.len() != 1 {
            return Err(Refusal::MultiMeasure);
        }
        if !aggregate.filters.is_none() {
            return Err(Refusal::FilteredMeasure);
        }
    }
    if !Arc::ptr_eq(&coarse_aggregate.input, &fine_aggregate.input) && coarse_aggregate.input != fine_aggregate.input {
        return Err(Refusal::DifferentInput);
    }
    coarse_aggregate.measures.iter().try_for_each(|measure| combinator(measure).map(drop))?;
    is_strict_coarsening(coarse_by, fine_by, fine_aggregate.input.schema())?;
    derive(coarse, fine)
}

/// Whether the coarse keys, as a set, are a strict subset of the fine keys.
fn is_strict_coarsening(coarse: &[Expr], fine: &[Expr], input: &Schema) -> Result<(), Refusal> {
    let mut computed = coarse.iter().filter(|key| !fine.contains(key)).peekable();
    if computed.peek().is_some() {
        let keys = Keys::new(fine, input);
        computed.try_for_each(|key| keys.express(key).map(drop))?;
        return Err(Refusal::ComputedKey);
    }
    if fine.iter().all(|key| coarse.contains(key)) {
        return Err(Refusal::EqualKeys);
    }
    Ok(())
}

impl ReplacementStrategy for RollupStrategy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn matches(&self, target: &Target) -> bool {
        matches!(target.node.operator(), Operator::Aggregate(aggregate) if aggregate.measures.len() == 1)
    }

    fn replacements(&self, target: &Target) -> Result<Replacements, MappingError> {
        Ok(self.siblings.rewrites(target, NAME, derive_strictly))
    }
}
