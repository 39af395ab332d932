//! Zone maps in the states that writers leave them in.

use std::sync::Arc;

use arrow::array::{Float64Array, Int32Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema};
use datafusion::logical_expr::Expr;
use datafusion::prelude::{col, lit};
use lance_index::optimize::OptimizeOptions;
use lance_pushdown::{Bucket, LancePushdown, PushdownReport, Refusal, ScanReason, Undecided};
use rstest::rstest;

use crate::support::{Layout, Table, answer, assert_opened, buckets, fragments, opened, plan, rows, sizes, truth};
use crate::verdicts::{batch, over, zoned};

/// Filters that cut through the fragments of [`zoned`], or hold, or fail for them.
const QUERIES: [&str; 9] = [
    "SELECT count(*), count(v) FROM t",
    "SELECT count(*), count(v) FROM t WHERE v = 5",
    "SELECT count(*), count(v) FROM t WHERE v <> 5",
    "SELECT count(*), count(v) FROM t WHERE v < 15",
    "SELECT count(*), count(v) FROM t WHERE v >= 10",
    "SELECT count(*), count(v) FROM t WHERE v IS NULL",
    "SELECT count(*), count(v) FROM t WHERE v IS NOT NULL",
    "SELECT count(*), count(v) FROM t WHERE NOT (v IN (5, 77) OR w = 'b3')",
    "SELECT count(*) FROM t WHERE v BETWEEN 10 AND 39 AND w >= 'b'",
];

async fn assert_all(table: &Table) {
    for sql in QUERIES {
        assert_opened(table, sql).await;
    }
}

/// [`assert_all`] where the stock plan is not asked.
async fn assert_all_ours(table: &Table) {
    for sql in QUERIES {
        let pushdown = LancePushdown::new();
        let context = opened(&pushdown, table.shared(), 4).await;
        let plan = plan(&context, sql).await;
        assert_eq!(answer(&context, plan).await, truth(table, sql).await, "{sql}");
    }
}

async fn report(table: &Table, sql: &str) -> PushdownReport {
    let pushdown = LancePushdown::new();
    let context = opened(&pushdown, table.shared(), 1).await;
    plan(&context, sql).await;
    pushdown.take_reports().pop().expect("a report")
}

const LESS: &str = "SELECT count(*) FROM t WHERE v < 20";
const VALUES: &str = "SELECT count(v) FROM t";

/// Extrema of more rows than are left stay bounds; NULLs are counted among the deleted rows too.
#[tokio::test]
async fn deletions_after_the_zone_map() {
    let mut table = zoned().await;
    table.delete("id % 10 IN (0, 3, 9)").await;
    assert_all(&table).await;
    let less = assert_opened(&table, LESS).await;
    assert_eq!(buckets(&less), "sssss");
    assert!(less.to_string().contains("literal from statistics (15 deleted rows"), "{less}");
    // Fragment 1 has NULLs and deletions: how many NULLs are left is not known.
    let values = assert_opened(&table, VALUES).await;
    assert_eq!(buckets(&values), "s.sss");
    assert_eq!(values.fragments[1].undecided, Some(Undecided::Deletions));
    let nulls = assert_opened(&table, "SELECT count(*) FROM t WHERE v IS NULL").await;
    assert_eq!(buckets(&nulls), "s.sss");
}

/// Every NULL deleted, and every value: neither makes the recorded number of NULLs exact.
#[rstest]
#[case::nulls("v IS NULL")]
#[case::values("v BETWEEN 20 AND 29")]
#[tokio::test]
async fn all_of_a_kind_deleted(#[case] predicate: &str) {
    let mut table = zoned().await;
    table.delete(&format!("id BETWEEN 10 AND 19 AND {predicate}")).await;
    assert_all(&table).await;
    let values = assert_opened(&table, VALUES).await;
    assert_eq!(values.fragments[1].undecided, Some(Undecided::Deletions));
}

