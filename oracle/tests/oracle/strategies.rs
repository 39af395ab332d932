//! The public strategies: what they draw, and how it shrinks; and the example that uses them.

use asap_oracle::dataset::{TestDataset, plain_answer};
use asap_oracle::fuzz::RecipeSize;
use asap_oracle::generate::{TABLE, cases, queries, recipes, table_histories, workloads};
use asap_oracle::model::Table;
use asap_oracle::query::{Column, Expr, Function, Query};
use asap_oracle::recipe::{Operation, Settings, TableRecipe};
use asap_oracle::value::Type;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestError, TestRunner};

use crate::fuzz_your_own_rule::{CountAllRows, find_bug};

fn columns() -> Vec<Column> {
    let types = [Type::Int64, Type::Utf8, Type::Decimal { precision: 12, scale: 3 }, Type::Date];
    let column = |(position, data_type)| Column { name: format!("mine_{position}"), data_type, nullable: position > 0 };
    types.into_iter().enumerate().map(column).collect()
}

fn config() -> Config {
    Config { cases: 64, failure_persistence: None, ..Config::default() }
}

/// The smallest value that fails.
fn smallest<S: Strategy>(strategy: &S, fails: impl Fn(&S::Value) -> bool) -> S::Value {
    let config = Config { cases: 2000, ..config() };
    let found = TestRunner::new(config)
        .run(strategy, |value| if fails(&value) { Err(TestCaseError::fail("as it should")) } else { Ok(()) });
    match found {
        Err(TestError::Fail(_, value)) => value,
        other => panic!("{other:?}"),
    }
}

fn is_delete(operation: &Operation) -> bool {
    matches!(operation, Operation::Delete { .. })
}

fn uses(query: &Query, function: Function) -> bool {
    let mut uses = false;
    query.visit(&mut |node| uses |= matches!(node, Expr::Aggregate(call) if call.function == function));
    uses
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn queries_are_of_the_given_columns(queries in workloads(&columns()), query in queries(&columns())) {
        prop_assert!((1..=8).contains(&queries.len()));
        let table = Table::new(TABLE, columns());
        for query in queries.iter().chain([&query]) {
            prop_assert!(table.answer(query).is_ok(), "{}", query);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn histories_become_datasets() {
    let mut runner = TestRunner::new(config());
    for _ in 0..10 {
        let table: TableRecipe = table_histories().new_tree(&mut runner).unwrap().current();
        let test = TestDataset::build(&table).await.unwrap();
        assert_eq!(test.dataset.count_rows(None).await.unwrap(), test.table.rows.len());
        let column = &test.table.columns[0].name;
        let all = Query::of_table(TABLE, vec![asap_oracle::query::Output::new(Expr::column(column), column)]);
        let session = test.plain_session(&Settings::default()).unwrap();
        let (answer, _) = plain_answer(&session, &all).await.unwrap();
        assert_eq!(test.table.answer(&all).unwrap().difference(&answer), None);
    }
}

#[test]
fn each_strategy_shrinks() {
    let recipe = smallest(&recipes(), |recipe| recipe.table.history.iter().any(is_delete));
    let size = RecipeSize::of(&recipe);
    assert_eq!((size.rows, size.columns, size.operations, size.queries, size.expressions), (0, 1, 1, 0, 1), "{size}");

    let case = smallest(&cases(), |case| case.recipe.workload.len() > 1);
    assert_eq!(RecipeSize::of(&case.recipe).queries, 2);

    let table = smallest(&table_histories(), |table| table.history.iter().filter(|op| is_delete(op)).count() > 1);
    assert_eq!((table.history.len(), table.columns.len()), (3, 1), "{table:?}");

    let query = smallest(&queries(&columns()), |query| uses(query, Function::Sum));
    let text = query.to_string();
    assert!(query.outputs.len() == 1 && query.group_by.is_some_and(|keys| keys.is_empty()), "{text}");

    let workload = smallest(&workloads(&columns()), |queries| {
        queries.iter().any(|query| uses(query, Function::Min)) && queries.iter().any(|query| query.limit.is_some())
    });
    assert!(workload.len() <= 2, "{workload:?}");
}

/// Proptest asks for the current value after a failed attempt to shrink it: it is the last one that failed.
#[test]
fn a_tree_falls_back_to_what_failed_last() {
    let mut tree = recipes().new_tree(&mut TestRunner::deterministic()).unwrap();
    let first = tree.current();
    let mut tries = 0;
    let mut more = tree.simplify();
    while more {
        tries += 1;
        assert_ne!(tree.current(), first);
        more = tree.complicate();
    }
    assert!(tries > 10);
    assert_eq!(tree.current(), first);
}

#[test]
fn the_example_finds_its_planted_bug() {
    let (recipe, reason) = find_bug(CountAllRows { asks_for_null: false }, 200).unwrap();
    assert!(reason.contains("the session's answer differs from the interpreter's"), "{reason}");
    let size = RecipeSize::of(&recipe);
    assert!(size.fragments <= 2 && size.rows <= 5 && size.queries == 1, "{size}: {recipe:#?}");
    let query = recipe.workload[0].to_string();
    assert!(query.contains("count(") && !query.contains("DISTINCT c"), "{query}");
}

#[test]
fn the_example_finds_nothing_in_a_right_rule() {
    assert_eq!(find_bug(CountAllRows { asks_for_null: true }, 25), None);
}
