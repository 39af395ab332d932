//! Spelling stops to matter, and nothing else changes.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{
    AggIntent, Aggregate, AggregateFacts, CompareOp, Expr, Literal, Operator, QueryExpr, Reduction, UnaryOp,
    Volatility, canonicalize, simplify,
};
use rstest::rstest;

use crate::build::*;

/// The canonical form, after checking what holds for every query.
fn canonical(query: &Arc<QueryExpr>) -> Arc<QueryExpr> {
    let form = canonicalize(query).unwrap();
    assert_eq!(form.schema().fields(), query.schema().fields(), "{query:#?}");
    assert_eq!(canonicalize(&form).unwrap(), form, "not idempotent");
    form
}

fn same(left: &Arc<QueryExpr>, right: &Arc<QueryExpr>) {
    assert_eq!(canonical(left), canonical(right));
}

fn columns() -> [(Expr, &'static str); 4] {
    [(col(0), "a"), (col(1), "b"), (col(2), "c"), (col(3), "x")]
}

#[test]
fn conditions_move_into_the_scan() {
    let (p, q) = (greater(col(0), 1), is_null(col(1)));
    let expected = scan_where(vec![p.clone(), q.clone()]);
    same(&filter(&scan(), p.clone().and(q.clone())), &expected);
    same(&filter(&filter(&scan(), p.clone()), q.clone()), &expected);
    same(&filter(&filter(&scan(), q.clone()), p.clone()), &expected);
    same(&filter(&scan_where(vec![q.clone()]), p.clone()), &expected);
    same(&filter(&scan(), q.clone().and(p.clone()).unary(UnaryOp::IsTrue)), &expected);
    same(&filter(&scan(), p.clone().and(p.clone().and(q.clone())).and(boolean(true))), &expected);
    assert!(
        matches!(canonical(&filter(&scan(), p.and(q))).operator(), Operator::Scan { predicates, .. } if predicates.len() == 2)
    );
}

#[test]
fn sub_selects_do_not_matter() {
    let sum = || vec![(AggIntent::Sum { arg: col(1) }, Some(greater(col(0), 1)))];
    let direct = aggregate(
        &scan_where(vec![greater(col(0), 1)]),
        vec![col(0)],
        vec![(AggIntent::Sum { arg: col(3) }, Some(greater(col(0), 1)))],
        None,
    );
    let narrowed = project(&filter(&scan(), greater(col(0), 1)), &[(col(0), "k"), (col(3), "v")]);
    same(&aggregate(&narrowed, vec![col(0)], sum(), None), &direct);
    let filtered_above = filter(&project(&scan(), &[(col(0), "k"), (col(3), "v")]), greater(col(0), 1));
    same(&aggregate(&filtered_above, vec![col(0)], sum(), None), &direct);
    let sorted = sort(
        &project(&project(&filtered_above, &[(col(1), "v"), (col(0), "k")]), &[(col(1), "k"), (col(0), "v")]),
        col(0),
    );
    same(&aggregate(&sorted, vec![col(0)], sum(), None), &direct);
    let whole = project(&scan(), &columns());
    same(&whole, &scan());
}

#[test]
fn a_computed_column_is_read_through() {
    let computed = project(&scan(), &[(plus(col(0), col(1)), "s"), (col(3), "x")]);
    let direct = aggregate(&scan(), vec![plus(col(0), col(1))], vec![(AggIntent::Max { arg: col(3) }, None)], None);
    same(&aggregate(&computed, vec![col(0)], vec![(AggIntent::Max { arg: col(1) }, None)], None), &direct);
}

#[test]
fn having_becomes_a_filter() {
    let having =
        aggregate(&scan(), vec![col(0)], vec![(AggIntent::count(), None)], Some(int(3).compare(CompareOp::Lt, col(1))));
    same(&having, &filter(&counted(&scan(), &[0]), greater(col(1), 3)));
    let form = canonical(&having);
    assert_eq!(**form.operator().input().unwrap(), *canonical(&counted(&scan(), &[0])));
}

#[test]
fn names_and_order_of_columns_are_kept() {
    let renamed = project(&scan(), &[(col(0), "a"), (col(1), "b"), (col(2), "c"), (col(3), "other")]);
    assert_eq!(canonical(&renamed).schema().field_names(), ["a", "b", "c", "other"]);
    assert_ne!(canonical(&renamed), canonical(&scan()));
    let duplicated = project(&scan(), &[(col(0), "a"), (col(0), "a")]);
    assert_eq!(canonical(&duplicated).schema().field_names(), ["a", "a"]);
    let swapped = project(&scan(), &[(col(1), "b"), (col(0), "a"), (col(2), "c"), (col(3), "x")]);
    assert_eq!(canonical(&swapped).schema().field_names(), ["b", "a", "c", "x"]);
    let fewer = project(&scan(), &columns()[..3]);
    assert_eq!(canonical(&fewer).schema().len(), 3);
}

#[test]
fn infallible_neighbours_are_sorted_and_others_keep_their_place() {
    let (p, q) = (greater(col(0), 1), is_null(col(1)));
    let failing = greater(ten_over(col(0)), 3);
    let order = |conjuncts: &[&Expr]| {
        let query = filter(&scan(), Expr::conjunction(conjuncts.iter().map(|&conjunct| conjunct.clone())).unwrap());
        let form = canonical(&query);
        let Operator::Scan { predicates, .. } = form.operator() else { panic!("{form:?}") };
        predicates.iter().map(|predicate| predicate.0.clone()).collect::<Vec<_>>()
    };
    assert_eq!(order(&[&p, &q]), order(&[&q, &p]));
    assert_eq!(order(&[&p, &q, &failing]), order(&[&q, &p, &failing]));
    assert_eq!(order(&[&p, &failing, &q]), [p.clone(), failing.clone(), q.clone()]);
    assert_eq!(order(&[&failing, &q, &p]), order(&[&failing, &p, &q]));
    assert_eq!(order(&[&failing, &p])[0], failing);
    assert_eq!(order(&[&p, &failing])[0], p);
    // A second evaluation after the guard says nothing new; before it, it would not be guarded.
    assert_eq!(order(&[&p, &failing, &p, &failing]), [p, failing]);
}

#[test]
fn a_measures_filter_is_normal_too() {
    let with = |filter: Option<Expr>| aggregate(&scan(), vec![], vec![(AggIntent::count(), filter)], None);
    let (p, q) = (greater(col(0), 1), is_null(col(1)));
    same(&with(Some(p.clone().and(q.clone()))), &with(Some(q.and(int(1).compare(CompareOp::Lt, col(0))))));
    same(&with(Some(col(2).is_not_null())), &with(None));
    same(&with(Some(col(2).is_not_null().and(p.clone()))), &with(Some(p)));
    assert_ne!(canonical(&with(Some(col(0).is_not_null()))), canonical(&with(None)));
    assert_ne!(canonical(&with(Some(boolean(false)))), canonical(&with(None)));
}

/// The labels of a projection's input are not those of the projection, so a grouping by labels reads none through.
#[test]
fn a_grouping_of_labels_does_not_read_through_a_projection() {
    let narrowed = project(&scan(), &[(col(0), "a"), (col(3), "x")]);
    for reduction in [Reduction::PerEntity, Reduction::Reduce { by: vec![], without: vec![col(0)] }] {
        let plain = aggregate_of(Arc::clone(&narrowed), vec![], vec![(AggIntent::Rate { arg: col(1) }, None)], None);
        let query = node(Operator::Aggregate(Aggregate { reduction, ..plain }));
        assert_eq!(canonical(&query), query);
        assert_ne!(
            canonical(&query),
            canonical(&aggregate(&narrowed, vec![], vec![(AggIntent::Rate { arg: col(1) }, None)], None))
        );
    }
}

#[test]
fn a_sort_below_an_aggregate_matters_only_to_what_depends_on_order() {
    let first = |order_matters| {
        let facts = AggregateFacts {
            data_type: DataType::Int64,
            nullable: true,
            volatility: Volatility::Immutable,
            can_fail: false,
            skips_nulls: false,
            order_matters,
        };
        AggIntent::Named { name: "first_value".to_owned(), args: vec![col(0)], distinct: false, facts }
    };
    let over = |input: &Arc<QueryExpr>, measure: AggIntent| aggregate(input, vec![], vec![(measure, None)], None);
    let sorted = sort(&scan(), col(1));
    same(&over(&sorted, AggIntent::count()), &over(&scan(), AggIntent::count()));
    same(&over(&sorted, first(false)), &over(&scan(), first(false)));
    assert_ne!(canonical(&over(&sorted, first(true))), canonical(&over(&scan(), first(true))));
}

#[test]
fn rows_are_neither_lost_nor_kept() {
    let p = greater(col(0), 1);
    for below in [limit(&scan(), 0, Some(3)), distinct(&project(&scan(), &[(col(0), "a")])), counted(&scan(), &[0])] {
        let form = canonical(&filter(&below, p.clone()));
        let Operator::Filter { input, .. } = form.operator() else { panic!("{form:?}") };
        assert_eq!(*input, canonical(&below));
    }
    let limited = limit(&sort(&scan(), col(1)), 0, Some(3));
    assert_eq!(canonical(&counted(&limited, &[])).operator().input(), Some(&canonical(&limited)));
    let total = filter(&counted(&scan(), &[]), boolean(false));
    assert!(matches!(canonical(&total).operator(), Operator::Filter { .. }));
}

/// Also above what keeps them where they are.
#[test]
fn neighbouring_filters_merge() {
    let (p, q) = (greater(col(0), 1), is_null(col(1)));
    let limited = limit(&scan(), 0, Some(3));
    let form = canonical(&filter(&filter(&limited, p.clone()), q.clone()));
    assert_eq!(form, canonical(&filter(&limited, p.and(q))));
    assert_eq!(form.operator().input(), Some(&limited));
}

#[test]
fn conditions_that_say_nothing_go() {
    for below in [scan(), limit(&scan(), 0, Some(3)), sort(&scan(), col(1)), project(&scan(), &[(col(1), "b")])] {
        same(&filter(&below, boolean(true)), &below);
        same(&filter(&below, boolean(true).and(boolean(true))), &below);
    }
}

#[test]
fn conditions_move_below_a_sort_and_its_keys_are_simple() {
    let p = greater(col(0), 1);
    let form = canonical(&filter(&sort(&scan(), boolean(true).and(is_null(col(1)))), p.clone()));
    assert_eq!(form, sort(&scan_where(vec![p]), is_null(col(1))));
}

#[test]
fn volatile_expressions_are_neither_moved_nor_duplicated_nor_dropped() {
    let drawn = project(&scan(), &[(random(), "r"), (col(0), "a")]);
    let count_volatile = |query: &Arc<QueryExpr>| {
        let mut count = 0;
        for node in QueryExpr::reachable(&[canonical(query)]) {
            let _ = node.operator().try_for_each_expr(&mut |expr| {
                expr.any(&mut |part| {
                    count += usize::from(matches!(part, Expr::Function { .. }));
                    false
                });
                std::ops::ControlFlow::<()>::Continue(())
            });
        }
        count
    };
    let twice = project(&drawn, &[(col(0), "r"), (plus(col(0), col(0)), "s")]);
    assert_eq!(count_volatile(&twice), 1);
    assert_eq!(count_volatile(&project(&drawn, &[(col(1), "a")])), 1);
    assert_eq!(count_volatile(&filter(&drawn, greater(col(0), 1))), 1);
    assert_eq!(count_volatile(&counted(&drawn, &[0])), 1);
    assert_eq!(
        count_volatile(&aggregate(
            &drawn,
            vec![col(1)],
            vec![(AggIntent::Sum { arg: col(0) }, None), (AggIntent::Max { arg: col(0) }, None)],
            None
        )),
        1
    );
    // A volatile condition is evaluated for the rows that reach it, and after what stands before it.
    let volatile = random().eq(int(1));
    let (above, below) = (filter(&sort(&scan(), col(0)), volatile.clone()), sort(&scan(), col(0)));
    assert_eq!(canonical(&above).operator().input(), Some(&below));
    let form = canonical(&filter(&scan(), volatile.clone().and(greater(col(0), 1)).and(volatile.clone())));
    let Operator::Scan { predicates, .. } = form.operator() else { panic!("{form:?}") };
    let kept: Vec<&Expr> = predicates.iter().map(|predicate| &predicate.0).collect();
    assert_eq!(kept, [&volatile, &greater(col(0), 1), &volatile]);
}

#[rstest]
#[case::is_null_of_not_null(is_null(col(2)), boolean(false))]
#[case::is_not_null_of_not_null(col(2).is_not_null(), boolean(true))]
#[case::is_null_of_nullable(is_null(col(0)), is_null(col(0)))]
#[case::is_null_of_null(is_null(Expr::Literal(Literal::null(DataType::Int64))), boolean(true))]
#[case::is_null_of_a_constant(int(1).is_not_null(), boolean(true))]
#[case::what_may_fail_is_evaluated(is_null(ten_over(col(2))), is_null(ten_over(col(2))))]
#[case::not_not(not(not(greater(col(0), 1))), greater(col(0), 1))]
#[case::not_not_not(not(not(not(greater(col(0), 1)))), not(greater(col(0), 1)))]
#[case::true_and(boolean(true).and(greater(col(0), 1)), greater(col(0), 1))]
#[case::and_true(greater(col(0), 1).and(boolean(true)), greater(col(0), 1))]
#[case::false_and(boolean(false).and(greater(col(0), 1)), boolean(false).and(greater(col(0), 1)))]
#[case::false_or(or(boolean(false), greater(col(0), 1)), greater(col(0), 1))]
#[case::true_or(or(boolean(true), greater(ten_over(col(0)), 1)), or(boolean(true), greater(ten_over(col(0)), 1)))]
#[case::flipped(int(1).compare(CompareOp::Lt, col(0)), greater(col(0), 1))]
#[case::flipped_equality(int(1).eq(col(0)), col(0).eq(int(1)))]
#[case::constants_stay(int(1).compare(CompareOp::Lt, int(2)), int(1).compare(CompareOp::Lt, int(2)))]
#[case::columns_stay(col(0).compare(CompareOp::Lt, col(1)), col(0).compare(CompareOp::Lt, col(1)))]
#[case::inside(not(boolean(true).and(int(1).eq(col(0)))), not(col(0).eq(int(1))))]
#[case::folds_upwards(is_null(col(2)).and(greater(col(0), 1)), boolean(false).and(greater(col(0), 1)))]
#[case::untyped_null(boolean(true).and(Expr::Literal(Literal::null(DataType::Null))), boolean(true).and(Expr::Literal(Literal::null(DataType::Null))))]
fn simplified(#[case] expr: Expr, #[case] expected: Expr) {
    let schema = schema();
    let found = simplify(&expr, &schema);
    assert_eq!(found, expected);
    assert_eq!(simplify(&found, &schema), found);
    assert_eq!(found.data_type(&schema), expr.data_type(&schema));
}

/// `SELECT x + x AS x FROM (SELECT x + x AS x FROM …)`: read through to the end, 2^40 terms.
#[test]
fn a_chain_of_doublings_stays_small() {
    let doubled = |input: &Arc<QueryExpr>, column: usize| project(input, &[(plus(col(column), col(column)), "x")]);
    let chain = (0..40).fold(doubled(&scan(), 0), |input, _| doubled(&input, 0));
    let total = aggregate(&chain, vec![], vec![(AggIntent::Sum { arg: col(0) }, None)], None);
    let restricted = filter(&chain, greater(col(0), 1));
    for query in [total, restricted] {
        let size: usize = QueryExpr::reachable(&[canonical(&query)])
            .iter()
            .map(|node| format!("{:?}", node.operator()).len())
            .max()
            .unwrap_or(0);
        assert!(size < 1_000_000, "{size}");
    }
}
