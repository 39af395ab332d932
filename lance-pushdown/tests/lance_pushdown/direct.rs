//! The operator built by hand, from index queries and the manifest alone: no rule, no provider, no SQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_schema::{DataType, Field, Schema};
use async_trait::async_trait;
use datafusion::common::ScalarValue;
use datafusion::error::DataFusionError;
use datafusion::execution::TaskContext;
use datafusion::physical_plan::{ExecutionPlan, collect};
use futures::TryStreamExt;
use lance::Dataset;
use lance::index::DatasetIndexExt;
use lance_index::optimize::OptimizeOptions;
use lance_index::scalar::expression::{ScalarIndexExpr, ScalarIndexSearch};
use lance_index::scalar::{BuiltinIndexType, SargableQuery};
use lance_pushdown::{
    CountSource, FragmentPushdownPlan, IndexReadMetrics, IndexReader, IndexedAggregateExec, LanceIndexReader, LiveRows,
    MaskQueries, PushdownError,
};
use lance_select::{IndexExprResult, RowAddrMask};
use roaring::RoaringBitmap;
use rstest::rstest;
use tokio::sync::Notify;

use crate::plan_time_io::MockReader;
use crate::support::{Layout, Row, Table, counts, fragments, rows};

fn leaf(column: &str, query: SargableQuery) -> ScalarIndexExpr {
    ScalarIndexExpr::Query(ScalarIndexSearch {
        column: column.to_string(),
        index_name: format!("{column}_idx"),
        index_type: "Bitmap".to_string(),
        query: Arc::new(query),
        needs_recheck: false,
        fragment_bitmap: Some(RoaringBitmap::from_iter(0..8)),
    })
}

fn x_is(value: i32) -> ScalarIndexExpr {
    leaf("x", SargableQuery::Equals(ScalarValue::Int32(Some(value))))
}

fn x_below(value: i32) -> ScalarIndexExpr {
    use std::ops::Bound::{Excluded, Unbounded};
    leaf("x", SargableQuery::Range(Unbounded, Excluded(ScalarValue::Int32(Some(value)))))
}

fn y_is(value: &str) -> ScalarIndexExpr {
    leaf("y", SargableQuery::Equals(ScalarValue::from(value)))
}

fn is_null(column: &str) -> ScalarIndexExpr {
    leaf(column, SargableQuery::IsNull())
}

fn not(expr: ScalarIndexExpr) -> ScalarIndexExpr {
    ScalarIndexExpr::Not(Box::new(expr))
}

fn and(left: ScalarIndexExpr, right: ScalarIndexExpr) -> ScalarIndexExpr {
    ScalarIndexExpr::And(Box::new(left), Box::new(right))
}

fn or(left: ScalarIndexExpr, right: ScalarIndexExpr) -> ScalarIndexExpr {
    ScalarIndexExpr::Or(Box::new(left), Box::new(right))
}

/// `COUNT(*)` and `COUNT(y)` under a filter, over every fragment of the dataset.
fn operator(table: &Table, filter: Option<ScalarIndexExpr>, reader: Arc<dyn IndexReader>) -> Arc<dyn ExecutionPlan> {
    let plan = |fragment: &lance_table::format::Fragment| FragmentPushdownPlan {
        fragment_id: fragment.id as u32,
        physical_rows: fragment.physical_rows.unwrap() as u64,
        index_bindings: vec![],
        deletion_vector: fragment.deletion_file.clone(),
        counts: vec![CountSource::Rows, CountSource::NonNull(0)],
    };
    let state = Schema::new(vec![
        Field::new("count(*)[count]", DataType::Int64, false),
        Field::new("count(y)[count]", DataType::Int64, false),
    ]);
    let queries = MaskQueries { filter, nulls: vec![is_null("y")] };
    let plans = table.dataset.fragments().iter().map(plan).collect();
    Arc::new(IndexedAggregateExec::try_new(table.shared(), reader, queries, plans, Arc::new(state)).unwrap())
}

async fn run(plan: Arc<dyn ExecutionPlan>) -> Result<Vec<i64>, DataFusionError> {
    Ok(counts(&collect(plan, Arc::new(TaskContext::default())).await?))
}

async fn run_over(table: &Table, filter: Option<ScalarIndexExpr>) -> Result<Vec<i64>, DataFusionError> {
    run(operator(table, filter, Arc::new(LanceIndexReader::new()))).await
}

fn typed(error: &DataFusionError) -> &PushdownError {
    let DataFusionError::External(inner) = error else { panic!("{error:?}") };
    inner.downcast_ref().unwrap()
}

/// TRUE, FALSE or NULL.
type Truth = Option<bool>;

fn kleene_and(left: Truth, right: Truth) -> Truth {
    match (left, right) {
        (Some(false), _) | (_, Some(false)) => Some(false),
        (Some(true), Some(true)) => Some(true),
        _ => None,
    }
}

