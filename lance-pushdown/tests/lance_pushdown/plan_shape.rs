//! The smallest plan for each mix of buckets.

use lance_pushdown::LancePushdown;
use rstest::rstest;

use crate::support::{Table, context, fragments, plan, rows, text};

/// The plan with paths and sizes that depend on the machine cut out.
async fn shape(table: &Table, sql: &str) -> String {
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    let plan = plan(&context, sql).await;
    let cut = |line: &str| match line.split_once("LanceRead: uri=") {
        Some((indent, rest)) => {
            let fragments = rest.split("num_fragments=").nth(1).unwrap();
            let count = fragments.split(',').next().unwrap();
            let filter = rest.split("full_filter=").nth(1).unwrap();
            format!("{indent}LanceRead: num_fragments={count}, full_filter={filter}")
        }
        None => line.to_string(),
    };
    text(&plan).lines().map(cut).collect::<Vec<_>>().join("\n")
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

/// Without an answer from the manifest or an index the plan is the stock plan, to the letter.
#[rstest]
#[case("SELECT count(*) FROM t WHERE z = 3")]
#[case("SELECT x, count(*) FROM t GROUP BY x")]
#[case("SELECT sum(z) FROM t")]
#[case("SELECT id FROM t WHERE x = 1")]
#[tokio::test]
async fn untouched(#[case] sql: &str) {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    let with = shape(&table, sql).await;
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    context.sql("SET lance_pushdown.enabled = false").await.unwrap().collect().await.unwrap();
    let off = text(&plan(&context, sql).await);
    assert_eq!(with.lines().count(), off.lines().count());
    assert!(!with.contains("IndexedAggregateExec") && !with.contains("PlaceholderRowExec"));
}

#[test]
fn the_rule_stands_right_before_aggregate_statistics() {
    let rules =
        LancePushdown::new().register_rule(datafusion::physical_optimizer::optimizer::PhysicalOptimizer::new().rules);
    let names: Vec<&str> = rules.iter().map(|rule| rule.name()).collect();
    let at = names.iter().position(|name| *name == "lance_aggregate_pushdown").unwrap();
    assert_eq!(names[at + 1], "aggregate_statistics");
}
