//! Shapes of queries: the interpreter's answers are what SQL says, and every plan gives them, over Lance and in memory.

use asap_oracle::fuzz::{CaseOutcome, Point, check_recipe};
use asap_oracle::model::Table;
use asap_oracle::query::{
    Column, Comparison, DateUnit, Expr, Function, Grouping, JoinKind, Nesting, Output, Query, SortKey, Source, Spelling,
};
use asap_oracle::recipe::{Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};
use asap_oracle::value::{Row, Type, Value};
use rstest::rstest;

const NULL: Value = Value::Null;

fn int(value: i64) -> Value {
    Value::Int64(value)
}

/// `a`, `b` and a timestamp of whole hours.
fn rows() -> Vec<Row> {
    let rows = [
        (Some(1), Some(10), 0),
        (Some(1), Some(10), 25),
        (Some(1), None, 26),
        (None, Some(10), 800),
        (Some(2), Some(7), -1),
    ];
    let value = |value: Option<i64>| value.map_or(NULL, Value::Int64);
    rows.map(|(a, b, hour)| vec![value(a), value(b), Value::Timestamp(hour * 3_600_000_000)]).to_vec()
}

fn recipe(rows: Vec<Row>, query: Query) -> Recipe {
    let column = |name: &str, data_type| Column { name: name.to_owned(), data_type, nullable: true };
    let columns = vec![column("a", Type::Int64), column("b", Type::Int64), column("c", Type::Timestamp)];
    let table = TableRecipe { rows_per_file: 2, ..TableRecipe::new("t", columns, vec![Operation::Create { rows }]) };
    let settings = Settings { target_partitions: 2, ..Settings::default() };
    Recipe { version: RECIPE_VERSION, table, workload: vec![query], settings }
}

fn sorted(recipe: &Recipe) -> Vec<Row> {
    recipe.validate().unwrap();
    let mut answer = Table::of(&recipe.table).unwrap().answer(&recipe.workload[0]).unwrap();
    answer.rows.sort();
    answer.rows
}

/// Over Lance and in memory.
async fn check(mut recipe: Recipe) -> [CaseOutcome; 2] {
    let lance = check_recipe(&recipe).await;
    recipe.settings.in_memory = true;
    let memory = check_recipe(&recipe).await;
    for outcome in [&lance, &memory] {
        assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
        assert!(outcome.comparisons > 0 && outcome.defects.is_empty());
    }
    assert!(!lance.in_memory && memory.in_memory);
    [lance, memory]
}

fn grouped(keys: &[&str], measure: Expr) -> Query {
    let mut outputs: Vec<Output> = keys.iter().map(|key| Output::new(Expr::column(*key), *key)).collect();
    outputs.push(Output::new(measure, "m"));
    Query { group_by: Some(keys.iter().map(|key| Expr::column(*key)).collect()), ..Query::of_table("t", outputs) }
}

fn distinct(function: Function) -> Expr {
    Expr::distinct_aggregate(function, Expr::column("b"), None)
}

#[rstest]
#[case::count(Function::Count, int(2))]
#[case::sum(Function::Sum, int(17))]
#[tokio::test(flavor = "multi_thread")]
async fn distinct_values_count_once(#[case] function: Function, #[case] expected: Value) {
    let recipe = recipe(rows(), grouped(&[], distinct(function)));
    assert_eq!(sorted(&recipe), [vec![expected]]);
    let [outcome, _] = check(recipe).await;
    assert!(outcome.points.contains(&Point::new("front end refusal", "distinct-aggregate")), "{:?}", outcome.points);
}

/// A key that a grouping leaves out is NULL, beside groups whose key is NULL itself; the grouping by nothing has a row also
/// over no rows.
#[rstest]
#[case::rollup(Grouping::Rollup, rows(), &[[NULL, NULL, int(4)], [NULL, NULL, int(1)], [NULL, int(10), int(1)],
    [int(1), NULL, int(2)], [int(1), NULL, int(0)], [int(1), int(10), int(2)], [int(2), NULL, int(1)], [int(2), int(7), int(1)]])]
#[case::sets(Grouping::Sets(vec![vec![1], vec![0]]), rows(), &[[NULL, NULL, int(0)], [NULL, NULL, int(1)], [NULL, int(7), int(1)],
    [NULL, int(10), int(3)], [int(1), NULL, int(2)], [int(2), NULL, int(1)]])]
