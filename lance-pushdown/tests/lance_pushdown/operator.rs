//! The operator by itself, and plans over scans that no table provider makes.

use std::sync::Arc;

use datafusion::execution::TaskContext;
use datafusion::functions_aggregate::count::count_udaf;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::aggregate::AggregateExprBuilder;
use datafusion::physical_expr::expressions::lit;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use lance::io::exec::filtered_read::{FilteredReadExec, FilteredReadOptions};
use lance_pushdown::{
    CountSource, FragmentPushdownPlan, IndexedAggregateExec, LanceIndexReader, LancePushdown, LiveRows, MaskQueries,
    PushdownError, PushdownReport, Refusal,
};
use lance_select::{IndexExprResult, RowAddrMask, RowAddrTreeMap};
use roaring::RoaringBitmap;
use rstest::rstest;

use crate::plan_time_io::MockReader;
use crate::support::{Table, counts, fragments, indexed_exec, nodes, plan, rows};

const SQL: &str = "SELECT count(*), count(y) FROM t WHERE x = 1";

async fn table() -> Table {
    let mut table = Table::create(fragments(3)).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    table.delete("id % 6 = 1").await;
    table
}

async fn run(exec: Arc<dyn ExecutionPlan>) -> Vec<i64> {
    counts(&collect(exec, Arc::new(TaskContext::default())).await.unwrap())
}

#[tokio::test]
async fn it_yields_one_row_of_partial_state() {
    let table = table().await;
    let exec = indexed_exec(&table, SQL).await;
    let expected =
        [table.count(|row| row.x == Some(1)).await, table.count(|row| row.x == Some(1) && row.y.is_some()).await];
    assert_eq!(exec.properties().output_partitioning().partition_count(), 1);
    assert_eq!(run(exec).await, expected);
}

#[tokio::test]
async fn it_runs_again_and_after_a_reset() {
    let table = table().await;
    let exec: Arc<dyn ExecutionPlan> = indexed_exec(&table, SQL).await;
    let first = run(Arc::clone(&exec)).await;
    assert_eq!(run(Arc::clone(&exec)).await, first);
    let reset = datafusion::physical_plan::execution_plan::reset_plan_states(exec).unwrap();
    assert_eq!(run(reset).await, first);
}

/// A whole plan with a scan branch runs again after a reset; without one a Lance scan yields nothing.
#[tokio::test]
async fn a_plan_runs_again_after_a_reset() {
    let mut table = table().await;
    table.append(&crate::support::rows(60, 90)).await;
    let pushdown = LancePushdown::new();
    let context = crate::support::context(&pushdown, table.shared());
    let mut current = plan(&context, SQL).await;
    let expected = crate::support::answer(&context, Arc::clone(&current)).await;
    for _ in 0..2 {
        current = datafusion::physical_plan::execution_plan::reset_plan_states(current).unwrap();
        let again = crate::support::answer(&context, Arc::clone(&current)).await;
        assert_eq!(again, expected);
    }
}

#[tokio::test]
async fn it_counts_its_reads() {
    let table = table().await;
    let exec = indexed_exec(&table, SQL).await;
    run(Arc::clone(&exec) as Arc<dyn ExecutionPlan>).await;
    let metrics = exec.metrics().unwrap();
    assert_eq!(metrics.output_rows(), Some(1));
    assert!(metrics.sum_by_name("index_comparisons").unwrap().as_usize() > 0);
}

#[tokio::test]
async fn it_says_what_it_answers() {
    let table = table().await;
    let exec = indexed_exec(&table, SQL).await;
    let text = displayable(exec.as_ref()).indent(false).to_string();
    assert_eq!(
        text.trim_end(),
        "IndexedAggregateExec: fragments=[0-2], filter=[x = 1]@x_idx(Bitmap), \
         nulls=[y IS NULL]@y_idx(Bitmap), bindings=[x:x_idx(Bitmap), y:y_idx(Bitmap)], \
         deletion_vectors=3"
    );
}

#[tokio::test]
async fn another_partition_is_an_error() {
    let table = table().await;
    let exec = indexed_exec(&table, SQL).await;
    let error = exec.execute(1, Arc::new(TaskContext::default())).err().unwrap();
    assert!(error.to_string().contains("one partition"), "{error}");
}

