//! The strictest preset: which pairs are legal, and what the rewrite looks like.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_aware_mapping::{
    Candidate, Refusal, ReplacementStrategy, Replacements, RollupStrategy, Target, is_legal_rollup_source,
};
use asap_types::{
    AccuracyTarget, AggIntent, Aggregate, AggregateFacts, Expr, F64Bits, Field, Operator, Predicate, QueryExpr,
    Reduction, Schema, TableRef, TypesError, Volatility, cse,
};
use rstest::rstest;

use crate::build::*;

#[rstest]
#[case::sum(sum(col(3)))]
#[case::count(AggIntent::count())]
#[case::min(min(col(3)))]
#[case::max(max(col(3)))]
#[case::sum0(AggIntent::Sum0 { arg: col(3) })]
#[case::sum_of_an_expression(sum(ten_over(col(3))))]
fn a_strict_subset_is_legal(#[case] measure: AggIntent) {
    let fine = by(&[0, 1], std::slice::from_ref(&measure));
    for coarse in
        [by(&[0], std::slice::from_ref(&measure)), by(&[1], std::slice::from_ref(&measure)), by(&[], &[measure])]
    {
        assert_eq!(is_legal_rollup_source(&coarse, &fine), Ok(()));
    }
}

#[rstest]
#[case::equal_keys(&[0, 1], &[1, 0], Refusal::EqualKeys)]
#[case::duplicates_are_no_finer(&[0], &[0, 0], Refusal::EqualKeys)]
#[case::two_grand_totals(&[], &[], Refusal::EqualKeys)]
#[case::unrelated(&[0], &[1, 2], Refusal::KeyNotDerivable)]
#[case::overlapping(&[0, 1], &[1, 2], Refusal::KeyNotDerivable)]
#[case::coarser(&[0, 1], &[0], Refusal::KeyNotDerivable)]
#[case::from_a_grand_total(&[0], &[], Refusal::KeyNotDerivable)]
fn other_key_sets_are_refused(#[case] coarse: &[usize], #[case] fine: &[usize], #[case] reason: Refusal) {
    let measure = [sum(col(3))];
    assert_eq!(is_legal_rollup_source(&by(coarse, &measure), &by(fine, &measure)), Err(reason));
}

#[test]
fn a_duplicate_in_the_coarse_keys_is_no_new_key() {
    let measure = [sum(col(3))];
    assert_eq!(is_legal_rollup_source(&by(&[0, 0], &measure), &by(&[0], &measure)), Err(Refusal::EqualKeys));
    assert_eq!(is_legal_rollup_source(&by(&[0, 0], &measure), &by(&[0, 1], &measure)), Ok(()));
}

#[test]
fn a_function_of_fine_keys_is_refused_by_this_preset() {
    let measure = vec![(sum(col(3)), None)];
    let coarse = aggregate(&scan(), vec![greater(col(0), 1)], measure.clone());
    assert_eq!(is_legal_rollup_source(&coarse, &by(&[0, 1], &[sum(col(3))])), Err(Refusal::ComputedKey));
    let foreign = aggregate(&scan(), vec![greater(col(2), 1)], measure);
    assert_eq!(is_legal_rollup_source(&foreign, &by(&[0, 1], &[sum(col(3))])), Err(Refusal::KeyNotDerivable));
}

fn named(distinct: bool, volatility: Volatility) -> AggIntent {
    let facts = AggregateFacts {
        data_type: DataType::Int64,
        nullable: true,
        volatility,
        can_fail: false,
        skips_nulls: true,
        order_matters: false,
    };
    AggIntent::Named { name: "f".to_owned(), args: vec![col(3)], distinct, facts }
}

fn approximate() -> AggIntent {
    AggIntent::Count { accuracy: AccuracyTarget::Epsilon { epsilon: F64Bits::new(0.01) } }
}

#[rstest]
#[case::approximate_count(approximate(), Refusal::ApproximateCount)]
#[case::approximate_with_delta(
    AggIntent::Count { accuracy: AccuracyTarget::EpsilonDelta { epsilon: F64Bits::new(0.01), delta: F64Bits::new(0.1) } },
    Refusal::ApproximateCount
)]
#[case::average(avg(col(4)), Refusal::Average)]
#[case::rate(AggIntent::Rate { arg: col(3) }, Refusal::Rate)]
#[case::distinct(named(true, Volatility::Immutable), Refusal::DistinctAggregate)]
#[case::opaque(named(false, Volatility::Immutable), Refusal::OpaqueAggregate)]
#[case::volatile(named(false, Volatility::Volatile), Refusal::Volatile)]
fn each_unsupported_combinator_has_its_reason(#[case] measure: AggIntent, #[case] reason: Refusal) {
    let (coarse, fine) = (by(&[0], std::slice::from_ref(&measure)), by(&[0, 1], &[measure]));
    assert_eq!(is_legal_rollup_source(&coarse, &fine), Err(reason));
    assert_eq!(only_refusal(&coarse, &fine), reason);
}

