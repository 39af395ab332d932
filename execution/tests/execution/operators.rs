use asap_execution::{ExecutionError, run};
use asap_types::{
    AggIntent, ArithmeticOp, CompareOp, Expr, Field, Literal, NamedExpr, Operator, PostAsapDag, Predicate, QueryExpr,
    Reduction, Schema, SortKey, TableRef, UnaryOp, average_type, sum_type,
};
use datafusion::arrow::datatypes::DataType;
use rstest::rstest;

use crate::support::{D, F, K, X, aggregate, assert_same, context, scan};

fn positive_x() -> Expr {
    Expr::column(X).compare(CompareOp::Gt, Expr::Literal(Literal::int64(0)))
}

#[rstest]
#[case::count(AggIntent::count(), None, "count(*)")]
#[case::count_column(AggIntent::count(), Some(Expr::column(X).is_not_null()), "count(x)")]
#[case::count_filtered(AggIntent::count(), Some(positive_x()), "count(*) FILTER (WHERE x > 0)")]
#[case::count_both(
    AggIntent::count(),
    Some(positive_x().and(Expr::column(D).is_not_null())),
    "count(d) FILTER (WHERE x > 0)"
)]
#[case::sum(AggIntent::Sum { arg: Expr::column(X) }, None, "sum(x)")]
#[case::sum_decimal(AggIntent::Sum { arg: Expr::column(D) }, Some(positive_x()), "sum(d) FILTER (WHERE x > 0)")]
#[case::sum0(AggIntent::Sum0 { arg: Expr::column(X) }, None, "coalesce(sum(x), 0)")]
#[case::min(AggIntent::Min { arg: Expr::column(F) }, None, "min(f)")]
#[case::max(AggIntent::Max { arg: Expr::column(K) }, None, "max(k)")]
#[case::avg(AggIntent::Avg { arg: Expr::column(D) }, None, "avg(d)")]
#[case::avg_filtered(AggIntent::Avg { arg: Expr::column(F) }, Some(positive_x()), "avg(f) FILTER (WHERE x > 0)")]
#[tokio::test]
async fn measures_agree_with_sql(
    #[case] measure: AggIntent,
    #[case] filter: Option<Expr>,
    #[case] sql: &str,
    #[values("t", "empty")] table: &str,
) {
    let context = context();
    let grouped = aggregate(scan(table), &[K], vec![(measure.clone(), filter.clone())], &["k", "m"]);
    assert_same(&context, &grouped, &format!("SELECT k, {sql} AS m FROM {table} GROUP BY k")).await;
    let total = aggregate(scan(table), &[], vec![(measure, filter)], &["m"]);
    assert_same(&context, &total, &format!("SELECT {sql} AS m FROM {table}")).await;
}

/// AVG and its value from parts are one number, also over NULLs, over nothing and for decimals.
#[rstest]
#[tokio::test]
async fn average_from_parts_is_avg(#[values(F, D)] column: usize, #[values("t", "empty")] table: &str) {
    let arg = Expr::column(column);
    let data_type = arg.data_type(scan(table).schema()).unwrap();
    let parts = aggregate(
        scan(table),
        &[K],
        vec![(AggIntent::Sum { arg: arg.clone() }, None), (AggIntent::count(), Some(arg.clone().is_not_null()))],
        &["k", "sum", "count"],
    );
    assert_eq!(parts.schema().fields()[1].data_type, sum_type(&data_type).unwrap());
    let average = Expr::AverageFromParts {
        sum: Box::new(Expr::column(1)),
        count: Box::new(Expr::column(2)),
        data_type: average_type(&data_type).unwrap(),
    };
    let columns =
        vec![NamedExpr { expr: Expr::column(0), name: "k".into() }, NamedExpr { expr: average, name: "m".into() }];
    let query = QueryExpr::new(Operator::Project { columns, input: parts }).unwrap();
    let name = if column == F { "f" } else { "d" };
    assert_same(&context(), &query, &format!("SELECT k, avg({name}) AS m FROM {table} GROUP BY k")).await;
}

#[tokio::test]
async fn equal_measures_and_equal_names_stay_apart() {
    let sum = || (AggIntent::Sum { arg: Expr::column(X) }, None);
    let query = aggregate(scan("t"), &[K, K], vec![sum(), sum()], &["k", "k2", "s", "s2"]);
    assert_same(&context(), &query, "SELECT k, k AS k2, sum(x) AS s, sum(x) AS s2 FROM t GROUP BY k").await;
}

#[tokio::test]
async fn keys_without_measures() {
    let keys = aggregate(scan("t"), &[K], vec![], &["k"]);
    assert_same(&context(), &keys, "SELECT DISTINCT k FROM t").await;
    let distinct = QueryExpr::new(Operator::Distinct { input: scan("t") }).unwrap();
    assert_same(&context(), &distinct, "SELECT DISTINCT * FROM t").await;
}

#[tokio::test]
async fn having_filters_groups() {
    let node = aggregate(scan("t"), &[K], vec![(AggIntent::count(), None)], &["k", "n"]);
    let Operator::Aggregate(mut with_having) = node.operator().clone() else { panic!("an aggregate") };
    with_having.having = Some(Predicate(Expr::column(1).compare(CompareOp::GtEq, Expr::Literal(Literal::int64(2)))));
    let query = QueryExpr::new(Operator::Aggregate(with_having)).unwrap();
    assert_same(&context(), &query, "SELECT k, count(*) AS n FROM t GROUP BY k HAVING count(*) >= 2").await;
}

