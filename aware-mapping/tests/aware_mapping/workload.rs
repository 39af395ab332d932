//! Search and selection over whole workloads.

use std::collections::BTreeSet;
use std::sync::Arc;

use asap_aware_mapping::{
    Candidate, CandidateSpace, Estimate, ExactSummaryStrategy, FloatPolicy, LeafCost, MappingError,
    MultiMeasureStrategy, Refusal, ReplacementStrategy, Replacements, RollupStrategy, Selection, Target,
    UnknownLeafCost, search_workload, search_workload_with, select,
};
use asap_types::{
    AccuracyTarget, AggIntent, Aggregate, AggregateFacts, ArithmeticOp, Expr, F64Bits, FunctionFacts, GraphFormat,
    Operator, Predicate, QueryExpr, Reduction, SummaryFamily, Volatility,
};
use rstest::rstest;

use crate::build::*;

fn chosen(space: &CandidateSpace, names: &[&str], costs: &dyn LeafCost) -> Selection {
    select(space, names, costs, FloatPolicy::Exact).unwrap()
}

fn plan_of(roots: &[Arc<QueryExpr>], names: &[&str], costs: &dyn LeafCost) -> String {
    chosen(&search_workload(roots).unwrap(), names, costs).dag.render(GraphFormat::Tree)
}

fn kinds(candidates: &[Candidate]) -> Vec<&'static str> {
    candidates
        .iter()
        .map(|candidate| match candidate {
            Candidate::KeepPreAsap => "as written",
            Candidate::Summary(_) => "summary",
            Candidate::Rewrite(rewrite) => rewrite.strategy,
            _ => "another",
        })
        .collect()
}

/// The two queries, each lowered on its own.
fn two_queries() -> [Arc<QueryExpr>; 2] {
    [by(&[0, 1], &[sum(col(3))]), by(&[0], &[sum(col(3))])]
}

#[test]
fn candidates_of_two_queries() {
    let space = search_workload(&two_queries()).unwrap();
    let listed: Vec<_> = space.targets.iter().map(|target| kinds(&target.candidates)).collect();
    assert_eq!(listed, [vec!["as written", "summary"], vec!["as written", "summary", "roll-up"]]);
    let Some(Candidate::Rewrite(roll_up)) = space.targets[1].candidates.last() else { panic!() };
    assert!(Arc::ptr_eq(&roll_up.source, &space.roots[0]));

    let alone = search_workload(&two_queries()[1..]).unwrap();
    assert_eq!(kinds(&alone.targets[0].candidates), ["as written", "summary"]);
}

#[test]
fn both_searches_propose_the_roll_up() {
    struct Nothing;
    impl ReplacementStrategy for Nothing {
        fn name(&self) -> &'static str {
            "nothing"
        }
        fn matches(&self, _: &Target) -> bool {
            true
        }
        fn replacements(&self, _: &Target) -> Result<Replacements, MappingError> {
            Ok(Replacements::default())
        }
    }
    for strategies in [&[][..], &[&Nothing as &dyn ReplacementStrategy], &[&ExactSummaryStrategy]] {
        let space = search_workload_with(&two_queries(), strategies).unwrap();
        assert_eq!(kinds(&space.targets[1].candidates).last(), Some(&"roll-up"));
    }
}

#[test]
fn the_chosen_plan_computes_the_fine_aggregate_once() {
    let expected = "\
fine
  n1 = Aggregate(by a, b: sum(x))
    Scan(t)
coarse
  RollUp(by k0: sum(m0))
    n1 (see above)
";
    assert_eq!(plan_of(&two_queries(), &["fine", "coarse"], &UnknownLeafCost), expected);
    // In the other order of queries, too: the source comes first in the plan, whichever query was written first.
    let [fine, coarse] = two_queries();
    let swapped = plan_of(&[coarse, fine], &["coarse", "fine"], &UnknownLeafCost);
    assert!(
        swapped.starts_with("coarse\n  RollUp(by k0: sum(m0))\n    n1 = Aggregate(by a, b: sum(x))\n"),
        "{swapped}"
    );
    assert_eq!(swapped.matches("Scan").count(), 1);
}

