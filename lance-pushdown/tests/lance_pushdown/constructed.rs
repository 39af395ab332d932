//! States that no writer of this version leaves behind, made by hand.

use std::ops::Bound;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_optimizer::optimizer::PhysicalOptimizer;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::prelude::{SessionConfig, SessionContext, col, lit};
use lance::Dataset;
use lance::io::exec::filtered_read::FilteredReadExec;
use lance::io::exec::scalar_index::ScalarIndexExec;
use lance_index::scalar::SargableQuery;
use lance_index::scalar::expression::{ScalarIndexExpr, ScalarIndexSearch};
use lance_pushdown::{Bucket, LancePushdown, PushdownReport, Refusal, ScanReason};
use lance_select::result::IndexExprResultWireFormat;
use lance_table::format::Manifest;
use roaring::RoaringBitmap;
use rstest::rstest;

use crate::operator::{base_options, rewrite};
use crate::support::{Table, fragments, plan};

/// The dataset under a manifest that was tampered with.
fn tampered(table: &Table, change: impl FnOnce(&mut Manifest)) -> Arc<Dataset> {
    let mut dataset = table.dataset.clone();
    let mut manifest = dataset.manifest.as_ref().clone();
    change(&mut manifest);
    dataset.manifest = Arc::new(manifest);
    Arc::new(dataset)
}

fn report_over(table: &Table, dataset: Arc<Dataset>) -> PushdownReport {
    let scan = FilteredReadExec::try_new(dataset, base_options(table), None).unwrap();
    rewrite(&LancePushdown::new(), Arc::new(scan)).1
}

fn first_fragment(manifest: &mut Manifest) -> &mut lance_table::format::Fragment {
    &mut Arc::make_mut(&mut manifest.fragments)[0]
}

async fn table_with_deletions() -> Table {
    let mut table = Table::create(fragments(2)).await;
    table.delete("id IN (1, 2, 30)").await;
    table
}

#[rstest]
#[case::physical_rows(
    |m: &mut Manifest| first_fragment(m).physical_rows = None,
    ScanReason::PhysicalRowsUnknown
)]
#[case::deletion_count(
    |m: &mut Manifest| first_fragment(m).deletion_file.as_mut().unwrap().num_deleted_rows = None,
    ScanReason::DeletionCountUnknown
)]
#[case::too_many_deletions(
    |m: &mut Manifest| first_fragment(m).deletion_file.as_mut().unwrap().num_deleted_rows = Some(21),
    ScanReason::DeletionCountCorrupt
)]
#[tokio::test]
async fn row_counts_that_do_not_hold(#[case] change: fn(&mut Manifest), #[case] expected: ScanReason) {
    let table = table_with_deletions().await;
    let report = report_over(&table, tampered(&table, change));
    assert_eq!(report.fragments[0].bucket, Bucket::Scan(expected));
    assert_eq!(report.fragments[0].live_rows, None);
    assert_eq!(report.fragments[1].bucket, Bucket::Literal);
    assert_eq!(report.rows_to_scan(), None);
}

#[tokio::test]
async fn a_manifest_without_its_writer() {
    let table = table_with_deletions().await;
    let dataset = tampered(&table, |manifest| manifest.writer_version = None);
    let report = report_over(&table, dataset);
    assert_eq!(report.refusal, Some(Refusal::WriterVersion));
}

/// The leaf that Lance would plan for `x = 1`, with one thing changed.
fn leaf(change: impl FnOnce(&mut ScalarIndexSearch)) -> ScalarIndexExpr {
    let mut search = ScalarIndexSearch {
        column: "x".to_string(),
        index_name: "x_idx".to_string(),
        index_type: "Bitmap".to_string(),
        query: Arc::new(SargableQuery::Equals(ScalarValue::Int32(Some(1)))),
        needs_recheck: false,
        fragment_bitmap: Some(RoaringBitmap::from_iter([0, 1])),
    };
    change(&mut search);
    ScalarIndexExpr::Query(search)
}

fn over_leaf(table: &Table, leaf: ScalarIndexExpr) -> (Arc<dyn ExecutionPlan>, PushdownReport) {
    let dataset = table.shared();
    let index = ScalarIndexExec::new(Arc::clone(&dataset), leaf, IndexExprResultWireFormat::TwoMask);
    let filter = col("x").eq(lit(1_i32));
    let options = base_options(table).with_filter(None, Some(filter)).unwrap();
    let scan = FilteredReadExec::try_new(dataset, options, Some(Arc::new(index))).unwrap();
    rewrite(&LancePushdown::new(), Arc::new(scan))
}

fn null() -> ScalarValue {
    ScalarValue::Int32(None)
}

