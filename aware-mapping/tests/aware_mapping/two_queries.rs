//! Two queries over one table, the fine one and the coarse one: their candidates and their plan, before and after roll-ups.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_aware_mapping::{
    Candidate, CandidateSpace, ExactSummaryStrategy, FloatPolicy, MultiMeasureStrategy, ReplacementStrategy,
    RollupStrategy, Selection, Target, UnknownLeafCost, search_workload, search_workload_with, select,
};
use asap_types::{
    AggIntent, Aggregate, ExactOperation, Expr, Field, GraphFormat, MeasureFilters, NodeId, Operator, PostAsapDag,
    PostOperator, QueryExpr, Reduction, Schema, TableRef, cse,
};

use crate::assert_snapshot;

const NAMES: [&str; 2] = ["Q_fine", "Q_coarse"];

/// `SELECT keys, sum(bytes) FROM metrics GROUP BY keys`, over a scan of its own.
fn sum_of_bytes(keys: &[&str]) -> Arc<QueryExpr> {
    let text = |name| Field::new(name, DataType::Utf8, true);
    let schema = Schema::new(vec![text("job"), text("region"), Field::new("bytes", DataType::Int64, true)]);
    let column = |name: &&str| Expr::column(schema.field_names().iter().position(|field| field == name).unwrap());
    QueryExpr::new(Operator::Aggregate(Aggregate {
        reduction: Reduction::by(keys.iter().map(column).collect()),
        measures: vec![AggIntent::Sum { arg: Expr::column(2) }],
        filters: MeasureFilters::none(),
        output_names: keys.iter().copied().chain(["sum_bytes"]).map(str::to_owned).collect(),
        having: None,
        input: QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema, predicates: vec![] }).unwrap(),
    }))
    .unwrap()
}

/// The two queries, lowered independently: they share no pointer.
fn workload() -> [Arc<QueryExpr>; 2] {
    [sum_of_bytes(&["job", "region"]), sum_of_bytes(&["job"])]
}

fn described(node: &QueryExpr) -> String {
    let Operator::Aggregate(aggregate) = node.operator() else { panic!("{node:?}") };
    aggregate.describe(aggregate.input.schema())
}

fn listed(candidates: &[Candidate]) -> String {
    let texts = candidates.iter().map(|candidate| match candidate {
        Candidate::KeepPreAsap => "as written".to_owned(),
        Candidate::Summary(summary) => {
            format!("Summary({})", summary.aggregate.describe(summary.aggregate.input.schema()))
        }
        Candidate::Rewrite(rewrite) => {
            format!("Rewrite({} over {})", described(&rewrite.build().unwrap().plan), described(&rewrite.source))
        }
        other => panic!("{other:?}"),
    });
    format!("[{}]", texts.collect::<Vec<_>>().join(", "))
}

#[test]
fn candidates_before_and_after() {
    let roots = cse(&workload()).unwrap();
    let rollup = RollupStrategy::new(&roots);
    let says = |strategy: &dyn ReplacementStrategy, root: &Arc<QueryExpr>| {
        let target = Target { node: Arc::clone(root) };
        assert!(strategy.matches(&target));
        listed(&strategy.replacements(&target).unwrap().candidates)
    };
    let mut text = String::from("before\n");
    for (name, root) in NAMES.iter().zip(&roots) {
        text += &format!("  {name}: {}\n", says(&ExactSummaryStrategy, root));
    }
    text += "after\n";
    for (name, root) in NAMES.iter().zip(&roots) {
        text += &format!("  {name}\n    existing strategies: {}\n", says(&ExactSummaryStrategy, root));
        text += &format!("    RollupStrategy: {}\n", says(&rollup, root));
    }
    text += "combined\n";
    let default = search_workload(&workload()).unwrap();
    for (name, target) in NAMES.iter().zip(&default.targets) {
        text += &format!("  {name}: {}\n", listed(&target.candidates));
    }
    assert_snapshot(&text);

    let with = search_workload_with(&workload(), &[&ExactSummaryStrategy]).unwrap();
    let only_rollups = search_workload_with(&workload(), &[]).unwrap();
    for (position, target) in default.targets.iter().enumerate() {
        assert_eq!(listed(&with.targets[position].candidates), listed(&target.candidates));
        assert_eq!(
            listed(&only_rollups.targets[position].candidates),
            ["[as written]", "[as written, Rewrite(by job: sum(sum_bytes) over by job, region: sum(bytes))]"][position]
        );
    }
    // The wider preset proposes the same plan, which is one candidate.
    assert_eq!(says(&MultiMeasureStrategy::new(&roots), &roots[1]), says(&rollup, &roots[1]));
}

