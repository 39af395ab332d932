//! Every refusal: its feature or kind, and the text at its place.

use asap_frontend_sql::FrontendError;
use rstest::rstest;

use crate::lower;

#[rstest]
#[case("EXPLAIN SELECT k FROM t", "not-a-query", "EXPLAIN SELECT k FROM t")]
#[case("CREATE TABLE x (a INT)", "not-a-query", "CREATE TABLE x (a INT)")]
#[case("INSERT INTO t VALUES (1)", "not-a-query", "INSERT INTO t VALUES (1)")]
#[case("SET x = 1", "not-a-query", "SET x = 1")]
#[case("SELECT t.k FROM t JOIN other.t2 u ON t.a = u.a", "join", "other.t2 u ON t.a = u.a")]
#[case("SELECT t.k FROM t, other.t2 AS u", "join", "other.t2 AS u")]
#[case("SELECT k FROM t UNION ALL SELECT k FROM t", "set-operation", "SELECT k FROM t UNION ALL SELECT k FROM t")]
#[case("SELECT k, sum(a) OVER (PARTITION BY k) FROM t", "window-function", "sum(a)")]
#[case("SELECT row_number() OVER (ORDER BY a) FROM t", "window-function", "row_number")]
#[case("SELECT k FROM t WHERE a > (SELECT max(b) FROM t)", "subquery-expression", "SELECT max(b) FROM t")]
#[case("SELECT k FROM t WHERE EXISTS (SELECT 1 FROM t)", "subquery-expression", "SELECT 1 FROM t")]
#[case("SELECT k FROM t WHERE a IN (SELECT b FROM t)", "subquery-expression", "a IN (SELECT b FROM t)")]
#[case("SELECT k, count(*) FROM t GROUP BY ROLLUP (k)", "grouping-sets", "k")]
#[case("SELECT k, count(*) FROM t GROUP BY CUBE (k, p)", "grouping-sets", "k, p")]
#[case("SELECT k, count(*) FROM t GROUP BY GROUPING SETS ((k), ())", "grouping-sets", "k")]
#[case("SELECT * FROM (VALUES (1)) AS v(x)", "values", "(1)")]
#[case("SELECT 1", "no-table", "SELECT 1")]
#[case("SELECT unnest(tags) FROM t", "unnest", "unnest(tags)")]
#[case("SELECT * FROM unnest([1, 2])", "unnest", "1, 2")]
#[case("SELECT * FROM generate_series(1, 3)", "table-function", "generate_series")]
#[case("WITH RECURSIVE r AS (SELECT a FROM t UNION ALL SELECT a FROM r) SELECT a FROM r", "recursive-cte", "WITH")]
#[case("SELECT DISTINCT ON (k) k, a FROM t", "distinct-on", "k")]
#[case("SELECT count(DISTINCT k) FROM t", "distinct-aggregate", "count(DISTINCT k)")]
#[case("SELECT sum(a ORDER BY b) FROM t", "aggregate-clause", "sum(a ORDER BY b)")]
#[case("SELECT median(a) FROM t", "aggregate", "median(a)")]
#[case("SELECT k, stddev(a) FROM t GROUP BY k", "aggregate", "stddev(a)")]
#[case("SELECT array_agg(a) FROM t", "aggregate", "array_agg(a)")]
#[case("SELECT array_agg(a) FILTER (WHERE p) FROM t", "aggregate", "array_agg(a) FILTER (WHERE p)")]
#[case("SELECT first_value(a) FILTER (WHERE p) FROM t", "aggregate", "first_value(a) FILTER (WHERE p)")]
#[case("SELECT count(DISTINCT a) FILTER (WHERE p) FROM t", "distinct-aggregate", "count(DISTINCT a) FILTER (WHERE p)")]
#[case(
    "SELECT count(DISTINCT CASE WHEN p THEN a END) FROM t",
    "distinct-aggregate",
    "count(DISTINCT CASE WHEN p THEN a END)"
)]
#[case("SELECT avg(DISTINCT a) FROM t", "distinct-aggregate", "avg(DISTINCT a)")]
#[case("SELECT sum(a) FILTER (WHERE p) OVER () FROM t", "window-function", "sum(a) FILTER (WHERE p)")]
#[case("SELECT lower(k) FILTER (WHERE p) FROM t", "filter-clause", "lower(k) FILTER (WHERE p)")]
#[case("SELECT sum(a) FILTER (WHERE a > (SELECT 1)) FROM t", "subquery-expression", "SELECT 1")]
#[case(
    "SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY a) FROM t",
    "aggregate",
    "percentile_cont(0.5) WITHIN GROUP (ORDER BY a)"
)]
#[case("SELECT max(a) WITHIN GROUP (ORDER BY a) FROM t", "within-group", "max(a) WITHIN GROUP (ORDER BY a)")]
#[case("SELECT sum(a) IGNORE NULLS FROM t", "null-treatment", "sum(a)")]
#[case("SELECT k || 'x' AS y FROM t", "operator", "k")]
#[case("SELECT b & 1 AS y FROM t", "operator", "b")]
#[case("SELECT k FROM t WHERE k ~ 'x'", "operator", "k")]
#[case("SELECT k FROM t WHERE a = $1", "parameter", "$1")]
#[case(
    "SELECT k FROM t WHERE random() BETWEEN 0.1 AND 0.2",
    "volatile-between",
    "SELECT k FROM t WHERE random() BETWEEN 0.1 AND 0.2"
)]
#[case(
    "SELECT ts::date, sum(n) FROM (SELECT ts, count(*) AS n FROM t GROUP BY ts) GROUP BY ts::date",
    "converted-key",
    "ts"
)]
#[case(
    "SELECT CAST(a AS double), count(*) FROM (SELECT a, max(b) AS m FROM t GROUP BY a) GROUP BY CAST(a AS double)",
    "converted-key",
    "a"
)]
fn feature_and_place(#[case] sql: &str, #[case] feature_name: &str, #[case] place: &str) {
    let error = lower(sql).unwrap_err();
    let FrontendError::Unsupported { feature, span } = &error else { unreachable!("{sql}: {error:?}") };
    assert_eq!((feature.name(), &sql[span.clone()]), (feature_name, place), "{sql}");
    assert!(!error.hint().is_empty() && !error.to_string().is_empty());
}

