use std::sync::Arc;

use arrow_schema::DataType;
use asap_aware_mapping::{
    Candidate, Refusal, ReplacementStrategy, RollupStrategy, Target, is_legal_rollup_source, search_workload,
    search_workload_with,
};
use asap_types::{
    AccuracyTarget, AggIntent, AggregateFacts, Expr, F64Bits, Operator, Predicate, QueryExpr, TableRef, Volatility,
};
use rstest::rstest;

use crate::support::{BYTES, HOST, JOB, PRICE, REGION, aggregate_of, by, eq, scan, scan_where, single, sum};

fn max(column: usize) -> AggIntent {
    AggIntent::Max { arg: Expr::column(column) }
}

#[rstest]
#[case::strict_subset(&[JOB, REGION], &[JOB], Ok(()))]
#[case::grand_total(&[JOB], &[], Ok(()))]
#[case::order_of_keys(&[REGION, HOST, JOB], &[JOB, REGION], Ok(()))]
#[case::equality(&[JOB], &[JOB], Err(Refusal::EqualKeys))]
#[case::permutation(&[JOB, REGION], &[REGION, JOB], Err(Refusal::EqualKeys))]
#[case::unrelated(&[JOB], &[REGION], Err(Refusal::KeyNotDerivable))]
#[case::overlap(&[JOB, HOST], &[JOB, REGION], Err(Refusal::KeyNotDerivable))]
#[case::reversed(&[JOB], &[JOB, REGION], Err(Refusal::KeyNotDerivable))]
#[case::duplicates_fake_no_superset(&[JOB, JOB], &[JOB], Err(Refusal::EqualKeys))]
#[case::duplicate_coarse_keys(&[JOB, REGION], &[JOB, JOB], Ok(()))]
fn keys(#[case] fine: &[usize], #[case] coarse: &[usize], #[case] expected: Result<(), Refusal>) {
    let found = is_legal_rollup_source(&single(coarse, sum(BYTES)), &single(fine, sum(BYTES)));
    assert_eq!(found, expected);
}

fn named(distinct: bool) -> AggIntent {
    AggIntent::Named {
        name: "median".into(),
        args: vec![Expr::column(BYTES)],
        distinct,
        facts: AggregateFacts {
            data_type: DataType::Int64,
            nullable: true,
            volatility: Volatility::Immutable,
            can_fail: false,
            skips_nulls: true,
            order_matters: false,
        },
    }
}

fn approximate() -> AggIntent {
    AggIntent::Count { accuracy: AccuracyTarget::Epsilon { epsilon: F64Bits::new(0.01) } }
}

#[rstest]
#[case::sum(sum(BYTES), Ok("sum"))]
#[case::min(AggIntent::Min { arg: Expr::column(BYTES) }, Ok("min"))]
#[case::max(max(BYTES), Ok("max"))]
#[case::exact_count(AggIntent::count(), Ok("sum0"))]
#[case::sum0(AggIntent::Sum0 { arg: Expr::column(BYTES) }, Ok("sum0"))]
#[case::approximate_count(approximate(), Err(Refusal::ApproximateCount))]
#[case::avg(AggIntent::Avg { arg: Expr::column(PRICE) }, Err(Refusal::AverageParts))]
#[case::rate(AggIntent::Rate { arg: Expr::column(BYTES) }, Err(Refusal::Rate))]
#[case::distinct(named(true), Err(Refusal::DistinctAggregate))]
#[case::opaque(named(false), Err(Refusal::OpaqueAggregate))]
fn combinators(#[case] measure: AggIntent, #[case] expected: Result<&str, Refusal>) {
    let (fine, coarse) = (single(&[JOB, REGION], measure.clone()), single(&[JOB], measure));
    assert_eq!(is_legal_rollup_source(&coarse, &fine), expected.map(drop));
    let Ok(combined) = expected else { return };
    let rewrite = only_rewrite(&fine, &coarse);
    assert_eq!(aggregate_of(rewrite.roll_up.as_ref().unwrap()).measures[0].name(), combined);
    assert!(rewrite.plan.schema().can_replace(coarse.schema()));
}

fn only_rewrite(fine: &Arc<QueryExpr>, coarse: &Arc<QueryExpr>) -> asap_aware_mapping::Rewrite {
    let strategy = RollupStrategy::new(&[Arc::clone(fine), Arc::clone(coarse)]);
    let target = Target { node: Arc::clone(coarse), readers: 1 };
    assert!(strategy.matches(&target));
    let found = strategy.replacements(&target).unwrap();
    match found.candidates.as_slice() {
        [Candidate::Rewrite(rewrite)] => rewrite.clone(),
        other => panic!("{other:?}, refused {:?}", found.refused),
    }
}

#[rstest]
#[case::other_function(sum(BYTES), max(BYTES))]
#[case::other_column(sum(BYTES), sum(HOST))]
fn the_measures_must_be_one(#[case] fine: AggIntent, #[case] coarse: AggIntent) {
    let found = is_legal_rollup_source(&single(&[JOB], coarse), &single(&[JOB, REGION], fine));
    assert_eq!(found, Err(Refusal::IntentMismatch));
}

