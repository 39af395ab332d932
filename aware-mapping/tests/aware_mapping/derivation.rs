//! The prover: rows, keys, and each measure.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_aware_mapping::{Combinator, Combined, Derivation, MeasureDerivation, Refusal, Requires, combinator, derive};
use asap_types::{
    AggIntent, AggregateFacts, ArithmeticOp, CompareOp, Expr, FunctionFacts, Operator, Predicate, QueryExpr, Volatility,
};
use rstest::rstest;

use crate::build::*;

fn filtered(measure: AggIntent, filter: Expr) -> (AggIntent, Option<Expr>) {
    (measure, Some(filter))
}

fn plain(measure: AggIntent) -> (AggIntent, Option<Expr>) {
    (measure, None)
}

fn keys(columns: &[usize]) -> Vec<Expr> {
    columns.iter().map(|&column| col(column)).collect()
}

fn combined(measure: AggIntent, filter: Option<Expr>) -> MeasureDerivation {
    MeasureDerivation::Combine(Combined { intent: measure, filter })
}

fn accepted(coarse: &QueryExpr, fine: &QueryExpr) -> Derivation {
    derive(coarse, fine).unwrap_or_else(|refusal| panic!("refused: {refusal}"))
}

/// A function of one argument that the front end knows to be harmless, or not.
fn function(arg: Expr, volatility: Volatility, can_fail: bool) -> Expr {
    let facts = FunctionFacts { data_type: DataType::Int64, nullable: true, volatility, can_fail };
    Expr::Function { name: "date_trunc".to_owned(), args: vec![arg], facts }
}

#[test]
fn several_measures_each_find_their_own_column() {
    let fine = by(&[0, 1], &[max(col(6)), AggIntent::count(), sum(col(3)), min(col(3))]);
    let coarse = by(&[1], &[sum(col(3)), min(col(3)), AggIntent::count()]);
    let derivation = accepted(&coarse, &fine);
    let expected =
        [combined(sum(col(4)), None), combined(min(col(5)), None), combined(AggIntent::Sum0 { arg: col(3) }, None)];
    assert_eq!(derivation.measures, expected);
    assert_eq!(derivation.keys, [col(1)]);
    assert!(derivation.regroups && derivation.restriction.is_empty() && derivation.requires == Requires::Nothing);
}

#[test]
fn equal_keys_reuse_columns_without_grouping_again() {
    let fine =
        aggregate(&scan(), keys(&[0, 1]), vec![plain(sum(col(3))), filtered(AggIntent::count(), greater(col(3), 0))]);
    let coarse = aggregate(&scan(), keys(&[1, 0]), vec![filtered(AggIntent::count(), greater(col(3), 0))]);
    let derivation = accepted(&coarse, &fine);
    assert!(!derivation.regroups);
    assert_eq!(derivation.measures, [MeasureDerivation::Reuse { column: 3 }]);
    let other_filter = aggregate(&scan(), keys(&[1, 0]), vec![filtered(AggIntent::count(), greater(col(3), 1))]);
    assert_eq!(derive(&other_filter, &fine), Err(Refusal::IntentMismatch));
}

#[test]
fn keys_alone_follow_from_any_finer_keys() {
    assert_eq!(accepted(&by(&[0], &[]), &by(&[0, 1], &[AggIntent::count()])).measures, []);
}

