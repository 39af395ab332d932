//! Every mix of buckets answers what the rows say.

use lance_pushdown::{Bucket, Refusal, ScanReason};
use rstest::rstest;

use crate::support::{Table, assert_counts, fragments, rows, sizes};

#[tokio::test]
async fn a_single_literal_fragment() {
    let table = Table::create(fragments(1)).await;
    let report = assert_counts(&table, "SELECT count(*) FROM t", &[20]).await;
    assert_eq!(sizes(&report), (0, 1, 0));
    assert_eq!(report.rows_to_scan(), Some(0));
}

#[tokio::test]
async fn a_single_index_fragment() {
    let mut table = Table::create(fragments(1)).await;
    table.bitmap("x").await;
    let expected = table.count(|row| row.x == Some(3)).await;
    let report = assert_counts(&table, "SELECT count(*) FROM t WHERE x = 3", &[expected]).await;
    assert_eq!(sizes(&report), (1, 0, 0));
    let binding = &report.fragments[0].bindings[0];
    assert_eq!((&*binding.index_name, &*binding.column), ("x_idx", "x"));
    assert!(binding.segment.is_some());
}

#[tokio::test]
async fn index_and_scan() {
    let mut table = Table::create(fragments(3)).await;
    table.bitmap("x").await;
    table.append(&rows(60, 95)).await;
    let expected = table.count(|row| row.x == Some(1)).await;
    let report = assert_counts(&table, "SELECT count(*) FROM t WHERE x = 1", &[expected]).await;
    assert_eq!(sizes(&report), (3, 0, 1));
    assert_eq!(report.fragments[3].bucket, Bucket::Scan(ScanReason::Uncovered));
    assert_eq!(report.rows_to_scan(), Some(35));
}

#[tokio::test]
async fn literal_and_scan() {
    let mut table = Table::create(fragments(2)).await;
    table.append_columns(&rows(40, 60), &["id", "x"]).await;
    let expected = table.count(|row| row.y.is_some()).await;
    let report = assert_counts(&table, "SELECT count(y) FROM t", &[expected]).await;
    assert_eq!(sizes(&report), (0, 1, 2));
    assert_eq!(report.fragments[0].bucket, Bucket::Scan(ScanReason::ColumnNotIndexed));
}

#[tokio::test]
async fn index_literal_and_scan() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("y").await;
    table.append_columns(&rows(40, 60), &["id", "x"]).await;
    table.append(&rows(60, 80)).await;
    table.delete("id % 9 = 2").await;
    let all = table.count(|_| true).await;
    let expected = table.count(|row| row.y.is_some()).await;
    let report = assert_counts(&table, "SELECT count(y), count(*) FROM t", &[expected, all]).await;
    // COUNT(*) of the third fragment is a literal, and so is COUNT(y): the column is absent.
    assert_eq!(sizes(&report), (2, 1, 1));
    assert_eq!(report.fragments[3].bucket, Bucket::Scan(ScanReason::ColumnUncovered));
}

#[tokio::test]
async fn index_and_literal() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("y").await;
    table.append_columns(&rows(40, 60), &["id", "x"]).await;
    let expected = table.count(|row| row.y.is_some()).await;
    let report = assert_counts(&table, "SELECT count(y) FROM t", &[expected]).await;
    assert_eq!(sizes(&report), (2, 1, 0));
}

#[tokio::test]
async fn nothing_can_be_answered() {
    let table = Table::create(fragments(2)).await;
    let expected = table.count(|row| row.z > Some(4)).await;
    let report = assert_counts(&table, "SELECT count(*) FROM t WHERE z > 4", &[expected]).await;
    assert_eq!(report.refusal, Some(Refusal::NothingAnswered));
    assert_eq!(report.fragments[1].bucket, Bucket::Scan(ScanReason::FilterNotIndexed));
    assert_eq!(report.rows_to_scan(), Some(40));
}

#[tokio::test]
async fn an_empty_dataset() {
    let table = Table::create(fragments(0)).await;
    for sql in ["SELECT count(*) FROM t", "SELECT count(y), count(*) FROM t", "SELECT count(*) FROM t WHERE x = 1"] {
        let expected = vec![0; sql.matches("count").count()];
        let report = assert_counts(&table, sql, &expected).await;
        assert_eq!(report.refusal, Some(Refusal::NoFragments), "{sql}");
    }
}

