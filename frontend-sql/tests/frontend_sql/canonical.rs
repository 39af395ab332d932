//! Spellings of one computation become one canonical form.

use std::sync::Arc;

use asap_types::{Aggregate, Operator, QueryExpr, canonicalize};
use rstest::rstest;

use crate::{canonical_tree, lower};

#[rstest]
#[case::sub_select("SELECT k, count(*) AS n FROM (SELECT k FROM t) AS s GROUP BY k")]
#[case::extra_columns("SELECT k, count(*) AS n FROM (SELECT a, k, a + 1 AS c FROM t) AS s GROUP BY k")]
#[case::cte("WITH s AS (SELECT * FROM t) SELECT s.k, count(1) AS n FROM s GROUP BY s.k")]
#[case::alias("SELECT x.k AS k, count() AS n FROM t AS x GROUP BY 1")]
#[case::count_of_key_that_is_not_null("SELECT k, count(b) AS n FROM t GROUP BY k")]
#[case::sorted_input("SELECT k, count(*) AS n FROM (SELECT k FROM t ORDER BY a) AS s GROUP BY k")]
#[case::full_name("SELECT k, count(*) AS n FROM public.t GROUP BY k")]
#[case::distinct_name("SELECT k, count(*) AS n FROM t WHERE TRUE GROUP BY k")]
fn one_grouping(#[case] sql: &str) {
    assert_eq!(canonical_tree(sql), canonical_tree("SELECT k, count(*) AS n FROM t GROUP BY k"));
}

#[rstest]
#[case::flipped("SELECT sum(a) AS s FROM t WHERE 3 < a AND 'x' = k")]
#[case::order("SELECT sum(a) AS s FROM t WHERE k = 'x' AND a > 3")]
#[case::nested("SELECT sum(a) AS s FROM (SELECT a, k FROM t WHERE a > 3) AS s WHERE k = 'x'")]
#[case::alias("SELECT sum(x.a) AS s FROM t AS x WHERE x.a > 3 AND x.k = 'x'")]
#[case::duplicated("SELECT sum(a) AS s FROM t WHERE a > 3 AND k = 'x' AND a > 3")]
#[case::double_negation("SELECT sum(a) AS s FROM t WHERE NOT NOT a > 3 AND k = 'x'")]
#[case::constant("SELECT sum(a) AS s FROM t WHERE a > 1 + 2 AND k = 'x'")]
#[case::is_true("SELECT sum(a) AS s FROM t WHERE (a > 3) IS TRUE AND k = 'x'")]
fn one_predicate(#[case] sql: &str) {
    assert_eq!(canonical_tree(sql), canonical_tree("SELECT sum(a) AS s FROM t WHERE a > 3 AND k = 'x'"));
}

#[rstest]
#[case("SELECT count(a) AS n FROM t", "SELECT count(*) FILTER (WHERE a IS NOT NULL) AS n FROM t")]
#[case("SELECT count(CASE WHEN p THEN a END) AS n FROM t", "SELECT count(a) FILTER (WHERE p) AS n FROM t")]
#[case("SELECT sum(a) AS s FROM t", "SELECT sum(a) FILTER (WHERE TRUE) AS s FROM t")]
#[case("SELECT sum(x.a) FILTER (WHERE x.p) AS s FROM t AS x", "SELECT sum(a) FILTER (WHERE p) AS s FROM t")]
#[case(
    "SELECT sum(a) FILTER (WHERE p) AS s FROM (SELECT p, a FROM t) AS x",
    "SELECT sum(a) FILTER (WHERE p) AS s FROM t"
)]
#[case(
    "SELECT k FROM t WHERE ts < TIMESTAMP '1998-12-01 00:00:00' - INTERVAL '90' DAY",
    "SELECT k FROM t WHERE ts < TIMESTAMP '1998-09-02 00:00:00'"
)]
fn one_form(#[case] one: &str, #[case] other: &str) {
    assert_eq!(canonical_tree(one), canonical_tree(other));
}

/// The text of a measure is the name of its column inside the query, so these differ in that name, and in nothing else.
#[rstest]
#[case::renamed("SELECT sum(y) AS s FROM (SELECT a AS y FROM t) AS s", "SELECT sum(a) AS s FROM t")]
#[case::is_true("SELECT count(*) FILTER (WHERE p IS TRUE) AS n FROM t", "SELECT count(*) FILTER (WHERE p) AS n FROM t")]
#[case::case_and_filter(
    "SELECT sum(a) FILTER (WHERE b > 1 AND p) AS s FROM t",
    "SELECT sum(CASE WHEN p THEN a END) FILTER (WHERE 1 < b) AS s FROM t"
)]
fn only_an_inner_name_differs(#[case] one: &str, #[case] other: &str) {
    assert_eq!(unnamed_aggregate(one), unnamed_aggregate(other));
}

fn unnamed_aggregate(sql: &str) -> Aggregate<Arc<QueryExpr>> {
    let query = canonicalize(&lower(sql).unwrap()).unwrap();
    let nodes = QueryExpr::reachable(&[query]);
    let aggregate = nodes.iter().find_map(|node| match node.operator() {
        Operator::Aggregate(aggregate) => Some(aggregate.clone()),
        _ => None,
    });
    Aggregate { output_names: vec![], ..aggregate.unwrap() }
}

/// Spellings that look alike but are other computations stay apart.
#[rstest]
#[case("SELECT count(a) AS n FROM t", "SELECT count(*) AS n FROM t")]
#[case("SELECT sum(a) AS s FROM t", "SELECT sum(a) FILTER (WHERE p) AS s FROM t")]
#[case("SELECT sum(CASE WHEN p THEN a END) AS s FROM t", "SELECT sum(CASE WHEN p THEN a ELSE 0 END) AS s FROM t")]
#[case("SELECT sum(a) FILTER (WHERE p) AS s FROM t", "SELECT sum(a) AS s FROM t WHERE p")]
#[case("SELECT sum(a) FILTER (WHERE NOT p) AS s FROM t", "SELECT sum(a) FILTER (WHERE p IS NOT TRUE) AS s FROM t")]
#[case("SELECT k FROM t", "SELECT k FROM other.t2")]
#[case("SELECT k FROM t", "SELECT DISTINCT k FROM t")]
fn stays_apart(#[case] one: &str, #[case] other: &str) {
    assert_ne!(canonical_tree(one), canonical_tree(other));
}
