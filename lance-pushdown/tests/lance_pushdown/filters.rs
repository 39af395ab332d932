//! Filters under SQL's three-valued logic, judged by the rows.

use rstest::rstest;

use crate::support::{Row, Table, assert_counts, fragments, rows, sizes};

type Truth = fn(&Row) -> Option<bool>;

fn or(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    match (left, right) {
        (Some(true), _) | (_, Some(true)) => Some(true),
        (Some(false), Some(false)) => Some(false),
        _ => None,
    }
}

fn and(left: Option<bool>, right: Option<bool>) -> Option<bool> {
    or(left.map(|v| !v), right.map(|v| !v)).map(|v| !v)
}

fn is_red(row: &Row) -> Option<bool> {
    row.y.as_deref().map(|y| y == "red")
}

#[rstest]
#[case::equal("x = 2", |r: &Row| r.x.map(|x| x == 2))]
#[case::not_equal("x <> 2", |r: &Row| r.x.map(|x| x != 2))]
#[case::not("NOT (x = 2)", |r: &Row| r.x.map(|x| x != 2))]
#[case::less("x < 2", |r: &Row| r.x.map(|x| x < 2))]
#[case::between("x BETWEEN 1 AND 3", |r: &Row| r.x.map(|x| (1..=3).contains(&x)))]
#[case::not_between("x NOT BETWEEN 1 AND 3", |r: &Row| r.x.map(|x| !(1..=3).contains(&x)))]
#[case::empty_range("x > 3 AND x < 2", |r: &Row| r.x.map(|_| false))]
#[case::is_null("x IS NULL", |r: &Row| Some(r.x.is_none()))]
#[case::is_not_null("x IS NOT NULL", |r: &Row| Some(r.x.is_some()))]
#[case::in_list("x IN (0, 4)", |r: &Row| r.x.map(|x| x == 0 || x == 4))]
#[case::not_in_list("x NOT IN (0, 4)", |r: &Row| r.x.map(|x| x != 0 && x != 4))]
#[case::in_list_with_null("x IN (0, NULL)", |r: &Row| r.x.and_then(|x| (x == 0).then_some(true)))]
#[case::not_in_list_with_null("x NOT IN (0, NULL)", |r: &Row| r.x.and_then(|x| (x == 0).then_some(false)))]
#[case::unknown_or("x = NULL OR y = 'red'", |r: &Row| or(None, is_red(r)))]
#[case::absent_value("x = 99", |r: &Row| r.x.map(|_| false))]
#[case::not_absent_value("x <> 99", |r: &Row| r.x.map(|_| true))]
#[case::wider_literal("x = 99999999999", |r: &Row| r.x.map(|_| false))]
#[case::float_literal("x > 2.5", |r: &Row| r.x.map(|x| f64::from(x) > 2.5))]
#[case::float_equal("x = 2.0", |r: &Row| r.x.map(|x| x == 2))]
#[case::string("y = 'red'", |r: &Row| is_red(r))]
#[case::not_string("y <> 'red'", |r: &Row| is_red(r).map(|v| !v))]
#[case::and_of_two("x = 2 AND y = 'red'", |r: &Row| and(r.x.map(|x| x == 2), is_red(r)))]
#[case::or_of_two("x = 2 OR y = 'red'", |r: &Row| or(r.x.map(|x| x == 2), is_red(r)))]
#[case::not_and("NOT (x = 2 AND y = 'red')", |r: &Row| and(r.x.map(|x| x == 2), is_red(r)).map(|v| !v))]
#[case::not_or("NOT (x = 2 OR y = 'red')", |r: &Row| or(r.x.map(|x| x == 2), is_red(r)).map(|v| !v))]
#[case::or_null("x = 2 OR y IS NULL", |r: &Row| or(r.x.map(|x| x == 2), Some(r.y.is_none())))]
#[case::not_in_and_not("x NOT IN (1) AND NOT (y = 'blue')", |r: &Row| and(r.x.map(|x| x != 1), r.y.as_deref().map(|y| y != "blue")))]
#[case::half_indexed("x = 2 AND z > 3", |r: &Row| and(r.x.map(|x| x == 2), r.z.map(|z| z > 3)))]
#[case::half_indexed_or("x = 2 OR z > 3", |r: &Row| or(r.x.map(|x| x == 2), r.z.map(|z| z > 3)))]
#[case::unindexed("z = 3", |r: &Row| r.z.map(|z| z == 3))]
#[case::is_true("(x = 2) IS TRUE", |r: &Row| Some(r.x == Some(2)))]
#[case::is_not_true("(x = 2) IS NOT TRUE", |r: &Row| Some(r.x != Some(2)))]
#[case::distinct("x IS DISTINCT FROM 2", |r: &Row| Some(r.x != Some(2)))]
#[case::like("y LIKE 'r%'", |r: &Row| r.y.as_deref().map(|y| y.starts_with('r')))]
#[case::function("upper(y) = 'RED'", |r: &Row| is_red(r))]
#[tokio::test]
async fn three_valued_logic(#[case] filter: &str, #[case] truth: Truth, #[values(false, true)] stable_row_ids: bool) {
    let layout = crate::support::Layout { stable_row_ids, ..fragments(3) };
    let mut table = Table::create(layout).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    table.append(&rows(60, 80)).await;
    table.delete("id % 10 = 3").await;
    let all = table.rows().await;
    let selected: Vec<&Row> = all.iter().filter(|row| truth(row) == Some(true)).collect();
    let expected = [
        selected.len() as i64,
        selected.iter().filter(|row| row.x.is_some()).count() as i64,
        selected.iter().filter(|row| row.y.is_some()).count() as i64,
    ];
    let sql = format!("SELECT count(*), count(x), count(y) FROM t WHERE {filter}");
    assert_counts(&table, &sql, &expected).await;
}

#[rstest]
#[case("x = 2 AND z > 3")]
#[case("x <> 2 AND z IS NULL")]
#[tokio::test]
async fn half_indexed_filters_are_left_to_the_scan(#[case] filter: &str) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let sql = format!("SELECT count(*) FROM t WHERE {filter}");
    let expected = crate::support::plain(table.shared(), &sql, 1).await;
    let report = assert_counts(&table, &sql, &expected).await;
    assert_eq!(report.fragments[0].bucket, lance_pushdown::Bucket::Scan(lance_pushdown::ScanReason::FilterSplit));
}

#[rstest]
#[case("x = 2")]
#[case("x <> 2")]
#[case("x IS NULL")]
#[case("x IN (0, 4) OR y = 'red'")]
#[case("NOT (x = 2 AND y = 'red')")]
#[tokio::test]
async fn are_answered_from_the_index(#[case] filter: &str) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    let sql = format!("SELECT count(*) FROM t WHERE {filter}");
    let expected = crate::support::plain(table.shared(), &sql, 1).await;
    let report = assert_counts(&table, &sql, &expected).await;
    assert_eq!(sizes(&report), (2, 0, 0), "{report}");
}

/// DataFusion folds the filter away, and the scan with it.
#[tokio::test]
async fn a_comparison_with_null_selects_nothing() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let pushdown = lance_pushdown::LancePushdown::new();
    let context = crate::support::context(&pushdown, table.shared());
    for filter in ["x = NULL", "x <> NULL", "x NOT IN (1, NULL) AND x = 1"] {
        let sql = format!("SELECT count(*) FROM t WHERE {filter}");
        let plan = crate::support::plan(&context, &sql).await;
        assert_eq!(crate::support::answer(&context, plan).await, [0], "{filter}");
    }
}
