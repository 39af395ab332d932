//! Names become positions, or an error that names the candidates.

use std::sync::Arc;

use asap_types::{
    AggIntent, Aggregate, ColumnRef, CompareOp, Expr, Literal, MeasureFilters, NamedExpr, Operator, Predicate,
    QueryExpr, Reduction, TableRef, TypesError, UnresolvedQuery, resolve,
};
use rstest::rstest;

use crate::build::{self, schema};

type Unresolved = Operator<Arc<UnresolvedQuery>, ColumnRef>;

fn bare(name: &str) -> Expr<ColumnRef> {
    Expr::Column(ColumnRef::bare(name))
}

fn of(relation: &str, name: &str) -> Expr<ColumnRef> {
    Expr::Column(ColumnRef::qualified(relation, name))
}

fn scan() -> Unresolved {
    Operator::Scan { table: TableRef::bare("t"), schema: schema(), predicates: vec![] }
}

fn positive(column: Expr<ColumnRef>) -> Predicate<ColumnRef> {
    Predicate(column.compare(CompareOp::Gt, Expr::Literal(Literal::int64(0))))
}

fn project(input: Arc<UnresolvedQuery>, columns: Vec<(Expr<ColumnRef>, &str)>) -> Unresolved {
    let columns = columns.into_iter().map(|(expr, name)| NamedExpr { expr, name: name.to_owned() }).collect();
    Operator::Project { columns, input }
}

fn filtered(input: Arc<UnresolvedQuery>, column: Expr<ColumnRef>) -> Result<Arc<QueryExpr>, TypesError> {
    resolve(&UnresolvedQuery::new(Operator::Filter { predicate: positive(column), input }))
}

#[rstest]
#[case::bare(bare("b"))]
#[case::by_table(of("t", "b"))]
fn names_become_positions(#[case] column: Expr<ColumnRef>) {
    let expected = build::filter(&build::scan(), build::greater(build::col(1), 0));
    assert_eq!(filtered(UnresolvedQuery::new(scan()), column), Ok(expected));
}

#[test]
fn an_alias_hides_the_tables_name() {
    let aliased = || UnresolvedQuery::aliased(scan(), "m");
    assert!(filtered(aliased(), of("m", "b")).is_ok());
    assert!(filtered(aliased(), bare("b")).is_ok());
    let hidden = filtered(aliased(), of("t", "b")).unwrap_err();
    let candidates = ["m.a", "m.b", "m.c", "m.x"].map(str::to_owned).to_vec();
    assert_eq!(hidden, TypesError::ColumnNotFound { column: ColumnRef::qualified("t", "b"), candidates });
    assert_eq!(hidden.to_string(), "column 't.b' not found; available columns: m.a, m.b, m.c, m.x");
}

#[test]
fn names_are_compared_as_they_are_written() {
    assert!(matches!(filtered(UnresolvedQuery::new(scan()), bare("B")), Err(TypesError::ColumnNotFound { .. })));
}

#[test]
fn a_name_of_two_columns_is_ambiguous() {
    let twice = project(UnresolvedQuery::new(scan()), vec![(bare("a"), "v"), (of("t", "b"), "v"), (bare("c"), "c")]);
    let ambiguous = filtered(UnresolvedQuery::new(twice.clone()), bare("v")).unwrap_err();
    assert_eq!(ambiguous.to_string(), "column 'v' is ambiguous; it could be any of: v, v");
    assert!(filtered(UnresolvedQuery::new(twice.clone()), bare("c")).is_ok());
    let aliased = filtered(UnresolvedQuery::aliased(twice, "s"), of("s", "v")).unwrap_err();
    assert_eq!(aliased.to_string(), "column 's.v' is ambiguous; it could be any of: s.v, s.v");
}

