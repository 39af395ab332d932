//! Which measures get a filter: CASE, COUNT(x) and FILTER.

use asap_types::{Operator, QueryExpr};
use rstest::rstest;

use crate::{assert_snapshot, lower, panic_with};

/// The one measure of a query, as text.
fn measure(expr: &str) -> String {
    let sql = format!("SELECT {expr} AS m FROM t");
    let query = lower(&sql).unwrap_or_else(|error| panic_with(&sql, &error));
    let nodes = QueryExpr::reachable(&[query]);
    let aggregate = nodes.iter().find_map(|node| match node.operator() {
        Operator::Aggregate(aggregate) => Some(aggregate),
        _ => None,
    });
    let aggregate = aggregate.unwrap();
    let input = aggregate.input.schema();
    let filter = aggregate.filters.get(0).map(|filter| format!(" where {}", filter.0.display(input)));
    format!("{}{}", aggregate.measures[0].display(input), filter.unwrap_or_default())
}

#[rstest]
// COUNT of rows, of constants, of columns.
#[case("count(*)", "count(*)")]
#[case("count()", "count(*)")]
#[case("count(1)", "count(*)")]
#[case("count('x')", "count(*)")]
#[case("count(b)", "count(*)")]
#[case("count(b + 1)", "count(*)")]
#[case("count(a)", "count(*) where a IS NOT NULL")]
#[case("count(NULL)", "count(*) where NULL IS NOT NULL")]
#[case("count(a, k)", "count(*) where (a IS NOT NULL) AND (k IS NOT NULL)")]
#[case("count(1 / b)", "count(*) where (1 / CAST(b AS Int64)) IS NOT NULL")]
// CASE in COUNT.
#[case("count(CASE WHEN p THEN 1 END)", "count(*) where p")]
#[case("count(CASE WHEN p THEN 1 ELSE NULL END)", "count(*) where p")]
#[case("count(CASE WHEN p THEN b END)", "count(*) where p")]
#[case("count(CASE WHEN p THEN a END)", "count(*) where p AND (a IS NOT NULL)")]
#[case("count(CASE WHEN NULL THEN 1 END)", "count(*) where NULL IS NOT NULL")]
#[case("count(CASE WHEN p AND NULL THEN 1 END)", "count(*) where p AND NULL")]
#[case("count(CASE WHEN p THEN 1 END) FILTER (WHERE b > 1)", "count(*) where (b > 1) AND p")]
#[case("count(CASE WHEN p THEN a END) FILTER (WHERE b > 1)", "count(*) where ((b > 1) AND p) AND (a IS NOT NULL)")]
#[case("count(CASE WHEN p AND b > 1 THEN k END)", "count(*) where (p AND (b > 1)) AND (k IS NOT NULL)")]
#[case("count(CASE WHEN TRUE THEN 1 END)", "count(*)")]
#[case("count(CASE WHEN TRUE THEN a END)", "count(*) where a IS NOT NULL")]
#[case("count(CASE WHEN FALSE THEN 1 END)", "count(*) where NULL IS NOT NULL")]
#[case("count(CASE WHEN b IS NOT NULL THEN a END)", "count(*) where a IS NOT NULL")]
#[case("count(CASE WHEN p THEN NULL END)", "count(*) where p AND (NULL IS NOT NULL)")]
// FILTER.
#[case("count(*) FILTER (WHERE p)", "count(*) where p")]
#[case("count(a) FILTER (WHERE p)", "count(*) where p AND (a IS NOT NULL)")]
#[case("sum(a) FILTER (WHERE p)", "sum(a) where p")]
#[case("min(k) FILTER (WHERE p)", "min(k) where p")]
#[case("max(f) FILTER (WHERE p)", "max(f) where p")]
#[case("avg(f) FILTER (WHERE p)", "avg(f) where p")]
#[case("corr(f, f)", "corr(f, f)")]
#[case("corr(f, f) FILTER (WHERE p)", "corr(f, f) where p")]
#[case("sum(a) FILTER (WHERE TRUE)", "sum(a)")]
#[case("sum(a) FILTER (WHERE b IS NOT NULL)", "sum(a)")]
#[case("sum(a) FILTER (WHERE FALSE)", "sum(a) where FALSE")]
#[case("sum(a) FILTER (WHERE a IS NOT NULL)", "sum(a) where a IS NOT NULL")]
// CASE in the other aggregates, below or above the cast that coercion inserts.
#[case("sum(CASE WHEN p THEN a END)", "sum(a) where p")]
#[case("sum(CASE WHEN p THEN b END)", "sum(CAST(b AS Int64)) where p")]
#[case("min(CASE WHEN p THEN k ELSE NULL END)", "min(k) where p")]
#[case("max(CASE WHEN p THEN f END)", "max(f) where p")]
#[case("avg(CASE WHEN p THEN b END)", "avg(CAST(b AS Float64)) where p")]
#[case("sum(CASE WHEN p THEN a END) FILTER (WHERE b > 1)", "sum(a) where (b > 1) AND p")]
fn becomes(#[case] sql: &str, #[case] expected: &str) {
    assert_eq!(measure(sql), expected.replace("b > 1", &greater_one()));
}

