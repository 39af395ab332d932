//! Equal nodes of a workload become one node; what only looks alike does not.

use std::sync::Arc;

use asap_types::{
    AggIntent, DagBuilder, Expr, Operator, PostOperator, Predicate, QueryExpr, Reduction, SummaryFamily, TableRef, cse,
};

use crate::build::*;

fn shared(left: &Arc<QueryExpr>, right: &Arc<QueryExpr>) -> bool {
    let roots = cse(&[Arc::clone(left), Arc::clone(right)]).unwrap();
    assert_eq!((&roots[0], &roots[1]), (left, right));
    Arc::ptr_eq(&roots[0], &roots[1])
}

#[test]
fn equal_nodes_become_one_pointer_at_every_depth() {
    let query = || sort(&filter(&counted(&scan(), &[0]), greater(col(1), 1)), col(0));
    assert!(shared(&query(), &query()));
    let roots = cse(&[query(), limit(&counted(&scan(), &[0]), 0, Some(3))]).unwrap();
    let aggregates: Vec<_> = QueryExpr::reachable(&roots)
        .into_iter()
        .filter(|node| matches!(node.operator(), Operator::Aggregate(_)))
        .collect();
    assert_eq!(aggregates.len(), 1);
    assert_eq!(QueryExpr::reachable(&roots).len(), 5);
}

#[test]
fn sharing_is_idempotent() {
    let once = cse(&[counted(&scan(), &[0]), counted(&scan(), &[1]), counted(&scan(), &[0])]).unwrap();
    let twice = cse(&once).unwrap();
    assert_eq!(once, twice);
    assert!(Arc::ptr_eq(&twice[0], &twice[2]) && !Arc::ptr_eq(&twice[0], &twice[1]));
}

#[test]
fn a_measures_predicate_is_part_of_its_identity() {
    let with =
        |filter| aggregate(&scan(), vec![col(0)], vec![(AggIntent::count(), filter), (AggIntent::count(), None)], None);
    let (one, other) = (with(Some(greater(col(1), 1))), with(Some(greater(col(1), 2))));
    assert!(!shared(&one, &other));
    assert!(!shared(&one, &with(None)));
    assert!(shared(&one, &with(Some(greater(col(1), 1)))));
    let second = aggregate(
        &scan(),
        vec![col(0)],
        vec![(AggIntent::count(), None), (AggIntent::count(), Some(greater(col(1), 1)))],
        None,
    );
    assert!(!shared(&one, &second));
    assert_ne!(one.fingerprint(), other.fingerprint());
    let roots = cse(&[one, other]).unwrap();
    assert_eq!(QueryExpr::reachable(&roots).len(), 3);
    assert!(Arc::ptr_eq(roots[0].operator().input().unwrap(), roots[1].operator().input().unwrap()));
}

/// A summary's predicate is a field of it and no operator below it, so summaries under different predicates read one node.
#[test]
fn summaries_with_different_predicates_share_their_input() {
    let mut builder = DagBuilder::default();
    let input = builder.query(&scan()).unwrap();
    let mut summary = |filter: Option<Expr>| {
        let family = SummaryFamily::Exact { measure: AggIntent::count() };
        let (reduction, filter) = (Reduction::by(vec![col(0)]), filter.map(Predicate));
        let node = PostOperator::SummaryAgg { family, reduction, filter, input };
        builder.push(node.clone()).unwrap();
        node
    };
    let (one, other, none) = (summary(Some(greater(col(1), 1))), summary(Some(greater(col(1), 2))), summary(None));
    assert!(one != other && one != none && other != none);
    assert_eq!(builder.finish().reader_counts()[input.0], 3);
}

#[test]
fn names_schemas_and_tables_are_part_of_the_identity() {
    assert!(!shared(&project(&scan(), &[(col(0), "a")]), &project(&scan(), &[(col(0), "b")])));
    let keyed =
        Operator::Scan { table: TableRef::bare("t"), schema: schema().with_unique_key([2]), predicates: vec![] };
    assert!(!shared(&scan(), &node(keyed)));
    let other = Operator::Scan { table: TableRef::bare("u"), schema: schema(), predicates: vec![] };
    assert!(!shared(&scan(), &node(other)));
    assert!(!shared(&limit(&scan(), 0, Some(1)), &limit(&scan(), 1, Some(1))));
}

#[test]
fn volatile_nodes_and_what_reads_them_stay_apart() {
    let volatile = || project(&scan(), &[(random(), "r"), (col(0), "a")]);
    assert!(volatile().is_volatile() && !scan().is_volatile());
    assert!(!shared(&volatile(), &volatile()));
    let above = || counted(&volatile(), &[1]);
    assert!(above().is_volatile());
    assert!(!shared(&above(), &above()));
    let roots = cse(&[above(), above()]).unwrap();
    // Scan once; projection and aggregate twice.
    assert_eq!(QueryExpr::reachable(&roots).len(), 5);
}