#[test]
fn an_approximate_count_is_not_derived_through_search() {
    let approximate = AggIntent::Count { accuracy: AccuracyTarget::Epsilon { epsilon: F64Bits::new(0.01) } };
    let roots = [by(&[0, 1], std::slice::from_ref(&approximate)), by(&[0], &[approximate])];
    let space = search_workload(&roots).unwrap();
    assert!(space.targets.iter().all(|target| kinds(&target.candidates) == ["as written"]));
    assert!(space.targets[1].refused.iter().all(|refused| refused.reason == Refusal::ApproximateCount));
    assert_eq!(space.targets[1].refused.len(), 2);
}

#[rstest]
#[case::count(AggIntent::count(), true)]
#[case::sum(sum(col(3)), true)]
#[case::min(min(col(3)), true)]
#[case::max(max(col(3)), true)]
#[case::average(avg(col(4)), false)]
#[case::sum0(AggIntent::Sum0 { arg: col(3) }, false)]
fn exact_measures_get_a_summary_of_their_own(#[case] measure: AggIntent, #[case] bound: bool) {
    let summary = |node: Arc<QueryExpr>| {
        let space = search_workload(&[node]).unwrap();
        match space.targets[0].candidates.as_slice() {
            [_] => None,
            [_, Candidate::Summary(summary)] => Some(summary.family.clone()),
            other => panic!("{other:?}"),
        }
    };
    let expected = bound.then(|| SummaryFamily::Exact { measure: measure.clone() });
    assert_eq!(summary(by(&[0], std::slice::from_ref(&measure))), expected);
    assert_eq!(summary(aggregate(&scan(), vec![], vec![(measure.clone(), Some(greater(col(3), 0)))])), None);
    assert_eq!(summary(by(&[0], &[measure.clone(), measure])), None);
}

/// The name of the source of each query.
fn sources<'a>(roots: &[Arc<QueryExpr>], names: &[&'a str], costs: &dyn LeafCost) -> Vec<Option<&'a str>> {
    let space = search_workload(roots).unwrap();
    space.sources(&chosen(&space, names, costs), names)
}

/// Rows per aggregate: by its number of keys.
struct ByKeys([u64; 4]);

impl LeafCost for ByKeys {
    fn rows_read(&self, _: &QueryExpr) -> Estimate {
        Estimate::Known(1_000)
    }

    fn output_rows(&self, aggregate: &QueryExpr) -> Estimate {
        let Operator::Aggregate(aggregate) = aggregate.operator() else { return Estimate::Unknown };
        Estimate::Known(self.0[aggregate.keys().len()])
    }
}

#[test]
fn a_chain_reads_the_smallest_source() {
    let measure = [sum(col(3))];
    let chain = [by(&[0, 1, 2], &measure), by(&[0, 1], &measure), by(&[0], &measure), by(&[], &measure)];
    let names = ["abc", "ab", "a", "total"];
    let expected = [None, Some("abc"), Some("ab"), Some("a")];
    assert_eq!(sources(&chain, &names, &UnknownLeafCost), expected);
    assert_eq!(sources(&chain, &names, &ByKeys([1, 10, 100, 500])), expected);
    // A source that keeps the same number of rows is no better than its own source with fewer keys.
    assert_eq!(sources(&chain, &names, &ByKeys([1, 500, 500, 500])), expected);
    // Keys do not decide when the rows are known.
    assert_eq!(sources(&chain, &names, &ByKeys([1, 900, 800, 700])), [None, Some("abc"), Some("abc"), Some("abc")]);
    let mut backwards = chain;
    backwards.reverse();
    let names = ["total", "a", "ab", "abc"];
    assert_eq!(sources(&backwards, &names, &UnknownLeafCost), [Some("a"), Some("ab"), Some("abc"), None]);
}

struct Fixed {
    plain: Estimate,
    source: Estimate,
}

impl LeafCost for Fixed {
    fn rows_read(&self, _: &QueryExpr) -> Estimate {
        self.plain
    }

