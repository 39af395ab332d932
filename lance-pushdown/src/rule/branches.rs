//! One branch per bucket that is not empty, and no other node.

use std::sync::Arc;

use arrow_schema::{Schema, SchemaRef};
use datafusion::common::ScalarValue;
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::placeholder_row::PlaceholderRowExec;
use datafusion::physical_plan::projection::{ProjectionExec, ProjectionExpr};
use datafusion::physical_plan::union::UnionExec;
use lance::io::exec::filtered_read::FilteredReadExec;
use lance_table::format::Fragment;

use super::Pushdown;
use super::filter::FilterPlan;
use super::pattern::Pattern;
use super::truth;
use crate::count_from_mask::{IndexReader, IndexedAggregateExec, MaskQueries};
use crate::error::{PushdownError, Result};
use crate::schema_invariant::check_branch_schema;

/// The rewritten final aggregate.
pub(super) fn build(pushdown: &Pushdown<'_>, reader: Arc<dyn IndexReader>) -> Result<Arc<dyn ExecutionPlan>> {
    let pattern = &pushdown.pattern;
    let state = pattern.partial_node.schema();
    let mut branches = Vec::new();
    if !pushdown.classification.index.is_empty() {
        branches.push(checked("index", &state, index_branch(pushdown, reader, &state)?)?);
    }
    if pushdown.classification.literal_fragments > 0 {
        let literals = literal_branch(&pushdown.classification.literals, &state)?;
        branches.push(checked("literal", &state, literals)?);
    }
    let is_scanned = !pushdown.classification.scan.is_empty();
    #[cfg(feature = "faults")]
    let is_scanned = asap_faults::inject(asap_faults::Fault::ScanBranchLost, is_scanned, |_| branches.is_empty());
    if is_scanned {
        branches.push(checked("scan", &state, scan_branch(pushdown)?)?);
    }
    let states = match branches.len() {
        1 => branches.remove(0),
        _ => UnionExec::try_new(branches)?,
    };
    below_final(pattern, states)
}

fn checked(name: &'static str, state: &Schema, branch: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    check_branch_schema(name, state, &branch.schema())?;
    Ok(branch)
}

fn index_branch(
    pushdown: &Pushdown<'_>,
    reader: Arc<dyn IndexReader>,
    state: &SchemaRef,
) -> Result<Arc<dyn ExecutionPlan>> {
    let filter = match &pushdown.filter {
        FilterPlan::Index(filter) => Some(filter.expr.clone()),
        FilterPlan::None | FilterPlan::Scan(_) => None,
    };
    let exec = IndexedAggregateExec::try_new(
        Arc::clone(pushdown.pattern.dataset()),
        reader,
        MaskQueries { filter, nulls: pushdown.classification.nulls.clone() },
        pushdown.classification.index.clone(),
        Arc::clone(state),
    )?;
    Ok(Arc::new(exec))
}

fn literal_branch(counts: &[u64], state: &SchemaRef) -> Result<Arc<dyn ExecutionPlan>> {
    let columns = counts
        .iter()
        .zip(state.fields())
        .map(|(count, field)| {
            let count = i64::try_from(*count).map_err(|_| PushdownError::CountOverflow)?;
            Ok(ProjectionExpr { expr: lit(ScalarValue::Int64(Some(count))), alias: field.name().clone() })
        })
        .collect::<Result<Vec<_>>>()?;
    // A projection takes its schema metadata from its input.
    let input = Schema::empty().with_metadata(state.metadata().clone());
    let row = Arc::new(PlaceholderRowExec::new(Arc::new(input)));
    Ok(Arc::new(ProjectionExec::try_new(columns, row)?))
}

/// The original partial aggregate over the fragments that are left.
fn scan_branch(pushdown: &Pushdown<'_>) -> Result<Arc<dyn ExecutionPlan>> {
    let pattern = &pushdown.pattern;
    let mut node = restricted_scan(pattern.scan, &pushdown.classification.scan, &pushdown.filter)?;
    for layer in pattern.layers.iter().rev() {
        node = Arc::clone(layer).with_new_children(vec![node])?;
    }
    Ok(Arc::clone(pattern.partial_node).with_new_children(vec![node])?)
}

fn restricted_scan(
    scan: &FilteredReadExec,
    fragments: &[Fragment],
    filter: &FilterPlan,
) -> Result<Arc<dyn ExecutionPlan>> {
    let options = scan.options().clone().with_fragments(Arc::new(fragments.to_vec()));
    // The index is searched again only if it knows any of these fragments.
    let is_covered = |fragment: &Fragment| match filter {
        FilterPlan::Index(filter) => u32::try_from(fragment.id).is_ok_and(|id| filter.coverage.contains(id)),
        FilterPlan::None | FilterPlan::Scan(_) => true,
    };
    let is_misread = scan.options().full_filter.as_ref().is_some_and(truth::has_truth_test);
    let index_input = scan.index_input().filter(|_| !is_misread && fragments.iter().any(is_covered)).cloned();
    let dataset = Arc::clone(scan.dataset());
    Ok(Arc::new(FilteredReadExec::try_new(dataset, options, index_input)?))
}

/// Puts `states` in the place of the partial aggregate.
fn below_final(pattern: &Pattern<'_>, states: Arc<dyn ExecutionPlan>) -> Result<Arc<dyn ExecutionPlan>> {
    let mut node = states;
    for exchange in pattern.exchange.iter().rev() {
        node = Arc::clone(exchange).with_new_children(vec![node])?;
    }
    Ok(Arc::clone(pattern.root).with_new_children(vec![node])?)
}
