//! The shrinker leaves exactly what a failure needs.

use std::cell::Cell;
use std::time::{Duration, Instant};

use asap_oracle::defects::Defect;
use asap_oracle::fuzz::{RecipeSize, check_recipe, shrink_while};
use asap_oracle::generate::case;
use asap_oracle::query::{Expr, Output, Query};
use asap_oracle::recipe::{IndexKind, Operation, Recipe, Settings, TableRecipe};
use asap_oracle::value::{Row, Type, Value};
use rstest::rstest;

const FOREVER: Duration = Duration::MAX;

/// The first generated cases in which this holds, shrunk while it does.
async fn shrunk(fails: impl Fn(&Recipe) -> bool) -> Vec<Recipe> {
    let mut shrunk = Vec::new();
    for index in 0..4000 {
        let recipe = case(17, index).recipe;
        if fails(&recipe) {
            let small = shrink_while(&recipe, FOREVER, async |candidate| fails(candidate)).await;
            assert!(fails(&small) && small.validate().is_ok());
            shrunk.push(small);
        }
        if shrunk.len() == 5 {
            return shrunk;
        }
    }
    panic!("only {} cases fail", shrunk.len());
}

fn has(table: &TableRecipe, is: impl Fn(&Operation) -> bool) -> bool {
    table.history.iter().any(is)
}

fn rows(table: &TableRecipe) -> usize {
    table.history.iter().filter_map(Operation::rows).map(Vec::len).sum()
}

/// The rows that are written whole.
fn written(table: &TableRecipe) -> impl Iterator<Item = &Row> {
    let whole = |operation: &&Operation| !matches!(operation, Operation::RewriteColumns { .. });
    table.history.iter().filter(whole).filter_map(Operation::rows).flatten()
}

/// An update, a NULL in the second column, and HAVING: nothing else is left of the case.
#[tokio::test]
async fn only_what_is_needed_is_left() {
    let fails = |recipe: &Recipe| {
        has(&recipe.table, |operation| matches!(operation, Operation::Update { .. }))
            && written(&recipe.table).any(|row| row.get(1).is_some_and(Value::is_null))
            && recipe.workload.iter().any(|query| query.having.is_some())
    };
    for recipe in shrunk(fails).await {
        let size = RecipeSize::of(&recipe);
        assert_eq!((size.rows, size.operations, size.queries), (1, 1, 1), "{recipe:#?}");
        // Another one if it is what the update sets.
        assert!(size.columns <= 3 && size.fragments <= 2, "{size}");
        assert_eq!(recipe.settings, Settings::default());
        let query = &recipe.workload[0];
        assert_eq!((query.outputs.len(), query.order_by.len(), query.limit), (1, 0, None), "{query}");
        assert_eq!(query.having, Some(Expr::literal(Value::Boolean(true), Type::Boolean)));
        assert!(query.filter.is_none(), "{query}");
    }
}

fn has_bitmap(recipe: &Recipe) -> bool {
    has(&recipe.table, |operation| matches!(operation, Operation::CreateIndex { kind: IndexKind::Bitmap, .. }))
}

fn nodes(query: &Query, is: impl Fn(&Expr) -> bool) -> usize {
    let mut found = 0;
    query.visit(&mut |node| found += usize::from(is(node)));
    found
}

/// A failure of a partly covered index: rows before it and after it, in two fragments, and one test.
#[tokio::test]
async fn two_fragments_are_left_where_two_are_needed() {
    let fails = |recipe: &Recipe| {
        let history = &recipe.table.history;
        let index = history.iter().position(|op| matches!(op, Operation::CreateIndex { .. }));
        let append = history.iter().rposition(|op| matches!(op, Operation::Append { .. }));
        has_bitmap(recipe)
            && index.zip(append).is_some_and(|(index, append)| index < append)
            && rows(&recipe.table) >= 2
            && recipe.workload.iter().any(|query| nodes(query, |node| matches!(node, Expr::InList { .. })) > 0)
    };
    for recipe in shrunk(fails).await {
        let size = RecipeSize::of(&recipe);
        assert!(size.fragments <= 2 && size.rows == 2 && size.queries == 1, "{recipe:#?}");
        assert_eq!((size.columns, size.operations), (1, 2), "{recipe:#?}");
        let query = &recipe.workload[0];
        assert!(query.outputs.len() == 1 && query.order_by.is_empty(), "{query}");
        assert!(nodes(query, |_| true) <= 10, "{query}");
    }
}

