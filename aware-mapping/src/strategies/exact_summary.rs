//! Binds a single exact measure to a summary of its own: the independent answer that every other candidate competes with.
//!
//! ```text
//! before: Aggregate(by job: sum(bytes)) <- metrics
//! after:  Estimate <- Summary(by job: sum(bytes)) <- metrics
//! ```

use asap_types::{AccuracyTarget, AggIntent, Operator, SummaryFamily};

use crate::prover::relational_aggregate;
use crate::{Candidate, MappingError, ReplacementStrategy, Replacements, Summary, Target};

const NAME: &str = "exact summary";

/// Binds unfiltered exact Count, Sum, Min and Max. A filtered measure is not bound and stays as it is written.
#[derive(Clone, Copy, Debug, Default)]
pub struct ExactSummaryStrategy;

impl ReplacementStrategy for ExactSummaryStrategy {
    fn name(&self) -> &'static str {
        NAME
    }

    fn matches(&self, target: &Target) -> bool {
        let Operator::Aggregate(aggregate) = target.node.operator() else { return false };
        let is_exact = |measure: &AggIntent| {
            matches!(
                measure,
                AggIntent::Count { accuracy: AccuracyTarget::Exact }
                    | AggIntent::Sum { .. }
                    | AggIntent::Min { .. }
                    | AggIntent::Max { .. }
            )
        };
        matches!(aggregate.measures.as_slice(), [measure] if is_exact(measure)) && aggregate.filters.is_none()
    }

    fn replacements(&self, target: &Target) -> Result<Replacements, MappingError> {
        let mut found = Replacements::default();
        if let Ok((aggregate, _)) = relational_aggregate(&target.node)
            && let [measure] = aggregate.measures.as_slice()
        {
            found.candidates.push(Candidate::Summary(Box::new(Summary {
                family: SummaryFamily::Exact { measure: measure.clone() },
                aggregate: aggregate.clone(),
                strategy: NAME,
            })));
        }
        Ok(found)
    }
}
