//! Runs a planned workload.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use asap_types::{NodeId, Operator, PostAsapDag, PostOperator, TableRef};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::common::TableReference;
use datafusion::execution::SessionState;
use datafusion::physical_plan::{ExecutionPlan, execute_stream};
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;

use crate::ExecutionError;
use crate::materialize::Materialized;
use crate::panic::catch_panic;
use crate::plan::{Inputs, to_logical_plan};
use crate::sharing::Sharing;

/// The answer of one query of a workload.
#[derive(Clone, Debug)]
pub struct QueryResult {
    /// The root's name.
    pub name: String,
    /// The columns of the answer.
    pub schema: SchemaRef,
    /// The rows, in the query's order.
    pub batches: Vec<RecordBatch>,
    /// The time to plan and run what this query needed and no query before it had computed: nothing for a result that
    /// is the same node as an earlier one.
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

/// Runs every result of a DAG, in workload order: one answer or error per root.
///
/// Nodes run one after the other, each with the session's parallelism. A node that several plans need is computed once
/// if it reduces its input and its rows are a set; a result that is the same node as an earlier one is that one's
/// answer, in its order. An error or a panic of a node is the error of the roots that read it; all others are answered.
pub async fn run(dag: &PostAsapDag, context: &SessionContext) -> Vec<Result<QueryResult, ExecutionError>> {
    run_observed(dag, context, &mut Unobserved).await
}

/// [`run`], watched by an observer.
pub async fn run_observed(
    dag: &PostAsapDag,
    context: &SessionContext,
    observer: &mut dyn RunObserver,
) -> Vec<Result<QueryResult, ExecutionError>> {
    let mut runner = Runner {
        dag,
        state: context.state(),
        context,
        observer,
        sharing: Sharing::of(dag),
        inputs: Inputs::default(),
        held: HashMap::new(),
        failed: HashMap::new(),
    };
    let mut results = Vec::with_capacity(dag.roots().len());
    let mut first_of_node: HashMap<NodeId, usize> = HashMap::new();
    for (position, root) in dag.roots().iter().enumerate() {
        let first = *first_of_node.entry(root.node).or_insert(position);
        let result = match results.get(first) {
            Some(first) => repeated(first, &root.name),
            None => runner.root(position, &root.name, root.node).await,
        };
        results.push(result);
    }
    results
}

/// The result of a root that is the same node as an earlier one.
fn repeated(first: &Result<QueryResult, ExecutionError>, name: &str) -> Result<QueryResult, ExecutionError> {
    let first = first.clone()?;
    Ok(QueryResult { name: name.to_owned(), elapsed: Duration::ZERO, ..first })
}

fn table_reference(table: &TableRef) -> TableReference {
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
    sharing: Sharing,
    inputs: Inputs,
    held: HashMap<NodeId, Materialized>,
    /// Kept nodes that could not be computed.
    failed: HashMap<NodeId, ExecutionError>,
}

impl Runner<'_> {
    async fn root(&mut self, position: usize, name: &str, node: NodeId) -> Result<QueryResult, ExecutionError> {
        let start = Instant::now();
        let answer = catch_panic(self.answer(position, node)).await.flatten();
        self.release(node, true);
        let (schema, batches) = answer?;
        Ok(QueryResult { name: name.to_owned(), schema, batches, elapsed: start.elapsed() })
    }

    async fn answer(&mut self, position: usize, node: NodeId) -> Result<(SchemaRef, Vec<RecordBatch>), ExecutionError> {
        for node in self.missing(node)? {
            if let Err(error) = catch_panic(self.compute(node)).await.flatten() {
                self.failed.insert(node, error.clone());
                self.release(node, false);
                return Err(error);
            }
            self.release(node, false);
        }
        let plan = self.plan(node, Some(position)).await?;
        let schema = plan.schema();
        Ok((schema, execute_stream(plan, self.context.task_ctx())?.try_collect().await?))
    }

    /// The kept nodes that a node needs and that are not computed, inputs first; the error of the nearest that failed.
    fn missing(&self, node: NodeId) -> Result<Vec<NodeId>, ExecutionError> {
        let mut missing = Vec::new();
        for id in self.chain(node) {
            if let Some(error) = self.failed.get(&id) {
                return Err(error.clone());
            }
            if self.inputs.computed.contains_key(&id) {
                break;
            }
            if self.sharing.is_kept(id) {
                missing.push(id);
            }
        }
        missing.reverse();
        Ok(missing)
    }

    /// A node and everything below it.
    fn chain(&self, node: NodeId) -> impl Iterator<Item = NodeId> {
        std::iter::successors(Some(node), |id| self.dag.node(*id)?.input())
    }

    async fn compute(&mut self, node: NodeId) -> Result<(), ExecutionError> {
        let plan = self.plan(node, None).await?;
        let task = self.context.task_ctx();
        let stream = execute_stream(plan, Arc::clone(&task))?;
        let rows = Materialized::collect(&format!("n{}", node.0), stream, &task).await?;
        self.observer.computed(SharedNode { node, rows: rows.rows, memory: rows.memory, spilled: rows.spilled });
        self.inputs.computed.insert(node, rows.table());
        self.held.insert(node, rows);
        Ok(())
    }

    async fn plan(&mut self, node: NodeId, root: Option<usize>) -> Result<Arc<dyn ExecutionPlan>, ExecutionError> {
        self.open_table(node).await?;
        let logical = to_logical_plan(self.dag, node, &self.inputs, &self.state)?;
        let plan = self.state.create_physical_plan(&logical).await?;
        self.observer.planned(root, node, &plan);
        Ok(plan)
    }

    /// Looks up the table at the end of a node's chain, once in a run.
    async fn open_table(&mut self, node: NodeId) -> Result<(), ExecutionError> {
        let scanned = self.chain(node).find_map(|id| match self.dag.node(id) {
            Some(PostOperator::KeepPreAsap(Operator::Scan { table, .. })) => Some(table),
            _ => None,
        });
        if let Some(table) = scanned
            && !self.inputs.tables.contains_key(table)
        {
            let provider = self.context.table_provider(table_reference(table)).await?;
            self.inputs.tables.insert(table.clone(), provider);
        }
        Ok(())
    }

    /// Notes that the plan of `node` is done with: the kept node that it reads (the nearest at, for a result, or below
    /// it) has one reader less, and goes with its last.
    fn release(&mut self, node: NodeId, is_result: bool) {
        let kept = self.chain(node).skip(usize::from(!is_result)).find(|id| self.sharing.is_kept(*id));
        if let Some(read) = kept
            && self.sharing.release(read)
        {
            self.inputs.computed.remove(&read);
            self.held.remove(&read);
        }
    }
}
