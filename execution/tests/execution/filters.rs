//! Measures with a predicate of their own: groups are formed from all rows, and only TRUE lets a row in.

use asap_execution::{Comparison, compare};
use asap_types::{
    AggIntent, DagBuilder, Expr, GraphFormat, Literal, Operator, PostAsapDag, PostOperator, Predicate, Reduction,
    SummaryFamily,
};
use datafusion::arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use rstest::rstest;
use std::sync::Arc;

use crate::planned::{assert_answers, plan, rows, session, text};
use crate::support;

/// The example of the design document on measure predicates: one scan, one grouping.
#[tokio::test]
async fn the_example_is_one_aggregate_and_its_answer_is_right() {
    let context = SessionContext::new();
    let table = "CREATE TABLE lineitem (l_shipmode VARCHAR, l_returnflag VARCHAR, l_quantity DECIMAL(15, 2)) AS VALUES
        ('AIR', 'R', 1.5), ('AIR', 'N', 2), ('AIR', NULL, 4), ('AIR', 'R', NULL),
        ('RAIL', 'N', 8), ('RAIL', NULL, NULL), (NULL, 'R', 16)";
    context.sql(table).await.unwrap().collect().await.unwrap();
    let sql =
        "SELECT l_shipmode, count(CASE WHEN l_returnflag = 'R' THEN 1 END) AS returned, sum(l_quantity) AS quantity
               FROM lineitem GROUP BY l_shipmode ORDER BY l_shipmode NULLS LAST";
    assert_eq!(rows(&context, sql).await, ["AIR 2 7.50", "RAIL 0 8.00", "NULL 1 16.00"]);
    let tree = plan(&context, &[sql]).await.1.dag.render(GraphFormat::Tree);
    assert_eq!(
        (tree.matches("Aggregate").count(), tree.matches("Scan").count(), tree.matches("Join").count()),
        (1, 1, 0)
    );
}

#[rstest]
#[tokio::test]
async fn a_group_without_a_matching_row_is_there(#[values(1, 4)] partitions: usize) {
    let measures = "count(*) FILTER (WHERE p) AS n, count(x) FILTER (WHERE p) AS nx, sum(x) FILTER (WHERE p) AS s,
        min(x) FILTER (WHERE p) AS lo, max(x) FILTER (WHERE p) AS hi, avg(x) FILTER (WHERE p) AS mean";
    let sql = format!("SELECT a, {measures} FROM r GROUP BY a ORDER BY a NULLS LAST");
    let expected =
        ["1 2 2 17 7 10 8.5", "2 0 0 NULL NULL NULL NULL", "3 0 0 NULL NULL NULL NULL", "NULL 1 1 3 3 3 3.0"];
    assert_eq!(rows(&session(partitions).await, &sql).await, expected);
}

#[tokio::test]
async fn a_correlation_takes_a_filter_too() {
    let context = session(1).await;
    // Of four rows whose `f` rises with `x`, the filter keeps two.
    let sql =
        "SELECT p, corr(f, 2 * f) FILTER (WHERE f > 1) AS c FROM r WHERE a = 1 OR a IS NULL GROUP BY p ORDER BY p";
    rows(&context, sql).await;
    let sql = "SELECT a, corr(x, f) AS c, corr(x, f) FILTER (WHERE p) AS cp FROM r GROUP BY a ORDER BY a NULLS LAST";
    let found = rows(&context, sql).await;
    assert_eq!(found[1], "2 NULL NULL");
    assert!(found[0].ends_with(" -1.0") && !found[0].starts_with("1 -1.0"), "{found:?}");
}