#[rstest]
#[case("SELECT k FROM missing", "table 'missing' not found", "missing")]
#[case("SELECT k FROM lineitems", "table 'lineitems' not found", "lineitems")]
#[case("SELECT kk FROM t", "column 'kk' not found", "kk")]
#[case("SELECT t.x FROM t", "column 't.x' not found", "t.x")]
#[case("SELECT k FROM t WHERE l_tax > 1", "column 'l_tax' not found", "l_tax")]
#[case("SELECT Mixed FROM t", "column 'mixed' not found", "Mixed")]
#[case("SELECT sum(a) FILTER (WHERE nope) FROM t", "column 'nope' not found", "nope")]
#[case("SELECT s.a FROM (SELECT k FROM t) AS s", "column 's.a' not found", "s.a")]
#[case("SELECT a FROM t JOIN other.t2 ON true", "column 'a' is ambiguous", "a")]
fn wrong_name(#[case] sql: &str, #[case] message: &str, #[case] place: &str) {
    let error = lower(sql).unwrap_err();
    assert_eq!((error.to_string().as_str(), &sql[error.span()]), (message, place), "{error:?}");
}

#[rstest]
#[case("SELECT k FROM lineitems", "did you mean 'lineitem'? Available: lineitem, other.t2, t")]
#[case("SELECT t.tagz FROM t", "did you mean 't.tags'? Available: t.tags, t.a, t.ts, t.b, t.f, …")]
#[case("SELECT Mixed FROM t", "did you mean 't.\"Mixed\"'? Available: t.\"Mixed\", t.a, t.b, t.f, t.k, …")]
fn suggestion(#[case] sql: &str, #[case] hint: &str) {
    assert_eq!(lower(sql).unwrap_err().hint(), hint);
}

