use std::sync::Arc;

use asap_execution::{Comparison, ExecutionError, QueryResult, RunObserver, SharedNode, compare, run, run_observed};
use asap_types::{AggIntent, Expr, NodeId, Operator, PostAsapDag, Predicate, QueryExpr};
use datafusion::execution::disk_manager::{DiskManagerBuilder, DiskManagerMode};
use datafusion::execution::memory_pool::GreedyMemoryPool;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext};
use rstest::rstest;

use crate::support::{K, X, aggregate, answers, context, scan};

#[derive(Default)]
struct Log {
    plans: Vec<(Option<usize>, NodeId)>,
    shared: Vec<SharedNode>,
}

impl RunObserver for Log {
    fn planned(&mut self, root: Option<usize>, node: NodeId, _: &Arc<dyn ExecutionPlan>) {
        self.plans.push((root, node));
    }

    fn computed(&mut self, shared: SharedNode) {
        self.shared.push(shared);
    }
}

fn succeeded(results: Vec<Result<QueryResult, ExecutionError>>) -> Vec<QueryResult> {
    results.into_iter().collect::<Result<_, _>>().unwrap()
}

/// Three results over one aggregate: itself, its total, and a filter over it.
fn workload(table: &str) -> PostAsapDag {
    let fine = aggregate(scan(table), &[K], vec![(AggIntent::Sum { arg: Expr::column(X) }, None)], &["k", "s"]);
    let total = aggregate(Arc::clone(&fine), &[], vec![(AggIntent::Sum { arg: Expr::column(1) }, None)], &["s"]);
    let named = QueryExpr::new(Operator::Filter {
        predicate: Predicate(Expr::column(0).is_not_null()),
        input: Arc::clone(&fine),
    })
    .unwrap();
    PostAsapDag::from_queries([("total", &total), ("fine", &fine), ("named", &named)]).unwrap()
}

#[tokio::test]
async fn a_shared_node_is_computed_once() {
    let mut log = Log::default();
    let results = succeeded(run_observed(&workload("t"), &context(), &mut log).await);
    assert_eq!(results.iter().map(|result| result.name.as_str()).collect::<Vec<_>>(), ["total", "fine", "named"]);
    let fine = NodeId(1);
    assert_eq!(log.plans, [(None, fine), (Some(0), NodeId(2)), (Some(1), fine), (Some(2), NodeId(3)),]);
    let [shared] = log.shared.as_slice() else { panic!("one shared node: {:?}", log.shared) };
    assert_eq!((shared.node, shared.rows, shared.spilled), (fine, 4, false));
    assert_eq!(results[1].row_count(), 4);
    assert_eq!(results[2].row_count(), 3);
}

#[tokio::test]
async fn a_shared_scan_is_left_to_its_readers() {
    let first = aggregate(scan("t"), &[K], vec![(AggIntent::count(), None)], &["k", "n"]);
    let Operator::Aggregate(inner) = first.operator() else { panic!("an aggregate") };
    let second = aggregate(Arc::clone(&inner.input), &[X], vec![(AggIntent::count(), None)], &["x", "n"]);
    let dag = PostAsapDag::from_queries([("first", &first), ("second", &second)]).unwrap();
    let mut log = Log::default();
    succeeded(run_observed(&dag, &context(), &mut log).await);
    assert_eq!(log.shared, []);
}

fn limited(bytes: usize, mode: DiskManagerMode) -> SessionContext {
    let runtime = RuntimeEnvBuilder::new()
        .with_memory_pool(Arc::new(GreedyMemoryPool::new(bytes)))
        .with_disk_manager_builder(DiskManagerBuilder::default().with_mode(mode))
        .build_arc()
        .unwrap();
    let config = SessionConfig::new().with_target_partitions(1).with_batch_size(512);
    SessionContext::new_with_config_rt(config, runtime)
}

/// 20 000 distinct rows, shared by two results; the pool is smaller than what they need in memory.
async fn wide_workload(context: &SessionContext) -> PostAsapDag {
    let sql = "CREATE VIEW t AS SELECT arrow_cast(value, 'Utf8') AS k, value AS x, CAST(value AS DOUBLE) AS f,
               CAST(value % 1000 AS DECIMAL(15, 2)) AS d FROM generate_series(1, 20000)";
    context.sql(sql).await.unwrap().collect().await.unwrap();
    let limit = QueryExpr::new(Operator::Limit { skip: 0, fetch: Some(1_000_000), input: scan("t") }).unwrap();
    let count = aggregate(Arc::clone(&limit), &[], vec![(AggIntent::count(), None)], &["n"]);
    PostAsapDag::from_queries([("count", &count), ("all", &limit)]).unwrap()
}

#[tokio::test]
async fn a_shared_node_past_the_memory_pool_is_spilled_and_read_again() {
    let context = limited(300_000, DiskManagerMode::OsTmpDirectory);
    let dag = wide_workload(&context).await;
    let mut log = Log::default();
    let results = succeeded(run_observed(&dag, &context, &mut log).await);
    assert!(matches!(log.shared.as_slice(), [SharedNode { rows: 20_000, memory: 0, spilled: true, .. }]));
    assert_eq!(results[1].row_count(), 20_000);
    assert_eq!(context.runtime_env().memory_pool.reserved(), 0, "everything is released");

    let roomy = limited(100_000_000, DiskManagerMode::Disabled);
    wide_workload(&roomy).await;
    let expected = answers(&dag, &roomy).await;
    for (spilled, kept) in results.iter().zip(&expected) {
        let difference =
            compare((&spilled.schema, &spilled.batches), (&kept.schema, &kept.batches), &Comparison::exact());
        assert_eq!(difference.unwrap(), None);
    }
}

#[tokio::test]
async fn without_temporary_files_a_full_pool_is_an_error() {
    let context = limited(300_000, DiskManagerMode::Disabled);
    let dag = wide_workload(&context).await;
    let error = run(&dag, &context).await.remove(0).unwrap_err();
    assert!(error.to_string().contains("asap shared node"), "{error}");
    assert_eq!(context.runtime_env().memory_pool.reserved(), 0, "everything is released");
}

#[rstest]
#[case("t")]
#[case("empty")]
#[tokio::test]
async fn a_dropped_run_can_be_repeated(#[case] table: &str) {
    let context = context();
    let dag = workload(table);
    drop(run(&dag, &context));
    let (first, second) = (answers(&dag, &context).await, answers(&dag, &context).await);
    for (first, second) in first.iter().zip(&second) {
        let difference =
            compare((&first.schema, &first.batches), (&second.schema, &second.batches), &Comparison::exact());
        assert_eq!(difference.unwrap(), None);
    }
}
