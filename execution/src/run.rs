//! Runs a planned workload.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use asap_types::{NodeId, Operator, PostAsapDag, PostOperator};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::TableReference;
use datafusion::execution::SessionState;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;

use crate::ExecutionError;
use crate::materialize::Materialized;
use crate::plan::{Inputs, to_logical_plan};

/// The answer of one query of a workload.
#[derive(Clone, Debug)]
pub struct QueryResult {
    /// The root's name.
    pub name: String,
    /// The columns of the answer.
    pub schema: SchemaRef,
    /// The rows, in the query's order.
    pub batches: Vec<RecordBatch>,
    /// The time to plan and run what this query needed and no query before it had computed.
    pub elapsed: Duration,
}

impl QueryResult {
    /// The number of rows.
    #[must_use]
    pub fn row_count(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }
}

/// A shared node that was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SharedNode {
    /// The node.
    pub node: NodeId,
    /// Its rows.
    pub rows: usize,
    /// The bytes that it holds in memory; 0 when it was spilled.
    pub memory: usize,
    /// Whether its rows went to a temporary file because the memory pool was full.
    pub spilled: bool,
}

/// Watches a run.
pub trait RunObserver: Send {
    /// Work starts on a shared node, or on the result of `root` (by position): it is about to be planned. An error that
    /// [`run_observed`] returns is that of the last one.
    fn starting(&mut self, root: Option<usize>, node: NodeId) {
        let _ = (root, node);
    }

    /// A physical plan is about to be executed: that of a shared node, or of the result of `root` (by position).
    fn planned(&mut self, root: Option<usize>, node: NodeId, plan: &Arc<dyn ExecutionPlan>) {
        let _ = (root, node, plan);
    }

    /// A shared node was computed.
    fn computed(&mut self, shared: SharedNode) {
        let _ = shared;
    }
}

struct Unobserved;

impl RunObserver for Unobserved {}

/// Runs every result of a DAG, in workload order.
///
/// Nodes run one after the other, each with the session's parallelism. A node that several others read is computed
/// once if it reduces its input (an aggregate, a DISTINCT or a LIMIT is at or below it); what is only a scan with
/// filters and projections is left to each reader, so that each reads the columns and fragments that it needs.
///
/// # Errors
/// The first error of planning or running; what was computed until then is dropped.
pub async fn run(dag: &PostAsapDag, context: &SessionContext) -> Result<Vec<QueryResult>, ExecutionError> {
    run_observed(dag, context, &mut Unobserved).await
}

/// [`run`], watched by an observer.
///
/// # Errors
/// As [`run`].
pub async fn run_observed(
    dag: &PostAsapDag,
    context: &SessionContext,
    observer: &mut dyn RunObserver,
) -> Result<Vec<QueryResult>, ExecutionError> {
    let mut inputs = Inputs::default();
    for node in dag.nodes() {
        if let PostOperator::KeepPreAsap(Operator::Scan { table, .. }) = node
            && !inputs.tables.contains_key(table)
        {
            let provider = context.table_provider(table_reference(table)).await?;
            inputs.tables.insert(table.clone(), provider);
        }
    }
    let shared = shared_nodes(dag);
    let mut runner = Runner {
        dag,
        state: context.state(),
        context,
        observer,
        remaining: pending_readers(dag, &shared),
        shared,
        inputs,
        held: HashMap::new(),
    };
    let mut results = Vec::with_capacity(dag.roots().len());
    for position in 0..dag.roots().len() {
        results.push(runner.root(position).await?);
    }
    Ok(results)
}

fn table_reference(table: &asap_types::TableRef) -> TableReference {
    let name = table.table.clone();
    match (&table.catalog, &table.schema) {
        (Some(catalog), Some(schema)) => TableReference::full(catalog.clone(), schema.clone(), name),
        (None, Some(schema)) => TableReference::partial(schema.clone(), name),
        _ => TableReference::bare(name),
    }
}

struct Runner<'a> {
    dag: &'a PostAsapDag,
    /// One snapshot of the session for the whole run, so that `now()` has one value for all of its plans.
    state: SessionState,
    context: &'a SessionContext,
    observer: &'a mut dyn RunObserver,
    shared: Vec<bool>,
    /// How many plans will still read each shared node.
    remaining: Vec<usize>,
    inputs: Inputs,
    held: HashMap<NodeId, Materialized>,
}

