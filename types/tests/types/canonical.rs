use std::sync::Arc;

use asap_types::{AggIntent, CompareOp, Expr, Literal, Operator, Predicate, QueryExpr, SortKey, UnaryOp, canonicalize};
use rstest::rstest;

use crate::support::{
    BYTES, HOST, JOB, PRICE, aggregate, can_fail, filter, host_is, int, job_is, node, project, scan, scan_where, sum,
    volatile,
};

fn by_job(input: &Arc<QueryExpr>) -> Arc<QueryExpr> {
    node(aggregate(input, &[JOB], vec![(sum(BYTES), None)]))
}

fn sorted(input: &Arc<QueryExpr>) -> Arc<QueryExpr> {
    let keys = vec![SortKey { expr: Expr::column(HOST), descending: true, nulls_first: false }];
    QueryExpr::new(Operator::Sort { keys, input: Arc::clone(input) }).unwrap()
}

/// Every column, the first two exchanged, through a projection that computes nothing.
fn swapped(input: &Arc<QueryExpr>) -> Arc<QueryExpr> {
    let order = [(HOST, "h"), (JOB, "j"), (BYTES, "b"), (PRICE, "p")];
    project(order.map(|(column, name)| (Expr::column(column), name)).into(), input)
}

fn having(query: &Arc<QueryExpr>, condition: Expr) -> Arc<QueryExpr> {
    let Operator::Aggregate(mut aggregate) = query.operator().clone() else { panic!("an aggregate") };
    aggregate.having = Some(Predicate(condition));
    node(aggregate)
}

#[rstest]
#[case::conditions_move_into_the_scan(filter(job_is("a"), &scan()), scan_where(vec![job_is("a")]))]
#[case::neighbours_merge(
    filter(job_is("a"), &filter(host_is(CompareOp::Gt, 1), &scan())),
    filter(host_is(CompareOp::Gt, 1).and(job_is("a")), &scan())
)]
#[case::order_of_conditions(
    scan_where(vec![job_is("a"), host_is(CompareOp::Gt, 1)]),
    scan_where(vec![host_is(CompareOp::Gt, 1), job_is("a")])
)]
#[case::duplicate_conditions(scan_where(vec![job_is("a"), job_is("a")]), scan_where(vec![job_is("a")]))]
#[case::always_true(scan_where(vec![Expr::column(HOST).is_not_null()]), scan())]
#[case::is_true(filter(job_is("a").unary(UnaryOp::IsTrue), &scan()), scan_where(vec![job_is("a")]))]
#[case::flipped(filter(int(1).compare(CompareOp::Lt, Expr::column(HOST)), &scan()), scan_where(vec![host_is(CompareOp::Gt, 1)]))]
#[case::nested_projections(
    project(vec![(Expr::column(1), "x")], &swapped(&scan())),
    project(vec![(Expr::column(JOB), "x")], &scan())
)]
#[case::filter_above_a_projection(
    filter(Expr::column(1).eq(Expr::Literal(Literal::utf8("a"))), &swapped(&scan())),
    swapped(&scan_where(vec![job_is("a")]))
)]
#[case::aggregate_reads_through_a_projection(
    node(aggregate(&swapped(&scan()), &[1], vec![(sum(2), None)])),
    by_job(&scan())
)]
#[case::sort_below_an_aggregate(by_job(&sorted(&scan())), by_job(&scan()))]
#[case::having_is_a_filter_above(
    having(&by_job(&scan()), Expr::column(1).is_not_null()),
    filter(Expr::column(1).is_not_null(), &by_job(&scan()))
)]
#[case::filter_of_a_measure_that_is_always_true(
    node(aggregate(&scan(), &[JOB], vec![(sum(BYTES), Some(Expr::column(HOST).is_not_null()))])),
    by_job(&scan())
)]
#[case::identity_projection(
    project(vec![(Expr::column(0), "c0"), (Expr::column(1), "c1")], &by_job(&scan())),
    by_job(&scan())
)]
fn two_spellings_are_one(#[case] left: Arc<QueryExpr>, #[case] right: Arc<QueryExpr>) {
    let (left, right) = (canonicalize(&left).unwrap(), canonicalize(&right).unwrap());
    assert_eq!(left, right);
    assert_eq!(canonicalize(&left).unwrap(), left, "idempotent");
}

#[rstest]
#[case::guard_first(scan_where(vec![host_is(CompareOp::NotEq, 0), can_fail()]), scan_where(vec![can_fail(), host_is(CompareOp::NotEq, 0)]))]
#[case::nullable_is_not_null(scan_where(vec![Expr::column(JOB).is_not_null()]), scan())]
#[case::renaming_projection(project(vec![(Expr::column(0), "x"), (Expr::column(1), "c1")], &by_job(&scan())), by_job(&scan()))]
#[case::repeated_volatile_conditions(scan_where(vec![volatile(), volatile()]), scan_where(vec![volatile()]))]
#[case::measure_filters(
    node(aggregate(&scan(), &[JOB], vec![(AggIntent::count(), Some(Expr::column(BYTES).is_not_null()))])),
    node(aggregate(&scan(), &[JOB], vec![(AggIntent::count(), None)]))
)]
fn what_differs_stays_different(#[case] left: Arc<QueryExpr>, #[case] right: Arc<QueryExpr>) {
    assert_ne!(canonicalize(&left).unwrap(), canonicalize(&right).unwrap());
}

#[test]
fn a_condition_that_can_fail_stays_behind_its_guard() {
    let guard = host_is(CompareOp::NotEq, 0);
    let canonical = canonicalize(&filter(can_fail(), &filter(guard.clone(), &scan()))).unwrap();
    assert_eq!(canonical, scan_where(vec![guard, can_fail()]));
}

#[test]
fn a_limit_stops_a_filter() {
    let limit = QueryExpr::new(Operator::Limit { skip: 0, fetch: Some(5), input: scan() }).unwrap();
    let canonical = canonicalize(&filter(job_is("a"), &limit)).unwrap();
    assert_eq!(canonical, filter(job_is("a"), &limit));
}

#[test]
fn a_volatile_column_is_not_computed_twice_or_elsewhere() {
    let inner = project(vec![(volatile(), "v"), (Expr::column(JOB), "job")], &scan());
    let twice = project(vec![(Expr::column(0), "a"), (Expr::column(0), "b")], &inner);
    assert_eq!(canonicalize(&twice).unwrap(), twice);
    let filtered = filter(Expr::column(1).is_not_null(), &inner);
    assert_eq!(canonicalize(&filtered).unwrap(), filtered);
    let counted = node(aggregate(&inner, &[0], vec![(AggIntent::count(), None)]));
    assert_eq!(canonicalize(&counted).unwrap(), counted);
}

#[test]
fn the_schema_stays() {
    let query = project(vec![(Expr::column(0), "x")], &having(&by_job(&swapped_back()), Expr::column(1).is_not_null()));
    assert_eq!(canonicalize(&query).unwrap().schema(), query.schema());
}

fn swapped_back() -> Arc<QueryExpr> {
    project(vec![(Expr::column(JOB), "j"), (Expr::column(HOST), "h"), (Expr::column(BYTES), "b")], &sorted(&scan()))
}