#[rstest]
#[case::intent(sum(col(3)), max(col(3)))]
#[case::column(sum(col(3)), sum(col(6)))]
#[case::count_for_sum(sum(col(3)), AggIntent::count())]
#[case::sum_for_sum0(AggIntent::Sum0 { arg: col(3) }, sum(col(3)))]
#[case::approximate_for_exact(AggIntent::count(), approximate())]
fn another_measure_is_refused(#[case] coarse: AggIntent, #[case] fine: AggIntent) {
    assert_eq!(is_legal_rollup_source(&by(&[0], &[coarse]), &by(&[0, 1], &[fine])), Err(Refusal::IntentMismatch));
}

#[test]
fn several_measures_and_filters_are_refused_on_either_side() {
    let one = |keys: &[usize]| by(keys, &[sum(col(3))]);
    let two = |keys: &[usize]| by(keys, &[sum(col(3)), AggIntent::count()]);
    assert_eq!(is_legal_rollup_source(&one(&[0]), &two(&[0, 1])), Err(Refusal::MultiMeasure));
    assert_eq!(is_legal_rollup_source(&two(&[0]), &one(&[0, 1])), Err(Refusal::MultiMeasure));
    let filtered =
        |key: usize| aggregate(&scan(), vec![col(0), col(key)], vec![(sum(col(3)), Some(greater(col(3), 0)))]);
    assert_eq!(is_legal_rollup_source(&one(&[0]), &filtered(1)), Err(Refusal::FilteredMeasure));
    assert_eq!(is_legal_rollup_source(&filtered(0), &one(&[0, 1])), Err(Refusal::FilteredMeasure));
}

#[test]
fn having_is_refused_on_either_side() {
    let having = |keys: Vec<Expr>| {
        let mut aggregate = aggregate_of(&scan(), keys, vec![(sum(col(3)), None)]);
        aggregate.having = Some(Predicate(greater(col(0), 0)));
        QueryExpr::new(Operator::Aggregate(aggregate)).unwrap()
    };
    let measure = [sum(col(3))];
    assert_eq!(is_legal_rollup_source(&by(&[0], &measure), &having(vec![col(0), col(1)])), Err(Refusal::Having));
    assert_eq!(is_legal_rollup_source(&having(vec![col(0)]), &by(&[0, 1], &measure)), Err(Refusal::Having));
}

#[test]
fn what_is_no_aggregate_is_refused() {
    assert_eq!(is_legal_rollup_source(&scan(), &by(&[0], &[sum(col(3))])), Err(Refusal::NotAnAggregate));
    assert_eq!(is_legal_rollup_source(&by(&[0], &[sum(col(3))]), &scan()), Err(Refusal::NotAnAggregate));
}

/// Groupings that are not relational have no schema, so no such node exists that could be a source.
#[rstest]
#[case::per_entity(Reduction::PerEntity)]
#[case::without(Reduction::Reduce { by: vec![col(0)], without: vec![col(1)] })]
fn groupings_that_are_not_relational_cannot_be_built(#[case] reduction: Reduction) {
    let names = if reduction == Reduction::PerEntity { vec!["m"] } else { vec!["k", "m"] };
    let aggregate = Aggregate {
        reduction,
        output_names: names.into_iter().map(str::to_owned).collect(),
        ..aggregate_of(&scan(), vec![], vec![(sum(col(3)), None)])
    };
    let built = QueryExpr::new(Operator::Aggregate(aggregate));
    assert!(matches!(built, Err(TypesError::NotRelational(_))), "{built:?}");
}

#[test]
fn inputs_match_by_pointer_and_by_structure() {
    let shared = scan();
    let measure = [sum(col(3))];
    let (coarse, fine) = (over(&shared, &[0], &measure), over(&shared, &[0, 1], &measure));
    assert_eq!(is_legal_rollup_source(&coarse, &fine), Ok(()));
    let (apart_coarse, apart_fine) = (by(&[0], &measure), by(&[0, 1], &measure));
    assert!(!Arc::ptr_eq(apart_coarse.operator().input().unwrap(), apart_fine.operator().input().unwrap()));
    assert_eq!(is_legal_rollup_source(&apart_coarse, &apart_fine), Ok(()));
}

