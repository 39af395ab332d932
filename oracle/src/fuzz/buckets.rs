//! The buckets of a rewritten plan partition the fragments: judged by the operators of the plan that runs. What the
//! report calls literal has no operator with fragments, so it must be what is left.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use lance::io::exec::filtered_read::FilteredReadExec;
use lance_pushdown::{Bucket, IndexedAggregateExec, PushdownReport};

use crate::dataset::TestDataset;

/// Checks a plan with at most one rewritten aggregate.
pub(super) fn partition(
    plan: &Arc<dyn ExecutionPlan>,
    reports: &[PushdownReport],
    test: &TestDataset,
) -> Result<(), String> {
    let Some(report) = reports.iter().find(|report| report.is_rewritten()) else { return Ok(()) };
    let mut expected: Vec<u64> = test.dataset.fragments().iter().map(|fragment| fragment.id).collect();
    expected.sort_unstable();
    let mut reported: Vec<u64> = report.fragments.iter().map(|fragment| fragment.fragment_id).collect();
    reported.sort_unstable();
    let literal = report.fragments.iter().filter(|fragment| fragment.bucket == Bucket::Literal);
    let mut executed: Vec<u64> = literal.map(|fragment| fragment.fragment_id).collect();
    read(plan, &mut executed);
    executed.sort_unstable();
    if reported == expected && executed == expected {
        Ok(())
    } else {
        Err(format!("{reported:?} reported, {executed:?} in the plan, {expected:?} exist"))
    }
}

/// The fragments that the plan's operators read.
fn read(plan: &Arc<dyn ExecutionPlan>, fragments: &mut Vec<u64>) {
    if let Some(indexed) = plan.downcast_ref::<IndexedAggregateExec>() {
        fragments.extend(indexed.fragments().iter().map(|fragment| u64::from(fragment.fragment_id)));
    }
    if let Some(scan) = plan.downcast_ref::<FilteredReadExec>() {
        match &scan.options().fragments {
            Some(chosen) => fragments.extend(chosen.iter().map(|fragment| fragment.id)),
            None => fragments.extend(scan.dataset().fragments().iter().map(|fragment| fragment.id)),
        }
    }
    plan.children().into_iter().for_each(|child| read(child, fragments));
}
