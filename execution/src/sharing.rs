//! Which nodes of a DAG are computed once and kept for their readers.

use std::collections::HashSet;

use asap_types::{NodeId, Operator, PostAsapDag, PostOperator};

/// The kept nodes, and how many plans read each of them.
///
/// A node is kept if several plans need it, it reduces its input (an aggregate, a DISTINCT or a LIMIT is at or below
/// it), and its rows are a set. What is only a scan with filters and projections is left to each reader, so that each
/// reads the columns and fragments that it needs. What bears an order is left to each reader as well: kept rows are read
/// in parallel and in any order, so each reader sorts the kept set below for itself.
#[derive(Debug)]
pub(crate) struct Sharing {
    kept: Vec<bool>,
    /// How many plans will still read each node; 0 for a node that is not kept.
    pending: Vec<usize>,
}

impl Sharing {
    pub(crate) fn of(dag: &PostAsapDag) -> Self {
        let (reduces, ordered) = (reducing_nodes(dag), ordered_nodes(dag));
        let results: HashSet<NodeId> = dag.roots().iter().map(|root| root.node).collect();
        let mut pending = vec![0; dag.nodes().len()];
        let mut kept = vec![false; dag.nodes().len()];
        // Readers come after what they read. A node that is not kept is computed by each of its readers' plans.
        for (index, node) in dag.nodes().iter().enumerate().rev() {
            let plans = pending[index] + usize::from(results.contains(&NodeId(index)));
            kept[index] = plans > 1 && reduces[index] && !ordered[index];
            pending[index] = if kept[index] { plans } else { 0 };
            if let Some(input) = node.input() {
                pending[input.0] += if kept[index] { 1 } else { plans };
            }
        }
        Self { kept, pending }
    }

    pub(crate) fn is_kept(&self, id: NodeId) -> bool {
        self.kept.get(id.0).copied().unwrap_or(false)
    }

    /// Notes that a plan which reads a kept node is done. True if it was the last.
    pub(crate) fn release(&mut self, id: NodeId) -> bool {
        match self.pending.get_mut(id.0) {
            Some(pending) => {
                *pending = pending.saturating_sub(1);
                *pending == 0
            }
            None => false,
        }
    }
}

/// Nodes with an aggregate, a DISTINCT or a LIMIT at or below them. A LIMIT without a sort picks any rows: computed once,
/// its readers agree on them.
fn reducing_nodes(dag: &PostAsapDag) -> Vec<bool> {
    marked(dag, |node, input| {
        let reduces = match node {
            PostOperator::KeepPreAsap(operator) => {
                matches!(operator, Operator::Aggregate(_) | Operator::Distinct { .. } | Operator::Limit { .. })
            }
            PostOperator::Exact(_) | PostOperator::SummaryAgg { .. } | PostOperator::SummaryEstimate { .. } => true,
        };
        reduces || input
    })
}

/// Nodes whose rows come in an order that a reader may rely on: a sort, and what keeps the order of one.
fn ordered_nodes(dag: &PostAsapDag) -> Vec<bool> {
    marked(dag, |node, input| match node {
        PostOperator::KeepPreAsap(Operator::Sort { .. }) => true,
        PostOperator::KeepPreAsap(Operator::Project { .. } | Operator::Filter { .. } | Operator::Limit { .. }) => input,
        _ => false,
    })
}

/// One mark per node, made from the node and the mark of its input.
fn marked(dag: &PostAsapDag, mark: impl Fn(&PostOperator, bool) -> bool) -> Vec<bool> {
    let mut marks: Vec<bool> = Vec::with_capacity(dag.nodes().len());
    for node in dag.nodes() {
        let input = node.input().and_then(|input| marks.get(input.0).copied()).unwrap_or(false);
        marks.push(mark(node, input));
    }
    marks
}