#[rstest]
#[case::on_a_key(col(0).eq(int(1)), Ok(()))]
#[case::on_keys(greater(arithmetic(ArithmeticOp::Add, col(0), col(1)), 1), Ok(()))]
#[case::is_null(is_null(col(0)), Ok(()))]
#[case::constant(greater(int(2), 1), Ok(()))]
#[case::not_on_a_key(greater(col(3), 1), Err(Refusal::RestrictionNotOnKeys))]
#[case::partly_on_keys(greater(arithmetic(ArithmeticOp::Add, col(0), col(3)), 1), Err(Refusal::RestrictionNotOnKeys))]
#[case::can_fail(greater(ten_over(col(0)), 1), Err(Refusal::RestrictionCanFail))]
#[case::function(greater(function(col(0), Volatility::Immutable, false), 1), Ok(()))]
#[case::failing_function(greater(function(col(0), Volatility::Immutable, true), 1), Err(Refusal::RestrictionCanFail))]
#[case::volatile(greater(function(col(0), Volatility::Volatile, false), 1), Err(Refusal::Volatile))]
fn rows_may_be_restricted_by_keys(#[case] condition: Expr, #[case] verdict: Result<(), Refusal>) {
    let fine = by(&[0, 1], &[AggIntent::count()]);
    for coarse_keys in [&[][..], &[0], &[1, 0]] {
        let coarse = over(&scan_where("t", vec![condition.clone()]), coarse_keys, &[AggIntent::count()]);
        let found = derive(&coarse, &fine);
        assert_eq!(found.clone().map(drop), verdict);
        assert!(found.is_err() || !found.unwrap().restriction.is_empty());
    }
}

#[test]
fn a_restriction_is_written_over_the_fine_output() {
    let fine = by(&[1, 0], &[AggIntent::count()]);
    let shared = greater(col(3), 0);
    let fine_restricted = over(&scan_where("t", vec![shared.clone()]), &[1, 0], &[AggIntent::count()]);
    let coarse = over(&scan_where("t", vec![col(0).eq(int(1)), shared]), &[], &[AggIntent::count()]);
    assert_eq!(accepted(&coarse, &fine_restricted).restriction, [col(1).eq(int(1))]);
    assert_eq!(derive(&coarse, &fine), Err(Refusal::RestrictionNotOnKeys));
}

#[test]
fn a_restriction_above_a_sub_select_is_found() {
    let inner = by(&[0, 1], &[AggIntent::count()]);
    let condition = col(0).eq(int(1));
    let filter = Operator::Filter { predicate: Predicate(condition.clone()), input: Arc::clone(&inner) };
    let coarse = over(&QueryExpr::new(filter).unwrap(), &[], &[AggIntent::count()]);
    let fine = over(&inner, &[0], &[AggIntent::count()]);
    assert_eq!(accepted(&coarse, &fine).restriction, [condition]);
}

#[test]
fn a_source_over_fewer_rows_is_refused() {
    let fine = over(&scan_where("t", vec![col(0).eq(int(1))]), &[0, 1], &[AggIntent::count()]);
    assert_eq!(derive(&by(&[0], &[AggIntent::count()]), &fine), Err(Refusal::FewerRows));
    let other = over(&scan_where("t", vec![col(0).eq(int(2))]), &[0], &[AggIntent::count()]);
    assert_eq!(derive(&other, &fine), Err(Refusal::FewerRows));
}

#[test]
fn a_grand_total_is_no_source_for_groups_or_for_fewer_rows() {
    let total = by(&[], &[AggIntent::count()]);
    assert_eq!(derive(&by(&[0], &[AggIntent::count()]), &total), Err(Refusal::GrandTotalSource));
    let by_constant = aggregate(&scan(), vec![int(1)], vec![plain(AggIntent::count())]);
    assert_eq!(derive(&by_constant, &total), Err(Refusal::GrandTotalSource));
    let never = over(&scan_where("t", vec![greater(int(1), 2)]), &[], &[AggIntent::count()]);
    assert_eq!(derive(&never, &total), Err(Refusal::GrandTotalSource));
}

#[test]
fn a_group_by_constant_gives_a_grand_total_its_row() {
    let by_constant = aggregate(&scan(), vec![int(1)], vec![plain(AggIntent::count())]);
    let derivation = accepted(&by(&[], &[AggIntent::count()]), &by_constant);
    assert_eq!(derivation.measures, [combined(AggIntent::Sum0 { arg: col(1) }, None)]);
    assert!(derivation.regroups);
}