    fn output_rows(&self, _: &QueryExpr) -> Estimate {
        self.source
    }
}

#[rstest]
#[case::cheaper(Estimate::Known(100), Estimate::Known(10), true)]
#[case::as_cheap(Estimate::Known(100), Estimate::Known(100), true)]
#[case::dearer(Estimate::Known(100), Estimate::Known(101), false)]
#[case::a_literal(Estimate::Known(0), Estimate::Known(1), false)]
#[case::unknown_source(Estimate::Known(100), Estimate::Unknown, false)]
#[case::a_literal_and_an_unknown_source(Estimate::Known(0), Estimate::Unknown, false)]
#[case::unknown_target(Estimate::Unknown, Estimate::Known(100), true)]
#[case::unknown(Estimate::Unknown, Estimate::Unknown, true)]
fn a_derivation_never_costs_more_than_the_aggregate(
    #[case] plain: Estimate,
    #[case] source: Estimate,
    #[case] derived: bool,
) {
    let space = search_workload(&two_queries()).unwrap();
    let selection = chosen(&space, &["fine", "coarse"], &Fixed { plain, source });
    let choice = &selection.choices[1];
    assert_eq!(choice.candidate != 0, derived);
    assert_eq!((choice.cost, choice.plain_cost), (if derived { source } else { plain }, plain));
    let readers_of_the_scan = selection.dag.reader_counts()[0];
    assert_eq!(readers_of_the_scan, if derived { 1 } else { 2 });
}

/// Answers grand totals from the manifest; everything else reads a thousand rows.
struct Manifest;

impl LeafCost for Manifest {
    fn rows_read(&self, aggregate: &QueryExpr) -> Estimate {
        Estimate::Known(if aggregate.schema().is_unique_key(&[]) { 0 } else { 1_000 })
    }
}

#[test]
fn a_literal_is_never_replaced() {
    let queries = || [by(&[0], &[AggIntent::count()]), by(&[], &[AggIntent::count()])];
    assert_eq!(sources(&queries(), &["fine", "total"], &Manifest), [None, None]);
    assert_eq!(sources(&queries(), &["fine", "total"], &UnknownLeafCost), [None, Some("fine")]);
    // By its own estimate, a grand total has one row, however many it reads.
    assert_eq!(Manifest.output_rows(&queries()[1]), Estimate::Known(1));
}

#[test]
fn floats_are_combined_only_when_the_policy_allows() {
    let space = search_workload(&[by(&[0, 1], &[sum(col(5))]), by(&[0], &[sum(col(5))])]).unwrap();
    let choice = |floats| select(&space, &["f", "c"], &UnknownLeafCost, floats).unwrap().choices[1].candidate;
    assert_eq!(choice(FloatPolicy::Exact), 0);
    assert_ne!(choice(FloatPolicy::Reassociate), 0);
}

#[test]
fn as_many_names_as_queries() {
    let space = search_workload(&two_queries()).unwrap();
    let wrong = select(&space, &["one"], &UnknownLeafCost, FloatPolicy::Exact);
    assert_eq!(wrong.unwrap_err(), MappingError::NameCount { roots: 2, names: 1 });
}

#[test]
fn equal_queries_are_one_target() {
    let [fine, _] = two_queries();
    let [again, _] = two_queries();
    let space = search_workload(&[fine, again]).unwrap();
    assert_eq!(space.targets.len(), 1);
}

/// Aggregates that could each be computed from the other: one direction is taken, so the plan has no cycle.
#[test]
fn mutual_sources_make_no_cycle() {
    let (one, other) = ([sum(col(3)), AggIntent::count()], [AggIntent::count(), sum(col(3))]);
    let pairs = [
        [by(&[0, 1], &one), by(&[0, 1], &other)],
        [by(&[0, 1], &one), by(&[1, 0], &one)],
        [by(&[0, 1], &one), by(&[1, 0, 1], &other)],
        [by(&[], &one), by(&[], &other)],
        [by(&[5, 1], &one), by(&[1, 5], &other)],
    ];
    for [left, right] in pairs {
        for roots in [[Arc::clone(&left), Arc::clone(&right)], [right, left]] {
            let found = sources(&roots, &["l", "r"], &UnknownLeafCost);
            assert_eq!(found.iter().flatten().count(), 1, "{found:?}");
        }
    }
}

