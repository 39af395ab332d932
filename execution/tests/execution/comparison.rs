use std::sync::Arc;

use asap_execution::{Comparison, Difference, FloatTolerance, RowOrder, compare};
use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use rstest::rstest;

fn rows(x: Vec<Option<i64>>, f: Vec<Option<f64>>) -> RecordBatch {
    let x: ArrayRef = Arc::new(Int64Array::from(x));
    let f: ArrayRef = Arc::new(Float64Array::from(f));
    RecordBatch::try_from_iter_with_nullable([("x", x, true), ("f", f, true)]).unwrap()
}

fn difference(left: &RecordBatch, right: &RecordBatch, order: RowOrder, floats: FloatTolerance) -> Option<Difference> {
    let how = Comparison { order, floats };
    compare((&left.schema(), std::slice::from_ref(left)), (&right.schema(), std::slice::from_ref(right)), &how).unwrap()
}

#[test]
fn rows_are_a_multiset_unless_ordered() {
    let left = rows(vec![Some(1), Some(2), Some(2)], vec![None, None, Some(1.0)]);
    let right = rows(vec![Some(2), Some(2), Some(1)], vec![Some(1.0), None, None]);
    assert_eq!(difference(&left, &right, RowOrder::Any, FloatTolerance::Exact), None);
    let ordered = difference(&left, &right, RowOrder::By(vec![0]), FloatTolerance::Exact);
    assert!(matches!(ordered, Some(Difference::Order { row: 0, .. })), "{ordered:?}");
}

#[test]
fn duplicates_count() {
    let left = rows(vec![Some(1), Some(1), Some(2)], vec![None; 3]);
    let right = rows(vec![Some(1), Some(2), Some(2)], vec![None; 3]);
    let difference = difference(&left, &right, RowOrder::Any, FloatTolerance::Exact);
    assert!(matches!(difference, Some(Difference::Row { .. })), "{difference:?}");
}

#[test]
fn ties_may_come_in_any_order() {
    let left = rows(vec![Some(1), Some(1)], vec![Some(1.0), Some(2.0)]);
    let right = rows(vec![Some(1), Some(1)], vec![Some(2.0), Some(1.0)]);
    assert_eq!(difference(&left, &right, RowOrder::By(vec![0]), FloatTolerance::Exact), None);
}

#[rstest]
#[case::null_is_not_zero(None, Some(0.0), false, false)]
#[case::signed_zero(Some(-0.0), Some(0.0), false, true)]
#[case::nan(Some(f64::NAN), Some(f64::NAN), true, true)]
#[case::nan_is_not_a_number(Some(f64::NAN), Some(1.0), false, false)]
#[case::last_bits(Some(0.1 + 0.2), Some(0.3), false, true)]
#[case::infinity(Some(f64::INFINITY), Some(f64::INFINITY), true, true)]
#[case::the_largest_is_not_infinite(Some(f64::MIN), Some(f64::NEG_INFINITY), false, false)]
#[case::far(Some(1.0), Some(1.001), false, false)]
fn floats(#[case] left: Option<f64>, #[case] right: Option<f64>, #[case] exact: bool, #[case] relative: bool) {
    let (left, right) = (rows(vec![Some(1)], vec![left]), rows(vec![Some(1)], vec![right]));
    let equal = |floats| difference(&left, &right, RowOrder::Any, floats).is_none();
    assert_eq!(equal(FloatTolerance::Exact), exact);
    assert_eq!(equal(FloatTolerance::Relative(1e-9)), relative);
}

#[test]
fn names_types_and_counts_are_compared() {
    let left = rows(vec![Some(1)], vec![None]);
    let other: ArrayRef = Arc::new(Int64Array::from(vec![1]));
    let renamed = RecordBatch::try_from_iter([("x", Arc::clone(&other)), ("g", other)]).unwrap();
    let exact = FloatTolerance::Exact;
    assert!(matches!(difference(&left, &renamed, RowOrder::Any, exact), Some(Difference::Schema { .. })));
    let longer = rows(vec![Some(1), None], vec![None, None]);
    assert!(matches!(difference(&left, &longer, RowOrder::Any, exact), Some(Difference::RowCount { .. })));
}