#[test]
fn keys_may_be_functions_of_fine_keys() {
    let year = function(col(0), Volatility::Immutable, false);
    let coarse = aggregate(&scan(), vec![year.clone()], vec![plain(AggIntent::count())]);
    let derivation = accepted(&coarse, &by(&[1, 0], &[AggIntent::count()]));
    assert_eq!(derivation.keys, [function(col(1), Volatility::Immutable, false)]);
    let fine = aggregate(&scan(), vec![year, col(1)], vec![plain(AggIntent::count())]);
    assert_eq!(accepted(&coarse, &fine).keys, [col(0)]);
    assert_eq!(derive(&by(&[0], &[AggIntent::count()]), &fine), Err(Refusal::KeyNotDerivable));
}

#[test]
fn a_float_key_is_a_key_but_decides_nothing_else() {
    let fine = by(&[5, 1], &[AggIntent::count(), sum(col(3))]);
    assert_eq!(accepted(&by(&[5], &[AggIntent::count()]), &fine).keys, [col(0)]);
    let is_null_key = aggregate(&scan(), vec![is_null(col(5))], vec![plain(AggIntent::count())]);
    assert_eq!(derive(&is_null_key, &fine), Err(Refusal::FloatKey));
    let restricted = over(&scan_where("t", vec![col(5).is_not_null()]), &[1], &[AggIntent::count()]);
    assert_eq!(derive(&restricted, &fine), Err(Refusal::FloatKey));
    let counted = aggregate(&scan(), vec![col(1)], vec![filtered(AggIntent::count(), col(5).is_not_null())]);
    assert_eq!(derive(&counted, &fine), Err(Refusal::FloatKey));
    assert_eq!(derive(&by(&[1], &[max(col(5))]), &fine), Err(Refusal::FloatExtremum));
}

#[rstest]
#[case::equal(Some(greater(col(3), 0)), Some(greater(col(3), 0)), Ok(None))]
#[case::other_order(
    Some(greater(col(3), 0).and(is_null(col(6)))),
    Some(is_null(col(6)).and(greater(col(3), 0))),
    Ok(None)
)]
#[case::refined_by_a_key(Some(greater(col(3), 0).and(col(1).eq(int(2)))), Some(greater(col(3), 0)), Ok(Some(col(1).eq(int(2)))))]
#[case::only_a_key(Some(col(0).eq(int(2))), None, Ok(Some(col(0).eq(int(2)))))]
#[case::differing(Some(greater(col(3), 0)), Some(greater(col(3), 1)), Err(Refusal::MeasureFilter))]
#[case::not_on_a_key(Some(greater(col(3), 0)), None, Err(Refusal::MeasureFilter))]
#[case::source_filters_more(None, Some(greater(col(3), 0)), Err(Refusal::MeasureFilter))]
#[case::source_filters_a_key(None, Some(greater(col(0), 0)), Err(Refusal::MeasureFilter))]
#[case::refinement_can_fail(Some(greater(ten_over(col(0)), 0)), None, Err(Refusal::MeasureFilter))]
fn measure_filters(
    #[case] coarse: Option<Expr>,
    #[case] fine: Option<Expr>,
    #[case] expected: Result<Option<Expr>, Refusal>,
) {
    for measure in [sum(col(3)), AggIntent::count()] {
        let coarse = aggregate(&scan(), vec![], vec![(measure.clone(), coarse.clone())]);
        let fine = aggregate(&scan(), keys(&[0, 1]), vec![(measure.clone(), fine.clone())]);
        let over_fine = combinator(&measure).unwrap().over(2);
        let expected = expected.clone().map(|filter| vec![combined(over_fine, filter)]);
        assert_eq!(derive(&coarse, &fine).map(|derivation| derivation.measures), expected);
    }
}

