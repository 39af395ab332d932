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
use crate::{MappingError, ReplacementStrategy, Replacements, Target};

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
        Ok(self.siblings.rewrites(target, NAME, derive))
    }
}
