//! Recognition of `Final <- Partial <- [Filter | Projection of columns] <- FilteredReadExec`.

use std::sync::Arc;

use datafusion::physical_expr::expressions::Column;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, AggregateOutputMode};
use datafusion::physical_plan::coalesce_partitions::CoalescePartitionsExec;
use datafusion::physical_plan::filter::FilterExec;
use datafusion::physical_plan::limit::{GlobalLimitExec, LocalLimitExec};
use datafusion::physical_plan::projection::ProjectionExec;
use lance::Dataset;
use lance::io::exec::filtered_read::FilteredReadExec;

use super::{FragmentReport, PushdownReport, scan};
use crate::reasons::{Refusal, ScanReason};
use crate::report::Bucket;

/// An aggregate that ends in one Lance scan through single inputs; whether it qualifies is open.
pub(super) struct Candidate<'a> {
    /// The node that yields the final values.
    root: &'a Arc<dyn ExecutionPlan>,
    aggregate: &'a AggregateExec,
    /// The nodes between the aggregate and the scan, top to bottom.
    between: Vec<&'a Arc<dyn ExecutionPlan>>,
    scan: &'a FilteredReadExec,
}

impl<'a> Candidate<'a> {
    /// The candidate at this node, if there is one.
    pub(super) fn find(root: &'a Arc<dyn ExecutionPlan>) -> Option<Self> {
        let aggregate = final_aggregate(root)?;
        let mut between = Vec::new();
        let mut node = aggregate.input();
        loop {
            if let Some(scan) = node.downcast_ref::<FilteredReadExec>() {
                return Some(Self { root, aggregate, between, scan });
            }
            if final_aggregate(node).is_some() {
                return None;
            }
            between.push(node);
            let [input] = node.children()[..] else {
                return None;
            };
            node = input;
        }
    }

    /// A report that says only what is asked.
    pub(super) fn report(&self) -> PushdownReport {
        let dataset = self.scan.dataset();
        PushdownReport {
            dataset: dataset.uri().to_string(),
            version: dataset.manifest.version,
            aggregates: self.aggregate.aggr_expr().iter().map(|aggregate| aggregate.name().to_string()).collect(),
            filter: self.scan.options().full_filter.as_ref().map(ToString::to_string),
            fragments: Vec::new(),
            refusal: None,
        }
    }

    /// The scan's fragments before any of them is judged.
    pub(super) fn unclassified(&self) -> Vec<FragmentReport> {
        scan::fragments(self.scan)
            .iter()
            .map(|fragment| FragmentReport {
                fragment_id: fragment.id,
                bucket: Bucket::Scan(ScanReason::PlanRefused),
                live_rows: scan::live_rows(fragment),
                deleted_rows: scan::deleted_rows(fragment),
                bindings: Vec::new(),
                literal_source: None,
                undecided: None,
            })
            .collect()
    }
}

fn final_aggregate(node: &Arc<dyn ExecutionPlan>) -> Option<&AggregateExec> {
    node.downcast_ref::<AggregateExec>()
        .filter(|aggregate| aggregate.mode().output_mode() == AggregateOutputMode::Final)
}

/// A candidate whose operators are all understood.
pub(super) struct Pattern<'a> {
    pub(super) root: &'a Arc<dyn ExecutionPlan>,
    /// Between the final and the partial aggregate, top to bottom.
    pub(super) exchange: &'a [&'a Arc<dyn ExecutionPlan>],
    pub(super) partial_node: &'a Arc<dyn ExecutionPlan>,
    pub(super) partial: &'a AggregateExec,
    /// Between the partial aggregate and the scan, top to bottom.
    pub(super) layers: &'a [&'a Arc<dyn ExecutionPlan>],
    pub(super) scan: &'a FilteredReadExec,
}

impl<'a> Pattern<'a> {
    /// Matches, or says which operator stands in the way.
    pub(super) fn try_match(candidate: &'a Candidate<'a>) -> Result<Self, Refusal> {
        if !candidate.aggregate.group_expr().is_empty() {
            return Err(Refusal::GroupBy);
        }
        if *candidate.aggregate.mode() != AggregateMode::Final {
            return Err(Refusal::AggregateMode);
        }
        let split =
            candidate.between.iter().position(|node| node.is::<AggregateExec>()).ok_or(Refusal::AggregateMode)?;
        let (exchange, rest) = candidate.between.split_at(split);
        let [partial_node, layers @ ..] = rest else {
            return Err(Refusal::AggregateMode);
        };
        let partial = partial_node
            .downcast_ref::<AggregateExec>()
            .filter(|aggregate| *aggregate.mode() == AggregateMode::Partial)
            .ok_or(Refusal::AggregateMode)?;
        if !partial.group_expr().is_empty() {
            return Err(Refusal::GroupBy);
        }
        if !exchange.iter().all(|node| gathers_partitions(node)) {
            return Err(Refusal::UnsupportedNode);
        }
        for layer in layers {
            check_layer(layer)?;
        }
        Ok(Self { root: candidate.root, exchange, partial_node, partial, layers, scan: candidate.scan })
    }

    /// The dataset version that the scan is pinned to.
    pub(super) fn dataset(&self) -> &'a Arc<Dataset> {
        self.scan.dataset()
    }

    /// The name that the scan gives to a column of the input of layer `depth`'s parent.
    ///
    /// `depth` counts the layers above that input: 0 is the partial aggregate's own input.
    pub(super) fn source_column(&self, depth: usize, column: &Column) -> Option<String> {
        let mut index = column.index();
        for layer in self.layers.get(depth..)? {
            if let Some(projection) = layer.downcast_ref::<ProjectionExec>() {
                let expr = &projection.expr().get(index)?.expr;
                index = expr.downcast_ref::<Column>()?.index();
            }
        }
        let schema = self.scan.schema();
        schema.fields().get(index).map(|field| field.name().to_string())
    }

    /// The filters above the scan with the number of layers above each one's input.
    pub(super) fn filters(&self) -> impl Iterator<Item = (usize, &'a FilterExec)> {
        self.layers.iter().enumerate().filter_map(|(at, layer)| Some((at + 1, layer.downcast_ref::<FilterExec>()?)))
    }

    /// All filters below the aggregate, for people.
    pub(super) fn filter_text(&self) -> Option<String> {
        let pushed = self.scan.options().full_filter.iter().map(ToString::to_string);
        let above = self.filters().map(|(_, filter)| filter.predicate().to_string());
        let all: Vec<String> = pushed.chain(above).collect();
        match all.is_empty() {
            true => None,
            false => Some(all.join(" AND ")),
        }
    }
}

fn gathers_partitions(node: &Arc<dyn ExecutionPlan>) -> bool {
    node.is::<CoalescePartitionsExec>() && node.fetch().is_none()
}

/// Proves that a node keeps its input's rows, but for a filter's, and only renames or drops columns.
fn check_layer(node: &Arc<dyn ExecutionPlan>) -> Result<(), Refusal> {
    if node.is::<GlobalLimitExec>() || node.is::<LocalLimitExec>() || node.fetch().is_some() {
        return Err(Refusal::Limit);
    }
    if let Some(projection) = node.downcast_ref::<ProjectionExec>() {
        return match projection.expr().iter().all(|item| item.expr.is::<Column>()) {
            true => Ok(()),
            false => Err(Refusal::UnsupportedNode),
        };
    }
    if let Some(filter) = node.downcast_ref::<FilterExec>() {
        return match filter.projection() {
            None => Ok(()),
            Some(_) => Err(Refusal::UnsupportedNode),
        };
    }
    Err(Refusal::UnsupportedNode)
}