#[test]
fn among_equal_measures_the_one_whose_filter_fits_is_taken() {
    let filter = greater(col(3), 0);
    let fine = aggregate(
        &scan(),
        keys(&[0, 1]),
        vec![filtered(AggIntent::count(), greater(col(3), 1)), filtered(AggIntent::count(), filter.clone())],
    );
    let coarse = aggregate(&scan(), keys(&[0]), vec![filtered(AggIntent::count(), filter)]);
    assert_eq!(accepted(&coarse, &fine).measures, [combined(AggIntent::Sum0 { arg: col(3) }, None)]);
}

#[test]
fn extrema_of_a_fine_key_need_no_measure() {
    let fine = by(&[0, 1], &[]);
    let coarse = by(&[1], &[min(col(0)), max(arithmetic(ArithmeticOp::Add, col(0), col(1)))]);
    let plus = arithmetic(ArithmeticOp::Add, col(0), col(1));
    assert_eq!(accepted(&coarse, &fine).measures, [combined(min(col(0)), None), combined(max(plus), None)]);
    let with_filter = aggregate(&scan(), vec![], vec![filtered(max(col(0)), greater(col(1), 0))]);
    assert_eq!(accepted(&with_filter, &fine).measures, [combined(max(col(0)), Some(greater(col(1), 0)))]);
    let by_a_column = aggregate(&scan(), vec![], vec![filtered(max(col(0)), greater(col(3), 0))]);
    assert_eq!(derive(&by_a_column, &fine), Err(Refusal::IntentMismatch));
    for repeated in [sum(col(0)), AggIntent::count(), avg(col(4))] {
        assert!(derive(&by(&[1], &[repeated]), &fine).is_err());
    }
}

fn average_parts(
    sum_column: usize,
    count_column: usize,
    filter: Option<Expr>,
    data_type: DataType,
) -> MeasureDerivation {
    MeasureDerivation::Average {
        sum: Combined { intent: sum(col(sum_column)), filter: filter.clone() },
        count: Combined { intent: AggIntent::Sum0 { arg: col(count_column) }, filter },
        data_type,
    }
}

#[test]
fn an_average_of_decimals_comes_from_its_parts() {
    let not_null = col(4).is_not_null();
    let parts = vec![plain(sum(col(4))), filtered(AggIntent::count(), not_null)];
    let derivation = accepted(&by(&[0], &[avg(col(4))]), &aggregate(&scan(), keys(&[0, 1]), parts));
    assert_eq!(derivation.measures, [average_parts(2, 3, None, DataType::Decimal128(9, 4))]);
    assert_eq!(derivation.requires, Requires::Nothing);
}

#[test]
fn an_average_of_floats_may_differ_in_its_last_bits() {
    let fine = by(&[0, 1], &[sum(col(7)), AggIntent::count()]);
    let derivation = accepted(&by(&[0], &[avg(col(7))]), &fine);
    assert_eq!(derivation.measures, [average_parts(2, 3, None, DataType::Float64)]);
    assert_eq!(derivation.requires, Requires::Reassociate);
}

#[rstest]
#[case::count_of_all_rows_for_a_nullable_argument(avg(col(4)), vec![plain(sum(col(4))), plain(AggIntent::count())])]
#[case::no_count(avg(col(4)), vec![plain(sum(col(4)))])]
#[case::no_sum(avg(col(4)), vec![filtered(AggIntent::count(), col(4).is_not_null())])]
#[case::averages(avg(col(4)), vec![plain(avg(col(4)))])]
#[case::count_of_another_column(avg(col(4)), vec![plain(sum(col(4))), filtered(AggIntent::count(), col(3).is_not_null())])]
#[case::integers(avg(col(6)), vec![plain(sum(col(6))), plain(AggIntent::count())])]
fn averages_without_their_parts(#[case] measure: AggIntent, #[case] fine: Vec<(AggIntent, Option<Expr>)>) {
    let fine = aggregate(&scan(), keys(&[0, 1]), fine);
    assert_eq!(derive(&by(&[0], &[measure]), &fine), Err(Refusal::AverageParts));
}

