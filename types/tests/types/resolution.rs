use std::sync::Arc;

use asap_types::{
    AggIntent, Aggregate, ColumnRef, Expr, MeasureFilters, NamedExpr, Operator, Predicate, Reduction, TableRef,
    TypesError, UnresolvedQuery, resolve,
};
use rstest::rstest;

use crate::support::{BYTES, JOB, aggregate, job_is, node, scan, sum, table};

fn metrics() -> Arc<UnresolvedQuery> {
    UnresolvedQuery::new(Operator::Scan { table: TableRef::bare("metrics"), schema: table(), predicates: vec![] })
}

fn select(columns: Vec<(ColumnRef, &str)>, input: &Arc<UnresolvedQuery>) -> Arc<UnresolvedQuery> {
    let columns =
        columns.into_iter().map(|(column, name)| NamedExpr { expr: Expr::Column(column), name: name.into() }).collect();
    UnresolvedQuery::new(Operator::Project { columns, input: Arc::clone(input) })
}

#[rstest]
#[case::bare(ColumnRef::bare("bytes"))]
#[case::qualified(ColumnRef::qualified("metrics", "bytes"))]
fn names_become_positions(#[case] column: ColumnRef) {
    let resolved = resolve(&select(vec![(column, "x")], &metrics())).unwrap();
    let Operator::Project { columns, .. } = resolved.operator() else { panic!("a projection") };
    assert_eq!(columns[0].expr, Expr::column(BYTES));
}

#[rstest]
#[case::no_such_name(ColumnRef::bare("byte"), "column 'byte' not found; available columns: metrics.job, metrics.host")]
#[case::other_relation(ColumnRef::qualified("m", "job"), "column 'm.job' not found")]
#[case::case_matters(ColumnRef::bare("Job"), "column 'Job' not found")]
fn a_name_that_is_not_there_lists_those_that_are(#[case] column: ColumnRef, #[case] text: &str) {
    let error = resolve(&select(vec![(column, "x")], &metrics())).unwrap_err();
    assert!(matches!(error, TypesError::ColumnNotFound { .. }));
    assert!(error.to_string().starts_with(text), "{error}");
}

#[test]
fn an_ambiguous_name_lists_its_meanings() {
    let twice = select(vec![(ColumnRef::bare("job"), "k"), (ColumnRef::bare("host"), "k")], &metrics());
    let error = resolve(&select(vec![(ColumnRef::bare("k"), "x")], &twice)).unwrap_err();
    assert_eq!(error.to_string(), "column 'k' is ambiguous; it could be any of: k, k");
}

#[test]
fn an_alias_replaces_the_table_as_qualifier() {
    let scan = Operator::Scan { table: TableRef::bare("metrics"), schema: table(), predicates: vec![] };
    let aliased = UnresolvedQuery::aliased(scan, "m");
    assert!(resolve(&select(vec![(ColumnRef::qualified("m", "job"), "x")], &aliased)).is_ok());
    assert!(resolve(&select(vec![(ColumnRef::qualified("metrics", "job"), "x")], &aliased)).is_err());
}

#[test]
fn every_place_of_an_aggregate_is_resolved_having_over_its_output() {
    let column = |name: &str| Expr::Column(ColumnRef::bare(name));
    let literal = Expr::Literal(asap_types::Literal::utf8("a"));
    let unresolved = UnresolvedQuery::new(Operator::Aggregate(Aggregate {
        reduction: Reduction::by(vec![column("job")]),
        measures: vec![AggIntent::Sum { arg: column("bytes") }],
        filters: MeasureFilters::from(vec![Some(Predicate(column("job").eq(literal)))]),
        output_names: vec!["c0".into(), "c1".into()],
        having: Some(Predicate(column("c1").is_not_null())),
        input: metrics(),
    }));
    let mut expected = aggregate(&scan(), &[JOB], vec![(sum(BYTES), Some(job_is("a")))]);
    expected.having = Some(Predicate(Expr::column(1).is_not_null()));
    assert_eq!(resolve(&unresolved).unwrap(), node(expected));
}