#[rstest]
#[case("SELECT k, a FROM t GROUP BY k", "a")]
#[case("SELECT nosuch(a) FROM t", "nosuch")]
#[case("SELECT sumIf(a, p) FROM t", "sumIf")]
#[case("SELECT k FROM t WHERE k", "SELECT k FROM t WHERE k")]
#[case("SELECT sum(k) FROM t", "SELECT sum(k) FROM t")]
#[case("SELECT a AS x, b AS x FROM t", "SELECT a AS x, b AS x FROM t")]
#[case("SELECT count(*) FILTER (WHERE 1) FROM t", "SELECT count(*) FILTER (WHERE 1) FROM t")]
#[case("SELECT k, sum(a) FILTER (WHERE b) FROM t GROUP BY k", "b")]
#[case("SELECT k, sum(a) FILTER (WHERE k) FROM t GROUP BY k", "k")]
fn not_planned(#[case] sql: &str, #[case] place: &str) {
    let error = lower(sql).unwrap_err();
    assert!(matches!(error, FrontendError::Plan { .. }), "{error:?}");
    assert_eq!(&sql[error.span()], place, "{error}");
}

/// A chain nests by one level per operator; lists and the branches of one CASE do not nest.
#[rstest]
#[case::or(" OR b = 1")]
#[case::plus(" + 1")]
#[case::cast("::BIGINT")]
fn chains_are_bounded(#[case] link: &str) {
    let sql = |links: usize| format!("SELECT count(*) FROM t WHERE b{} = 1 OR p", link.repeat(links));
    for links in [8_000, 1_000_000] {
        let error = lower(&sql(links)).unwrap_err();
        assert!(matches!(error, FrontendError::Syntax { .. }), "{links}: {error:?}");
        assert!(error.to_string().contains("more than 8000 operators"), "{error}");
    }
}

/// Also where the parser, at its limit, complains of something else.
#[rstest]
#[case::parentheses(("(", "p", ")"), 60)]
#[case::many_parentheses(("(", "p", ")"), 2_000)]
#[case::not(("NOT ", "p", ""), 60)]
#[case::many_not(("NOT ", "p", ""), 3_000)]
#[case::case(("CASE WHEN p THEN p ELSE ", "p", " END"), 60)]
#[case::function(("coalesce(p, ", "p", ")"), 60)]
#[case::list(("p IN (", "p", ")"), 60)]
#[case::sub_select(("EXISTS (SELECT 1 FROM t WHERE ", "p", ")"), 60)]
#[case::unfinished(("(", "", ""), 60)]
fn what_nests_too_deeply_is_called_so(#[case] (open, inner, close): (&str, &str, &str), #[case] levels: usize) {
    let sql = format!("SELECT count(*) FROM t WHERE {}{inner}{}", open.repeat(levels), close.repeat(levels));
    let error = lower(&sql).unwrap_err();
    assert_eq!(error.to_string(), "syntax error: the statement is nested too deeply");
    assert_eq!(&sql[error.span()], sql);
}

/// On the 2 MB of a test's thread.
#[rstest]
#[case::parentheses(("(", "p", ")"), 40)]
#[case::not(("NOT ", "p", ""), 47)]
#[case::case(("CASE WHEN p THEN p ELSE ", "p", " END"), 20)]
fn what_a_stock_parser_takes_is_lowered(#[case] (open, inner, close): (&str, &str, &str), #[case] levels: usize) {
    let sql = format!("SELECT count(*) FROM t WHERE {}{inner}{}", open.repeat(levels), close.repeat(levels));
    assert!(lower(&sql).is_ok(), "{:?}", lower(&sql));
}

#[test]
fn a_long_chain_is_lowered() {
    let chain = format!("SELECT count(*) FROM t WHERE b = 0{}", " OR b = 1".repeat(3_900));
    assert!(lower(&chain).is_ok());
    let list = (0..20_000).map(|value| value.to_string()).collect::<Vec<_>>().join(", ");
    assert!(lower(&format!("SELECT count(*) FROM t WHERE b IN ({list})")).is_ok());
}

