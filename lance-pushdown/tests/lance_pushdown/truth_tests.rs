//! `IS TRUE` and `IS FALSE`, whose NULL rows Lance 14.0.2 loses below NOT: judged by the rows.

use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use lance_pushdown::{Bucket, ScanReason};
use rstest::rstest;

use crate::support::{Table, assert_counts, fragments, pushed, pushed_stock, sizes};

/// 20 rows a fragment: b is true, false or NULL in turn.
fn booleans(from: i64, to: i64) -> (RecordBatch, Vec<Option<bool>>) {
    let values: Vec<Option<bool>> = (from..to).map(|id| [Some(true), Some(false), None][(id % 3) as usize]).collect();
    let ids: ArrayRef = Arc::new((from..to).collect::<Int64Array>());
    let b: ArrayRef = Arc::new(BooleanArray::from(values.clone()));
    (RecordBatch::try_from_iter_with_nullable([("id", ids, false), ("b", b, true)]).unwrap(), values)
}

/// A bitmap on `b` over two fragments and a third that it does not cover.
async fn table() -> (Table, Vec<Option<bool>>) {
    let (first, mut values) = booleans(0, 40);
    let mut table = Table::from_batch(first, fragments(2)).await;
    table.bitmap("b").await;
    let (last, more) = booleans(40, 60);
    table.append_batch(last).await;
    values.extend(more);
    (table, values)
}

#[rstest]
#[case::is_true("b IS TRUE", |b| b == Some(true))]
#[case::is_false("b IS FALSE", |b| b == Some(false))]
#[case::not_is_true("NOT (b IS TRUE)", |b| b != Some(true))]
#[case::not_is_false("NOT (b IS FALSE)", |b| b != Some(false))]
#[case::twice("NOT (NOT (b IS TRUE))", |b| b == Some(true))]
#[case::de_morgan("NOT (b IS TRUE OR b IS FALSE)", |b: Option<bool>| b.is_none())]
#[case::neither("NOT (b IS TRUE) AND NOT (b IS FALSE)", |b: Option<bool>| b.is_none())]
#[tokio::test]
async fn an_index_keeps_null_apart_from_false(#[case] filter: &str, #[case] selects: fn(Option<bool>) -> bool) {
    let (table, values) = table().await;
    let expected = [values.into_iter().filter(|b| selects(*b)).count() as i64];
    for partitions in [1, 4] {
        let sql = format!("SELECT count(*) FROM t WHERE {filter}");
        let (counts, report) = pushed(table.shared(), &sql, partitions).await;
        assert_eq!(counts, expected, "{filter}\n{report}");
        assert_eq!(sizes(&report), (2, 0, 1), "{filter}\n{report}");
    }
}

#[rstest]
#[case::is_not_true("b IS NOT TRUE", |b| b != Some(true))]
#[case::is_not_false("b IS NOT FALSE", |b| b != Some(false))]
#[case::is_unknown("b IS UNKNOWN", |b: Option<bool>| b.is_none())]
#[case::bare("b", |b| b == Some(true))]
#[case::not("NOT b", |b| b == Some(false))]
#[tokio::test]
async fn other_tests_of_a_boolean_are_right(#[case] filter: &str, #[case] selects: fn(Option<bool>) -> bool) {
    let (table, values) = table().await;
    let expected = [values.into_iter().filter(|b| selects(*b)).count() as i64];
    assert_counts(&table, &format!("SELECT count(*) FROM t WHERE {filter}"), &expected).await;
}

/// Without preloaded metadata only Lance's own reading of the filter is there, and it cannot be trusted.
#[tokio::test]
async fn a_stock_table_leaves_truth_tests_to_the_plain_plan() {
    let (table, _) = table().await;
    for filter in ["b IS TRUE", "NOT (b IS TRUE)", "NOT (b IS FALSE)"] {
        let (_, report) = pushed_stock(table.shared(), &format!("SELECT count(*) FROM t WHERE {filter}")).await;
        let reasons: Vec<Bucket> = report.fragments.iter().map(|fragment| fragment.bucket).collect();
        assert_eq!(reasons, [Bucket::Scan(ScanReason::UnsupportedQuery); 3], "{filter}: {report}");
    }
}