/// Two queries stay if it takes two.
#[rstest]
#[case(1)]
#[case(2)]
#[case(3)]
#[tokio::test]
async fn as_many_queries_are_left_as_are_needed(#[case] queries: usize) {
    let fails = |recipe: &Recipe| recipe.workload.iter().filter(|query| query.group_by.is_some()).count() >= queries;
    for recipe in shrunk(fails).await {
        let size = RecipeSize::of(&recipe);
        assert_eq!((size.queries, size.rows, size.operations, size.fragments), (queries, 0, 0, 0), "{recipe:#?}");
        assert!(recipe.workload.iter().all(|query| nodes(query, |_| true) <= 2), "{recipe:#?}");
    }
}

/// Numbers become as small as they may, and the row with them goes into the first write.
#[tokio::test]
async fn values_shrink_to_the_bound() {
    let large = |value: &Value| matches!(value, Value::Int64(number) if *number > 100);
    let fails = |recipe: &Recipe| written(&recipe.table).flatten().any(large);
    for recipe in shrunk(fails).await {
        let size = RecipeSize::of(&recipe);
        assert_eq!((size.rows, size.columns, size.operations, size.queries), (1, 1, 0, 0), "{recipe:#?}");
        let value = written(&recipe.table).flatten().next().unwrap();
        assert!(matches!(value, Value::Int64(101..=201)), "{value:?}");
    }
}

/// A defect of the engines among rows, operations, queries and settings that have nothing to do with it.
#[rstest]
#[case(Defect::PrunedSortKeys)]
#[case(Defect::GroupedFloatExtrema)]
#[case(Defect::NullableTruthTest)]
#[tokio::test(flavor = "multi_thread")]
async fn a_real_failure_becomes_small_in_few_tries(#[case] defect: Defect) {
    let recipe = buried(&defect.recipe());
    let shows = async |candidate: &Recipe| check_recipe(candidate).await.defects.contains_key(&defect.number());
    assert!(shows(&recipe).await);
    let tries = Cell::new(0);
    // A try takes tens of milliseconds, so this is a few seconds; the clock of a busy machine is no measure.
    let small = shrink_while(&recipe, FOREVER, async |candidate| {
        tries.set(tries.get() + 1);
        tries.get() <= 150 && shows(candidate).await
    });
    let size = RecipeSize::of(&small.await);
    assert!(size.fragments <= 2 && size.rows <= 5 && size.queries == 1, "from {}\nto {size}", RecipeSize::of(&recipe));
}

/// The recipe with the same rows over and over, appends, indexes, other queries, and a session that is far from plain.
fn buried(recipe: &Recipe) -> Recipe {
    let mut buried = recipe.clone();
    let table = &mut buried.table;
    let rows = written(table).cloned().collect::<Vec<_>>();
    table.rows_per_file = 4;
    let column = table.columns[0].name.clone();
    let index = Operation::CreateIndex { column: column.clone(), kind: IndexKind::Bitmap, name: None };
    let append = Operation::Append { rows: rows.iter().cycle().take(10 * rows.len()).cloned().collect() };
    table.history.extend([append.clone(), index, append, Operation::OptimizeIndices]);
    let counts =
        |_| Query { group_by: Some(Vec::new()), ..Query::of_table("t", vec![Output::new(Expr::count_all(None), "n")]) };
    buried.workload.extend((0..4).map(counts));
    // In one partition, as in several an unsorted answer may be in order by chance.
    buried.settings.exact_floats = true;
    buried.settings.batch_size = 3;
    buried
}

/// With enough time two searches agree; without any, nothing changes; and it takes few tries.
#[tokio::test]
async fn is_deterministic_bounded_and_frugal() {
    let fails = |recipe: &Recipe| rows(&recipe.table) >= 3 && !recipe.workload.is_empty();
    let recipe = (0..).map(|index| case(3, index).recipe).find(|recipe| rows(&recipe.table) > 40).unwrap();
    let tries = Cell::new(0);
    let counted = async |candidate: &Recipe| {
        tries.set(tries.get() + 1);
        fails(candidate)
    };
    let first = shrink_while(&recipe, FOREVER, counted).await;
    assert_eq!(first, shrink_while(&recipe, FOREVER, async |candidate| fails(candidate)).await);
    assert_eq!(shrink_while(&recipe, Duration::ZERO, async |_| true).await, recipe);
    assert!(tries.get() < 400, "{} tries", tries.get());
    let start = Instant::now();
    let slow = async |candidate: &Recipe| {
        tokio::time::sleep(Duration::from_millis(20)).await;
        fails(candidate)
    };
    shrink_while(&recipe, Duration::from_millis(200), slow).await;
    assert!(start.elapsed() < Duration::from_secs(2));
}