#[case::no_rows(Grouping::Rollup, Vec::new(), &[[NULL, NULL, int(0)]])]
#[tokio::test(flavor = "multi_thread")]
async fn groupings_are_answered_together(
    #[case] grouping: Grouping,
    #[case] rows: Vec<Row>,
    #[case] expected: &[[Value; 3]],
) {
    let count = Expr::aggregate(Function::Count, Expr::column("b"), None);
    let recipe = recipe(rows, Query { grouping: Some(grouping), ..grouped(&["a", "b"], count) });
    let mut expected: Vec<Row> = expected.iter().map(|row| row.to_vec()).collect();
    expected.sort();
    assert_eq!(sorted(&recipe), expected);
    check(recipe).await;
}

#[test]
fn a_key_in_no_grouping_is_refused() {
    let mut recipe = recipe(rows(), grouped(&["a", "b"], Expr::count_all(None)));
    recipe.workload[0].grouping = Some(Grouping::Sets(vec![vec![1]]));
    assert!(recipe.validate().unwrap_err().to_string().contains("grouping sets"));
}

#[rstest]
#[case::year(DateUnit::Year, &[(-8760, 1), (0, 4)])]
#[case::quarter(DateUnit::Quarter, &[(-2208, 1), (0, 4)])]
#[case::month(DateUnit::Month, &[(-744, 1), (0, 3), (744, 1)])]
#[case::week(DateUnit::Week, &[(-72, 4), (768, 1)])]
#[case::day(DateUnit::Day, &[(-24, 1), (0, 1), (24, 2), (792, 1)])]
#[case::hour(DateUnit::Hour, &[(-1, 1), (0, 1), (25, 1), (26, 1), (800, 1)])]
#[tokio::test(flavor = "multi_thread")]
async fn timestamps_are_cut_to_their_unit(#[case] unit: DateUnit, #[case] expected: &[(i64, i64)]) {
    let key = Expr::DateTrunc { unit, operand: Box::new(Expr::column("c")) };
    let outputs = vec![Output::new(key.clone(), "k"), Output::new(Expr::count_all(None), "m")];
    let recipe = recipe(rows(), Query { group_by: Some(vec![key]), ..Query::of_table("t", outputs) });
    let row = |&(hour, rows): &(i64, i64)| vec![Value::Timestamp(hour * 3_600_000_000), int(rows)];
    assert_eq!(sorted(&recipe), expected.iter().map(row).collect::<Vec<_>>());
    let [outcome, _] = check(recipe).await;
    assert_eq!(outcome.refused, 0);
}

/// DISTINCT comes before ORDER BY, and that before OFFSET, and that before LIMIT. Every spelling means the same.
#[rstest]
#[case::usual(Spelling::Usual)]
#[case::position(Spelling::Position)]
#[tokio::test(flavor = "multi_thread")]
async fn clauses_follow_one_another(#[case] spelling: Spelling) {
    let outputs = vec![Output::new(Expr::column("b"), "b")];
    let key = SortKey { output: 0, descending: true, nulls_first: Some(true), spelling };
    let query =
        Query { distinct: true, order_by: vec![key], offset: Some(1), limit: Some(1), ..Query::of_table("t", outputs) };
    let recipe = recipe(rows(), query);
    assert_eq!(sorted(&recipe), [vec![int(10)]]);
    let [outcome, _] = check(recipe).await;
    assert_eq!(outcome.refused, 0);
}

#[rstest]
#[case::expression(Spelling::Usual)]
#[case::position(Spelling::Position)]
#[case::name(Spelling::Other)]
#[tokio::test(flavor = "multi_thread")]
async fn having_is_true_for_the_groups_that_stay(#[case] key_spelling: Spelling) {
    let sum = Expr::aggregate(Function::Sum, Expr::column("b"), None);
    let at_least = Expr::compare(Comparison::GreaterOrEqual, sum.clone(), Expr::literal(int(10), Type::Int64));
    let unknown = Expr::IsNull { operand: Box::new(Expr::column("a")), negated: true };
    let having = Some(Expr::And(vec![at_least, unknown]));
    let recipe = recipe(rows(), Query { having, key_spelling, ..grouped(&["a"], sum) });
    assert_eq!(sorted(&recipe), [vec![int(1), int(20)]]);
    let [outcome, memory] = check(recipe).await;
    let relation = Point::new("relation", "TRUE, FALSE and unknown groups are all groups");
    assert!(outcome.points.contains(&relation) && memory.points.contains(&relation));
    assert!(!memory.points.iter().any(|point| point.group == "history"), "{:?}", memory.points);
}

