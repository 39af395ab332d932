//! Operations of a history: what the dataset becomes is what the model says.

use asap_oracle::dataset::{TestDataset, plain_answer};
use asap_oracle::fuzz::{Point, check_recipe};
use asap_oracle::query::{Arithmetic, Column, Comparison, Expr, Output, Query};
use asap_oracle::recipe::{Assignment, IndexKind, Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};
use asap_oracle::value::{Row, Type, Value};
use rstest::rstest;

fn column(name: &str) -> Column {
    Column { name: name.to_owned(), data_type: Type::Int64, nullable: true }
}

fn integer(value: i64) -> Expr {
    Expr::literal(Value::Int64(value), Type::Int64)
}

fn is(name: &str, value: i64) -> Expr {
    Expr::compare(Comparison::Equal, Expr::column(name), integer(value))
}

fn row(values: [Option<i64>; 3]) -> Row {
    values.map(|value| value.map_or(Value::Null, Value::Int64)).to_vec()
}

fn index(name: &str) -> Operation {
    Operation::CreateIndex { column: name.to_owned(), kind: IndexKind::Bitmap, name: None }
}

/// Three columns, a bitmap on the second one, and then `operations`; asked for all rows and for a count by the bitmap.
fn recipe(operations: Vec<Operation>) -> Recipe {
    let rows = (0..10).map(|id| row([Some(id), (id % 3 > 0).then_some(id % 3), Some(id * 10)])).collect();
    let mut history = vec![Operation::Create { rows }, index("c1")];
    history.extend(operations);
    let mut table = TableRecipe::new("t", vec![column("c0"), column("c1"), column("c2")], history);
    table.rows_per_file = 4;
    let columns = table.columns_read().unwrap();
    let outputs = columns.iter().map(|column| Output::new(Expr::column(&column.name), &column.name)).collect();
    let count = vec![Output::new(Expr::count_all(None), "rows")];
    let counted = Query { filter: Some(is("c1", 2)), group_by: Some(Vec::new()), ..Query::of_table("t", count) };
    let workload = vec![Query::of_table("t", outputs), counted];
    Recipe { version: RECIPE_VERSION, table, workload, settings: Settings::default() }
}

fn update() -> Operation {
    let value = Expr::arithmetic(Arithmetic::Add, Expr::column("c2"), integer(1));
    Operation::Update { set: vec![Assignment { column: "c1".to_owned(), value }], predicate: Some(is("c1", 1)) }
}

#[rstest]
#[case::update("update", vec![update()])]
#[case::merge_insert("merge insert", vec![Operation::MergeInsert {
    on: "c1".to_owned(),
    rows: vec![row([Some(90), Some(2), None]), row([Some(91), Some(7), Some(1)])],
}])]
#[case::rewrite("rewrite columns", vec![Operation::RewriteColumns {
    on: "c0".to_owned(),
    columns: vec!["c1".to_owned()],
    rows: vec![vec![Value::Int64(3), Value::Int64(2)], vec![Value::Int64(4), Value::Null]],
}])]
#[case::null_column("add column of NULL", vec![Operation::AddColumn { column: column("c3"), value: None }])]
#[case::column("add column with values", vec![Operation::AddColumn {
    column: column("c3"),
    value: Some(Expr::case(is("c1", 1), Expr::column("c2"), None)),
}])]
#[case::drop_column("drop column", vec![Operation::DropColumn { column: "c2".to_owned() }])]
#[case::drop_index("drop index", vec![Operation::DropIndex { name: "c1_bitmap".to_owned() }])]
#[case::no_such_index("drop index", vec![Operation::DropIndex { name: "nothing".to_owned() }])]
#[case::merge_indices("merge indices", vec![update(), Operation::MergeIndices])]
#[case::deferred("compact with deferred remap", vec![
    Operation::Delete { predicate: is("c0", 1) },
    Operation::Compact { target_rows: 100, defer_index_remap: true },
])]
#[tokio::test(flavor = "multi_thread")]
async fn every_plan_sees_what_the_model_says(#[case] name: &str, #[case] operations: Vec<Operation>) {
    let outcome = check_recipe(&recipe(operations)).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    assert!(outcome.points.contains(&Point::new("history", name)), "{:?}", outcome.points);
    assert!(outcome.comparisons >= 6, "{}", outcome.comparisons);
}

/// An older version has its own rows and columns, whatever came after it.
#[tokio::test(flavor = "multi_thread")]
async fn an_old_versions_answer_stays() {
    let later = vec![Operation::Delete { predicate: is("c1", 2) }, Operation::DropColumn { column: "c2".to_owned() }];
    let mut recipe = recipe(later);
    recipe.table.read_after = Some(2);
    let test = TestDataset::build(&recipe.table).await.unwrap();
    assert_eq!((test.table.rows.len(), test.table.columns.len()), (10, 3));
    assert_eq!(test.dataset.count_rows(None).await.unwrap(), 10);
    let outcome = check_recipe(&recipe).await;
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
}

/// The assertion that planning reads nothing needs a store that counts.
#[tokio::test(flavor = "multi_thread")]
async fn reads_of_a_dataset_in_memory_are_counted() {
    let recipe = recipe(Vec::new());
    let test = TestDataset::build(&recipe.table).await.unwrap();
    let store = test.dataset.object_store(None).await.unwrap();
    store.io_stats_incremental();
    let session = test.plain_session(&recipe.settings).unwrap();
    let (answer, _) = plain_answer(&session, &recipe.workload[0]).await.unwrap();
    assert_eq!(answer.rows.len(), 10);
    assert!(store.io_stats_incremental().read_iops > 0);
}