#[test]
fn a_projected_column_keeps_its_qualifier_only_with_its_name() {
    let projected =
        || UnresolvedQuery::new(project(UnresolvedQuery::new(scan()), vec![(of("t", "a"), "a"), (bare("b"), "z")]));
    assert!(filtered(projected(), bare("z")).is_ok() && filtered(projected(), bare("a")).is_ok());
    for gone in [of("t", "z"), of("t", "b"), bare("b"), bare("x")] {
        assert!(matches!(filtered(projected(), gone), Err(TypesError::ColumnNotFound { .. })));
    }
}

fn aggregate(having: Option<Predicate<ColumnRef>>) -> Unresolved {
    Operator::Aggregate(Aggregate {
        reduction: Reduction::by(vec![bare("a")]),
        measures: vec![AggIntent::Sum { arg: bare("x") }, AggIntent::count()],
        filters: MeasureFilters::from(vec![None, Some(positive(of("t", "b")))]),
        output_names: ["a", "total", "n"].map(str::to_owned).to_vec(),
        having,
        input: UnresolvedQuery::new(scan()),
    })
}

#[test]
fn an_aggregate_reads_its_input_and_its_having_its_output() {
    let resolved = resolve(&UnresolvedQuery::new(aggregate(Some(positive(bare("n")))))).unwrap();
    let Operator::Aggregate(found) = resolved.operator() else { panic!("{resolved:?}") };
    assert_eq!(found.keys(), [build::col(0)]);
    assert_eq!(found.measures, [AggIntent::Sum { arg: build::col(3) }, AggIntent::count()]);
    assert_eq!(found.filters.get(1), Some(&Predicate(build::greater(build::col(1), 0))));
    assert_eq!(found.having, Some(Predicate(build::greater(build::col(2), 0))));
    let not_an_output = resolve(&UnresolvedQuery::new(aggregate(Some(positive(bare("x")))))).unwrap_err();
    assert_eq!(not_an_output.to_string(), "column 'x' not found; available columns: a, total, n");
}

/// A measure's filter sees the columns of the input: no output names, no other relation.
#[rstest]
#[case::of_the_output(bare("total"), "column 'total' not found; available columns: t.a, t.b, t.c, t.x")]
#[case::of_another_relation(of("u", "a"), "column 'u.a' not found; available columns: t.a, t.b, t.c, t.x")]
fn a_filter_that_names_no_input_column_is_an_error(#[case] column: Expr<ColumnRef>, #[case] message: &str) {
    let Operator::Aggregate(mut filtered) = aggregate(None) else { panic!() };
    filtered.filters = MeasureFilters::from(vec![Some(positive(column)), None]);
    let error = resolve(&UnresolvedQuery::new(Operator::Aggregate(filtered))).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn an_ambiguous_name_in_a_filter_is_an_error() {
    let twice = project(UnresolvedQuery::new(scan()), vec![(bare("a"), "v"), (bare("b"), "v"), (bare("x"), "x")]);
    let counted = Aggregate {
        reduction: Reduction::by(vec![]),
        measures: vec![AggIntent::count()],
        filters: MeasureFilters::from(vec![Some(positive(bare("v")))]),
        output_names: vec!["n".to_owned()],
        having: None,
        input: UnresolvedQuery::new(twice),
    };
    let error = resolve(&UnresolvedQuery::new(Operator::Aggregate(counted))).unwrap_err();
    assert!(matches!(error, TypesError::AmbiguousColumn { .. }), "{error}");
}

#[test]
fn nodes_that_are_shared_stay_shared() {
    let shared = UnresolvedQuery::new(scan());
    let limit = |input: &Arc<UnresolvedQuery>| {
        UnresolvedQuery::new(Operator::Limit { skip: 0, fetch: Some(1), input: Arc::clone(input) })
    };
    let distinct = UnresolvedQuery::new(Operator::Distinct { input: limit(&shared) });
    let resolved = resolve(&distinct).unwrap();
    assert_eq!(QueryExpr::reachable(&[resolved]).len(), 3);
}