#[rstest]
#[case::recheck(|s: &mut ScalarIndexSearch| s.needs_recheck = true, ScanReason::InexactIndex)]
#[case::coverage(|s: &mut ScalarIndexSearch| s.fragment_bitmap = None, ScanReason::CoverageUnknown)]
#[case::kind(|s: &mut ScalarIndexSearch| s.index_type = "BTree".into(), ScanReason::IndexKind)]
#[case::nested(|s: &mut ScalarIndexSearch| s.column = "s.k".into(), ScanReason::NestedColumn)]
#[case::prefix(
    |s: &mut ScalarIndexSearch| s.query = Arc::new(SargableQuery::LikePrefix(ScalarValue::from("a"))),
    ScanReason::UnsupportedQuery
)]
#[case::equal_null(
    |s: &mut ScalarIndexSearch| s.query = Arc::new(SargableQuery::Equals(null())),
    ScanReason::NullLiteral
)]
#[case::null_in_list(
    |s: &mut ScalarIndexSearch| {
        s.query = Arc::new(SargableQuery::IsIn(vec![ScalarValue::Int32(Some(1)), null()]));
    },
    ScanReason::NullLiteral
)]
#[case::null_bound(
    |s: &mut ScalarIndexSearch| {
        s.query = Arc::new(SargableQuery::Range(Bound::Unbounded, Bound::Excluded(null())));
    },
    ScanReason::NullLiteral
)]
#[tokio::test]
async fn leaves_that_are_not_exact_bitmaps(#[case] change: fn(&mut ScalarIndexSearch), #[case] expected: ScanReason) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let (_, report) = over_leaf(&table, leaf(change));
    assert_eq!(report.fragments[0].bucket, Bucket::Scan(expected), "{report}");
    let (_, report) = over_leaf(&table, leaf(|_| {}));
    assert_eq!(report.bucket_sizes().index, 2, "the leaf unchanged is answered");
}

/// Dead fragments in a leaf's coverage are nobody's rows.
#[tokio::test]
async fn coverage_of_fragments_that_are_gone() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let dead = |search: &mut ScalarIndexSearch| {
        search.fragment_bitmap = Some(RoaringBitmap::from_iter([0, 1, 7, 99]));
    };
    let (plan, report) = over_leaf(&table, leaf(dead));
    assert_eq!(report.fragments.len(), 2);
    let expected = table.count(|row| row.x == Some(1)).await;
    let context = SessionContext::new();
    assert_eq!(crate::support::answer(&context, plan).await, [expected]);
}

/// A selection by index without a filter text is somebody else's selection.
#[tokio::test]
async fn an_index_input_without_a_filter() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let dataset = table.shared();
    let index = ScalarIndexExec::new(Arc::clone(&dataset), leaf(|_| {}), IndexExprResultWireFormat::TwoMask);
    let scan = FilteredReadExec::try_new(dataset, base_options(&table), Some(Arc::new(index))).unwrap();
    let (_, report) = rewrite(&LancePushdown::new(), Arc::new(scan));
    assert_eq!(report.refusal, Some(Refusal::IndexInput));
}

/// At the end of the list the aggregate has become a single step, which is left alone.
#[tokio::test]
async fn a_rule_registered_too_late() {
    let table = Table::create(fragments(2)).await;
    let pushdown = LancePushdown::new();
    let mut rules = PhysicalOptimizer::new().rules;
    rules.push(pushdown.rule());
    let state = SessionStateBuilder::new()
        .with_config(SessionConfig::new().with_target_partitions(1))
        .with_default_features()
        .with_physical_optimizer_rules(rules)
        .build();
    let context = SessionContext::new_with_state(state);
    context.register_table("t", pushdown.table(table.shared())).unwrap();
    plan(&context, "SELECT count(x) FROM t").await;
    let report = pushdown.take_reports().pop().expect("a report");
    assert_eq!(report.refusal, Some(Refusal::AggregateMode));
}

/// A column that must not be NULL and has no data is a contradiction, not a count.
#[tokio::test]
async fn a_required_column_without_data() {
    let table = Table::create(fragments(2)).await;
    let dataset = tampered(&table, |manifest| {
        first_fragment(manifest).files.clear();
    });
    let pushdown = LancePushdown::new();
    let context = crate::support::context(&pushdown, dataset);
    plan(&context, "SELECT count(id) FROM t").await;
    let report = pushdown.take_reports().pop().expect("a report");
    assert_eq!(report.fragments[0].bucket, Bucket::Scan(ScanReason::ColumnMissing));
    assert_eq!(report.fragments[1].bucket, Bucket::Literal);
}
