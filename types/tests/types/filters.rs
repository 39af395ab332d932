use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use asap_types::{AggIntent, ColumnId, Expr, MeasureFilters, Operator, Predicate, QueryExpr, TypesError};
use rstest::rstest;

use crate::support::{BYTES, HOST, JOB, aggregate, job_is, node, scan, sum};

fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

#[test]
fn nothing_filtered_has_one_form() {
    let spelled: MeasureFilters = vec![None, None].into();
    assert_eq!(spelled, MeasureFilters::none());
    assert_eq!(hash(&spelled), hash(&MeasureFilters::<ColumnId>::none()));
    let mut with = aggregate(&scan(), &[JOB], vec![(sum(BYTES), None), (AggIntent::count(), None)]);
    let without = node(with.clone());
    with.filters = spelled;
    let with = node(with);
    assert_eq!(with, without);
    assert_eq!(with.fingerprint(), without.fingerprint());
}

#[test]
fn a_filter_is_part_of_the_identity() {
    let plain = node(aggregate(&scan(), &[JOB], vec![(sum(BYTES), None)]));
    let filtered = node(aggregate(&scan(), &[JOB], vec![(sum(BYTES), Some(job_is("a")))]));
    let other = node(aggregate(&scan(), &[JOB], vec![(sum(BYTES), Some(job_is("b")))]));
    assert_ne!(plain, filtered);
    assert_ne!(filtered, other);
}

#[rstest]
#[case::too_few(vec![Some(Predicate(job_is("a")))])]
#[case::too_many(vec![None, None, Some(Predicate(job_is("a")))])]
fn filters_must_be_parallel_to_measures(#[case] filters: Vec<Option<Predicate>>) {
    let mut wrong = aggregate(&scan(), &[JOB], vec![(sum(BYTES), None), (AggIntent::count(), None)]);
    let expected = TypesError::FilterCount { measures: 2, filters: filters.len() };
    wrong.filters = filters.into();
    assert_eq!(QueryExpr::new(Operator::Aggregate(wrong)).unwrap_err(), expected);
}

#[test]
fn a_filter_must_be_boolean() {
    let wrong = aggregate(&scan(), &[JOB], vec![(sum(BYTES), Some(Expr::column(HOST)))]);
    let error = QueryExpr::new(Operator::Aggregate(wrong)).unwrap_err();
    assert!(matches!(error, TypesError::PredicateNotBoolean { .. }), "{error}");
}

#[test]
fn names_must_fit_the_outputs() {
    let mut wrong = aggregate(&scan(), &[JOB], vec![(sum(BYTES), None)]);
    wrong.output_names.pop();
    let error = QueryExpr::new(Operator::Aggregate(wrong)).unwrap_err();
    assert_eq!(error, TypesError::OutputNameCount { columns: 2, names: 1 });
}