#[tokio::test]
async fn all_rows_deleted() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.delete("id >= 0").await;
    assert_counts(&table, "SELECT count(*) FROM t", &[0]).await;
    assert_counts(&table, "SELECT count(*) FROM t WHERE x = 1", &[0]).await;
}

#[rstest]
#[case::non_nullable_column("SELECT count(id) FROM t", (0, 3, 0))]
#[case::number_literal("SELECT count(7) FROM t", (0, 3, 0))]
#[case::several("SELECT count(*), count(id), count(1) FROM t", (0, 3, 0))]
#[case::with_filter("SELECT count(*), count(x), count(y), count(id) FROM t WHERE x <> 2", (3, 0, 0))]
#[case::filtered_other_column("SELECT count(y) FROM t WHERE x IN (1, 3)", (3, 0, 0))]
#[case::unindexed_column_takes_all_to_the_scan("SELECT count(*), count(z) FROM t", (0, 0, 3))]
#[case::alias_and_arithmetic_above("SELECT count(*) + 1 AS more FROM t WHERE x = 1", (3, 0, 0))]
#[case::having("SELECT count(*) FROM t WHERE x = 1 HAVING count(*) > 0", (3, 0, 0))]
#[case::renamed_column("SELECT count(b) FROM (SELECT y AS b, x AS a FROM t) WHERE a = 1", (3, 0, 0))]
#[case::limit_above("SELECT count(*) FROM t WHERE x = 1 LIMIT 1", (3, 0, 0))]
#[tokio::test]
async fn shapes(#[case] sql: &str, #[case] buckets: (usize, usize, usize)) {
    let mut table = Table::create(fragments(3)).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    table.delete("id % 8 = 1").await;
    let expected = crate::support::plain(table.shared(), sql, 1).await;
    let report = assert_counts(&table, sql, &expected).await;
    assert_eq!(sizes(&report), buckets, "{report}");
}

/// Enough rows that DataFusion repartitions the scan branch.
#[tokio::test]
async fn many_rows() {
    let layout = crate::support::Layout { rows_per_fragment: 30_000, fragments: 4, stable_row_ids: false };
    let mut table = Table::create(layout).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    table.append(&rows(120_000, 180_000)).await;
    table.delete("id % 11 = 4").await;
    let all = table.rows().await;
    let selected = || all.iter().filter(|row| row.x.is_some_and(|x| x != 1));
    let expected = [selected().count() as i64, selected().filter(|row| row.y.is_some()).count() as i64];
    let sql = "SELECT count(*), count(y) FROM t WHERE x <> 1";
    let report = assert_counts(&table, sql, &expected).await;
    assert_eq!(sizes(&report), (4, 0, 1));
}

/// A whole statement, so that the buckets meet joins and unions of other tables.
#[tokio::test]
async fn several_aggregates_in_one_statement() {
    let mut table = Table::create(fragments(3)).await;
    table.bitmap("x").await;
    let sql = "SELECT (SELECT count(*) FROM t) AS a, (SELECT count(*) FROM t WHERE x = 1) AS b, \
               (SELECT count(x) FROM t WHERE x > 2) AS c";
    let expected = [
        table.count(|_| true).await,
        table.count(|row| row.x == Some(1)).await,
        table.count(|row| row.x > Some(2)).await,
    ];
    assert_counts(&table, sql, &expected).await;
}

#[tokio::test]
async fn a_report_reads_in_runs() {
    let mut table = Table::create(fragments(3)).await;
    table.bitmap("y").await;
    table.append_columns(&rows(60, 80), &["id", "x"]).await;
    table.append(&rows(80, 90)).await;
    table.delete("id = 61 OR id = 3").await;
    let (_, report) = crate::support::pushed(table.shared(), "SELECT count(y) FROM t", 1).await;
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "  fragments 0 to 2 (3): index y:y_idx(Bitmap)",
            "  fragment 3: literal from the manifest (1 deleted rows, recorded in the manifest)",
            "  fragment 4: scan: the counted column's index does not cover the fragment",
        ]
    );
}