/// The rows of `t` joined with those whose `b` is not NULL, by `a`: NULL is equal to nothing.
#[rstest]
#[case::inner(JoinKind::Inner, 7)]
#[case::left(JoinKind::Left, 8)]
#[tokio::test(flavor = "multi_thread")]
async fn null_joins_nothing(#[case] kind: JoinKind, #[case] expected: i64) {
    let outputs = vec![Output::new(Expr::column("a"), "r_a")];
    let filter = Some(Expr::IsNull { operand: Box::new(Expr::column("b")), negated: true });
    let right = Query { filter, ..Query::of_table("t", outputs) };
    let source = Source::Join {
        kind,
        left: Box::new(Source::Table("t".to_owned())),
        left_key: "a".to_owned(),
        right: Box::new(Source::Nested { name: "r".to_owned(), nesting: Nesting::SubSelect, query: Box::new(right) }),
        right_key: "r_a".to_owned(),
    };
    let recipe = recipe(rows(), Query { source, ..grouped(&[], Expr::count_all(None)) });
    assert_eq!(sorted(&recipe), [vec![int(expected)]]);
    let [outcome, _] = check(recipe).await;
    assert!(outcome.points.contains(&Point::new("front end refusal", "join")), "{:?}", outcome.points);
}

/// `a` of the rows where `b` is at least so much.
fn subquery(bound: i64) -> Box<Query> {
    let at_least = Expr::compare(Comparison::GreaterOrEqual, Expr::column("b"), Expr::literal(int(bound), Type::Int64));
    Box::new(Query { filter: Some(at_least), ..Query::of_table("t", vec![Output::new(Expr::column("a"), "y")]) })
}

fn within(query: Box<Query>, negated: bool) -> Expr {
    Expr::InQuery { operand: Box::new(Expr::column("a")), query, negated }
}

/// A NULL among the rows of a sub-query makes NOT IN unknown; over no rows it is TRUE, also for NULL.
#[rstest]
#[case::within(within(subquery(7), false), 4)]
#[case::not_within_null(within(subquery(10), true), 0)]
#[case::not_within_nothing(within(subquery(99), true), 5)]
#[case::exists(Expr::Exists { query: subquery(10), negated: false }, 5)]
#[case::not_exists(Expr::Exists { query: subquery(99), negated: true }, 5)]
#[case::scalar(Expr::compare(Comparison::Equal, Expr::column("b"), largest("b")), 3)]
#[tokio::test(flavor = "multi_thread")]
async fn sub_queries_are_tests(#[case] filter: Expr, #[case] expected: i64) {
    let recipe = recipe(rows(), Query { filter: Some(filter), ..grouped(&[], Expr::count_all(None)) });
    assert_eq!(sorted(&recipe), [vec![int(expected)]]);
    let [outcome, _] = check(recipe).await;
    assert!(outcome.points.contains(&Point::new("front end refusal", "subquery-expression")), "{:?}", outcome.points);
}

fn largest(column: &str) -> Expr {
    let max = Output::new(Expr::aggregate(Function::Max, Expr::column(column), None), "y");
    let query = Query { group_by: Some(Vec::new()), ..Query::of_table("t", vec![max]) };
    Expr::Scalar { query: Box::new(query), data_type: Type::Int64 }
}

/// Under a memory limit no answer is wrong, and what lacks memory is answered without the limit.
#[rstest]
#[tokio::test(flavor = "multi_thread")]
async fn a_memory_limit_makes_no_answer_wrong(#[values(1, 1 << 10, 2 << 10, 4 << 10, 16 << 10)] bytes: usize) {
    let sum = || Expr::aggregate(Function::Sum, Expr::column("b"), None);
    let mut recipe = recipe(rows(), grouped(&["a"], sum()));
    recipe.workload.push(grouped(&["a", "c"], sum()));
    recipe.workload.push(grouped(&["c"], sum()));
    recipe.settings.memory_limit = Some(bytes);
    let is_missing = Point::new("memory limit", "not enough for an answer");
    for outcome in check(recipe).await {
        assert!(bytes > 1 || outcome.points.contains(&is_missing), "{:?}", outcome.points);
    }
}