fn kleene_not(truth: Truth) -> Truth {
    truth.map(|truth| !truth)
}

fn kleene_or(left: Truth, right: Truth) -> Truth {
    kleene_not(kleene_and(kleene_not(left), kleene_not(right)))
}

fn is_one(row: &Row) -> Truth {
    row.x.map(|x| x == 1)
}

fn is_red(row: &Row) -> Truth {
    row.y.as_deref().map(|y| y == "red")
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    AsWritten,
    Deletions,
    Updated,
    Segments,
}

async fn table(state: State, stable_row_ids: bool) -> Table {
    let mut table = Table::create(Layout { stable_row_ids, ..fragments(3) }).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    match state {
        State::AsWritten => {}
        State::Deletions => table.delete("id % 6 = 1 OR id BETWEEN 22 AND 30").await,
        State::Updated => {
            table.update("id % 5 = 1", "x", "1").await;
            table.optimize(OptimizeOptions::merge(10)).await;
        }
        State::Segments => {
            table.append(&rows(60, 90)).await;
            table.optimize(OptimizeOptions::append()).await;
            table.delete("id % 8 = 3").await;
        }
    }
    table
}

#[rstest]
#[case::none(None, |_: &Row| Some(true))]
#[case::equal(Some(x_is(1)), is_one)]
#[case::not_equal(Some(not(x_is(1))), |row: &Row| kleene_not(is_one(row)))]
#[case::range(Some(x_below(3)), |row: &Row| row.x.map(|x| x < 3))]
#[case::not_range(Some(not(x_below(3))), |row: &Row| row.x.map(|x| x >= 3))]
#[case::is_null(Some(is_null("x")), |row: &Row| Some(row.x.is_none()))]
#[case::is_not_null(Some(not(is_null("x"))), |row: &Row| Some(row.x.is_some()))]
#[case::and(Some(and(x_is(1), y_is("red"))), |row: &Row| kleene_and(is_one(row), is_red(row)))]
#[case::or(Some(or(x_is(1), y_is("red"))), |row: &Row| kleene_or(is_one(row), is_red(row)))]
#[case::not_and(
    Some(not(and(x_is(1), y_is("red")))),
    |row: &Row| kleene_not(kleene_and(is_one(row), is_red(row)))
)]
#[case::not_or(
    Some(not(or(x_is(1), y_is("red")))),
    |row: &Row| kleene_not(kleene_or(is_one(row), is_red(row)))
)]
#[case::not_inside(
    Some(or(not(x_is(1)), and(is_null("y"), not(not(x_below(4)))))),
    |row: &Row| kleene_or(
        kleene_not(is_one(row)),
        kleene_and(Some(row.y.is_none()), row.x.map(|x| x < 4))
    )
)]
#[case::absent_value(Some(x_is(99)), |row: &Row| row.x.map(|_| false))]
#[case::not_absent_value(Some(not(x_is(99))), |row: &Row| row.x.map(|_| true))]
#[tokio::test]
async fn three_valued_logic(
    #[case] filter: Option<ScalarIndexExpr>,
    #[case] truth: fn(&Row) -> Truth,
    #[values(State::AsWritten, State::Deletions, State::Updated, State::Segments)] state: State,
    #[values(false, true)] stable_row_ids: bool,
) {
    let table = table(state, stable_row_ids).await;
    let answer = run_over(&table, filter).await;
    let is_ambiguous = stable_row_ids && state == State::Segments;
    match answer {
        Ok(counted) => {
            assert!(!is_ambiguous);
            let selected = |row: &Row| truth(row) == Some(true);
            let expected = [table.count(selected).await, table.count(|row| selected(row) && row.y.is_some()).await];
            assert_eq!(counted, expected);
        }
        Err(error) => {
            assert!(is_ambiguous, "{error}");
            assert!(matches!(typed(&error), PushdownError::Segments { .. }), "{error}");
        }
    }
}

/// An index of another kind under the name that was planned for: its answer may be a superset.
#[rstest]
#[tokio::test]
async fn an_index_that_is_no_bitmap(
    #[values(BuiltinIndexType::BTree, BuiltinIndexType::ZoneMap, BuiltinIndexType::BloomFilter)] kind: BuiltinIndexType,
) {
    let mut table = Table::create(fragments(2)).await;
    table.index("x", kind, "x_idx").await;
    table.bitmap("y").await;
    let error = run_over(&table, Some(x_is(1))).await.unwrap_err();
    assert!(matches!(typed(&error), PushdownError::IndexKind { .. }), "{error}");
}

#[tokio::test]
async fn an_index_that_is_gone() {
    let mut table = table(State::AsWritten, false).await;
    table.dataset.drop_index("x_idx").await.unwrap();
    let error = run_over(&table, Some(x_is(1))).await.unwrap_err();
    assert!(matches!(typed(&error), PushdownError::MissingIndex { .. }), "{error}");
}