impl Runner<'_> {
    async fn root(&mut self, position: usize) -> Result<QueryResult, ExecutionError> {
        let root = self.dag.roots().get(position).ok_or(ExecutionError::NotComputed(NodeId(position)))?;
        let start = Instant::now();
        for node in self.missing(root.node) {
            self.compute(node).await?;
        }
        let plan = self.plan(root.node, Some(position)).await?;
        let schema = plan.schema();
        let batches = execute_stream(plan, self.context.task_ctx())?.try_collect().await?;
        self.release(root.node, true);
        Ok(QueryResult { name: root.name.clone(), schema, batches, elapsed: start.elapsed() })
    }

    /// The shared nodes that a node needs and that are not computed, inputs first.
    fn missing(&self, node: NodeId) -> Vec<NodeId> {
        let mut missing: Vec<NodeId> = std::iter::successors(Some(node), |id| self.dag.node(*id)?.input())
            .take_while(|id| !self.inputs.computed.contains_key(id))
            .filter(|id| is_marked(&self.shared, *id))
            .collect();
        missing.reverse();
        missing
    }

    async fn compute(&mut self, node: NodeId) -> Result<(), ExecutionError> {
        let plan = self.plan(node, None).await?;
        let task = self.context.task_ctx();
        let stream = execute_stream(plan, Arc::clone(&task))?;
        let rows = Materialized::collect(&format!("n{}", node.0), stream, &task).await?;
        self.release(node, false);
        self.observer.computed(SharedNode { node, rows: rows.rows, memory: rows.memory, spilled: rows.spilled() });
        self.inputs.computed.insert(node, rows.table());
        self.held.insert(node, rows);
        Ok(())
    }

    async fn plan(&mut self, node: NodeId, root: Option<usize>) -> Result<Arc<dyn ExecutionPlan>, ExecutionError> {
        self.observer.starting(root, node);
        let logical = to_logical_plan(self.dag, node, &self.inputs, &self.state)?;
        let plan = self.state.create_physical_plan(&logical).await?;
        self.observer.planned(root, node, &plan);
        Ok(plan)
    }

    /// Notes that the plan of `node` has run: the shared node that it read has one reader less, and goes with its last.
    fn release(&mut self, node: NodeId, is_result: bool) {
        if let Some(read) = shared_input(self.dag, &self.shared, node, is_result)
            && let Some(remaining) = self.remaining.get_mut(read.0)
        {
            *remaining = remaining.saturating_sub(1);
            if *remaining == 0 {
                self.inputs.computed.remove(&read);
                self.held.remove(&read);
            }
        }
    }
}

fn is_marked(marks: &[bool], id: NodeId) -> bool {
    marks.get(id.0).copied().unwrap_or(false)
}

/// The nodes that are computed once and kept: read more than once, and reducing.
fn shared_nodes(dag: &PostAsapDag) -> Vec<bool> {
    let mut reduces: Vec<bool> = Vec::with_capacity(dag.nodes().len());
    for node in dag.nodes() {
        let below = node.input().is_some_and(|input| is_marked(&reduces, input));
        let own = match node {
            PostOperator::KeepPreAsap(operator) => matches!(
                operator,
                Operator::Aggregate(_) | Operator::Distinct { .. } | Operator::Limit { fetch: Some(_), .. }
            ),
            PostOperator::Exact(_) | PostOperator::SummaryAgg { .. } | PostOperator::SummaryEstimate { .. } => true,
        };
        reduces.push(own || below);
    }
    dag.reader_counts().into_iter().zip(reduces).map(|(readers, reduces)| readers > 1 && reduces).collect()
}

/// The shared node that the plan of `node` reads: the nearest one at (for a result) or below it.
fn shared_input(dag: &PostAsapDag, shared: &[bool], node: NodeId, is_result: bool) -> Option<NodeId> {
    let first = if is_result { Some(node) } else { dag.node(node)?.input() };
    std::iter::successors(first, |id| dag.node(*id)?.input()).find(|id| is_marked(shared, *id))
}

fn pending_readers(dag: &PostAsapDag, shared: &[bool]) -> Vec<usize> {
    let mut pending = vec![0; dag.nodes().len()];
    let inner = (0..dag.nodes().len()).map(NodeId).filter(|id| is_marked(shared, *id)).map(|id| (id, false));
    for (node, is_result) in inner.chain(dag.roots().iter().map(|root| (root.node, true))) {
        if let Some(count) = shared_input(dag, shared, node, is_result).and_then(|read| pending.get_mut(read.0)) {
            *count += 1;
        }
    }
    pending
}