#[tokio::test]
async fn filters_projections_sorts_and_limits() {
    let filter = QueryExpr::new(Operator::Filter {
        predicate: Predicate(positive_x().unary(UnaryOp::IsNotTrue)),
        input: scan("t"),
    })
    .unwrap();
    let double = Expr::Arithmetic {
        op: ArithmeticOp::Multiply,
        left: Box::new(Expr::column(F)),
        right: Box::new(Expr::column(F)),
        data_type: DataType::Float64,
    };
    let columns =
        vec![NamedExpr { expr: Expr::column(K), name: "k".into() }, NamedExpr { expr: double, name: "square".into() }];
    let project = QueryExpr::new(Operator::Project { columns, input: filter }).unwrap();
    let keys = vec![SortKey { expr: Expr::column(0), descending: true, nulls_first: false }];
    let sort = QueryExpr::new(Operator::Sort { keys, input: project }).unwrap();
    let limit = QueryExpr::new(Operator::Limit { skip: 1, fetch: Some(2), input: sort }).unwrap();
    let sql = "SELECT k, f * f AS square FROM t WHERE (x > 0) IS NOT TRUE ORDER BY k DESC NULLS LAST LIMIT 2 OFFSET 1";
    assert_same(&context(), &limit, sql).await;
}

/// Keys that DataFusion folds to constants, at once or only later: no row, no group.
#[rstest]
#[case::literal("1", Expr::Literal(Literal::int64(1)))]
#[case::sum("1 + 1", one_plus_one())]
#[case::cast("CAST('5' AS BIGINT)", five())]
#[case::case("CASE WHEN true THEN 1 ELSE x END", always_one())]
#[tokio::test]
async fn a_key_that_folds_to_a_constant_makes_no_group_of_no_rows(
    #[case] sql: &str,
    #[case] key: Expr,
    #[values("t", "empty")] table: &str,
) {
    let grouped = |by: Vec<Expr>, names: &[&str]| {
        let Operator::Aggregate(mut node) =
            aggregate(scan(table), &[], vec![(AggIntent::count(), None)], &["n"]).operator().clone()
        else {
            panic!("an aggregate")
        };
        node.reduction = Reduction::by(by);
        node.output_names = names.iter().map(|&name| name.to_owned()).collect();
        QueryExpr::new(Operator::Aggregate(node)).unwrap()
    };
    let context = context();
    let rows = if table == "empty" { 0 } else { 1 };
    let dag = PostAsapDag::from_queries([("q", &grouped(vec![key.clone()], &["c", "n"]))]).unwrap();
    assert_eq!(run(&dag, &context).await.remove(0).unwrap().row_count(), rows, "{sql}");
    let mixed = grouped(vec![Expr::column(K), key], &["k", "c", "n"]);
    assert_same(&context, &mixed, &format!("SELECT k, {sql} AS c, count(*) AS n FROM {table} GROUP BY 1, 2")).await;
}

fn one_plus_one() -> Expr {
    let one = || Box::new(Expr::Literal(Literal::int64(1)));
    Expr::Arithmetic { op: ArithmeticOp::Add, left: one(), right: one(), data_type: DataType::Int64 }
}

fn always_one() -> Expr {
    Expr::Case {
        operand: None,
        branches: vec![(Expr::Literal(Literal::boolean(true)), Expr::Literal(Literal::int64(1)))],
        otherwise: Some(Box::new(Expr::column(X))),
    }
}

fn five() -> Expr {
    let arg = Box::new(Expr::Literal(Literal::utf8("5")));
    Expr::Cast { arg, to: DataType::Int64, null_on_failure: false }
}

#[tokio::test]
async fn a_table_that_changed_is_refused() {
    let schema = Schema::new(vec![Field::new("k", DataType::Int32, true)]);
    let stale = QueryExpr::new(Operator::Scan { table: TableRef::bare("t"), schema, predicates: vec![] }).unwrap();
    let dag = PostAsapDag::from_queries([("q", &stale)]).unwrap();
    let error = run(&dag, &context()).await.remove(0).unwrap_err();
    assert!(matches!(error, ExecutionError::SchemaChanged { .. }), "{error}");
}

#[rstest]
#[case::per_entity(Reduction::PerEntity)]
#[case::without(Reduction::Reduce { by: vec![], without: vec![Expr::column(K)] })]
#[tokio::test]
async fn groupings_by_labels_are_refused(#[case] reduction: Reduction) {
    let plain = aggregate(scan("t"), &[], vec![(AggIntent::count(), None)], &["n"]);
    let Operator::Aggregate(mut aggregate) = plain.operator().clone() else { panic!("an aggregate") };
    aggregate.reduction = reduction;
    let labelled = QueryExpr::new(Operator::Aggregate(aggregate)).unwrap();
    let dag = PostAsapDag::from_queries([("q", &labelled)]).unwrap();
    assert!(matches!(run(&dag, &context()).await.remove(0), Err(ExecutionError::Unsupported(_))));
}

#[tokio::test]
async fn an_unknown_table_is_an_error() {
    let dag = PostAsapDag::from_queries([("q", &scan("nowhere"))]).unwrap();
    assert!(matches!(run(&dag, &context()).await.remove(0), Err(ExecutionError::DataFusion(_))));
}
