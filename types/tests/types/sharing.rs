use std::sync::Arc;

use asap_types::{AggIntent, Operator, PostAsapDag, QueryExpr, UnresolvedQuery, cse};

use crate::support::{BYTES, HOST, JOB, aggregate, filter, job_is, node, scan, scan_where, sum, volatile};

fn input(query: &Arc<QueryExpr>) -> &Arc<QueryExpr> {
    query.operator().input().unwrap()
}

#[test]
fn equal_nodes_become_one_and_different_ones_stay() {
    let roots = [JOB, HOST, JOB].map(|key| node(aggregate(&scan(), &[key], vec![(sum(BYTES), None)])));
    assert!(!Arc::ptr_eq(&roots[0], &roots[2]));
    let shared = cse(&roots).unwrap();
    assert!(Arc::ptr_eq(&shared[0], &shared[2]));
    assert!(!Arc::ptr_eq(&shared[0], &shared[1]));
    assert!(Arc::ptr_eq(input(&shared[0]), input(&shared[1])), "one scan");
    assert_eq!(shared, roots, "nothing but pointers changes");
}

#[test]
fn one_predicate_of_one_measure_keeps_aggregates_apart() {
    let roots = ["a", "b"].map(|job| {
        node(aggregate(&scan(), &[HOST], vec![(sum(BYTES), None), (AggIntent::count(), Some(job_is(job)))]))
    });
    let shared = cse(&roots).unwrap();
    assert!(!Arc::ptr_eq(&shared[0], &shared[1]));
    assert!(Arc::ptr_eq(input(&shared[0]), input(&shared[1])));
}

#[test]
fn what_may_differ_between_evaluations_is_not_shared() {
    let roots = [0, 1].map(|_| node(aggregate(&scan_where(vec![volatile()]), &[JOB], vec![(sum(BYTES), None)])));
    let shared = cse(&roots).unwrap();
    assert!(!Arc::ptr_eq(&shared[0], &shared[1]));
    assert!(!Arc::ptr_eq(input(&shared[0]), input(&shared[1])));
    let above = [0, 1].map(|_| filter(volatile(), &scan()));
    let shared = cse(&above).unwrap();
    assert!(!Arc::ptr_eq(&shared[0], &shared[1]));
    assert!(Arc::ptr_eq(input(&shared[0]), input(&shared[1])), "the table below is the same");
}

#[test]
fn each_node_is_reached_once_inputs_first() {
    let roots = [JOB, HOST].map(|key| node(aggregate(&scan(), &[key], vec![(sum(BYTES), None)])));
    let nodes = QueryExpr::reachable(&cse(&roots).unwrap());
    assert_eq!(nodes.len(), 3);
    assert!(matches!(nodes[0].operator(), Operator::Scan { .. }));
}

#[test]
fn plans_cross_threads() {
    fn crosses_threads<T: Send + Sync>() {}
    crosses_threads::<Arc<QueryExpr>>();
    crosses_threads::<Arc<UnresolvedQuery>>();
    crosses_threads::<PostAsapDag>();
}