/// Planned as exact, answered as a bound: for the filter, and for the NULLs of a counted column.
#[rstest]
#[case::filter(0)]
#[case::nulls(1)]
#[tokio::test]
async fn an_answer_that_turns_out_inexact(#[case] inexact: usize) {
    let table = table(State::AsWritten, false).await;
    let mut reader = MockReader::new();
    let mut call = 0;
    reader.expect_evaluate().returning(move |_, _, _, _| {
        call += 1;
        let mask = RowAddrMask::allow_nothing();
        Ok(if call == inexact + 1 { IndexExprResult::at_most(mask) } else { IndexExprResult::exact(mask) })
    });
    let error = run(operator(&table, Some(x_is(1)), Arc::new(reader))).await.unwrap_err();
    assert!(matches!(typed(&error), PushdownError::InexactExpression(_)), "{error}");
}

/// It keeps nothing between runs, not even of one that failed.
#[tokio::test]
async fn it_runs_again() {
    let table = table(State::Deletions, false).await;
    let plan = operator(&table, Some(not(x_is(1))), Arc::new(LanceIndexReader::new()));
    let first = run(Arc::clone(&plan)).await.unwrap();
    for _ in 0..3 {
        assert_eq!(run(Arc::clone(&plan)).await.unwrap(), first);
    }
    let mut reader = MockReader::new();
    let mut call = 0;
    reader.expect_evaluate().returning(move |_, _, _, _| {
        call += 1;
        match call {
            1 => Err(PushdownError::CountOverflow),
            _ => Ok(IndexExprResult::exact(RowAddrMask::allow_nothing())),
        }
    });
    reader.expect_live_rows().returning(|_, plans| {
        let live = |plan: &FragmentPushdownPlan| LiveRows::Addresses {
            fragment: plan.fragment_id,
            physical_rows: plan.physical_rows,
            deleted: None,
        };
        Ok(plans.iter().map(live).collect())
    });
    let plan = operator(&table, Some(x_is(1)), Arc::new(reader));
    run(Arc::clone(&plan)).await.unwrap_err();
    assert_eq!(run(plan).await.unwrap(), [0, 0]);
}

/// Two runs at once do not disturb each other.
#[tokio::test]
async fn it_runs_concurrently() {
    let table = table(State::Deletions, false).await;
    let plan = operator(&table, Some(not(x_is(1))), Arc::new(LanceIndexReader::new()));
    let (left, right) = futures::join!(run(Arc::clone(&plan)), run(Arc::clone(&plan)));
    assert_eq!(left.unwrap(), right.unwrap());
}

/// A reader that never answers, and says when it was asked and when the question was dropped.
#[derive(Debug, Default)]
struct Stuck {
    asked: Notify,
    dropped: Arc<AtomicBool>,
}

struct OnDrop(Arc<AtomicBool>);

impl Drop for OnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[async_trait]
impl IndexReader for Stuck {
    async fn evaluate(
        &self,
        _dataset: &Arc<Dataset>,
        _query: &ScalarIndexExpr,
        _fragments: &RoaringBitmap,
        _metrics: &IndexReadMetrics,
    ) -> lance_pushdown::Result<IndexExprResult> {
        let _guard = OnDrop(Arc::clone(&self.dropped));
        self.asked.notify_one();
        std::future::pending().await
    }

    async fn live_rows(
        &self,
        _dataset: &Arc<Dataset>,
        _fragments: &[FragmentPushdownPlan],
    ) -> lance_pushdown::Result<Vec<LiveRows>> {
        std::future::pending().await
    }
}

/// Dropping the stream drops the reads under way: nothing runs on in the background.
#[tokio::test]
async fn it_is_cancelled_with_its_stream() {
    let table = table(State::AsWritten, false).await;
    let reader = Arc::new(Stuck::default());
    let plan = operator(&table, Some(x_is(1)), Arc::clone(&reader) as Arc<dyn IndexReader>);
    let stream = plan.execute(0, Arc::new(TaskContext::default())).unwrap();
    let running = tokio::spawn(stream.try_collect::<Vec<_>>());
    reader.asked.notified().await;
    assert!(!reader.dropped.load(Ordering::SeqCst));
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    assert!(reader.dropped.load(Ordering::SeqCst));
}

/// A stream that is never polled asks nothing: a mock without expectations would panic.
#[tokio::test]
async fn a_stream_that_is_never_polled_reads_nothing() {
    let table = table(State::AsWritten, false).await;
    let plan = operator(&table, Some(x_is(1)), Arc::new(MockReader::new()));
    drop(plan.execute(0, Arc::new(TaskContext::default())).unwrap());
}
