//! Each accepted shape, as the tree of its lowered (not canonical) form and its schema.

use asap_types::{AggIntent, Expr, Literal, MeasureFilters, Operator, Predicate};
use rstest::rstest;

use crate::{assert_snapshot, lower, panic_with, tree};

#[rstest]
#[case::columns("SELECT k, b FROM t")]
#[case::all_columns("SELECT * FROM other.t2")]
#[case::computed("SELECT a + b AS c, -f, b * 2 FROM t")]
#[case::default_schema("SELECT datafusion.public.t.k FROM datafusion.public.t")]
#[case::quoted_name("SELECT \"Mixed\" FROM T AS \"Alias\" WHERE \"Alias\".\"Mixed\" = 'x'")]
#[case::where_logic("SELECT k FROM t WHERE (a > 1 AND NOT p) OR f IS NULL")]
#[case::where_tests("SELECT k FROM t WHERE p IS TRUE AND p IS NOT FALSE AND p IS NOT UNKNOWN")]
#[case::where_in("SELECT k FROM t WHERE a IN (1, 2, 3) AND k NOT IN ('x')")]
#[case::where_between("SELECT k FROM t WHERE a BETWEEN 1 AND 3 AND b NOT BETWEEN 4 AND 5")]
#[case::where_like("SELECT k FROM t WHERE k LIKE 'a%' AND k NOT ILIKE '%b'")]
#[case::where_distinct_from("SELECT k FROM t WHERE a IS DISTINCT FROM b")]
#[case::where_null("SELECT k FROM t WHERE NULL")]
#[case::date_arithmetic("SELECT k FROM t WHERE ts >= TIMESTAMP '2024-01-01 00:00:00' - INTERVAL '90' DAY")]
#[case::constant_that_fails("SELECT k FROM t WHERE a > 1 / 0")]
#[case::try_cast("SELECT try_cast(k AS BIGINT) AS n, cast(a AS DOUBLE) AS d FROM t")]
#[case::functions("SELECT lower(k), coalesce(a, 0), date_trunc('month', ts) FROM t")]
#[case::simple_case("SELECT CASE b WHEN 1 THEN 'one' ELSE 'many' END AS n FROM t")]
#[case::group_by("SELECT k, count(*), sum(a), min(b), max(f), avg(a) FROM t GROUP BY k")]
#[case::group_by_expression("SELECT date_trunc('day', ts) AS day, sum(a * b) FROM t GROUP BY date_trunc('day', ts)")]
#[case::group_by_all("SELECT k, p, count(*) FROM t GROUP BY ALL")]
#[case::grand_total("SELECT count(*), sum(a) FROM t")]
#[case::keys_only("SELECT k FROM t GROUP BY k")]
#[case::having("SELECT k, sum(a) AS s FROM t GROUP BY k HAVING sum(a) > 10 AND count(*) > 1")]
#[case::order_by_other_column("SELECT k AS x FROM t ORDER BY a DESC NULLS LAST, b LIMIT 3 OFFSET 2")]
#[case::order_by_aggregate("SELECT k FROM t GROUP BY k ORDER BY count(*) DESC, k")]
#[case::distinct("SELECT DISTINCT k, p FROM t")]
#[case::sub_select("SELECT s.k, s.n + 1 AS m FROM (SELECT k, count(*) AS n FROM t GROUP BY k) AS s WHERE s.n > 1")]
#[case::sub_select_columns("SELECT x, y FROM (SELECT k, a FROM t) AS s(x, y)")]
#[case::cte("WITH s AS (SELECT k, a FROM t), r AS (SELECT k FROM s) SELECT k, count(*) FROM r GROUP BY k")]
#[case::cte_hides_table("WITH t AS (SELECT b AS k FROM t) SELECT k FROM t")]
#[case::parenthesized("(SELECT k FROM (t) ORDER BY k LIMIT 1)")]
#[case::filter_clause("SELECT k, sum(a) FILTER (WHERE p), avg(f) FILTER (WHERE a > 0) FROM t GROUP BY k")]
#[case::filter_null("SELECT count(*) FILTER (WHERE NULL) FROM t")]
#[case::nested_types("SELECT k FROM t WHERE array_has(tags, 'x') AND array_has(['a', 'b'], k)")]
#[case::stable_function("SELECT count(*) FROM t WHERE ts < now()")]
#[case::measure_twice("SELECT count(*) AS x, count(b) AS y, sum(a) AS s, sum(a) + 1 AS s1 FROM t")]
#[case::nested_aggregates("SELECT max(n) FROM (SELECT k, count(*) AS n FROM t GROUP BY k) AS s")]
#[case::having_alias("SELECT k, sum(a) AS s FROM t GROUP BY k HAVING s > 10")]
#[case::decimals("SELECT sum(l_extendedprice * (1 - l_discount)), avg(l_tax) FROM lineitem WHERE l_discount > 0.05")]
#[case::string_view("SELECT count(*) FROM t WHERE \"Mixed\" = 'x'")]
#[case::corr("SELECT k, corr(a, f) FILTER (WHERE p) FROM t GROUP BY k")]
fn lowers(#[case] sql: &str) {
    let query = lower(sql).unwrap_or_else(|error| panic_with(sql, &error));
    assert_snapshot(sql, &format!("{}{}\n", tree(&query), query.schema()));
}