/// datafusion#22067, datafusion-comet#283, auron#2521, CALCITE-7441: the unknown lets no row in.
#[rstest]
#[case::a_column("p", 3)]
#[case::negated("NOT p", 3)]
#[case::is_not_true("p IS NOT TRUE", 6)]
#[case::is_null("p IS NULL", 3)]
#[case::compared("x > 0", 4)]
#[case::negated_comparison("NOT x > 0", 1)]
#[case::not_in_a_list_with_null("a NOT IN (1, NULL)", 0)]
#[case::null("CAST(NULL AS BOOLEAN)", 0)]
#[case::and_null("p AND NULL", 0)]
#[case::or_null("p OR NULL", 3)]
#[case::never("FALSE", 0)]
#[case::always("TRUE", 9)]
#[tokio::test]
async fn a_null_predicate_is_not_true(#[case] predicate: &str, #[case] expected: usize) {
    let context = session(1).await;
    let count = |measure: String| format!("SELECT {measure} AS n FROM r");
    let filter = rows(&context, &count(format!("count(*) FILTER (WHERE {predicate})"))).await;
    assert_eq!(filter, [expected.to_string()]);
    let case = rows(&context, &count(format!("count(CASE WHEN {predicate} THEN 1 END)"))).await;
    assert_eq!(case, [expected.to_string()]);
}

/// DataFusion 54.1 merges the lists, and then keeps the rows where `x` is NULL (defect 14 of
/// the oracle), so the answers stand here.
#[rstest]
#[case::disjoint("x NOT IN (1) OR x NOT IN (2)", 5)]
#[case::long("x NOT IN (1, 2, 4, 6, 8) OR x NOT IN (11, 12, 13, 14, 15)", 5)]
#[case::overlapping("x NOT IN (5, 7) OR x NOT IN (7, 10)", 4)]
#[case::negated("NOT (x IN (1) AND x IN (2))", 5)]
#[case::deeper("NOT (x IN (5, 7) AND (p OR x IN (10, 3)))", 4)]
#[case::nested("NOT (x IN (5, 7) AND x IN (10, 3))", 5)]
#[case::negated_alone("NOT (x IN (5, 7)) OR NOT (x IN (10, 3))", 5)]
#[case::comparisons("NOT ((x = 5 OR x = 7) AND (x = 10 OR 3 = x))", 5)]
#[case::one_list("NOT ((x = 5 OR x = 7) AND x IN (10, 3))", 5)]
#[case::excepted("NOT (x IN (5, 7) AND x NOT IN (5, 7))", 5)]
#[case::tested("(x IN (5, 7) AND x IN (10, 3)) IS NOT TRUE", 9)]
#[case::is_unknown("(x IN (5, 7) AND x IN (10, 3)) IS NULL", 4)]
#[case::expressions("x + 1 NOT IN (1) OR x + 1 NOT IN (2)", 5)]
#[case::both("x IN (5, 7, 10) AND x IN (7, 3)", 1)]
#[case::either("x IN (5, 7) OR x IN (7, 10)", 3)]
#[case::excepted_beside_null("x IN (5, 7) AND x NOT IN (10, NULL)", 0)]
#[case::null_alone("x NOT IN (NULL) AND x IN (5)", 0)]
#[case::folds_to_null("x IN (5, 7) AND x NOT IN (10, nullif(1, 1))", 0)]
#[case::cast_null("x IN (3, 4, 5, 6, 7) AND x NOT IN (1, CAST(NULL AS BIGINT), 2, 8, 9)", 0)]
#[case::a_column_in_a_list("x IN (5, 7) AND x NOT IN (10, b)", 1)]
#[case::null_hides_nothing("x IN (5, NULL) OR x IN (7, 10)", 3)]
#[case::null_in_a_list("x NOT IN (5, NULL) OR x NOT IN (7)", 4)]
#[tokio::test]
async fn lists_of_one_column_stay_unknown_where_it_is_null(#[case] predicate: &str, #[case] expected: usize) {
    let context = session(1).await;
    let asked = [
        format!("SELECT count(*) AS n FROM r WHERE {predicate}"),
        format!("SELECT count(*) FILTER (WHERE {predicate}) AS n FROM r"),
        format!("SELECT count(CASE WHEN {predicate} THEN 1 END) AS n FROM r"),
    ];
    for sql in &asked {
        let (_, selection) = plan(&context, &[sql]).await;
        let found = support::answers(&selection.dag, &context).await;
        assert_eq!(text(&found[0].batches), [expected.to_string()], "{sql}");
    }
}