/// The plan of a fragment, with the facts of the manifest if it is there.
fn fragment_plan(table: &Table, fragment_id: u32, counts: Vec<CountSource>) -> FragmentPushdownPlan {
    let deletion_vector =
        table.dataset.get_fragment(fragment_id as usize).and_then(|known| known.metadata().deletion_file.clone());
    FragmentPushdownPlan { fragment_id, physical_rows: 20, index_bindings: vec![], deletion_vector, counts }
}

#[rstest]
#[case::none(vec![], "at least one fragment")]
#[case::twice(vec![(0, 2), (0, 2)], "more than once")]
#[case::unknown(vec![(17, 2)], "not part of the dataset version")]
#[case::arity(vec![(0, 1)], "answers 1 counts, the output has 2")]
#[tokio::test]
async fn it_refuses_wrong_fragments(#[case] plans: Vec<(u32, usize)>, #[case] message: &str) {
    let table = table().await;
    let exec = indexed_exec(&table, SQL).await;
    let plans =
        plans.into_iter().map(|(id, counts)| fragment_plan(&table, id, vec![CountSource::Rows; counts])).collect();
    let error = IndexedAggregateExec::try_new(
        Arc::clone(exec.dataset()),
        Arc::new(LanceIndexReader::new()),
        exec.queries().clone(),
        plans,
        exec.schema(),
    )
    .unwrap_err();
    assert!(error.to_string().contains(message), "{error}");
}

#[tokio::test]
async fn it_refuses_an_unknown_null_query() {
    let table = table().await;
    let exec = indexed_exec(&table, SQL).await;
    let error = IndexedAggregateExec::try_new(
        Arc::clone(exec.dataset()),
        Arc::new(LanceIndexReader::new()),
        exec.queries().clone(),
        vec![fragment_plan(&table, 0, vec![CountSource::Rows, CountSource::NonNull(9)])],
        exec.schema(),
    )
    .unwrap_err();
    assert!(matches!(error, PushdownError::UnknownNullQuery { fragment: 0, query: 9 }));
}

#[rstest]
#[case::rows(|plan: &mut FragmentPushdownPlan| plan.physical_rows = 19)]
#[case::deletions(|plan: &mut FragmentPushdownPlan| plan.deletion_vector = None)]
#[tokio::test]
async fn it_refuses_facts_that_are_not_the_manifests(#[case] change: fn(&mut FragmentPushdownPlan)) {
    let mut table = table().await;
    table.delete("id IN (1, 21, 41)").await;
    let exec = indexed_exec(&table, SQL).await;
    let mut fragments = exec.fragments().to_vec();
    change(&mut fragments[0]);
    let error = IndexedAggregateExec::try_new(
        Arc::clone(exec.dataset()),
        Arc::new(LanceIndexReader::new()),
        exec.queries().clone(),
        fragments,
        exec.schema(),
    )
    .unwrap_err();
    assert!(matches!(error, PushdownError::FragmentFacts(0)), "{error}");
}

/// An answer without the rows of an appended fragment would be a smaller count, not an error.
#[tokio::test]
async fn a_fragment_that_no_segment_covers_is_an_error() {
    let mut table = table().await;
    let filter = indexed_exec(&table, SQL).await.queries().filter.clone();
    table.append(&rows(900, 920)).await;
    let appended = table.dataset.manifest.fragments.last().unwrap().id as u32;
    let exec = indexed_exec(&table, SQL).await;
    let exec = IndexedAggregateExec::try_new(
        table.shared(),
        Arc::new(LanceIndexReader::new()),
        MaskQueries { filter, nulls: vec![] },
        vec![fragment_plan(&table, appended, vec![CountSource::Rows; 2])],
        exec.schema(),
    )
    .unwrap();
    let error = collect(Arc::new(exec), Arc::new(TaskContext::default())).await.unwrap_err();
    assert!(error.to_string().contains("no segment for some of the planned fragments"), "{error}");
}

fn offsets(fragment: u32, rows: &[u32]) -> RowAddrTreeMap {
    let mut map = RowAddrTreeMap::new();
    map.insert_bitmap(fragment, rows.iter().copied().collect());
    map
}