/// How `b > 1` reads after coercion.
fn greater_one() -> String {
    "CAST(b AS Int64) > 1".to_owned()
}

#[rstest]
#[case::else_one("count(CASE WHEN p THEN 1 ELSE 1 END)")]
#[case::else_zero_is_counted("count(CASE WHEN p THEN 1 ELSE 0 END)")]
#[case::sum_else_zero("sum(CASE WHEN p THEN a ELSE 0 END)")]
#[case::avg_else_zero("avg(CASE WHEN p THEN f ELSE 0 END)")]
#[case::null_first("sum(CASE WHEN p THEN NULL ELSE a END)")]
#[case::simple_case("count(CASE b WHEN 1 THEN a END)")]
#[case::several_whens("sum(CASE WHEN p THEN a WHEN b = 1 THEN 2 END)")]
#[case::count_argument_can_fail("count(CASE WHEN b <> 0 THEN 1 / b END)")]
#[case::sum_argument_can_fail("sum(CASE WHEN b <> 0 THEN 1 / b END)")]
#[case::cast_can_fail("sum(CASE WHEN p THEN CAST(k AS BIGINT) END)")]
#[case::outer_cast_can_fail("sum(CAST(CASE WHEN p THEN k END AS BIGINT))")]
#[case::volatile_predicate("count(CASE WHEN random() < 0.5 THEN a END)")]
#[case::volatile_value("sum(CASE WHEN p THEN random() END)")]
#[case::filtered_and_predicate_can_fail("sum(CASE WHEN 1 / b > 0 THEN a END) FILTER (WHERE b <> 0)")]
#[case::filtered_count_can_fail("count(CASE WHEN 1 / b > 0 THEN a END) FILTER (WHERE b <> 0)")]
#[case::filtered_argument_can_fail("count(1 / b) FILTER (WHERE b <> 0)")]
#[case::count_null_first("count(CASE WHEN p THEN NULL ELSE a END)")]
#[case::sum_of_ones("sum(CASE WHEN p THEN 1 ELSE 0 END)")]
#[case::both_arguments_of_corr("corr(CASE WHEN p THEN f END, f)")]
fn keeps_its_case(#[case] sql: &str) {
    assert_snapshot(sql, &measure(sql));
}

/// `ELSE 0` is a value: every row counts.
#[test]
fn count_with_else_counts_every_row() {
    assert_eq!(measure("count(CASE WHEN p THEN 1 ELSE 0 END)"), "count(*)");
}

/// Three-valued logic stays as written: the predicate of a CASE is not negated or rewritten.
#[test]
fn case_and_filter_are_one_form() {
    for (case, filter) in [
        ("sum(CASE WHEN p THEN b END)", "sum(b) FILTER (WHERE p)"),
        ("count(CASE WHEN NOT p THEN a END)", "count(a) FILTER (WHERE NOT p)"),
        ("avg(CASE WHEN a > b THEN f END)", "avg(f) FILTER (WHERE a > b)"),
        ("min(CASE WHEN p THEN k ELSE NULL END)", "min(k) FILTER (WHERE p)"),
    ] {
        assert_eq!(measure(case), measure(filter));
    }
}