/// Nor do lists meet that stand in several nodes of the plan.
#[rstest]
#[case::values("SELECT x IN (5, 7) AND x IN (10, 3) AS b, count(*) AS n FROM r GROUP BY 1", &["NULL 4", "false 5"])]
#[case::a_key("SELECT x, count(*) AS n FROM r GROUP BY x, x NOT IN (1, 2, 4, 6) HAVING x NOT IN (1, 2, 4, 6) OR x NOT IN (11, 12, 13, 14)",
    &["-4 1", "10 1", "3 1", "5 1", "7 1"])]
#[case::a_sub_select(
    "SELECT x FROM (SELECT DISTINCT x, x NOT IN (1, 2, 4, 6) AS a FROM r) AS s WHERE a OR x NOT IN (11, 12, 13, 14)",
    &["-4", "10", "3", "5", "7"]
)]
#[case::a_projection(
    "SELECT x FROM (SELECT x, NOT (x = 1 OR x = 2) AS a FROM r) AS s WHERE a OR x NOT IN (11, 12, 13, 14)",
    &["-4", "10", "3", "5", "7"]
)]
#[case::two_filters("SELECT x FROM (SELECT * FROM r WHERE x NOT IN (10, NULL)) AS s WHERE x IN (5, 7)", &[])]
#[case::having(
    "SELECT a, max(x) AS m FROM r GROUP BY a HAVING max(x) NOT IN (10, NULL) AND max(x) IN (3, -4)",
    &[]
)]
#[tokio::test]
async fn lists_of_several_nodes_stay_apart(#[case] sql: &str, #[case] expected: &[&str]) {
    let context = session(1).await;
    let (_, selection) = plan(&context, &[sql]).await;
    let mut found = text(&support::answers(&selection.dag, &context).await[0].batches);
    found.sort();
    assert_eq!(found, expected);
}

/// datafusion#22773: DataFusion 54.1 itself fails to run a filter that has no type.
#[tokio::test]
async fn datafusion_22773_an_untyped_null_keeps_no_row() {
    let context = session(1).await;
    let sql = "SELECT count(*) FILTER (WHERE NULL) AS n, sum(x) FILTER (WHERE NULL) AS s, count(*) AS rows FROM r";
    let [answer] = support::answers(&plan(&context, &[sql]).await.1.dag, &context).await.try_into().unwrap();
    assert_eq!(text(&answer.batches), ["0 NULL 9"]);
    let plain = context.sql(sql).await.unwrap().collect().await.unwrap_err();
    assert!(plain.to_string().contains("non-boolean predicates"), "{plain}");
    // The front end gives such a NULL its type; a plan from elsewhere may not have one.
    let untyped = Expr::Literal(Literal::null(DataType::Null));
    let count = support::aggregate(support::scan("t"), &[], vec![(AggIntent::count(), Some(untyped))], &["n"]);
    let dag = PostAsapDag::from_queries([("q", &count)]).unwrap();
    let [answer] = support::answers(&dag, &support::context()).await.try_into().unwrap();
    assert_eq!(text(&answer.batches), ["0"]);
}

/// DataFusion 54.1 fails where two aggregates share a truth test (defect 4 of the oracle).
#[rstest]
#[case("(x > 3) IS NOT FALSE", "coalesce(x > 3, true)")]
#[case("(x > 3) IS TRUE", "coalesce(x > 3, false)")]
#[case("(x > 3) IS NOT TRUE", "NOT coalesce(x > 3, false)")]
#[case("(x > 3) IS FALSE", "NOT coalesce(x > 3, true)")]
#[case("(x > 3) IS UNKNOWN", "x IS NULL")]
#[case("(x > 3) IS NOT UNKNOWN", "x IS NOT NULL")]
#[tokio::test]
async fn measures_share_a_truth_test(#[case] test: &str, #[case] meaning: &str) {
    let context = session(1).await;
    let sql = |test: &str| {
        format!(
            "SELECT b, sum(x) FILTER (WHERE {test}) AS s, avg(x) FILTER (WHERE {test}) AS a,
                count(x) FILTER (WHERE {test}) AS n FROM r GROUP BY b ORDER BY b"
        )
    };
    let planned = plan(&context, &[&sql(test)]).await.1;
    let [answer] = support::answers(&planned.dag, &context).await.try_into().unwrap();
    let plain = context.sql(&sql(meaning)).await.unwrap().collect().await.unwrap();
    assert_eq!(text(&answer.batches), text(&plain));
}

