//! The strictest preset: which pairs are legal, and what the rewrite looks like.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_aware_mapping::{
    Candidate, Derivation, MappingError, Refusal, ReplacementStrategy, Replacements, Rewrite, RollupStrategy, Target,
    derive, has_unique_groups, is_legal_rollup_source,
};
use asap_types::{
    AccuracyTarget, AggIntent, Aggregate, AggregateFacts, Expr, F64Bits, Field, Operator, Predicate, QueryExpr,
    Reduction, Schema, TableRef, Volatility, cse,
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

/// An exact source would satisfy an approximate target, but that is a proof about errors which this preset does not make.
#[test]
fn an_approximate_count_is_not_derived_from_an_exact_one() {
    let (coarse, fine) = (by(&[0], &[approximate()]), by(&[0, 1], &[AggIntent::count()]));
    assert_eq!(is_legal_rollup_source(&coarse, &fine), Err(Refusal::ApproximateCount));
    assert_eq!(only_refusal(&coarse, &fine), Refusal::ApproximateCount);
}

#[rstest]
#[case::intent(sum(col(3)), max(col(3)))]
#[case::column(sum(col(3)), sum(col(6)))]
#[case::count_for_sum(sum(col(3)), AggIntent::count())]
#[case::sum_for_sum0(AggIntent::Sum0 { arg: col(3) }, sum(col(3)))]
#[case::least_for_greatest(max(col(3)), min(col(3)))]
#[case::count_from_sum0(AggIntent::count(), AggIntent::Sum0 { arg: col(3) })]
#[case::approximate_for_exact(AggIntent::count(), approximate())]
fn another_measure_is_refused(#[case] coarse: AggIntent, #[case] fine: AggIntent) {
    assert_eq!(is_legal_rollup_source(&by(&[0], &[coarse]), &by(&[0, 1], &[fine])), Err(Refusal::IntentMismatch));
}

#[test]
fn several_measures_and_filters_are_refused_on_either_side() {
    let one = |keys: &[usize]| by(keys, &[sum(col(3))]);
    let two = |keys: &[usize]| by(keys, &[sum(col(3)), AggIntent::count()]);
    let filtered =
        |key: usize| aggregate(&scan(), vec![col(0), col(key)], vec![(sum(col(3)), Some(greater(col(3), 0)))]);
    for (coarse, fine, reason) in [
        (one(&[0]), two(&[0, 1]), Refusal::MultiMeasure),
        (two(&[0]), one(&[0, 1]), Refusal::MultiMeasure),
        (two(&[0]), two(&[0, 1]), Refusal::MultiMeasure),
        (one(&[0]), by(&[0, 1], &[]), Refusal::MultiMeasure),
        (one(&[0]), filtered(1), Refusal::FilteredMeasure),
        (filtered(0), one(&[0, 1]), Refusal::FilteredMeasure),
        (filtered(0), filtered(1), Refusal::FilteredMeasure),
    ] {
        assert_eq!(is_legal_rollup_source(&coarse, &fine), Err(reason));
        assert_eq!(only_refusal(&coarse, &fine), reason);
    }
}

#[test]
fn having_is_refused_on_either_side() {
    let having = |keys: Vec<Expr>| {
        let mut aggregate = aggregate_of(&scan(), keys, vec![(sum(col(3)), None)]);
        aggregate.having = Some(Predicate(greater(col(0), 0)));
        QueryExpr::new(Operator::Aggregate(aggregate)).unwrap()
    };
    let measure = [sum(col(3))];
    for (coarse, fine) in [
        (by(&[0], &measure), having(vec![col(0), col(1)])),
        (having(vec![col(0)]), by(&[0, 1], &measure)),
        (having(vec![col(0)]), having(vec![col(0), col(1)])),
    ] {
        assert_eq!(is_legal_rollup_source(&coarse, &fine), Err(Refusal::Having));
        assert_eq!(only_refusal(&coarse, &fine), Refusal::Having);
    }
}

#[test]
fn what_is_no_aggregate_is_refused() {
    assert_eq!(is_legal_rollup_source(&scan(), &by(&[0], &[sum(col(3))])), Err(Refusal::NotAnAggregate));
    assert_eq!(is_legal_rollup_source(&by(&[0], &[sum(col(3))]), &scan()), Err(Refusal::NotAnAggregate));
}

/// `sum(x)` by groups that labels tell apart which are no output columns.
fn of_labels(reduction: Reduction) -> Arc<QueryExpr> {
    let names = (0..=reduction.keys().len()).map(|column| format!("o{column}")).collect();
    let plain = aggregate_of(&scan(), vec![], vec![(sum(col(3)), None)]);
    QueryExpr::new(Operator::Aggregate(Aggregate { reduction, output_names: names, ..plain })).unwrap()
}

fn without(by: &[usize], without: &[usize]) -> Reduction {
    let columns = |columns: &[usize]| columns.iter().map(|&column| col(column)).collect();
    Reduction::Reduce { by: columns(by), without: columns(without) }
}

#[rstest]
#[case::per_entity(Reduction::PerEntity, Refusal::PerEntity)]
#[case::without(without(&[], &[1]), Refusal::Without)]
#[case::by_and_without(without(&[0], &[1]), Refusal::Without)]
fn groups_of_labels_are_refused_on_either_side(#[case] reduction: Reduction, #[case] reason: Refusal) {
    let labelled = || of_labels(reduction.clone());
    for (coarse, fine) in [
        (labelled(), by(&[0, 1], &[sum(col(3))])),
        (by(&[], &[sum(col(3))]), labelled()),
        (by(&[0], &[sum(col(3))]), labelled()),
        (labelled(), labelled()),
    ] {
        assert_eq!(is_legal_rollup_source(&coarse, &fine), Err(reason));
        assert_eq!(only_refusal(&coarse, &fine), reason);
    }
}

/// Every relational aggregate has its keys as a unique key. One of labels has none, and neither has a schema that lost it.
#[test]
fn a_source_without_a_provable_key_is_refused() {
    assert_eq!(has_unique_groups(by(&[0, 1], &[sum(col(3))]).schema(), 2), Ok(()));
    assert_eq!(has_unique_groups(by(&[], &[sum(col(3))]).schema(), 0), Ok(()));
    for labelled in [Reduction::PerEntity, without(&[], &[1]), without(&[0], &[1])] {
        let keys = labelled.keys().len();
        assert_eq!(has_unique_groups(of_labels(labelled).schema(), keys), Err(Refusal::NoUniqueKey));
    }
    let forgotten = Schema::new(by(&[0, 1], &[sum(col(3))]).schema().fields().to_vec());
    assert_eq!(has_unique_groups(&forgotten, 2), Err(Refusal::NoUniqueKey));
    // A key of other columns proves nothing about the groups, a smaller one does.
    assert_eq!(has_unique_groups(&forgotten.clone().with_unique_key([2]), 2), Err(Refusal::NoUniqueKey));
    assert_eq!(has_unique_groups(&forgotten.with_unique_key([1]), 2), Ok(()));
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
    // Inputs of any depth.
    let deep = || over(&scan_where("t", vec![greater(col(3), 0)]), &[0, 1, 2], &[sum(col(3))]);
    let nested = [sum(col(3))];
    assert_eq!(is_legal_rollup_source(&over(&deep(), &[0], &nested), &over(&deep(), &[0, 1], &nested)), Ok(()));
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
    // Columns at equal positions under other names, and a key that only one of the catalogs enforces.
    let mut fields = schema().fields().to_vec();
    fields.swap(0, 1);
    for schema in [Schema::new(fields), schema().with_unique_key([2])] {
        let scan = Operator::Scan { table: TableRef::bare("t"), schema, predicates: vec![] };
        let other_schema = over(&QueryExpr::new(scan).unwrap(), &[0], &measure);
        assert_eq!(is_legal_rollup_source(&other_schema, &fine), Err(Refusal::DifferentInput));
        // What the strategy never compares, because it looks at siblings over one input only.
        assert!(replacements(&other_schema, &fine).refused.is_empty());
    }
}

fn replacements(target: &Arc<QueryExpr>, source: &Arc<QueryExpr>) -> Replacements {
    let strategy = RollupStrategy::new(&[Arc::clone(source), Arc::clone(target)]);
    strategy.replacements(&Target { node: Arc::clone(target) }).unwrap()
}

/// The reason that the strategy gives, which must be the only thing that it says.
fn only_refusal(target: &Arc<QueryExpr>, source: &Arc<QueryExpr>) -> Refusal {
    let found = replacements(target, source);
    let ([], [refused]) = (found.candidates.as_slice(), found.refused.as_slice()) else { panic!("{found:?}") };
    assert_eq!((refused.strategy, &refused.source), ("roll-up", source));
    refused.reason
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
    let built = rewrite.build().unwrap();
    let Operator::Aggregate(plan) = built.plan.operator() else { panic!("{built:?}") };
    assert!(Arc::ptr_eq(&plan.input, &fine));
    assert_eq!(plan.reduction, Reduction::by(vec![col(1)]));
    assert_eq!(plan.measures, [combined]);
    assert_eq!(plan.output_names, ["job", "total"]);
    assert_eq!(built.plan.schema(), coarse.schema());
    assert!(built.roll_up.is_some_and(|roll_up| Arc::ptr_eq(&roll_up, &built.plan)));
    assert!(replacements(&fine, &coarse).candidates.is_empty());
}

#[test]
fn decimal_sums_keep_their_type() {
    let (coarse, fine) = (by(&[0], &[sum(col(4))]), by(&[0, 1], &[sum(col(4))]));
    let found = replacements(&coarse, &fine);
    let [Candidate::Rewrite(rewrite)] = found.candidates.as_slice() else { panic!("{found:?}") };
    assert_eq!(coarse.schema().fields()[1].data_type, DataType::Decimal128(15, 0));
    let built = rewrite.build().unwrap();
    assert_eq!(built.plan.schema().fields(), coarse.schema().fields());
    assert_eq!(built.roll_up.unwrap().schema().fields()[1].data_type, DataType::Decimal128(25, 0));
}

/// A derivation that does not belong to its target gives no plan: the schema of what is replaced is asserted.
#[test]
fn a_plan_with_another_schema_is_an_error() {
    let (coarse, fine) = (by(&[0], &[sum(col(3))]), by(&[0, 1], &[sum(col(3))]));
    let derivation = derive(&coarse, &fine).unwrap();
    let of = |target: &Arc<QueryExpr>, derivation: &Derivation| {
        let (target, source) = (Arc::clone(target), Arc::clone(&fine));
        Rewrite { target, source, derivation: derivation.clone(), strategy: "another" }.build()
    };
    assert!(of(&coarse, &derivation).is_ok());
    // A sum can be NULL where a count cannot.
    let nullable = of(&by(&[0], &[AggIntent::count()]), &derivation);
    let fewer = of(&coarse, &Derivation { measures: vec![], ..derivation });
    for built in [nullable, fewer] {
        assert!(matches!(built, Err(MappingError::SchemaMismatch { strategy: "another", .. })), "{built:?}");
    }
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