/// The example of the design document on measure predicates.
#[test]
fn one_aggregate_with_a_filter_for_one_measure() {
    let sql = "SELECT l_shipmode, count(CASE WHEN l_returnflag = 'R' THEN 1 END), sum(l_quantity)
               FROM lineitem GROUP BY l_shipmode";
    let query = lower(sql).unwrap();
    let nodes = asap_types::QueryExpr::reachable(&[std::sync::Arc::clone(&query)]);
    let aggregates: Vec<_> = nodes
        .iter()
        .filter_map(|node| match node.operator() {
            Operator::Aggregate(aggregate) => Some(aggregate),
            _ => None,
        })
        .collect();
    assert_eq!(aggregates.len(), 1);
    let [aggregate] = aggregates.as_slice() else { unreachable!() };
    let column = |name: &str| {
        let names = aggregate.input.schema().field_names();
        Expr::column(names.iter().position(|field| *field == name).unwrap())
    };
    let is_r = column("l_returnflag").eq(Expr::Literal(Literal::utf8("R")));
    assert_eq!(aggregate.filters, MeasureFilters::from(vec![Some(Predicate(is_r)), None]));
    assert_eq!(aggregate.measures, [AggIntent::count(), AggIntent::Sum { arg: column("l_quantity") }]);
    assert_eq!(aggregate.keys(), [column("l_shipmode")]);
    // Nothing but the aggregate of the table, and its columns under their names.
    let kinds: Vec<&str> = nodes
        .iter()
        .map(|node| match node.operator() {
            Operator::Scan { .. } => "scan",
            Operator::Aggregate(_) => "aggregate",
            Operator::Project { .. } => "project",
            _ => "another",
        })
        .collect();
    assert_eq!(kinds, ["scan", "aggregate", "project"]);
    assert_snapshot(sql, &tree(&query));
}

/// Keys that the catalog enforces reach the schema; a projection that drops their columns drops them.
#[test]
fn enforced_keys_travel() {
    assert!(lower("SELECT k, a FROM t").unwrap().schema().is_unique_key(&[0]));
    assert!(!lower("SELECT a FROM t").unwrap().schema().is_unique_key(&[0]));
}

/// Long predicates neither overflow the stack nor take a time that doubles with each term.
#[test]
fn long_predicates() {
    let terms: Vec<String> = (0..400).map(|number| format!("a = {number}")).collect();
    assert!(lower(&format!("SELECT count(*) FROM t WHERE {}", terms.join(" OR "))).is_ok());
    let values: Vec<String> = (0..2000).map(|number| number.to_string()).collect();
    assert!(lower(&format!("SELECT count(*) FROM t WHERE a IN ({})", values.join(", "))).is_ok());
}
