//! Prices aggregates by what the storage answers nearly free: plans each one with pushdown and asks what is left to scan.

use std::collections::HashMap;
use std::sync::Arc;

use asap_aware_mapping::{CandidateSpace, Estimate, LeafCost, TargetCandidates};
use asap_execution::{ExecutionError, Inputs, catch_panic, to_logical_plan};
use asap_types::{Operator, PostAsapDag, QueryExpr, TableRef};
use datafusion::common::TableReference;

use crate::tables::AsapSession;

/// Which aggregates are priced: each costs a run of DataFusion's optimizer.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Priced {
    /// All, to be shown.
    Every,
    /// Those whose price decides something.
    Compared,
}

impl Priced {
    fn of(self, space: &CandidateSpace) -> Vec<&TargetCandidates> {
        match self {
            Self::Every => space.targets.iter().collect(),
            Self::Compared => space.compared(),
        }
    }
}

/// Rows that each aggregate of a workload reads.
#[derive(Debug)]
pub(crate) struct PlannedCost(HashMap<Arc<QueryExpr>, Estimate>);

impl PlannedCost {
    /// Plans the priced targets of a candidate space; nothing is executed. What cannot be planned has no known price: its query
    /// says why when it is run.
    pub(crate) async fn of(space: &CandidateSpace, priced: Priced, session: &AsapSession) -> Self {
        let mut costs = HashMap::new();
        for candidates in priced.of(space) {
            let node = &candidates.target.node;
            let rows = catch_panic(rows_read(node, session)).await.flatten();
            costs.insert(Arc::clone(node), rows.unwrap_or(Estimate::Unknown));
        }
        session.pushdown.take_reports();
        Self(costs)
    }
}

impl LeafCost for PlannedCost {
    fn rows_read(&self, aggregate: &QueryExpr) -> Estimate {
        self.0.get(aggregate).copied().unwrap_or(Estimate::Unknown)
    }
}

async fn rows_read(node: &Arc<QueryExpr>, session: &AsapSession) -> Result<Estimate, ExecutionError> {
    let Some(table) = scanned_table(node) else { return Ok(Estimate::Unknown) };
    let Some(&rows) = session.table_rows.get(&table.table) else { return Ok(Estimate::Unknown) };
    let dag = PostAsapDag::from_queries([("cost", node)])?;
    let provider = session.context.table_provider(TableReference::bare(table.table.as_str())).await?;
    let inputs = Inputs { tables: HashMap::from([(table, provider)]), ..Inputs::default() };
    let state = session.context.state();
    session.pushdown.take_reports();
    for root in dag.roots() {
        let plan = to_logical_plan(&dag, root.node, &inputs, &state)?;
        state.create_physical_plan(&plan).await?;
    }
    let left = session.pushdown.take_reports().into_iter().find(|report| report.is_rewritten());
    Ok(match left {
        Some(report) => report.rows_to_scan().map_or(Estimate::Unknown, Estimate::Known),
        None => Estimate::Known(rows),
    })
}

fn scanned_table(node: &Arc<QueryExpr>) -> Option<TableRef> {
    match node.operator() {
        Operator::Scan { table, .. } => Some(table.clone()),
        other => other.input().and_then(scanned_table),
    }
}
