use arrow_schema::DataType;
use asap_aware_mapping::{MeasureDerivation, Refusal, Requires, derive};
use asap_types::{AggIntent, ArithmeticOp, CompareOp, Expr, Literal, UnaryOp};
use rstest::rstest;

use crate::support::{BYTES, HOST, JOB, LOAD, Measure, PRICE, REGION, by, by_exprs, eq, scan, scan_where, sum};

fn count(filter: Option<Expr>) -> Measure {
    (AggIntent::count(), filter)
}

fn avg(column: usize) -> Measure {
    (AggIntent::Avg { arg: Expr::column(column) }, None)
}

fn present(column: usize) -> Expr {
    Expr::column(column).is_not_null()
}

#[rstest]
#[case::decimal_not_null(PRICE, vec![(sum(PRICE), None), count(None)], Ok(Requires::Nothing))]
#[case::float_reassociates(LOAD, vec![(sum(LOAD), None), count(Some(present(LOAD)))], Ok(Requires::Reassociate))]
#[case::count_of_all_rows_is_no_part(LOAD, vec![(sum(LOAD), None), count(None)], Err(Refusal::AverageParts))]
#[case::no_count(PRICE, vec![(sum(PRICE), None)], Err(Refusal::AverageParts))]
#[case::no_sum(PRICE, vec![count(None), avg(PRICE)], Err(Refusal::AverageParts))]
#[case::integers_wrap(BYTES, vec![(sum(BYTES), None), count(Some(present(BYTES)))], Err(Refusal::AverageParts))]
fn averages(#[case] column: usize, #[case] parts: Vec<Measure>, #[case] expected: Result<Requires, Refusal>) {
    let fine = by(&scan(), &[JOB, REGION], parts);
    let found = derive(&by(&scan(), &[JOB], vec![avg(column)]), &fine);
    if let Ok(derivation) = &found {
        assert!(matches!(derivation.measures.as_slice(), [MeasureDerivation::Average { .. }]));
    }
    assert_eq!(found.map(|derivation| derivation.requires), expected);
}

#[rstest]
#[case::equal(Some(eq(JOB, "a")), Some(eq(JOB, "a")), Ok(()))]
#[case::refined_by_a_key(None, Some(eq(REGION, "eu")), Ok(()))]
#[case::not_on_keys(None, Some(present(BYTES)), Err(Refusal::MeasureFilter))]
#[case::source_filters_more(Some(eq(REGION, "eu")), None, Err(Refusal::MeasureFilter))]
#[case::part_equal_part_key(Some(present(BYTES)), Some(present(BYTES).and(eq(REGION, "eu"))), Ok(()))]
fn filters(#[case] fine: Option<Expr>, #[case] coarse: Option<Expr>, #[case] expected: Result<(), Refusal>) {
    let fine = by(&scan(), &[JOB, REGION], vec![(sum(BYTES), fine)]);
    let coarse = by(&scan(), &[JOB], vec![(sum(BYTES), coarse)]);
    assert_eq!(derive(&coarse, &fine).map(drop), expected);
}

fn can_fail() -> Expr {
    let quotient = Expr::Arithmetic {
        op: ArithmeticOp::Divide,
        left: Box::new(Expr::Literal(Literal::int64(1))),
        right: Box::new(Expr::column(HOST)),
        data_type: DataType::Int64,
    };
    quotient.compare(CompareOp::Gt, Expr::Literal(Literal::int64(0)))
}

#[rstest]
#[case::on_a_key(vec![], vec![eq(REGION, "eu")], Ok(()))]
#[case::both(vec![present(BYTES)], vec![present(BYTES), eq(REGION, "eu")], Ok(()))]
#[case::not_on_a_key(vec![], vec![present(BYTES)], Err(Refusal::RestrictionNotOnKeys))]
#[case::source_reads_fewer(vec![eq(REGION, "eu")], vec![], Err(Refusal::FewerRows))]
#[case::can_fail(vec![], vec![can_fail()], Err(Refusal::RestrictionCanFail))]
fn rows(#[case] fine: Vec<Expr>, #[case] coarse: Vec<Expr>, #[case] expected: Result<(), Refusal>) {
    let fine = by(&scan_where(fine), &[JOB, REGION, HOST], vec![(sum(BYTES), None)]);
    let coarse = by(&scan_where(coarse), &[JOB], vec![(sum(BYTES), None)]);
    assert_eq!(derive(&coarse, &fine).map(drop), expected);
}

/// Found by the fuzzer: the condition would drop the one row that a grand total has over no rows.
#[test]
fn a_condition_over_a_grand_total_is_refused() {
    let never = Expr::Literal(Literal::boolean(false));
    let coarse = by(&scan_where(vec![never]), &[], vec![count(None)]);
    assert_eq!(derive(&coarse, &by(&scan(), &[], vec![count(None)])).map(drop), Err(Refusal::GrandTotalSource));
}

#[test]
fn groups_do_not_follow_from_a_grand_total() {
    let constant = by_exprs(&scan(), vec![Expr::Literal(Literal::int64(1))], vec![count(None)]);
    let total = by(&scan(), &[], vec![count(None)]);
    assert_eq!(derive(&constant, &total).map(drop), Err(Refusal::GrandTotalSource));
}

#[rstest]
#[case::of_a_key(HOST, Ok(()))]
#[case::of_a_float_key(LOAD, Err(Refusal::FloatKey))]
#[case::of_no_key(BYTES, Err(Refusal::KeyNotDerivable))]
fn functions_of_keys(#[case] column: usize, #[case] expected: Result<(), Refusal>) {
    let key = Expr::column(column).unary(UnaryOp::IsNull);
    let coarse = by_exprs(&scan(), vec![key], vec![count(None)]);
    assert_eq!(derive(&coarse, &by(&scan(), &[HOST, LOAD], vec![count(None)])).map(drop), expected);
}

#[test]
fn equal_keys_reuse_columns_and_combine_nothing() {
    let fine = by(&scan(), &[JOB], vec![avg(PRICE), count(None)]);
    let derivation = derive(&by(&scan(), &[JOB], vec![avg(PRICE)]), &fine).unwrap();
    assert!(!derivation.regroups);
    assert_eq!(derivation.measures, [MeasureDerivation::Reuse { column: 1 }]);
    let missing = derive(&by(&scan(), &[JOB], vec![(sum(BYTES), None)]), &fine);
    assert_eq!(missing.map(drop), Err(Refusal::IntentMismatch));
}

#[test]
fn extrema_of_a_key_need_no_measure() {
    let max = (AggIntent::Max { arg: Expr::column(HOST) }, None);
    let fine = by(&scan(), &[JOB, HOST], vec![count(None)]);
    assert!(derive(&by(&scan(), &[JOB], vec![max]), &fine).is_ok());
    let float = (AggIntent::Max { arg: Expr::column(LOAD) }, None);
    let fine = by(&scan(), &[JOB, LOAD], vec![count(None)]);
    assert_eq!(derive(&by(&scan(), &[JOB], vec![float]), &fine).map(drop), Err(Refusal::IntentMismatch));
}

#[test]
fn an_expression_that_only_the_source_evaluates_must_not_fail() {
    let failing = (AggIntent::count(), Some(can_fail()));
    let fine = by(&scan(), &[JOB, REGION], vec![count(None), failing.clone()]);
    assert_eq!(derive(&by(&scan(), &[JOB], vec![count(None)]), &fine).map(drop), Err(Refusal::SourceCanFail));
    assert!(derive(&by(&scan(), &[JOB], vec![count(None), failing]), &fine).is_ok());
}