/// A strategy ranks nothing: the coarse query alone, or a search that may not derive, keeps what there was before.
#[test]
fn the_rollup_is_proposed_and_not_chosen_by_the_strategy() {
    let alone = search_workload(&workload()[1..]).unwrap();
    assert_eq!(listed(&alone.targets[0].candidates), "[as written, Summary(by job: sum(bytes))]");
    let space = search_workload(&workload()).unwrap();
    assert_eq!(space.targets[1].candidates.len(), 3);
    assert!(matches!(space.targets[1].candidates[0], Candidate::KeepPreAsap));
}

fn selected() -> (CandidateSpace, Selection) {
    let space = search_workload(&workload()).unwrap();
    let selection = select(&space, &NAMES, &UnknownLeafCost, FloatPolicy::Exact).unwrap();
    (space, selection)
}

fn unselected() -> PostAsapDag {
    let roots = cse(&workload()).unwrap();
    PostAsapDag::from_queries(NAMES.into_iter().zip(&roots)).unwrap()
}

/// The nodes that read each node, results by name.
fn readers(dag: &PostAsapDag, producer: usize) -> Vec<String> {
    let reads = |(_, node): &(usize, &PostOperator)| node.input() == Some(NodeId(producer));
    let nodes = dag.nodes().iter().enumerate().filter(reads).map(|(id, _)| format!("n{id}"));
    let results = dag.roots().iter().filter(|root| root.node == NodeId(producer)).map(|root| root.name.clone());
    nodes.chain(results).collect()
}

#[test]
fn before_the_table_feeds_two_independent_aggregates() {
    let dag = unselected();
    let [s, f, c] = [0, 1, 2];
    assert_eq!(dag.nodes().len(), 3);
    assert_eq!(readers(&dag, s), ["n1", "n2"]);
    assert_eq!(readers(&dag, f), ["Q_fine"]);
    assert_eq!(readers(&dag, c), ["Q_coarse"]);
}

#[test]
fn after_the_fine_aggregate_stands_once_and_the_coarse_one_is_gone() {
    let dag = selected().1.dag;
    let [s, f, r] = [0, 1, 2];
    assert_eq!(dag.nodes().len(), 3);
    assert_eq!(readers(&dag, s), ["n1"]);
    assert_eq!(readers(&dag, f), ["n2", "Q_fine"]);
    assert_eq!(readers(&dag, r), ["Q_coarse"]);
    assert_eq!(dag.roots().iter().map(|root| root.name.as_str()).collect::<Vec<_>>(), NAMES);
    let aggregates_of_the_table = dag.nodes().iter().filter(|node| {
        let is_aggregate = matches!(
            node,
            PostOperator::KeepPreAsap(Operator::Aggregate(_)) | PostOperator::Exact(ExactOperation::Aggregate(_))
        );
        is_aggregate && node.input() == Some(NodeId(s))
    });
    assert_eq!(aggregates_of_the_table.count(), 1);
    let PostOperator::Exact(ExactOperation::Aggregate(rollup)) = &dag.nodes()[r] else { panic!("{dag:?}") };
    assert_eq!(rollup.output_names, ["job", "sum_bytes"]);
    assert_eq!(rollup.measures, [AggIntent::Sum { arg: Expr::column(2) }]);
}

#[test]
fn the_workload_drawn_before_and_after() {
    let mut text = String::new();
    for format in [GraphFormat::Tree, GraphFormat::Mermaid, GraphFormat::Dot] {
        for (title, dag) in [("before", unselected()), ("after", selected().1.dag)] {
            text += &format!("{title}, {format:?}\n{}\n", dag.render(format));
        }
    }
    assert_snapshot(&text);
}

#[test]
fn the_explanation_names_both_queries_and_their_candidates() {
    let (space, selection) = selected();
    assert_snapshot(&space.explain(&selection, &NAMES));
}
