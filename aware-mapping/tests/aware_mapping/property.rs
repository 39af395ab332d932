//! Whatever the prover accepts gives the answer that the aggregate itself gives, over random tables.

use std::cell::Cell;
use std::sync::Arc;

use asap_aware_mapping::{
    Candidate, FloatPolicy, MultiMeasureStrategy, ReplacementStrategy, RollupStrategy, Target, UnknownLeafCost,
    search_workload, select,
};
use asap_types::{
    AggIntent, ArithmeticOp, CompareOp, ExactOperation, Expr, GraphFormat, PostAsapDag, PostOperator, QueryExpr,
    canonicalize,
};
use proptest::prelude::*;
use proptest::sample::{select as one_of, subsequence};
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::build::{aggregate, arithmetic, avg, col, greater, int, is_null, max, min, scan_where, sum, ten_over};
use crate::naive::{self, Failure, Rows};

/// An aggregate as it is drawn: over table `t` with conditions, keys and filtered measures.
#[derive(Clone, Debug)]
struct Drawn {
    conditions: Vec<Expr>,
    by: Vec<Expr>,
    measures: Vec<(AggIntent, Option<Expr>)>,
}

impl Drawn {
    fn node(&self) -> Arc<QueryExpr> {
        aggregate(&scan_where("t", self.conditions.clone()), self.by.clone(), self.measures.clone())
    }
}

fn key_pool() -> Vec<Expr> {
    let case =
        Expr::Case { operand: None, branches: vec![(greater(col(0), 0), col(1))], otherwise: Some(Box::new(int(7))) };
    vec![col(0), col(1), col(2), arithmetic(ArithmeticOp::Add, col(0), col(1)), case, ten_over(col(0)), int(1)]
}

fn condition_pool() -> Vec<Expr> {
    vec![
        col(0).eq(int(1)),
        col(0).compare(CompareOp::NotEq, int(0)),
        col(0).is_not_null(),
        greater(col(1), 0),
        is_null(col(1)),
        greater(col(2), 0).compare(CompareOp::IsDistinctFrom, greater(col(0), 0)),
        Expr::InList { arg: Box::new(col(2)), list: vec![int(1), int(2), col(0)], negated: true },
        col(3).is_not_null(),
        greater(col(3), 0),
        col(4).is_not_null(),
        greater(ten_over(col(0)), 3),
        greater(int(1), 2),
        greater(int(2), 1),
    ]
}

fn measure_pool() -> Vec<AggIntent> {
    vec![
        AggIntent::count(),
        AggIntent::count(),
        sum(col(3)),
        AggIntent::Sum0 { arg: col(3) },
        sum(col(4)),
        min(col(3)),
        max(col(3)),
        min(col(0)),
        max(arithmetic(ArithmeticOp::Add, col(0), col(1))),
        avg(col(4)),
        sum(arithmetic(ArithmeticOp::Multiply, col(0), col(3))),
        sum(col(6)),
        sum(ten_over(col(0))),
    ]
}

fn conditions(most: usize) -> impl Strategy<Value = Vec<Expr>> {
    let pool = condition_pool();
    subsequence(pool, 0..=most).prop_shuffle()
}

fn measures() -> impl Strategy<Value = Vec<(AggIntent, Option<Expr>)>> {
    let measure = (one_of(measure_pool()), prop_oneof![3 => Just(vec![]), 2 => conditions(2)]);
    prop::collection::vec(measure.prop_map(|(intent, filter)| (intent, Expr::conjunction(filter))), 0..3)
}

fn coarse() -> impl Strategy<Value = Drawn> {
    (prop_oneof![Just(vec![]), conditions(2)], subsequence(key_pool(), 0..=2).prop_shuffle(), measures())
        .prop_map(|(conditions, by, measures)| Drawn { conditions, by, measures })
}

