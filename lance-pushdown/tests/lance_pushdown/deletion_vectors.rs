//! Gate: no deleted row is ever counted.

use lance_pushdown::{Bucket, FragmentPushdownPlan, IndexReader, LanceIndexReader, LiveRows};
use rstest::rstest;

use crate::support::{Layout, Table, assert_counts, fragments, rows, sizes};

#[rstest]
#[case::all("SELECT count(*) FROM t", |_| true)]
#[case::equal("SELECT count(*) FROM t WHERE x = 1", |x: Option<i32>| x == Some(1))]
#[case::not_equal("SELECT count(*) FROM t WHERE x <> 1", |x: Option<i32>| x.is_some_and(|x| x != 1))]
#[case::is_null("SELECT count(*) FROM t WHERE x IS NULL", |x: Option<i32>| x.is_none())]
#[case::column("SELECT count(x) FROM t", |x: Option<i32>| x.is_some())]
#[case::column_and_filter("SELECT count(x) FROM t WHERE x <> 3", |x: Option<i32>| x.is_some_and(|x| x != 3))]
#[tokio::test]
async fn deleted_rows_are_taken_off(
    #[case] sql: &str,
    #[case] selects: fn(Option<i32>) -> bool,
    #[values(false, true)] stable_row_ids: bool,
    #[values("id % 2 = 0", "id < 20", "id % 40 = 5")] deletion: &str,
) {
    let layout = Layout { stable_row_ids, ..fragments(3) };
    let mut table = Table::create(layout).await;
    table.bitmap("x").await;
    table.delete(deletion).await;
    let expected = table.count(|row| selects(row.x)).await;
    let report = assert_counts(&table, sql, &[expected]).await;
    assert!(report.is_rewritten(), "{report}");
}

/// Recorded deletions are subtracted in the plan, and the report says so.
#[tokio::test]
async fn a_literal_accounts_for_recorded_deletions() {
    let mut table = Table::create(fragments(2)).await;
    table.delete("id IN (3, 4, 25)").await;
    let report = assert_counts(&table, "SELECT count(*) FROM t", &[37]).await;
    assert_eq!(sizes(&report), (0, 2, 0));
    assert_eq!(report.fragments[0].deleted_rows, Some(2));
    assert!(report.to_string().contains("3 deleted rows"), "{report}");
}

/// The operator's plan names the deletion file without opening it.
#[tokio::test]
async fn a_fragment_plan_carries_its_deletion_file() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.delete("id = 3").await;
    let exec = crate::support::indexed_exec(&table, "SELECT count(*) FROM t WHERE x = 1").await;
    let files: Vec<bool> = exec.fragments().iter().map(|plan| plan.deletion_vector.is_some()).collect();
    assert_eq!(files, [true, false]);
}

/// Masks are kept per version: a later version's deletions are seen by the same handle.
#[tokio::test]
async fn a_cached_mask_belongs_to_one_version() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let pushdown = lance_pushdown::LancePushdown::new();
    let sql = "SELECT count(*) FROM t WHERE x = 1";
    for deletion in ["id < 2", "id < 9", "id < 21"] {
        table.delete(deletion).await;
        let context = crate::support::context(&pushdown, table.shared());
        let expected = table.count(|row| row.x == Some(1)).await;
        for _ in 0..2 {
            let plan = crate::support::plan(&context, sql).await;
            assert_eq!(crate::support::answer(&context, plan).await, [expected]);
        }
    }
}

/// An index never drops entries of deleted rows by itself: without the mask this count is too high.
#[tokio::test]
async fn the_index_alone_would_over_count() {
    let mut table = Table::create(fragments(1)).await;
    table.bitmap("x").await;
    let before = table.count(|row| row.x == Some(1)).await;
    table.delete("x = 1").await;
    let report = assert_counts(&table, "SELECT count(*) FROM t WHERE x = 1", &[0]).await;
    assert!(before > 0);
    assert_eq!(report.fragments[0].bucket, Bucket::Index);
}

#[tokio::test]
async fn live_rows_are_the_physical_rows_without_the_deleted() {
    let mut table = Table::create(fragments(1)).await;
    table.delete("id < 4").await;
    let dataset = table.shared();
    let fragment = &dataset.fragments()[0];
    let plan = FragmentPushdownPlan {
        fragment_id: 0,
        physical_rows: fragment.physical_rows.unwrap() as u64,
        index_bindings: vec![],
        deletion_vector: fragment.deletion_file.clone(),
        counts: vec![],
    };
    let live = LanceIndexReader::new().live_rows(&dataset, &[plan]).await.unwrap();
    assert!(matches!(live[0], LiveRows::Addresses { .. }));
    assert_eq!(live[0].len().unwrap(), 16);
}

#[tokio::test]
async fn deletions_in_appended_and_rewritten_fragments() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.append(&rows(40, 70)).await;
    table.update("id % 6 = 1", "x", "2").await;
    table.delete("id % 5 = 0").await;
    let expected = table.count(|row| row.x == Some(2)).await;
    let all = table.count(|_| true).await;
    assert_counts(&table, "SELECT count(*) FROM t WHERE x = 2", &[expected]).await;
    assert_counts(&table, "SELECT count(*) FROM t", &[all]).await;
}