/// The operand of BETWEEN is written twice: chains of them would double at each link.
#[test]
fn a_chain_of_betweens_is_refused() {
    let sql = format!("SELECT count(*) FROM t WHERE p{}", " BETWEEN false AND true".repeat(40));
    let error = lower(&sql).unwrap_err();
    assert!(
        matches!(&error, FrontendError::Unsupported { feature, .. } if feature.name() == "large-between"),
        "{error:?}"
    );
}

/// No row can decide what only its group can tell.
#[test]
fn a_filter_over_an_aggregate_is_refused() {
    let sql = "SELECT sum(a) FILTER (WHERE count(*) > 1) FROM t";
    let FrontendError::Unsupported { feature, span } = lower(sql).unwrap_err() else { unreachable!() };
    assert_eq!((feature.name(), &sql[span]), ("expression", sql));
}

/// Shapes for which other systems have given wrong answers, and which are refused here. Each is named after its report.
#[rstest]
#[case::starrocks_75071("SELECT k, avg(DISTINCT a) FROM t GROUP BY k", "distinct-aggregate")]
#[case::doris_4381("SELECT k, count(DISTINCT a) FROM t GROUP BY k", "distinct-aggregate")]
#[case::calcite_1984("SELECT sum(DISTINCT a) FROM t", "distinct-aggregate")]
#[case::calcite_5465("SELECT k, count(DISTINCT a) FROM t GROUP BY ROLLUP (k)", "distinct-aggregate")]
#[case::calcite_6332("SELECT k, count(DISTINCT a) FROM t GROUP BY GROUPING SETS ((k), ())", "distinct-aggregate")]
#[case::voltdb_3856("SELECT sum(DISTINCT a) FROM (SELECT k, a FROM t GROUP BY k, a) AS s", "distinct-aggregate")]
#[case::datafusion_9586("SELECT k, count(DISTINCT a), count(DISTINCT b) FROM t GROUP BY k", "distinct-aggregate")]
#[case::spark_47482("SELECT count(DISTINCT 1) FROM t", "distinct-aggregate")]
#[case::duckdb_3722("SELECT count(DISTINCT a) FROM t GROUP BY CUBE (k)", "distinct-aggregate")]
#[case::duckdb_5070("SELECT count(DISTINCT a) FILTER (WHERE p) FROM t", "distinct-aggregate")]
#[case::velox_8764("SELECT first_value(DISTINCT a) FILTER (WHERE p) FROM t", "aggregate")]
#[case::calcite_7330("SELECT array_agg(CASE WHEN p THEN a END) FROM t", "aggregate")]
#[case::duckdb_24626("SELECT median(a) FROM t", "aggregate")]
#[case::duckdb_12582("SELECT count(*) FROM t GROUP BY GROUPING SETS ((k), ())", "grouping-sets")]
#[case::spiceai_13083("SELECT k, sum(a) FROM t GROUP BY ROLLUP (k)", "grouping-sets")]
#[case::trino_30989("SELECT count(*) FROM t LEFT JOIN other.t2 ON true", "join")]
#[case::doris_65703("SELECT sum(t.a) FROM t JOIN other.t2 AS u ON t.b = u.b", "join")]
#[case::datafusion_15281(
    "SELECT k, (SELECT count(*) FROM other.t2 AS u WHERE u.b = t.b) FROM t",
    "subquery-expression"
)]
#[case::calcite_6642("SELECT sum(a) FROM (SELECT a FROM t UNION ALL SELECT a FROM other.t2) AS u", "set-operation")]
#[case::cube_8745("SELECT sum(a) OVER (ORDER BY ts ROWS 3 PRECEDING) FROM t", "window-function")]
#[case::calcite_7620("SELECT sum(a) FILTER (WHERE p) OVER (PARTITION BY k) FROM t", "window-function")]
#[case::presto_7058("SELECT abs(a) FILTER (WHERE p) FROM t", "filter-clause")]
fn wrong_answers_of_others(#[case] sql: &str, #[case] feature_name: &str) {
    let FrontendError::Unsupported { feature, .. } = lower(sql).unwrap_err() else { unreachable!() };
    assert_eq!(feature.name(), feature_name);
}