/// The operator over a reader that answers the given filter mask for fragment 0, rows 2 and 3 of which are deleted.
async fn run_mocked(answer: IndexExprResult) -> Result<Vec<i64>, String> {
    let table = table().await;
    let exec = indexed_exec(&table, "SELECT count(*) FROM t WHERE x = 1").await;
    let mut reader = MockReader::new();
    reader.expect_evaluate().times(1).return_once(move |_, _, _, _| Ok(answer));
    reader.expect_live_rows().returning(|_, _| {
        Ok(vec![LiveRows::Addresses {
            fragment: 0,
            physical_rows: 20,
            deleted: Some(Arc::new(RoaringBitmap::from_iter([2, 3]))),
        }])
    });
    let exec = IndexedAggregateExec::try_new(
        Arc::clone(exec.dataset()),
        Arc::new(reader),
        exec.queries().clone(),
        vec![fragment_plan(&table, 0, vec![CountSource::Rows])],
        exec.schema(),
    )
    .unwrap();
    let batches = collect(Arc::new(exec), Arc::new(TaskContext::default())).await;
    batches.map(|batches| counts(&batches)).map_err(|error| error.to_string())
}

#[rstest]
#[case::allowed(RowAddrMask::from_allowed(offsets(0, &[1, 2, 5])), 2)]
#[case::blocked(RowAddrMask::from_block(offsets(0, &[1, 2, 5])), 16)]
#[case::everything(RowAddrMask::all_rows(), 18)]
#[case::nothing(RowAddrMask::allow_nothing(), 0)]
#[case::other_fragments(RowAddrMask::from_allowed(offsets(1, &[1, 2, 5])), 0)]
#[tokio::test]
async fn masks_are_counted_among_live_rows(#[case] mask: RowAddrMask, #[case] expected: i64) {
    let counted = run_mocked(IndexExprResult::exact(mask)).await;
    assert_eq!(counted, Ok(vec![expected]));
}

#[rstest]
#[case::at_most(IndexExprResult::at_most(RowAddrMask::from_allowed(offsets(0, &[1]))))]
#[case::at_least(IndexExprResult::at_least(RowAddrMask::from_allowed(offsets(0, &[1]))))]
#[tokio::test]
async fn an_inexact_answer_is_an_error(#[case] answer: IndexExprResult) {
    let error = run_mocked(answer).await.unwrap_err();
    assert!(error.contains("inexactly"), "{error}");
}

#[test]
fn a_mask_beyond_the_fragment_is_an_error() {
    let rows = LiveRows::Addresses { fragment: 0, physical_rows: 2, deleted: None };
    let mask = RowAddrMask::from_block(offsets(0, &[0, 1, 2, 3]));
    assert!(matches!(rows.count(&mask), Err(PushdownError::MaskExceedsFragment(0))));
}

/// `Final <- Partial <- scan` for `COUNT(*)`, rewritten by the rule alone.
pub(crate) fn rewrite(
    pushdown: &LancePushdown,
    scan: Arc<dyn ExecutionPlan>,
) -> (Arc<dyn ExecutionPlan>, PushdownReport) {
    rewrite_counting(pushdown, scan, lit(1_i64))
}

/// [`rewrite`] for `COUNT(argument)`.
pub(crate) fn rewrite_counting(
    pushdown: &LancePushdown,
    scan: Arc<dyn ExecutionPlan>,
    argument: Arc<dyn PhysicalExpr>,
) -> (Arc<dyn ExecutionPlan>, PushdownReport) {
    let count = AggregateExprBuilder::new(count_udaf(), vec![argument])
        .schema(scan.schema())
        .alias("counted")
        .build()
        .map(Arc::new)
        .unwrap();
    let aggregate = |mode, input: Arc<dyn ExecutionPlan>, schema| {
        AggregateExec::try_new(mode, PhysicalGroupBy::default(), vec![Arc::clone(&count)], vec![None], input, schema)
            .map(Arc::new)
            .unwrap()
    };
    let schema = scan.schema();
    let partial = aggregate(AggregateMode::Partial, scan, Arc::clone(&schema));
    let plan = aggregate(AggregateMode::Final, partial, schema);
    let config = SessionConfig::new();
    let rewritten = pushdown.rule().optimize(plan, config.options()).unwrap();
    (rewritten, pushdown.take_reports().pop().expect("a report"))
}

