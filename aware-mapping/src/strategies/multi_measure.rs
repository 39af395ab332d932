//! The widest preset: everything that the prover can show.
//!
//! ```text
//! before: coarse = Aggregate(by year(day): avg(x), count(*) filter p) <- Filter(region = 'eu') <- t
//! after:  coarse = Project(average(sum / count), n) <- Aggregate(by year(day): …) <- Filter(region = 'eu')
//!             <- fine = Aggregate(by day, region: sum(x), count(x), count(*) filter p) <- t
//! ```

use std::sync::Arc;

use asap_types::{Operator, QueryExpr};

use crate::prover::derive;
use crate::siblings::Siblings;
use crate::{Candidate, MappingError, Refused, ReplacementStrategy, Replacements, Rewrite, Target};

const NAME: &str = "multi-measure";

/// Derives an aggregate with any number of exact measures, filtered or not, averages from their parts, from a finer one
/// over the same rows or over more rows that its keys tell apart; or reuses the columns of one with the same keys.
#[derive(Clone, Debug)]
pub struct MultiMeasureStrategy {
    siblings: Siblings,
}

impl MultiMeasureStrategy {
    /// The strategy over the aggregates of a workload.
    #[must_use]
    pub fn new(aggregates: &[Arc<QueryExpr>]) -> Self {
        Self { siblings: Siblings::new(aggregates) }
    }
}

impl ReplacementStrategy for MultiMeasureStrategy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn matches(&self, target: &Target) -> bool {
        matches!(target.node.operator(), Operator::Aggregate(_))
    }

    fn replacements(&self, target: &Target) -> Result<Replacements, MappingError> {
        let mut found = Replacements::default();
        for (source, refusal) in self.siblings.of(&target.node) {
            match refusal.map_or_else(|| derive(&target.node, source), Err) {
                Ok(derivation) => {
                    let (target, source) = (Arc::clone(&target.node), Arc::clone(source));
                    found.candidates.push(Candidate::Rewrite(Rewrite { target, source, derivation, strategy: NAME }));
                }
                Err(reason) => found.refused.push(Refused { source: Arc::clone(source), strategy: NAME, reason }),
            }
        }
        Ok(found)
    }
}