#[test]
fn nested_aggregates_are_targets_too() {
    let inner_fine = by(&[0, 1], &[sum(col(3))]);
    let inner = by(&[0], &[sum(col(3))]);
    let outer = aggregate(&inner, vec![], vec![(max(col(1)), None)]);
    let names = ["fine", "outer"];
    let tree = plan_of(&[inner_fine, outer], &names, &UnknownLeafCost);
    let expected = "\
fine
  n1 = Aggregate(by a, b: sum(x))
    Scan(t)
outer
  Aggregate(grand total: max(m0))
    RollUp(by k0: sum(m0))
      n1 (see above)
";
    assert_eq!(tree, expected);
}

#[test]
fn the_explanation_is_the_same_every_time() {
    let explain = || {
        let names = ["fine", "coarse", "u", "approximate"];
        let approximate = AggIntent::Count { accuracy: AccuracyTarget::Epsilon { epsilon: F64Bits::new(0.01) } };
        let [fine, coarse] = two_queries();
        let roots = [fine, coarse, over(&scan_of("u"), &[0], &[sum(col(3))]), by(&[0], &[approximate])];
        let space = search_workload(&roots).unwrap();
        let selection = chosen(&space, &names, &ByKeys([1, 10, 100, 500]));
        space.explain(&selection, &names)
    };
    let expected = "\
fine: by a, b: sum(x)
  * as written, reads at most 1000 rows
    Summary of its own (exact summary)
    not from coarse; approximate (multi-measure): a key is no function of the source's keys
    not from coarse; approximate (roll-up): a key is no function of the source's keys
coarse: by a: sum(x)
    as written, reads at most 1000 rows
    Summary of its own (exact summary)
  * Rewrite (roll-up): re-aggregates fine, reads at most 100 rows
    not from approximate (multi-measure): the other aggregate ranks below this one, and sharing goes one way only
    not from approximate (roll-up): the other aggregate ranks below this one, and sharing goes one way only
u: by a: sum(x)
  * as written, reads at most 1000 rows
    Summary of its own (exact summary)
approximate: by a: approx_count(*)
  * as written, reads at most 1000 rows
    not from coarse (multi-measure): the source does not hold this measure
    not from fine (multi-measure): the error of a sum of approximate counts is not bounded by their own
    not from fine; coarse (roll-up): the error of a sum of approximate counts is not bounded by their own
";
    let first = explain();
    assert_eq!(first, expected);
    assert!((0..20).all(|_| explain() == first));
}