#[test]
fn an_average_keeps_and_refines_its_filter() {
    let (filter, on_key) = (greater(col(3), 0), col(0).eq(int(1)));
    let parts = vec![
        filtered(sum(col(4)), filter.clone()),
        filtered(AggIntent::count(), filter.clone().and(col(4).is_not_null())),
    ];
    let fine = aggregate(&scan(), keys(&[0, 1]), parts);
    let same = aggregate(&scan(), vec![], vec![filtered(avg(col(4)), filter.clone())]);
    assert_eq!(accepted(&same, &fine).measures, [average_parts(2, 3, None, DataType::Decimal128(9, 4))]);
    let refined = aggregate(&scan(), vec![], vec![filtered(avg(col(4)), filter.and(on_key.clone()))]);
    assert_eq!(accepted(&refined, &fine).measures, [average_parts(2, 3, Some(on_key), DataType::Decimal128(9, 4))]);
    assert_eq!(derive(&by(&[0], &[avg(col(4))]), &fine), Err(Refusal::AverageParts));
}

#[test]
fn a_count_below_a_cast_that_cannot_fail_counts_the_same_rows() {
    let cast = Expr::Cast { arg: Box::new(col(3)), to: DataType::Float64, null_on_failure: false };
    let parts = |counted: Expr| vec![plain(sum(cast.clone())), filtered(AggIntent::count(), counted.is_not_null())];
    let coarse = by(&[0], &[avg(cast.clone())]);
    let fine = |counted: Expr| aggregate(&scan(), keys(&[0, 1]), parts(counted));
    assert_eq!(accepted(&coarse, &fine(col(3))).requires, Requires::Reassociate);
    assert_eq!(accepted(&coarse, &fine(cast.clone())).requires, Requires::Reassociate);
    assert_eq!(derive(&coarse, &fine(col(0))), Err(Refusal::AverageParts));
    let tried = Expr::Cast { arg: Box::new(col(3)), to: DataType::Float64, null_on_failure: true };
    let parts = vec![plain(sum(tried.clone())), filtered(AggIntent::count(), col(3).is_not_null())];
    let fine = aggregate(&scan(), keys(&[0, 1]), parts);
    assert_eq!(derive(&by(&[0], &[avg(tried)]), &fine), Err(Refusal::AverageParts));
}

#[rstest]
#[case::float_sum(sum(col(5)), Requires::Reassociate)]
#[case::float_sum0(AggIntent::Sum0 { arg: col(5) }, Requires::Reassociate)]
#[case::integer_sum(sum(col(3)), Requires::Nothing)]
#[case::decimal_sum(sum(col(4)), Requires::Nothing)]
#[case::count(AggIntent::count(), Requires::Nothing)]
fn what_a_combination_requires(#[case] measure: AggIntent, #[case] requires: Requires) {
    let (coarse, fine) = (by(&[0], std::slice::from_ref(&measure)), by(&[0, 1], std::slice::from_ref(&measure)));
    assert_eq!(accepted(&coarse, &fine).requires, requires);
    // The value as it is requires nothing, whatever its type.
    assert_eq!(accepted(&by(&[1, 0], &[measure]), &fine).requires, Requires::Nothing);
}

#[test]
fn an_extremum_of_floats_is_reused_and_never_combined() {
    for measure in [min(col(5)), max(col(5))] {
        let fine = by(&[0, 1], std::slice::from_ref(&measure));
        for coarse in [by(&[0], std::slice::from_ref(&measure)), by(&[], std::slice::from_ref(&measure))] {
            assert_eq!(derive(&coarse, &fine), Err(Refusal::FloatExtremum));
        }
        assert!(!accepted(&by(&[1, 0], &[measure]), &fine).regroups);
    }
}

fn named(can_fail: bool) -> AggIntent {
    let facts = AggregateFacts {
        data_type: DataType::Int64,
        nullable: true,
        volatility: Volatility::Immutable,
        can_fail,
        skips_nulls: true,
        order_matters: false,
    };
    AggIntent::Named { name: "f".to_owned(), args: vec![col(3)], distinct: false, facts }
}