pub(crate) fn base_options(table: &Table) -> FilteredReadOptions {
    FilteredReadOptions::new(table.shared().empty_projection().with_row_addr())
}

fn scan(table: &Table, options: FilteredReadOptions) -> Arc<dyn ExecutionPlan> {
    Arc::new(FilteredReadExec::try_new(table.shared(), options, None).unwrap())
}

#[rstest]
#[case::deleted_rows(|o: FilteredReadOptions, _: &Table| o.with_deleted_rows().unwrap(), Refusal::DeletedRows)]
#[case::only_indexed(|o: FilteredReadOptions, _: &Table| o.with_only_indexed_fragments(), Refusal::OnlyIndexedFragments)]
#[case::range_before(|o: FilteredReadOptions, _: &Table| o.with_scan_range_before_filter(0..3).unwrap(), Refusal::Limit)]
#[case::range_after(|o: FilteredReadOptions, _: &Table| {
    let filter = Some(datafusion::prelude::col("x").gt(datafusion::prelude::lit(1_i32)));
    let filtered = o.with_filter(filter.clone(), filter).unwrap();
    filtered.with_scan_range_after_filter(0..3).unwrap()
}, Refusal::Limit)]
#[case::overlay_block(|o: FilteredReadOptions, _: &Table| o.with_overlay_block(RowAddrMask::all_rows()), Refusal::Overlays)]
#[case::duplicates(|o: FilteredReadOptions, t: &Table| {
    let first = t.dataset.fragments()[0].clone();
    o.with_fragments(Arc::new(vec![first.clone(), first]))
}, Refusal::DuplicateFragments)]
#[case::stale(|o: FilteredReadOptions, t: &Table| {
    let mut first = t.dataset.fragments()[0].clone();
    first.deletion_file = None;
    o.with_fragments(Arc::new(vec![first]))
}, Refusal::StaleFragments)]
#[case::foreign(|o: FilteredReadOptions, t: &Table| {
    let mut first = t.dataset.fragments()[0].clone();
    first.id = 400;
    o.with_fragments(Arc::new(vec![first]))
}, Refusal::StaleFragments)]
#[case::large_id(|o: FilteredReadOptions, t: &Table| {
    let mut first = t.dataset.fragments()[0].clone();
    first.id = u64::from(u32::MAX) + 1;
    o.with_fragments(Arc::new(vec![first]))
}, Refusal::FragmentIdRange)]
#[tokio::test]
async fn scans_that_are_not_their_live_rows(
    #[case] change: fn(FilteredReadOptions, &Table) -> FilteredReadOptions,
    #[case] expected: Refusal,
) {
    let table = table().await;
    let scan = scan(&table, change(base_options(&table), &table));
    let (plan, report) = rewrite(&LancePushdown::new(), scan);
    assert_eq!(report.refusal, Some(expected));
    assert!(nodes(&plan).iter().any(|node| node.is::<FilteredReadExec>()));
}

/// A scan of chosen fragments counts these and no others.
#[tokio::test]
async fn explicit_fragments_are_the_universe() {
    let table = table().await;
    let chosen = Arc::new(vec![table.dataset.fragments()[2].clone(), table.dataset.fragments()[0].clone()]);
    let scan = scan(&table, base_options(&table).with_fragments(chosen));
    let (plan, report) = rewrite(&LancePushdown::new(), scan);
    let ids: Vec<u64> = report.fragments.iter().map(|f| f.fragment_id).collect();
    assert_eq!(ids, [2, 0]);
    let context = SessionContext::new();
    let expected = table.count(|row| !(20..40).contains(&row.id)).await;
    assert_eq!(crate::support::answer(&context, plan).await, [expected]);
}

/// A scan of no fragments is no scan of all of them.
#[tokio::test]
async fn an_empty_list_of_fragments() {
    let table = table().await;
    let scan = scan(&table, base_options(&table).with_fragments(Arc::new(vec![])));
    let (plan, report) = rewrite(&LancePushdown::new(), scan);
    assert_eq!(report.refusal, Some(Refusal::NoFragments));
    let context = SessionContext::new();
    assert_eq!(crate::support::answer(&context, plan).await, [0]);
}