/// Rows that were deleted before are in no zone; gaps at a zone's border might hide rows that are in none either.
#[rstest]
#[case::within_a_zone("id IN (1, 12, 31)", "sssss")]
#[case::at_the_start("id = 0", ".ssss")]
#[case::at_the_end("id = 39", "sss.s")]
#[case::between_zones("id IN (4, 5)", ".ssss")]
#[tokio::test]
async fn deletions_before_the_zone_map(#[case] predicate: &str, #[case] expected: &str) {
    let layout = Layout { rows_per_fragment: 10, ..fragments(5) };
    let mut table = Table::from_batch(batch(), layout).await;
    table.delete(predicate).await;
    table.zone_map("v", 4).await;
    assert_all(&table).await;
    let less = assert_opened(&table, LESS).await;
    assert_eq!(buckets(&less), expected, "{less}");
    for (fragment, letter) in less.fragments.iter().zip(expected.chars()) {
        assert_eq!(fragment.undecided, (letter == '.').then_some(Undecided::ZoneSpan), "{less}");
    }
}

/// A deletion whose size the manifest does not record is never in a literal, not even where no row passes.
#[rstest]
#[case::every_row(col("v").lt(lit(20_i32)))]
#[case::no_row(col("v").gt(lit(100_i32)))]
#[tokio::test]
async fn an_unrecorded_deletion_is_left_to_the_scan(#[case] filter: Expr) {
    let mut table = zoned().await;
    table.delete("id IN (1, 41)").await;
    let recorded = over(&table, filter.clone()).await;
    assert_eq!(buckets(&recorded), "sssss", "{recorded}");
    let mut manifest = table.dataset.manifest.as_ref().clone();
    let first = &mut Arc::make_mut(&mut manifest.fragments)[0];
    first.deletion_file.as_mut().unwrap().num_deleted_rows = None;
    table.dataset.manifest = Arc::new(manifest);
    let report = over(&table, filter).await;
    assert_eq!(buckets(&report), ".ssss", "{report}");
    assert_eq!(report.fragments[0].bucket, Bucket::Scan(ScanReason::DeletionCountUnknown));
}

#[tokio::test]
async fn a_manifest_without_its_writer() {
    let mut table = zoned().await;
    let mut manifest = table.dataset.manifest.as_ref().clone();
    manifest.writer_version = None;
    table.dataset.manifest = Arc::new(manifest);
    assert_eq!(report(&table, LESS).await.refusal, Some(Refusal::WriterVersion));
}

/// An appended fragment is in no zone until the zone map is brought up to date.
#[rstest]
#[tokio::test]
async fn appended_fragments(#[values(None, Some(false), Some(true))] merged: Option<bool>) {
    let mut table = zoned().await;
    table.append_batch(batch().slice(20, 10)).await;
    table.append_batch(batch().slice(0, 10)).await;
    match merged {
        Some(true) => table.optimize(OptimizeOptions::merge(10)).await,
        Some(false) => table.optimize(OptimizeOptions::append()).await,
        None => {}
    }
    assert_all(&table).await;
    let less = assert_opened(&table, LESS).await;
    match merged {
        Some(_) => assert_eq!(buckets(&less), "sssssss", "{less}"),
        None => {
            assert_eq!(buckets(&less), "sssss..", "{less}");
            assert_eq!(less.fragments[5].undecided, Some(Undecided::Uncovered));
        }
    }
}

/// Updated rows move to a fragment that no zone knows.
#[rstest]
#[tokio::test]
async fn updated_rows(#[values(false, true)] optimized: bool) {
    let mut table = zoned().await;
    table.update("id % 10 IN (2, 5)", "v", "v + 100").await;
    table.update("id = 44", "v", "NULL").await;
    if optimized {
        table.optimize(OptimizeOptions::merge(10)).await;
    }
    assert_all(&table).await;
    let less = assert_opened(&table, LESS).await;
    assert!(buckets(&less).starts_with("sssss"), "{less}");
    assert_eq!(buckets(&less).ends_with('.'), !optimized, "{less}");
}

/// A zone map is not remapped: no zone speaks about the new fragment.
#[rstest]
#[tokio::test]
async fn compaction(#[values(false, true)] deletions: bool) {
    let mut table = zoned().await;
    if deletions {
        table.delete("id % 10 = 2").await;
    }
    table.compact(false).await;
    assert_eq!(table.dataset.fragments().len(), 1);
    assert_all_ours(&table).await;
    let less = report(&table, LESS).await;
    assert_eq!(less.refusal, Some(Refusal::NothingAnswered), "{less}");
    table.optimize(OptimizeOptions::merge(10)).await;
    assert_all_ours(&table).await;
}