/// COUNT of a CASE counts the rows where the predicate is TRUE and the value is there.
#[tokio::test]
async fn a_count_of_a_case_counts_values() {
    let sql = "SELECT count(CASE WHEN b = 1 THEN x END) AS x, count(CASE WHEN b = 1 THEN 1 END) AS one,
        count(CASE WHEN b = 1 THEN x ELSE 0 END) AS zero, count(x) AS values, count(*) AS rows FROM r";
    assert_eq!(rows(&session(1).await, sql).await, ["2 5 6 5 9"]);
}

#[tokio::test]
async fn over_no_rows_a_count_is_zero_and_the_rest_is_null() {
    let context = session(1).await;
    let measures = "count(*) FILTER (WHERE p) AS n, sum(x) FILTER (WHERE p) AS s, min(x) FILTER (WHERE p) AS lo,
        max(x) FILTER (WHERE p) AS hi, avg(x) FILTER (WHERE p) AS mean";
    assert_eq!(rows(&context, &format!("SELECT {measures} FROM nothing")).await, ["0 NULL NULL NULL NULL"]);
    assert!(rows(&context, &format!("SELECT a, {measures} FROM nothing GROUP BY a")).await.is_empty());
    assert_eq!(rows(&context, &format!("SELECT {measures} FROM r WHERE a = 2")).await, ["0 NULL NULL NULL NULL"]);
}

/// What is no filter keeps its own value, over groups without a match, over groups without a value and over nothing.
#[rstest]
#[case::druid_17768_zero_for_no_match("sum(CASE WHEN p THEN x ELSE 0 END)")]
#[case::calcite_5953_null_for_no_row("sum(CASE WHEN p THEN 1 ELSE 0 END)")]
#[case::zeros_divide("avg(CASE WHEN p THEN x ELSE 0 END)")]
#[case::calcite_3764_else_for_a_null_condition("sum(CASE WHEN p THEN NULL ELSE x END)")]
#[case::clickhouse_116937_rows_of_a_null_condition("count(CASE WHEN p THEN NULL ELSE x END)")]
#[case::several_branches("sum(CASE WHEN p THEN x WHEN b = 1 THEN 100 END)")]
#[case::simple_case("count(CASE b WHEN 1 THEN x END)")]
#[case::zero_is_counted("count(CASE WHEN p THEN 1 ELSE 0 END)")]
#[case::datafusion_24443_guarded_sum("sum(CASE WHEN b <> 1 THEN 10 / (b - 1) END)")]
#[case::trino_7_guarded_count("count(CASE WHEN b <> 1 THEN 10 / (b - 1) END)")]
#[case::calcite_4345_without_else("min(CASE WHEN p THEN k END)")]
#[case::materialize_9287_a_case_is_no_plain_predicate("max(CASE WHEN NOT p THEN f END)")]
#[case::auron_2521_negated("sum(x) FILTER (WHERE NOT p)")]
#[case::both("sum(CASE WHEN p THEN x END) FILTER (WHERE b = 1)")]
#[tokio::test]
async fn every_shape_has_the_plain_answer(#[case] measure: &str) {
    let context = session(2).await;
    for table in ["r", "nothing"] {
        rows(&context, &format!("SELECT a, {measure} AS m FROM {table} GROUP BY a")).await;
        rows(&context, &format!("SELECT {measure} AS m FROM {table}")).await;
        rows(&context, &format!("SELECT {measure} AS m FROM {table} WHERE p IS NULL")).await;
    }
}

/// A filter is of its own measure only; datafusion#3546: the columns that only it reads are there.
#[tokio::test]
async fn duckdb_3023_a_filter_does_not_leak_into_its_neighbours() {
    let context = session(1).await;
    let sql = "SELECT sum(x) FILTER (WHERE p) AS s1, sum(x) AS s2, count(*) FILTER (WHERE f > 1) AS n1, count(*) AS n2,
        sum(x) FILTER (WHERE k = 'u') AS s3, max(x) AS hi FROM (SELECT a, x, p, f, k FROM r) AS s";
    assert_eq!(rows(&context, sql).await, ["20 21 3 9 18 10"]);
    let groups =
        "SELECT a FROM r GROUP BY a HAVING count(*) FILTER (WHERE p) > 0 ORDER BY sum(x) FILTER (WHERE p) DESC";
    assert_eq!(rows(&context, groups).await, ["1", "NULL"]);
}