#[test]
fn identical_inputs_match_by_structure_too() {
    let (fine, coarse) = (single(&[JOB, REGION], sum(BYTES)), single(&[JOB], sum(BYTES)));
    assert!(!Arc::ptr_eq(&aggregate_of(&fine).input, &aggregate_of(&coarse).input));
    assert_eq!(is_legal_rollup_source(&coarse, &fine), Ok(()));
    let shared = scan();
    let pair = [JOB, REGION].map(|key| by(&shared, &[key, HOST], vec![(sum(BYTES), None)]));
    let total = by(&shared, &[HOST], vec![(sum(BYTES), None)]);
    assert_eq!(is_legal_rollup_source(&total, &pair[0]), Ok(()));
}

#[test]
fn different_inputs_are_refused() {
    let coarse = by(&scan_where(vec![eq(REGION, "eu")]), &[JOB], vec![(sum(BYTES), None)]);
    assert_eq!(is_legal_rollup_source(&coarse, &single(&[JOB, REGION], sum(BYTES))), Err(Refusal::DifferentInput));
    let Operator::Scan { schema, .. } = scan().operator().clone() else { panic!("a scan") };
    let other = Operator::Scan { table: TableRef::bare("other"), schema, predicates: vec![] };
    let other = by(&QueryExpr::new(other).unwrap(), &[JOB], vec![(sum(BYTES), None)]);
    assert_eq!(is_legal_rollup_source(&other, &single(&[JOB, REGION], sum(BYTES))), Err(Refusal::DifferentInput));
}

#[test]
fn having_several_measures_and_filters_are_refused() {
    let plain = single(&[JOB, REGION], sum(BYTES));
    let mut having = aggregate_of(&plain).clone();
    having.having = Some(Predicate(Expr::column(2).is_not_null()));
    let having = QueryExpr::new(Operator::Aggregate(having)).unwrap();
    let coarse = single(&[JOB], sum(BYTES));
    assert_eq!(is_legal_rollup_source(&coarse, &having), Err(Refusal::Having));
    assert_eq!(is_legal_rollup_source(&having, &plain), Err(Refusal::Having));
    let two = by(&scan(), &[JOB], vec![(sum(BYTES), None), (AggIntent::count(), None)]);
    assert_eq!(is_legal_rollup_source(&two, &plain), Err(Refusal::MultiMeasure));
    let filtered = by(&scan(), &[JOB], vec![(sum(BYTES), Some(eq(REGION, "eu")))]);
    assert_eq!(is_legal_rollup_source(&filtered, &plain), Err(Refusal::FilteredMeasure));
    assert_eq!(is_legal_rollup_source(&scan(), &plain), Err(Refusal::NotAnAggregate));
}

#[test]
fn key_columns_are_remapped_and_names_are_kept() {
    let fine = single(&[REGION, HOST, JOB], AggIntent::count());
    let mut named = aggregate_of(&single(&[JOB], AggIntent::count())).clone();
    named.output_names = vec!["the job".into(), "how many".into()];
    let coarse = QueryExpr::new(Operator::Aggregate(named)).unwrap();
    let rewrite = only_rewrite(&fine, &coarse);
    let roll_up = aggregate_of(rewrite.roll_up.as_ref().unwrap());
    assert_eq!(roll_up.keys(), [Expr::column(2)]);
    assert_eq!(roll_up.measures, [AggIntent::Sum0 { arg: Expr::column(3) }]);
    assert!(Arc::ptr_eq(&roll_up.input, &fine));
    assert_eq!(rewrite.plan.schema().field_names(), ["the job", "how many"]);
    assert!(!rewrite.plan.schema().fields()[1].nullable, "a count is never NULL");
}

#[test]
fn candidates_are_those_of_the_listing_in_both_searches() {
    let workload = [single(&[JOB, REGION], sum(BYTES)), single(&[JOB], sum(BYTES))];
    let kinds = |candidates: &[Candidate]| {
        let kind = |candidate: &Candidate| match candidate {
            Candidate::KeepPreAsap => "keep",
            Candidate::Summary(_) => "summary",
            Candidate::Rewrite(_) => "rewrite",
            _ => "?",
        };
        candidates.iter().map(kind).collect::<Vec<_>>()
    };
    let space = search_workload(&workload).unwrap();
    assert_eq!(kinds(&space.targets[0].candidates), ["keep", "summary"]);
    assert_eq!(kinds(&space.targets[1].candidates), ["keep", "summary", "rewrite"]);
    let space = search_workload_with(&workload, &[]).unwrap();
    assert_eq!(kinds(&space.targets[0].candidates), ["keep"]);
    assert_eq!(kinds(&space.targets[1].candidates), ["keep", "rewrite"]);
}

#[test]
fn approximate_counts_are_refused_through_the_search() {
    let space = search_workload(&[single(&[JOB, REGION], approximate()), single(&[JOB], approximate())]).unwrap();
    let coarse = &space.targets[1];
    assert!(!coarse.candidates.iter().any(|candidate| matches!(candidate, Candidate::Rewrite(_))));
    assert!(coarse.refused.iter().any(|refused| refused.reason == Refusal::ApproximateCount));
}