#[test]
fn other_inputs_are_refused() {
    let measure = [sum(col(3))];
    let fine = by(&[0, 1], &measure);
    let other_table = over(&scan_of("u"), &[0], &measure);
    assert_eq!(is_legal_rollup_source(&other_table, &fine), Err(Refusal::DifferentInput));
    let fewer_rows = over(&scan_where("t", vec![col(0).eq(int(1))]), &[0], &measure);
    assert_eq!(is_legal_rollup_source(&fewer_rows, &fine), Err(Refusal::DifferentInput));
    let mut fields = schema().fields().to_vec();
    fields[2] = Field::new("c", DataType::Int64, true);
    let nullable = Operator::Scan { table: TableRef::bare("t"), schema: Schema::new(fields), predicates: vec![] };
    let other_schema = over(&QueryExpr::new(nullable).unwrap(), &[0], &measure);
    assert_eq!(is_legal_rollup_source(&other_schema, &fine), Err(Refusal::DifferentInput));
}

fn replacements(target: &Arc<QueryExpr>, source: &Arc<QueryExpr>) -> Replacements {
    let strategy = RollupStrategy::new(&[Arc::clone(source), Arc::clone(target)]);
    strategy.replacements(&Target { node: Arc::clone(target), readers: 1 }).unwrap()
}

fn only_refusal(target: &Arc<QueryExpr>, source: &Arc<QueryExpr>) -> Refusal {
    // A volatile aggregate is no sibling of anything: the strategy says nothing about it.
    let found = replacements(target, source);
    assert!(found.candidates.is_empty());
    found.refused.first().map_or(Refusal::Volatile, |refused| refused.reason)
}

#[rstest]
#[case::sum(sum(col(3)), sum(col(2)))]
#[case::count_becomes_sum0(AggIntent::count(), AggIntent::Sum0 { arg: col(2) })]
#[case::min(min(col(3)), min(col(2)))]
#[case::max(max(col(3)), max(col(2)))]
fn the_rewrite_reads_the_fine_output(#[case] measure: AggIntent, #[case] combined: AggIntent) {
    // Column 1 of the table is column 0 of the fine output.
    let fine = by(&[1, 0], std::slice::from_ref(&measure));
    let mut coarse = aggregate_of(&scan(), vec![col(0)], vec![(measure, None)]);
    coarse.output_names = vec!["job".to_owned(), "total".to_owned()];
    let coarse = QueryExpr::new(Operator::Aggregate(coarse)).unwrap();
    let found = replacements(&coarse, &fine);
    let [Candidate::Rewrite(rewrite)] = found.candidates.as_slice() else { panic!("{found:?}") };
    let Operator::Aggregate(plan) = rewrite.plan.operator() else { panic!("{:?}", rewrite.plan) };
    assert!(Arc::ptr_eq(&plan.input, &fine));
    assert_eq!(plan.reduction, Reduction::by(vec![col(1)]));
    assert_eq!(plan.measures, [combined]);
    assert_eq!(plan.output_names, ["job", "total"]);
    assert_eq!(rewrite.plan.schema(), coarse.schema());
    assert!(rewrite.roll_up.as_ref().is_some_and(|roll_up| Arc::ptr_eq(roll_up, &rewrite.plan)));
    assert!(replacements(&fine, &coarse).candidates.is_empty());
}

#[test]
fn decimal_sums_keep_their_type() {
    let (coarse, fine) = (by(&[0], &[sum(col(4))]), by(&[0, 1], &[sum(col(4))]));
    let found = replacements(&coarse, &fine);
    let [Candidate::Rewrite(rewrite)] = found.candidates.as_slice() else { panic!("{found:?}") };
    assert_eq!(coarse.schema().fields()[1].data_type, DataType::Decimal128(15, 0));
    assert_eq!(rewrite.plan.schema().fields(), coarse.schema().fields());
    assert_eq!(rewrite.roll_up.as_ref().unwrap().schema().fields()[1].data_type, DataType::Decimal128(25, 0));
}

#[test]
fn a_nodes_own_pointer_survives_sharing() {
    let fine = by(&[0, 1], &[sum(col(3))]);
    let roots = cse(&[by(&[0], &[sum(col(3))]), fine]).unwrap();
    let found = replacements(&roots[0], &roots[1]);
    assert!(
        matches!(found.candidates.as_slice(), [Candidate::Rewrite(rewrite)] if Arc::ptr_eq(&rewrite.source, &roots[1]))
    );
}