/// Statements that differ in one predicate only are two aggregates; equal ones are one.
#[tokio::test]
async fn statements_that_differ_in_one_predicate_are_not_shared() {
    let context = session(1).await;
    let with = |predicate: &str| format!("SELECT a, count(*) FILTER (WHERE {predicate}) AS n FROM r GROUP BY a");
    let sql = [with("p"), with("NOT p"), with("p"), "SELECT a, count(*) AS n FROM r GROUP BY a".to_owned()];
    let sql: Vec<&str> = sql.iter().map(String::as_str).collect();
    assert_answers(&context, &sql, &[None; 4]).await;
    let tree = plan(&context, &sql).await.1.dag.render(GraphFormat::Tree);
    assert_eq!(tree.matches(" Aggregate(").count(), 3, "{tree}");
}

/// A filter on an operation that planning put in: the fine counts of the groups that the key selects.
#[tokio::test]
async fn a_rolled_up_measure_has_a_filter_on_the_fine_keys() {
    let context = session(2).await;
    let sql = [
        "SELECT a, b, count(*) AS n FROM r GROUP BY a, b",
        "SELECT a, count(*) FILTER (WHERE b = 1) AS n FROM r GROUP BY a",
    ];
    assert_answers(&context, &sql, &[None, Some(0)]).await;
    let tree = plan(&context, &sql).await.1.dag.render(GraphFormat::Tree);
    assert!(tree.contains("RollUp(by a: sum0(count(*)) filter (b = 1))"), "{tree}");
}

#[rstest]
#[tokio::test]
async fn a_filtered_summary_is_the_filtered_measure(#[values("t", "empty")] table: &str) {
    let context = support::context();
    let positive = Predicate(Expr::column(support::X).is_not_null());
    let mut builder = DagBuilder::default();
    let input = builder.query(&support::scan(table)).unwrap();
    let family = SummaryFamily::Exact { measure: AggIntent::Sum { arg: Expr::column(support::D) } };
    let reduction = Reduction::by(vec![Expr::column(support::K)]);
    let summary = builder.push(PostOperator::SummaryAgg { family, reduction, filter: Some(positive), input }).unwrap();
    let names = vec!["k".to_owned(), "s".to_owned()];
    let estimate = builder.push(PostOperator::SummaryEstimate { output_names: names, input: summary }).unwrap();
    builder.root("q", estimate).unwrap();
    let [ours] = support::answers(&builder.finish(), &context).await.try_into().unwrap();
    let sql = format!("SELECT k, sum(d) FILTER (WHERE x IS NOT NULL) AS s FROM {table} GROUP BY k");
    let frame = context.sql(&sql).await.unwrap();
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let plain = frame.collect().await.unwrap();
    assert_eq!(compare((&ours.schema, &ours.batches), (&schema, &plain), &Comparison::exact()).unwrap(), None);
}

/// No summary is bound to a filtered measure: its aggregate stays as it is written.
#[tokio::test]
async fn a_filtered_measure_is_kept_as_written() {
    let context = session(1).await;
    let sql = ["SELECT a, sum(x) FILTER (WHERE p) AS s FROM r GROUP BY a"];
    let (space, selection) = plan(&context, &sql).await;
    assert_eq!(space.targets.len(), 1);
    assert!(matches!(space.targets[0].candidates.as_slice(), [asap_aware_mapping::Candidate::KeepPreAsap]));
    let is_kept = |node: &PostOperator| matches!(node, PostOperator::KeepPreAsap(Operator::Aggregate(aggregate)) if !aggregate.filters.is_none());
    assert_eq!(selection.dag.nodes().iter().filter(|node| is_kept(node)).count(), 1);
    assert_eq!(selection.dag.nodes().iter().filter(|node| node.is_filtered()).count(), 1);
    let unfiltered = plan(&context, &["SELECT a, sum(x) AS s FROM r GROUP BY a"]).await.0;
    assert_eq!(unfiltered.targets[0].candidates.len(), 2);
}
