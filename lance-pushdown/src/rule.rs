//! The physical optimizer rule.
//!
//! ```text
//! AggregateExec(Final)                    AggregateExec(Final)
//!   AggregateExec(Partial)                  UnionExec                        (only if more than one branch)
//!     [FilterExec | ProjectionExec]           IndexedAggregateExec           bucket (a)
//!       FilteredReadExec             =>       ProjectionExec(literals)       bucket (b)
//!                                               PlaceholderRowExec
//!                                             AggregateExec(Partial)         bucket (c), the fragments left
//!                                               [FilterExec | ProjectionExec]
//!                                                 FilteredReadExec
//! ```

mod branches;
mod classify;
mod decisions;
mod filter;
mod logical;
mod measures;
mod null_indexes;
mod pattern;
mod scan;
mod truth;

use std::sync::Arc;

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::config::ConfigOptions;
use datafusion::error::Result as DFResult;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;

use crate::count_from_mask::IndexReader;
use crate::error::Result;
use crate::handle::Shared;
use crate::options::PushdownOptions;
use crate::reasons::Refusal;
use crate::report::{FragmentReport, PushdownReport};

use classify::Classification;
use filter::FilterPlan;
use pattern::{Candidate, Pattern};

/// Answers ungrouped counts over Lance scans from the manifest, statistics and bitmap indexes, fragment by fragment.
///
/// It belongs right before DataFusion's `aggregate_statistics`: see
/// [`LancePushdown::register_rule`](crate::LancePushdown::register_rule). It is synchronous and reads nothing but the
/// plan, the manifest and what the provider preloaded.
#[derive(Debug)]
pub struct AggregatePushdown {
    shared: Arc<Shared>,
}

impl AggregatePushdown {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    fn rewrite(&self, candidate: &Candidate<'_>, options: PushdownOptions) -> Result<Option<Arc<dyn ExecutionPlan>>> {
        let mut report = candidate.report();
        let rewritten = match self.plan(candidate, options, &mut report) {
            Ok(pushdown) => Some(self.build(&pushdown)?),
            Err(refusal) => {
                report.refusal = Some(refusal);
                if report.fragments.is_empty() {
                    report.fragments = candidate.unclassified();
                }
                None
            }
        };
        tracing::debug!(report = %report, "aggregate pushdown");
        self.shared.record(report);
        Ok(rewritten)
    }

    /// Decides; fills the report as far as the decision came.
    fn plan<'a>(
        &self,
        candidate: &'a Candidate<'a>,
        options: PushdownOptions,
        report: &mut PushdownReport,
    ) -> Result<Pushdown<'a>, Refusal> {
        let pattern = Pattern::try_match(candidate)?;
        let measures = measures::try_counts(&pattern)?;
        let fragments = scan::try_fragments(pattern.scan)?;
        let facts = self.shared.facts(pattern.dataset());
        let zone_maps = self.shared.zone_maps(pattern.dataset());
        let filter = filter::plan_filter(&pattern, facts.as_deref())?;
        let classification = classify::classify(classify::Input {
            dataset: pattern.dataset(),
            fragments: &fragments,
            measures: &measures,
            filter: &filter,
            facts: facts.as_deref(),
            zone_maps: zone_maps.as_ref(),
            options,
        });
        report.filter = pattern.filter_text();
        report.fragments.clone_from(&classification.fragments);
        if classification.answers_nothing() {
            return Err(match report.fragments.is_empty() {
                true => Refusal::NoFragments,
                false => Refusal::NothingAnswered,
            });
        }
        Ok(Pushdown { pattern, filter: filter.plan, classification })
    }

    fn build(&self, pushdown: &Pushdown<'_>) -> Result<Arc<dyn ExecutionPlan>> {
        let reader: Arc<dyn IndexReader> = Arc::clone(&self.shared.reader);
        branches::build(pushdown, reader)
    }
}

/// A decision to rewrite.
struct Pushdown<'a> {
    pattern: Pattern<'a>,
    filter: FilterPlan,
    classification: Classification,
}

impl PhysicalOptimizerRule for AggregatePushdown {
    fn optimize(&self, plan: Arc<dyn ExecutionPlan>, config: &ConfigOptions) -> DFResult<Arc<dyn ExecutionPlan>> {
        let options = PushdownOptions::from_config(config);
        if !options.enabled {
            return Ok(plan);
        }
        plan.transform_down(|node| {
            let Some(candidate) = Candidate::find(&node) else {
                return Ok(Transformed::no(node));
            };
            match self.rewrite(&candidate, options)? {
                Some(rewritten) => Ok(Transformed::new(rewritten, true, TreeNodeRecursion::Jump)),
                None => Ok(Transformed::new(node, false, TreeNodeRecursion::Jump)),
            }
        })
        .map(|transformed| transformed.data)
    }

    fn name(&self) -> &str {
        "lance_aggregate_pushdown"
    }

    fn schema_check(&self) -> bool {
        true
    }
}