/// An aggregate that has a fair chance to be a source: raw keys, the parts of averages, fewer conditions, and noise.
fn fine_for(coarse: Drawn) -> impl Strategy<Value = (Drawn, Drawn)> {
    let conditions_kept = coarse.conditions.len();
    let parts = (coarse.measures.iter())
        .flat_map(|(intent, filter)| match intent {
            AggIntent::Avg { arg } => {
                let not_null =
                    filter.clone().map_or_else(|| arg.clone().is_not_null(), |f| f.and(arg.clone().is_not_null()));
                vec![(sum(arg.clone()), filter.clone()), (AggIntent::count(), Some(not_null))]
            }
            other => vec![(other.clone(), filter.clone())],
        })
        .collect::<Vec<_>>();
    let filters = prop::collection::vec(0..4_u8, parts.len());
    let raw_keys = subsequence(vec![col(0), col(1), col(2)], 0..=3).prop_shuffle();
    let own_keys = subsequence(coarse.by.clone(), 0..=coarse.by.len());
    let kept = subsequence(coarse.conditions.clone(), 0..=conditions_kept).prop_shuffle();
    let noise = prop_oneof![4 => Just(vec![]), 1 => conditions(1)];
    (raw_keys, own_keys, kept, noise, filters, measures()).prop_map(
        move |(raw, own, mut conditions, noise, filters, others)| {
            let mut measures: Vec<_> = parts
                .iter()
                .zip(filters)
                .map(|((intent, filter), change)| {
                    // Most keep their filter; some lose it, some lose its first conjunct.
                    let conjuncts = filter.clone().map(Expr::conjuncts).unwrap_or_default();
                    let kept = match change {
                        0 => vec![],
                        1 => conjuncts.into_iter().skip(1).collect(),
                        _ => conjuncts,
                    };
                    (intent.clone(), Expr::conjunction(kept))
                })
                .collect();
            measures.extend(others);
            conditions.extend(noise);
            let by = own.into_iter().chain(raw).collect();
            (coarse.clone(), Drawn { conditions, by, measures })
        },
    )
}

fn table() -> impl Strategy<Value = Rows> {
    let value = || prop_oneof![1 => Just(None), 4 => (-1..=2_i64).prop_map(Some)];
    let safe = || prop_oneof![1 => Just(None), 4 => (1..=2_i64).prop_map(Some)];
    let row = move |key: BoxedStrategy<Option<i64>>| {
        (key, value(), (0..=2_i64).prop_map(Some), value(), value(), value(), (0..=2_i64).prop_map(Some), Just(Some(0)))
            .prop_map(|(a, b, c, x, d, f, y, g)| vec![a, b, c, x, d, f, y, g])
    };
    // Half of the tables hold no 0 to divide by.
    prop_oneof![prop::collection::vec(row(value().boxed()), 0..8), prop::collection::vec(row(safe().boxed()), 0..8)]
}

fn direct(node: &QueryExpr, table: &Rows) -> Result<Rows, Failure> {
    naive::query(node, &|node| {
        node.operator().input().is_none().then(|| naive::operator(node.operator(), table.clone()))
    })
}

fn sorted(mut rows: Rows) -> Rows {
    rows.sort();
    rows
}

fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() })
}

/// Every plan that a strategy proposes for the pair.
fn proposed(coarse: &Arc<QueryExpr>, fine: &Arc<QueryExpr>) -> Vec<Candidate> {
    let siblings = [Arc::clone(fine)];
    let target = Target { node: Arc::clone(coarse) };
    let strategies: [&dyn ReplacementStrategy; 2] =
        [&MultiMeasureStrategy::new(&siblings), &RollupStrategy::new(&siblings)];
    let found = strategies.iter().filter(|strategy| strategy.matches(&target));
    found.flat_map(|strategy| strategy.replacements(&target).unwrap().candidates).collect()
}