/// Every pair of aggregates meets at most once for each strategy, whatever their number.
#[test]
fn a_thousand_siblings() {
    let mut roots = Vec::new();
    for table in 0..100 {
        let table = scan_of(&format!("t{table}"));
        for keys in [&[0_usize, 1, 2][..], &[0, 1], &[0, 2], &[1, 2], &[0], &[1], &[2], &[], &[0, 6], &[1, 6]] {
            roots.push(over(&table, keys, &[sum(col(3)), AggIntent::count()]));
        }
    }
    let names: Vec<String> = (0..roots.len()).map(|index| format!("q{index}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let space = search_workload(&roots).unwrap();
    assert_eq!(space.targets.len(), 1_000);
    let looked_at: usize = space.targets.iter().map(|target| target.candidates.len() + target.refused.len()).sum();
    assert!(looked_at <= 1_000 * 12, "{looked_at}");
    let selection = chosen(&space, &names, &UnknownLeafCost);
    let derived = space.sources(&selection, &names).iter().flatten().count();
    assert_eq!(derived, 700);
}

/// Of a thousand aggregates over one table of which each has one source, each is derived once: the index tells the rest.
#[test]
fn a_thousand_siblings_of_one_table() {
    let input = wide_scan(13);
    let five_keys = (0..1_usize << 13).filter(|mask| mask.count_ones() == 5).take(999);
    let mut roots = vec![over(&input, &(0..13).collect::<Vec<_>>(), &[AggIntent::count()])];
    roots.extend(five_keys.map(|mask| {
        let keys: Vec<usize> = (0..13).filter(|key| mask >> key & 1 == 1).collect();
        over(&input, &keys, &[AggIntent::count()])
    }));
    let space = search_workload(&roots).unwrap();
    assert_eq!(space.targets.len(), 1_000);
    for target in &space.targets[1..] {
        assert_eq!(kinds(&target.candidates), ["as written", "summary", "roll-up"]);
        assert!(target.refused.iter().all(|refused| refused.reason == Refusal::KeyNotDerivable));
    }
    let names = vec!["q"; 1_000];
    let selection = chosen(&space, &names, &UnknownLeafCost);
    assert_eq!(selection.dag.reader_counts()[1], 1_000);
}

fn function(volatility: Volatility) -> Expr {
    let facts = FunctionFacts { data_type: arrow_schema::DataType::Int64, nullable: true, volatility, can_fail: false };
    Expr::Function { name: "f".to_owned(), args: vec![col(0)], facts }
}

fn named(distinct: bool) -> AggIntent {
    let facts = AggregateFacts {
        data_type: arrow_schema::DataType::Int64,
        nullable: true,
        volatility: Volatility::Immutable,
        can_fail: false,
        skips_nulls: true,
        order_matters: false,
    };
    AggIntent::Named { name: "f".to_owned(), args: vec![col(3)], distinct, facts }
}

fn filtered(key: Option<usize>, measure: AggIntent) -> Arc<QueryExpr> {
    aggregate(&scan(), key.into_iter().map(col).collect(), vec![(measure, Some(greater(col(3), 0)))])
}

/// `count(*)` by column 0, changed.
fn changed(change: impl FnOnce(&mut Aggregate<Arc<QueryExpr>>)) -> Arc<QueryExpr> {
    let mut aggregate = aggregate_of(&scan(), vec![col(0)], vec![(AggIntent::count(), None)]);
    change(&mut aggregate);
    QueryExpr::new(Operator::Aggregate(aggregate)).unwrap()
}

/// A workload that gives every reason that a search can give.
#[test]
fn every_refusal_is_given_by_some_workload() {
    let count = AggIntent::count;
    let approximate = AggIntent::Count { accuracy: AccuracyTarget::Epsilon { epsilon: F64Bits::new(0.01) } };
    let random = function(Volatility::Volatile);
    let per_entity = |aggregate: &mut Aggregate<_>| {
        aggregate.reduction = Reduction::PerEntity;
        aggregate.output_names = vec!["n".to_owned()];
    };
    let without_labels = |aggregate: &mut Aggregate<_>| {
        aggregate.reduction = Reduction::Reduce { by: vec![col(0)], without: vec![col(1)] };
    };
    let both = |measure: AggIntent| vec![by(&[0, 1], std::slice::from_ref(&measure)), by(&[0], &[measure])];
    let where_ =
        |condition: Expr, keys: &[usize], measure: AggIntent| over(&scan_where("t", vec![condition]), keys, &[measure]);
    let workloads: Vec<Vec<Arc<QueryExpr>>> = vec![
        both(sum(col(3))),
        both(approximate),
        both(avg(col(4))),
        both(AggIntent::Rate { arg: col(3) }),
        both(named(true)),
        both(named(false)),
        vec![by(&[0, 1], &[sum(col(3)), count()]), by(&[0], &[count()])],
        vec![filtered(Some(0), count()), filtered(None, count())],
        vec![filtered(Some(0), count()), by(&[], &[count()])],
        vec![by(&[0, 1], &[count()]), by(&[1, 0], &[count()])],
        vec![by(&[0, 1], &[count()]), by(&[0], &[max(col(3))])],
        vec![by(&[0], &[count()]), by(&[1], &[count()])],
        vec![by(&[0, 1], &[count()]), aggregate(&scan(), vec![function(Volatility::Immutable)], vec![(count(), None)])],
        vec![by(&[5, 1], &[count()]), aggregate(&scan(), vec![is_null(col(5))], vec![(count(), None)])],
        vec![by(&[], &[count()]), aggregate(&scan(), vec![int(1)], vec![(count(), None)])],
        vec![by(&[0, 1], &[max(col(5))]), by(&[], &[max(col(5))])],
        vec![by(&[0], &[count()]), where_(greater(col(3), 0), &[], count())],
        vec![by(&[0], &[count()]), where_(greater(ten_over(col(0)), 0), &[], count())],
        vec![where_(greater(col(3), 0), &[0, 1], count()), by(&[0], &[count()])],
        vec![by(&[0, 1], &[count(), sum(ten_over(col(3)))]), by(&[0], &[count()])],
        vec![by(&[0, 1], &[count()]), changed(|aggregate| aggregate.having = Some(Predicate(greater(col(1), 0))))],
        vec![by(&[0, 1], &[count()]), changed(|aggregate| aggregate.reduction = Reduction::by(vec![random]))],
        vec![by(&[0, 1], &[count()]), changed(per_entity)],
        vec![by(&[0, 1], &[count()]), changed(without_labels)],
    ];
    let mut given: BTreeSet<Refusal> = BTreeSet::new();
    for roots in workloads {
        let space = search_workload(&roots).unwrap();
        given.extend(space.targets.iter().flat_map(|target| target.refused.iter().map(|refused| refused.reason)));
    }
    given.extend(asap_aware_mapping::is_legal_rollup_source(&scan(), &by(&[0], &[count()])).err());
    // Siblings are those over one input already, so only the prover itself says this.
    given.extend(asap_aware_mapping::derive(&over(&scan_of("u"), &[0], &[count()]), &by(&[0, 1], &[count()])).err());

    // Every relational aggregate has its keys as unique key, so the prover's check of it fails for none.
    assert_eq!(
        Refusal::ALL.iter().filter(|refusal| !given.contains(refusal)).collect::<Vec<_>>(),
        [&Refusal::NoUniqueKey]
    );
}

#[test]
fn refusals_have_distinct_names_and_texts() {
    let names: BTreeSet<&str> = Refusal::ALL.iter().map(|refusal| refusal.name()).collect();
    let texts: BTreeSet<String> = Refusal::ALL.iter().map(Refusal::to_string).collect();
    assert_eq!((names.len(), texts.len()), (Refusal::ALL.len(), Refusal::ALL.len()));
}

/// The strategy was made of other aggregates: whichever derives the target may, also one with keys that are less simple.
#[test]
fn an_aggregate_from_elsewhere_has_any_member_for_a_source() {
    let next = arithmetic(ArithmeticOp::Add, col(0), int(1));
    let member = aggregate(&scan(), vec![col(0), next], vec![(AggIntent::count(), None)]);
    let target = Target { node: by(&[0], &[AggIntent::count()]) };
    let found = MultiMeasureStrategy::new(std::slice::from_ref(&member)).replacements(&target).unwrap();
    assert_eq!((found.candidates.len(), found.refused.len()), (1, 0), "{:?}", found.refused);
}

/// Users choose strategies by name, and explanations show it; none has anything to say of a scan.
#[test]
fn strategies_have_names_and_are_asked_about_aggregates() {
    let members = [by(&[0], &[AggIntent::count()])];
    let (narrow, wide) = (RollupStrategy::new(&members), MultiMeasureStrategy::new(&members));
    let strategies: [&dyn ReplacementStrategy; 3] = [&ExactSummaryStrategy, &narrow, &wide];
    assert_eq!(strategies.map(|strategy| strategy.name()), ["exact summary", "roll-up", "multi-measure"]);
    let matches = |node: &Arc<QueryExpr>| {
        let target = Target { node: Arc::clone(node) };
        strategies.map(|strategy| strategy.matches(&target))
    };
    assert_eq!((matches(&members[0]), matches(&scan())), ([true; 3], [false; 3]));
}
