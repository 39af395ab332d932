//! The smallest plan for each mix of buckets.

use std::sync::Arc;

use datafusion::physical_plan::ExecutionPlan;
use lance_pushdown::LancePushdown;
use rstest::rstest;

use crate::support::{Table, context, fragments, nodes, opened, plan, rows, text};
use crate::verdicts::zoned;

/// The plan with paths and sizes that depend on the machine cut out.
fn shape_of(plan: &Arc<dyn ExecutionPlan>) -> String {
    let cut = |line: &str| match line.split_once("LanceRead: uri=") {
        Some((indent, rest)) => {
            let fragments = rest.split("num_fragments=").nth(1).unwrap();
            let count = fragments.split(',').next().unwrap();
            let filter = rest.split("full_filter=").nth(1).unwrap();
            format!("{indent}LanceRead: num_fragments={count}, full_filter={filter}")
        }
        None => line.to_string(),
    };
    text(plan).lines().map(cut).collect::<Vec<_>>().join("\n")
}

async fn shape(table: &Table, sql: &str) -> String {
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    shape_of(&plan(&context, sql).await)
}

/// [`shape`] over the table with its zone maps.
async fn opened_shape(table: &Table, sql: &str) -> String {
    let pushdown = LancePushdown::new();
    let context = opened(&pushdown, table.shared(), 1).await;
    shape_of(&plan(&context, sql).await)
}

#[tokio::test]
async fn only_literals() {
    let table = Table::create(fragments(1)).await;
    insta::assert_snapshot!(shape(&table, "SELECT count(*) FROM t").await);
}

#[tokio::test]
async fn only_the_index() {
    let mut table = Table::create(fragments(1)).await;
    table.bitmap("x").await;
    insta::assert_snapshot!(shape(&table, "SELECT count(*) FROM t WHERE x = 3").await);
}

#[tokio::test]
async fn index_and_scan() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.append(&rows(40, 60)).await;
    table.delete("id = 7").await;
    insta::assert_snapshot!(shape(&table, "SELECT count(*) FROM t WHERE x <> 3").await);
}

#[tokio::test]
async fn all_three() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("y").await;
    table.append_columns(&rows(40, 60), &["id", "x"]).await;
    table.append(&rows(60, 80)).await;
    insta::assert_snapshot!(shape(&table, "SELECT count(y) FROM t").await);
}

/// The second fragment has no data of `y`, and `y` has no index.
#[tokio::test]
async fn literals_and_scan() {
    let mut table = Table::create(fragments(1)).await;
    table.append_columns(&rows(20, 40), &["id", "x"]).await;
    insta::assert_snapshot!(shape(&table, "SELECT count(y) FROM t").await);
}

#[tokio::test]
async fn index_and_literals() {
    let mut table = Table::create(fragments(1)).await;
    table.bitmap("y").await;
    table.append_columns(&rows(20, 40), &["id", "x"]).await;
    insta::assert_snapshot!(shape(&table, "SELECT count(y) FROM t").await);
}

/// Zones of `v`: every row of fragment 0 is below 20, no row of another is but for fragment 4.
#[tokio::test]
async fn only_literals_from_statistics() {
    let table = zoned().await;
    insta::assert_snapshot!(opened_shape(&table, "SELECT count(*), count(v) FROM t WHERE v < 20").await);
}

/// Four fragments are decided, the zones of one leave the filter open.
#[tokio::test]
async fn literals_from_statistics_and_scan() {
    let table = zoned().await;
    insta::assert_snapshot!(opened_shape(&table, "SELECT count(*) FROM t WHERE v < 15").await);
}

/// What the zones leave open the bitmap answers; the fragment appended since is scanned.
#[tokio::test]
async fn all_three_with_a_filter() {
    let mut table = zoned().await;
    table.bitmap("v").await;
    table.append_batch(crate::verdicts::batch().slice(0, 10)).await;
    insta::assert_snapshot!(opened_shape(&table, "SELECT count(*) FROM t WHERE v < 15").await);
}

/// Without an answer from the manifest or an index the plan is the stock plan, to the letter.
#[rstest]
#[case::inconclusive("SELECT count(*) FROM t WHERE z = 3")]
#[case::group_by("SELECT x, count(*) FROM t GROUP BY x")]
#[case::group_by_filtered("SELECT x, count(*) FROM t WHERE x = 1 GROUP BY x")]
#[case::count_distinct("SELECT count(DISTINCT x) FROM t")]
#[case::count_distinct_beside("SELECT count(DISTINCT x), count(*) FROM t")]
#[case::min_max("SELECT min(x), max(x) FROM t")]
#[case::sum("SELECT sum(z) FROM t")]
#[case::sum_filtered("SELECT sum(z) FROM t WHERE x = 1")]
#[case::mixed("SELECT sum(x), count(*) FROM t")]
#[case::measure_filter("SELECT count(*) FILTER (WHERE x = 1) FROM t")]
#[case::no_aggregate("SELECT id FROM t WHERE x = 1")]
#[tokio::test]
async fn untouched(#[case] sql: &str) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.zone_map("z", 8).await;
    let with = opened_shape(&table, sql).await;
    let pushdown = LancePushdown::new();
    let context = opened(&pushdown, table.shared(), 1).await;
    context.sql("SET lance_pushdown.enabled = false").await.unwrap().collect().await.unwrap();
    assert_eq!(with, shape_of(&plan(&context, sql).await));
}

/// An empty bucket has no branch, whatever the partitioning: every child of a union has fragments of its own.
#[rstest]
#[tokio::test]
async fn no_branch_is_empty(#[values(1, 4)] partitions: usize) {
    let mut table = zoned().await;
    table.bitmap("v").await;
    table.append_batch(crate::verdicts::batch().slice(0, 10)).await;
    for (filter, branches) in [("v < 20", 2), ("v < 15", 3), ("v >= 0", 3), ("w = 'zz'", 2), ("id < 0", 0)] {
        let pushdown = LancePushdown::new();
        let context = opened(&pushdown, table.shared(), partitions).await;
        let plan = plan(&context, &format!("SELECT count(*) FROM t WHERE {filter}")).await;
        let sizes = pushdown.take_reports().pop().unwrap().bucket_sizes();
        let expected = [sizes.index, sizes.literal, sizes.scan].into_iter().filter(|size| *size > 0).count();
        let union = nodes(&plan).iter().find(|node| node.name() == "UnionExec").map_or(0, |node| node.children().len());
        assert_eq!(union, branches, "{filter}");
        assert!(union == expected || (union == 0 && expected == 1), "{filter}: {sizes:?}");
    }
}

#[test]
fn the_rule_stands_right_before_aggregate_statistics() {
    let rules =
        LancePushdown::new().register_rule(datafusion::physical_optimizer::optimizer::PhysicalOptimizer::new().rules);
    let names: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
    let at = names.iter().position(|name| *name == "lance_aggregate_pushdown").unwrap();
    assert_eq!(names[at + 1], "aggregate_statistics");
}
