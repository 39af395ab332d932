//! Gate: every branch emits the partial state that it replaces.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use datafusion::execution::SessionStateBuilder;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode};
use datafusion::physical_plan::union::UnionExec;
use datafusion::prelude::SessionContext;
use lance_pushdown::{
    IndexedAggregateExec, LanceIndexReader, LancePushdown, PushdownError, SchemaMismatch, check_branch_schema,
};
use rstest::rstest;

use crate::support::{Table, context, fragments, indexed_exec, nodes, plan, rows, text};

fn state(fields: &[(&str, DataType, bool)]) -> Schema {
    Schema::new(
        fields.iter().map(|(name, kind, nullable)| Field::new(*name, kind.clone(), *nullable)).collect::<Vec<_>>(),
    )
}

fn two_counts() -> Schema {
    state(&[("a[count]", DataType::Int64, false), ("b[count]", DataType::Int64, false)])
}

#[test]
fn an_equal_schema_passes() {
    check_branch_schema("test", &two_counts(), &two_counts()).unwrap();
}

#[test]
fn narrower_nullability_passes() {
    let partial = state(&[("a[max]", DataType::Int64, true)]);
    let branch = state(&[("a[max]", DataType::Int64, false)]);
    check_branch_schema("test", &partial, &branch).unwrap();
}

#[rstest]
#[case::arity(
    state(&[("a[count]", DataType::Int64, false)]),
    SchemaMismatch::Arity { expected: 2, found: 1 }
)]
#[case::name(
    state(&[("a[count]", DataType::Int64, false), ("c[count]", DataType::Int64, false)]),
    SchemaMismatch::Name { column: 1, expected: "b[count]".into(), found: "c[count]".into() }
)]
#[case::order(
    state(&[("b[count]", DataType::Int64, false), ("a[count]", DataType::Int64, false)]),
    SchemaMismatch::Name { column: 0, expected: "a[count]".into(), found: "b[count]".into() }
)]
#[case::kind(
    state(&[("a[count]", DataType::Int64, false), ("b[count]", DataType::UInt64, false)]),
    SchemaMismatch::Type { column: "b[count]".into(), expected: "Int64".into(), found: "UInt64".into() }
)]
#[case::wider(
    state(&[("a[count]", DataType::Int64, false), ("b[count]", DataType::Int64, true)]),
    SchemaMismatch::WiderNullability { column: "b[count]".into() }
)]
fn a_difference_is_an_error(#[case] branch: Schema, #[case] expected: SchemaMismatch) {
    let error = check_branch_schema("test", &two_counts(), &branch).unwrap_err();
    match error {
        PushdownError::Schema { branch, mismatch } => {
            assert_eq!((branch, mismatch), ("test", expected));
        }
        other => panic!("{other}"),
    }
}

#[rstest]
#[case::sum(state(&[("sum(x)[sum]", DataType::Int64, true)]), true)]
#[case::unsigned(state(&[("count(*)[count]", DataType::UInt64, false)]), false)]
#[tokio::test]
async fn the_operator_refuses_a_state_that_is_not_a_count(#[case] schema: Schema, #[case] is_narrower: bool) {
    let mut table = Table::create(fragments(1)).await;
    table.bitmap("x").await;
    let exec = indexed_exec(&table, "SELECT count(*) FROM t WHERE x = 1").await;
    let built = IndexedAggregateExec::try_new(
        Arc::clone(exec.dataset()),
        Arc::new(LanceIndexReader::new()),
        exec.queries().clone(),
        exec.fragments().to_vec(),
        Arc::new(schema),
    );
    match is_narrower {
        // A count may stand where NULL is allowed.
        true => assert!(built.is_ok()),
        false => assert!(matches!(built, Err(PushdownError::Schema { .. }))),
    }
}

/// All three branches of one plan, compared with the partial aggregate that the plan had before.
#[tokio::test]
async fn all_branches_of_a_plan_agree() {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("y").await;
    table.append_columns(&rows(40, 60), &["id", "x"]).await;
    table.append(&rows(60, 80)).await;
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    let sql = "SELECT count(y) AS a, count(*), count(id) AS c FROM t";
    let rewritten = plan(&context, sql).await;

    let unoptimized = SessionContext::new_with_state(
        SessionStateBuilder::new().with_default_features().with_physical_optimizer_rules(vec![]).build(),
    );
    unoptimized.register_table("t", pushdown.table(table.shared())).unwrap();
    let original = plan(&unoptimized, sql).await;
    let partial = nodes(&original)
        .into_iter()
        .find(|node| {
            node.downcast_ref::<AggregateExec>().is_some_and(|aggregate| *aggregate.mode() == AggregateMode::Partial)
        })
        .expect("a partial aggregate")
        .schema();

    let union = nodes(&rewritten)
        .into_iter()
        .find(|node| node.is::<UnionExec>())
        .unwrap_or_else(|| panic!("no union:\n{}", text(&rewritten)));
    assert_eq!(union.children().len(), 3, "{}", text(&rewritten));
    for branch in union.children() {
        assert_eq!(branch.schema().fields(), partial.fields());
    }
}

/// Schema metadata travels through every branch, or DataFusion's own schema check would fail the plan.
#[tokio::test]
async fn schema_metadata_is_kept() {
    let metadata = [("origin".to_string(), "test".to_string())].into();
    let data = crate::support::batch(&rows(0, 40), &["id", "x", "y", "z"]);
    let schema = Arc::new(data.schema().as_ref().clone().with_metadata(metadata));
    let data = data.with_schema(schema).unwrap();
    let mut table = Table::from_batch(data, fragments(2)).await;
    table.bitmap("y").await;
    table.append_columns(&rows(40, 60), &["id", "x"]).await;
    table.append(&rows(60, 80)).await;
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    let plan = plan(&context, "SELECT count(y) FROM t").await;
    let branches = nodes(&plan).into_iter().find(|node| node.is::<UnionExec>()).expect("a union");
    for branch in branches.children() {
        let origin = branch.schema().metadata().get("origin").cloned();
        assert_eq!(origin.as_deref(), Some("test"), "{}", branch.name());
    }
    let expected = table.count(|row| row.y.is_some()).await;
    for sql in ["SELECT count(y) FROM t", "SELECT count(y) FROM t WHERE y <> 'red'"] {
        let expected = match sql.contains("WHERE") {
            true => table.count(|row| row.y.as_deref().is_some_and(|y| y != "red")).await,
            false => expected,
        };
        crate::support::assert_counts(&table, sql, &[expected]).await;
    }
    crate::support::assert_counts(&table, "SELECT count(*) FROM t", &[80]).await;
}