#[tokio::test]
async fn compaction_with_a_deferred_remap() {
    let mut table = zoned().await;
    table.delete("id % 10 = 2").await;
    table.compact(true).await;
    assert_all_ours(&table).await;
    let less = report(&table, LESS).await;
    assert_eq!(less.fragments[0].undecided, Some(Undecided::FragmentReuse), "{less}");
}

#[tokio::test]
async fn stable_row_ids() {
    let layout = Layout { rows_per_fragment: 10, fragments: 5, stable_row_ids: true };
    let mut table = Table::from_batch(batch(), layout).await;
    table.zone_map("v", 4).await;
    table.update("id = 12", "v", "7").await;
    assert_all_ours(&table).await;
    let less = report(&table, LESS).await;
    assert_eq!(less.fragments[0].undecided, Some(Undecided::StableRowIds), "{less}");
}

/// Zones of the values before stay in the file, and the new ones beside them once the zone map is brought up to date.
#[rstest]
#[tokio::test]
async fn a_column_rewritten_in_place(#[values(None, Some(false), Some(true))] merged: Option<bool>) {
    let mut table = Table::create(fragments(3)).await;
    table.zone_map("x", 8).await;
    let moved: Vec<_> =
        rows(20, 40).into_iter().map(|row| crate::support::Row { x: row.x.map(|x| x + 50), ..row }).collect();
    table.rewrite_x(&moved).await;
    match merged {
        Some(true) => table.optimize(OptimizeOptions::merge(10)).await,
        Some(false) => table.optimize(OptimizeOptions::append()).await,
        None => {}
    }
    for filter in ["x < 50", "x >= 50", "x > 4", "x = 52", "x IS NULL", "x <> 99"] {
        let sql = format!("SELECT count(*), count(x) FROM t WHERE {filter}");
        let pushdown = LancePushdown::new();
        let context = opened(&pushdown, table.shared(), 1).await;
        let plan = plan(&context, &sql).await;
        let report = pushdown.take_reports().pop().expect("a report");
        assert_eq!(answer(&context, plan).await, truth(&table, &sql).await, "{sql}\n{report}");
    }
    let above = report(&table, "SELECT count(*) FROM t WHERE x > 49").await;
    let expected = match merged {
        None => Some(Undecided::Uncovered),
        Some(true) => Some(Undecided::ZoneSpan),
        // A second segment has the new zones alone.
        Some(false) => above.fragments[1].undecided,
    };
    assert_eq!(above.fragments[1].undecided, expected, "{above}");
    assert_eq!((&buckets(&above)[0..1], &buckets(&above)[2..3]), ("s", "s"), "{above}");
}

/// Each fragment is judged by a zone map that covers it; coverages are not mixed.
#[rstest]
#[tokio::test]
async fn two_zone_maps_of_different_coverage(#[values(false, true)] wide_first: bool) {
    let layout = Layout { rows_per_fragment: 10, ..fragments(5) };
    let mut table = Table::from_batch(batch(), layout).await;
    if !wide_first {
        table.named_zone_map("v", 4, "narrow").await;
    }
    table.append_batch(batch().slice(0, 10)).await;
    table.named_zone_map("v", 3, "wide").await;
    table.append_batch(batch().slice(30, 10)).await;
    assert_all(&table).await;
    let less = assert_opened(&table, LESS).await;
    assert_eq!(buckets(&less), "ssssss.", "{less}");
    assert_eq!(less.fragments[6].undecided, Some(Undecided::Uncovered));
}

/// NaN lies outside the extrema, and the zeros are told apart: no comparison of floats is decided, their NULLs are.
#[tokio::test]
async fn floats() {
    let schema = Arc::new(Schema::new(vec![Field::new("f", DataType::Float64, true)]));
    let values = [
        [Some(0.0), Some(-0.0), Some(0.0), Some(-0.0)],
        [Some(1.0), Some(f64::NAN), Some(2.0), Some(-f64::NAN)],
        [Some(1.0), None, Some(f64::INFINITY), Some(f64::NAN)],
        [None, None, None, None],
        [Some(f64::NAN), Some(f64::NAN), Some(f64::NAN), Some(f64::NAN)],
    ];
    let data = RecordBatch::try_new(schema, vec![Arc::new(Float64Array::from(values.concat()))]).unwrap();
    let mut table = Table::from_batch(data, Layout { rows_per_fragment: 4, ..fragments(5) }).await;
    table.zone_map("f", 2).await;
    for filter in ["f = 0.0", "f < 0.5", "f >= 1", "f > 100", "f <> 0", "NOT (f <= 2)"] {
        let report = report(&table, &format!("SELECT count(*) FROM t WHERE {filter}")).await;
        assert_eq!(report.refusal, Some(Refusal::NothingAnswered), "{filter}");
        assert_eq!(report.fragments[0].undecided, Some(Undecided::Float), "{filter}");
    }
    let report = assert_opened(&table, "SELECT count(f), count(*) FROM t").await;
    assert_eq!(buckets(&report), "sssss");
    for (filter, expected) in [("f IS NULL", "ss.ss"), ("f IS NOT NULL", "ss.ss")] {
        let report = assert_opened(&table, &format!("SELECT count(*) FROM t WHERE {filter}")).await;
        assert_eq!(buckets(&report), expected, "{filter}");
    }
}

