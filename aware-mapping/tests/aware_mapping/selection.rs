use asap_aware_mapping::{Estimate, FloatPolicy, LeafCost, MappingError, UnknownLeafCost, search_workload, select};
use asap_types::{AggIntent, Expr, GraphFormat, QueryExpr};

use crate::support::{BYTES, HOST, JOB, LOAD, REGION, by, scan, single, sum};

#[test]
fn a_chain_reads_the_smallest_source_and_each_producer_once() {
    let keys: [&[usize]; 4] = [&[JOB, REGION, HOST], &[JOB, REGION], &[JOB], &[]];
    let workload = keys.map(|keys| single(keys, sum(BYTES)));
    let space = search_workload(&workload).unwrap();
    let names = ["abc", "ab", "a", "total"];
    let selection = select(&space, &names, &UnknownLeafCost, FloatPolicy::Exact).unwrap();
    assert_eq!(
        selection.dag.render(GraphFormat::Tree),
        "\
abc
  n1 = Aggregate(by job, region, host: sum(bytes))
    Scan(metrics)
ab
  n2 = RollUp(by c0, c1: sum(c3))
    n1 (see above)
a
  n3 = RollUp(by c0: sum(c2))
    n2 (see above)
total
  RollUp(grand total: sum(c1))
    n3 (see above)
"
    );
    assert_eq!(space.sources(&selection, &names), [None, Some("abc"), Some("ab"), Some("a")]);
    let again = select(&search_workload(&workload).unwrap(), &names, &UnknownLeafCost, FloatPolicy::Exact).unwrap();
    assert_eq!(space.explain(&selection, &names), space.explain(&again, &names));
}

/// Answers ungrouped aggregates from the manifest; everything else reads a thousand rows.
struct Manifest;

impl LeafCost for Manifest {
    fn rows_read(&self, aggregate: &QueryExpr) -> Estimate {
        Estimate::Known(if aggregate.schema().is_unique_key(&[]) { 0 } else { 1000 })
    }
}

#[test]
fn a_literal_is_never_replaced() {
    let workload = [single(&[JOB], AggIntent::count()), single(&[], AggIntent::count())];
    let space = search_workload(&workload).unwrap();
    let selection = select(&space, &["fine", "total"], &Manifest, FloatPolicy::Exact).unwrap();
    assert_eq!(space.sources(&selection, &["fine", "total"]), [None, None]);
    let selection = select(&space, &["fine", "total"], &UnknownLeafCost, FloatPolicy::Exact).unwrap();
    assert_eq!(space.sources(&selection, &["fine", "total"]), [None, Some("fine")]);
}

#[test]
fn float_sums_follow_the_policy() {
    let workload = [single(&[JOB, REGION], sum(LOAD)), single(&[JOB], sum(LOAD))];
    let space = search_workload(&workload).unwrap();
    let sources = |floats| {
        let selection = select(&space, &["fine", "coarse"], &UnknownLeafCost, floats).unwrap();
        space.sources(&selection, &["fine", "coarse"])
    };
    assert_eq!(sources(FloatPolicy::Exact), [None, None]);
    assert_eq!(sources(FloatPolicy::Reassociate), [None, Some("fine")]);
}

/// Each could be taken from the other; one direction is chosen.
#[test]
fn equal_measures_in_another_order_make_no_cycle() {
    let max = || (AggIntent::Max { arg: Expr::column(BYTES) }, None);
    let workload = [
        by(&scan(), &[JOB, REGION], vec![(sum(BYTES), None), max()]),
        by(&scan(), &[REGION, JOB], vec![max(), (sum(BYTES), None)]),
    ];
    let space = search_workload(&workload).unwrap();
    let selection = select(&space, &["first", "second"], &UnknownLeafCost, FloatPolicy::Exact).unwrap();
    assert_eq!(space.sources(&selection, &["first", "second"]), [None, Some("first")]);
}

#[test]
fn a_thousand_siblings_are_planned() {
    let workload: Vec<_> = (0..1000_u32)
        .map(|number| {
            let keys: Vec<usize> = (0..5).filter(|bit| number & (1 << bit) != 0).collect();
            by(&scan(), &keys, vec![(sum(BYTES), None), (AggIntent::count(), None)])
        })
        .collect();
    let names: Vec<String> = (0..1000).map(|number| format!("q{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let space = search_workload(&workload).unwrap();
    assert_eq!(space.targets.len(), 32, "equal queries are one target");
    let selection = select(&space, &names, &UnknownLeafCost, FloatPolicy::Exact).unwrap();
    let derived = space.sources(&selection, &names).into_iter().flatten().count();
    assert_eq!(derived, 1000 - 31, "all but the queries with all five keys");
}

#[test]
fn names_must_fit() {
    let space = search_workload(&[single(&[JOB], sum(BYTES))]).unwrap();
    let error = select(&space, &[], &UnknownLeafCost, FloatPolicy::Exact).unwrap_err();
    assert_eq!(error, MappingError::NameCount { roots: 1, names: 0 });
}