#[test]
fn what_is_accepted_answers_as_the_plain_aggregate() {
    let (accepted, compared, restricted, averages) = (Cell::new(0), Cell::new(0), Cell::new(0), Cell::new(0));
    let bump = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    let pairs = (coarse().prop_flat_map(fine_for), table());
    runner(10_000)
        .run(&pairs, |((coarse, fine), rows)| {
            let (coarse_node, fine_node) = (coarse.node(), fine.node());
            let candidates = proposed(&coarse_node, &fine_node);
            if candidates.is_empty() {
                return Ok(());
            }
            bump(&accepted);
            let Ok(plain) = direct(&coarse_node, &rows) else { return Ok(()) };
            bump(&compared);
            if coarse.conditions.len() > fine.conditions.len() {
                bump(&restricted);
            }
            if coarse.measures.iter().any(|(intent, _)| matches!(intent, AggIntent::Avg { .. })) {
                bump(&averages);
            }
            let source_rows = direct(&fine_node, &rows);
            for candidate in candidates {
                let Candidate::Rewrite(rewrite) = candidate else { panic!("{candidate:?}") };
                let source = |node: &QueryExpr| std::ptr::eq(node, &*rewrite.source).then(|| source_rows.clone());
                let plan = rewrite.build().unwrap().plan;
                let derived = naive::query(&plan, &source);
                prop_assert_eq!(derived.map(sorted), Ok(sorted(plain.clone())), "{:#?}", plan);
            }
            Ok(())
        })
        .unwrap();
    let counts = [accepted.get(), compared.get(), restricted.get(), averages.get()];
    assert!(accepted.get() > 3_000 && compared.get() > 2_500, "{counts:?}");
    assert!(restricted.get() > 150 && averages.get() > 80, "{counts:?}");
}

/// The rows of every root of a DAG, each node evaluated once, in order.
fn run(dag: &PostAsapDag, table: &Rows) -> Vec<Result<Rows, Failure>> {
    let mut done: Vec<Result<Rows, Failure>> = Vec::new();
    for node in dag.nodes() {
        let input = node.input().map_or_else(|| Ok(table.clone()), |input| done[input.0].clone());
        done.push(input.and_then(|input| match node {
            PostOperator::KeepPreAsap(operator) => naive::operator(operator, input),
            PostOperator::Exact(ExactOperation::Aggregate(aggregate)) => naive::aggregate(aggregate, &input),
            PostOperator::SummaryAgg { .. } | PostOperator::SummaryEstimate { .. } => panic!("not chosen: {node:?}"),
        }));
    }
    dag.roots().iter().map(|root| done[root.node.0].clone()).collect()
}

#[test]
fn a_selected_workload_answers_as_its_queries_do() {
    let (queries, shared) = (Cell::new(0), Cell::new(0));
    let several = (coarse().prop_flat_map(fine_for), coarse().prop_flat_map(fine_for), coarse());
    runner(1_500)
        .run(&(several, table()), |(((a, b), (c, d), e), rows)| {
            let roots: Vec<_> = [a, b, c, d, e].iter().map(|drawn| canonicalize(&drawn.node()).unwrap()).collect();
            let plain: Vec<_> = roots.iter().map(|root| direct(root, &rows)).collect();
            let names = ["a", "b", "c", "d", "e"];
            let space = search_workload(&roots).unwrap();
            let selection = select(&space, &names, &UnknownLeafCost, FloatPolicy::Exact).unwrap();
            queries.set(queries.get() + roots.len());
            shared.set(shared.get() + space.sources(&selection, &names).iter().flatten().count());
            let wire = PostAsapDag::from_json(&selection.dag.to_json().unwrap()).unwrap();
            prop_assert_eq!(&wire, &selection.dag);
            for ((plain, answer), name) in plain.into_iter().zip(run(&selection.dag, &rows)).zip(names) {
                if let Ok(plain) = plain {
                    let tree = selection.dag.render(GraphFormat::Tree);
                    prop_assert_eq!(answer.map(sorted), Ok(sorted(plain)), "{}:\n{}", name, tree);
                }
            }
            Ok(())
        })
        .unwrap();
    let (queries, shared) = (queries.get(), shared.get());
    assert!(shared * 5 > queries, "{shared} of {queries} queries read another's aggregate");
}