/// A bitmap answers what the zones leave open, and is not asked where they decide.
#[tokio::test]
async fn with_a_bitmap_on_the_column() {
    let mut table = zoned().await;
    table.bitmap("v").await;
    table.append_batch(batch().slice(0, 10)).await;
    table.delete("id IN (3, 14)").await;
    assert_all(&table).await;
    let report = assert_opened(&table, "SELECT count(*), count(v) FROM t WHERE v <> 15").await;
    assert_eq!(buckets(&report), "iisss.", "{report}");
    // Without the switch the bitmap answers for all.
    let pushdown = LancePushdown::new();
    let context = opened(&pushdown, table.shared(), 1).await;
    context.sql("SET lance_pushdown.statistics = false").await.unwrap().collect().await.unwrap();
    plan(&context, "SELECT count(*), count(v) FROM t WHERE v <> 15").await;
    let report = pushdown.take_reports().pop().expect("a report");
    assert_eq!(buckets(&report), "iiiii.", "{report}");
    assert_eq!(report.fragments[5].undecided, Some(Undecided::Off));
}

/// A column whose only index covers none of the fragments that are asked: its query is dropped from the plan.
#[tokio::test]
async fn an_index_on_nulls_that_no_fragment_needs() {
    let layout = Layout { rows_per_fragment: 10, ..fragments(1) };
    let mut table = Table::from_batch(batch().slice(0, 10), layout).await;
    table.bitmap("w").await;
    table.append_batch(batch().project(&[0, 1]).unwrap().slice(10, 10)).await;
    table.bitmap("v").await;
    // The first fragment is answered by both, the second has no w.
    let report = assert_opened(&table, "SELECT count(*), count(w) FROM t WHERE v >= 15 AND v <> 16").await;
    assert_eq!(sizes(&report), (2, 0, 0), "{report}");
    table.delete("id < 10").await;
    assert_eq!(table.dataset.fragments().len(), 1);
    let report = assert_opened(&table, "SELECT count(*), count(w) FROM t WHERE v >= 15 AND v <> 16").await;
    assert_eq!(sizes(&report), (1, 0, 0), "{report}");
}

/// A zone without values has no extrema, and needs none.
#[tokio::test]
async fn a_zone_map_of_one_all_null_zone() {
    let schema = Arc::new(Schema::new(vec![Field::new("v", DataType::Int32, true)]));
    let values = Int32Array::from(vec![Some(1), Some(2), None, None, None, None]);
    let data = RecordBatch::try_new(schema, vec![Arc::new(values)]).unwrap();
    let mut table = Table::from_batch(data, Layout { rows_per_fragment: 6, ..fragments(1) }).await;
    table.zone_map("v", 2).await;
    for (filter, expected) in [("v > 2", "s"), ("v >= 1", "."), ("v IS NULL", "."), ("v < 1", "s")] {
        let report = assert_opened(&table, &format!("SELECT count(*) FROM t WHERE {filter}")).await;
        assert_eq!(buckets(&report), expected, "{filter}\n{report}");
    }
    assert_eq!(buckets(&assert_opened(&table, "SELECT count(v) FROM t").await), "s");
}

/// A server opens tables in tasks of its own.
#[tokio::test]
async fn a_table_is_opened_in_a_task() {
    let dataset = Table::create(fragments(1)).await.shared();
    let opened = tokio::spawn(async move { lance_pushdown::LancePushdown::new().open_table(dataset).await });
    assert_eq!(opened.await.unwrap().unwrap().schema().fields().len(), 4);
}