fn over_conditions(conditions: &[Expr], columns: &[usize], measures: Vec<(AggIntent, Option<Expr>)>) -> Arc<QueryExpr> {
    aggregate(&scan_where("t", conditions.to_vec()), keys(columns), measures)
}

/// A coarse query never fails because its source evaluates what it does not, or for rows for which it does not.
#[test]
fn a_source_that_can_fail_where_the_target_cannot_is_refused() {
    let count = || plain(AggIntent::count());
    let failing = ten_over(col(0));
    let refuse = |coarse: &QueryExpr, fine: &QueryExpr| assert_eq!(derive(coarse, fine), Err(Refusal::SourceCanFail));
    let counted = by(&[0], &[AggIntent::count()]);
    refuse(&counted, &aggregate(&scan(), keys(&[0, 1]), vec![count(), plain(sum(failing.clone()))]));
    refuse(&counted, &aggregate(&scan(), vec![col(0), failing.clone()], vec![count()]));
    refuse(
        &counted,
        &aggregate(&scan(), keys(&[0, 1]), vec![count(), filtered(sum(col(3)), greater(failing.clone(), 0))]),
    );
    refuse(&counted, &by(&[0, 1], &[AggIntent::count(), named(true)]));
    assert!(derive(&counted, &by(&[0, 1], &[AggIntent::count(), named(false)])).is_ok());

    let both = aggregate(&scan(), keys(&[0, 1]), vec![count(), plain(sum(failing.clone()))]);
    assert!(derive(&by(&[0], &[sum(failing.clone())]), &both).is_ok());
    // The same argument, but the target evaluates it for fewer rows: behind a filter, or below a condition.
    let guard = col(0).compare(CompareOp::NotEq, int(0));
    refuse(&aggregate(&scan(), keys(&[0]), vec![filtered(sum(failing.clone()), guard.clone())]), &both);
    refuse(&over_conditions(std::slice::from_ref(&guard), &[0], vec![plain(sum(failing))]), &both);
}

#[test]
fn a_condition_of_the_source_that_the_target_guards_is_refused() {
    let guard = col(0).compare(CompareOp::NotEq, int(0));
    let failing = greater(ten_over(col(0)), 3);
    let count = || vec![plain(AggIntent::count())];
    let guarded = over_conditions(&[guard.clone(), failing.clone()], &[], count());
    let alone = over_conditions(std::slice::from_ref(&failing), &[0], count());
    let reversed = over_conditions(&[failing.clone(), guard.clone()], &[0], count());
    assert_eq!(derive(&guarded, &alone), Err(Refusal::SourceCanFail));
    assert_eq!(derive(&guarded, &reversed), Err(Refusal::SourceCanFail));
    let unguarded = over_conditions(&[failing.clone(), guard.clone()], &[], count());
    assert!(derive(&unguarded, &alone).is_ok());
    let alike = over_conditions(&[guard.clone(), failing.clone()], &[0], count());
    assert!(derive(&unguarded, &alike).is_ok());
    let narrower = over_conditions(&[guard, failing, greater(col(0), 1)], &[], count());
    assert!(derive(&narrower, &alike).is_ok());
}

#[test]
fn the_table_of_combinators() {
    assert_eq!(combinator(&AggIntent::count()), Ok(Combinator::Sum0));
    assert_eq!(combinator(&sum(col(3))), Ok(Combinator::Sum));
    assert_eq!(combinator(&AggIntent::Sum0 { arg: col(3) }), Ok(Combinator::Sum0));
    assert_eq!(combinator(&min(col(3))), Ok(Combinator::Min));
    assert_eq!(combinator(&max(col(3))), Ok(Combinator::Max));
    assert_eq!(combinator(&avg(col(3))), Err(Refusal::Average));
}
