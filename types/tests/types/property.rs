//! The canonical form of a random query gives the rows that the query gives, in their order.

use std::cell::Cell;
use std::sync::Arc;

use asap_types::{
    AggIntent, Aggregate, CompareOp, DagBuilder, ExactOperation, Expr, Literal, NodeId, Operator, PostAsapDag,
    PostOperator, QueryExpr, SummaryFamily, UnaryOp, canonicalize, cse,
};
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

use crate::build::*;
use crate::naive::{self, Failure, Rows};

/// Numbers that decide what the next operator is; the schema that it stands on decides what they mean.
type Step = (u8, [u8; 4]);

fn number(input: &QueryExpr, [kind, left, right, ..]: [u8; 4]) -> Expr {
    let column = |choice: u8| col(usize::from(choice) % input.schema().len());
    match kind % 7 {
        0..=2 => column(left),
        3 => int(i64::from(right % 3)),
        4 => plus(column(left), column(right)),
        5 => ten_over(column(left)),
        _ => Expr::Case {
            operand: None,
            branches: vec![(greater(column(left), 0), column(right))],
            otherwise: (right % 2 == 0).then(|| Box::new(int(1))),
        },
    }
}

fn condition(input: &QueryExpr, choice: [u8; 4]) -> Expr {
    let [kind, op, right, more] = choice;
    let arg = number(input, [more, right, op, 0]);
    let compare = |op: CompareOp| arg.clone().compare(op, int(i64::from(right % 3)));
    let simple = match op % 6 {
        0 => compare(CompareOp::Eq),
        1 => compare(CompareOp::NotEq),
        2 => int(i64::from(right % 3)).compare(CompareOp::Lt, arg.clone()),
        3 => compare(CompareOp::IsNotDistinctFrom),
        4 => is_null(arg.clone()),
        _ => arg.clone().is_not_null(),
    };
    match kind % 8 {
        0 => not(not(simple)),
        1 => simple.unary(UnaryOp::IsTrue),
        2 => boolean(true).and(simple),
        3 => or(boolean(false), simple),
        4 => compare(CompareOp::GtEq).and(simple),
        5 => simple.clone().and(greater(col(0), 0)).and(simple),
        6 => or(simple, Expr::Literal(Literal::null(arrow_schema::DataType::Boolean))),
        _ => simple,
    }
}

fn add(input: &Arc<QueryExpr>, (kind, choice): Step) -> Arc<QueryExpr> {
    let [a, b, c, d] = choice;
    match kind % 12 {
        0..=3 => filter(input, condition(input, choice)),
        4 | 5 => {
            let names = ["a", "b", "c", "x"];
            let columns = [[a, b, c, d], [b, c, d, a], [c, d, a, b], [0, 0, 0, 0]];
            let width = usize::from(d % 4) + 1;
            let columns = columns.into_iter().map(|choice| number(input, choice)).zip(names).take(width);
            project(input, &columns.collect::<Vec<_>>())
        }
        6 => {
            let fields = input.schema().fields().iter().enumerate();
            project(input, &fields.map(|(index, field)| (col(index), field.name.as_str())).collect::<Vec<_>>())
        }
        7 => sort(input, number(input, choice)),
        8 => distinct(input),
        9 => limit(input, u64::from(a % 2), (b % 2 == 0).then(|| u64::from(c % 5))),
        _ => {
            let by =
                [number(input, choice), number(input, [b, a, d, c])].into_iter().take(usize::from(a % 3)).collect();
            let arg = number(input, [c, d, a, b]);
            let measure = match b % 4 {
                0 => AggIntent::count(),
                1 => AggIntent::Sum { arg },
                2 => AggIntent::Min { arg },
                _ => AggIntent::Max { arg },
            };
            let filter = (c % 3 == 0).then(|| condition(input, [d, c, b, a]));
            let grouped = aggregate(input, by, vec![(measure, filter)], None);
            let having = (d % 3 == 0).then(|| condition(&grouped, [a, d, c, b]));
            let asap_types::Operator::Aggregate(mut plain) = grouped.operator().clone() else { panic!() };
            plain.having = having.map(asap_types::Predicate);
            node(asap_types::Operator::Aggregate(plain))
        }
    }
}

fn rows_of(query: &QueryExpr, table: &Rows) -> Result<Rows, Failure> {
    naive::query(query, &|node| {
        node.operator().input().is_none().then(|| naive::operator(node.operator(), table.clone()))
    })
}

fn table() -> impl Strategy<Value = Rows> {
    let value = || prop_oneof![1 => Just(None), 5 => (-1..=2_i64).prop_map(Some)];
    let row = (value(), value(), (0..=2_i64).prop_map(Some), value()).prop_map(|(a, b, c, x)| vec![a, b, c, x]);
    prop::collection::vec(row, 0..8)
}

/// A filter for each measure or for none, and whatever node holds it: what is written is read, `null` for no filter, and
/// nothing at all where no measure has one.
#[test]
fn filters_survive_the_wire() {
    let measures = prop::collection::vec((any::<[u8; 4]>(), prop::option::of(any::<[u8; 4]>())), 1..5);
    let config = Config { cases: 2_000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(measures, 0..3_usize), |(drawn, keys)| {
            let input = scan();
            let measures: Vec<(AggIntent, Option<Expr>)> = drawn
                .iter()
                .map(|(arg, filter)| {
                    (AggIntent::Sum { arg: number(&input, *arg) }, filter.map(|filter| condition(&input, filter)))
                })
                .collect();
            let filtered = measures.iter().any(|(_, filter)| filter.is_some());
            let mut builder = DagBuilder::default();
            let scan = builder.query(&input).unwrap();
            let plain = aggregate_of(scan, (0..keys).map(col).collect(), measures, None);
            let summary = PostOperator::SummaryAgg {
                family: SummaryFamily::Exact { measure: plain.measures[0].clone() },
                reduction: plain.reduction.clone(),
                filter: plain.filters.get(0).cloned(),
                input: scan,
            };
            builder.push(PostOperator::Exact(ExactOperation::Aggregate(plain.clone()))).unwrap();
            builder.push(PostOperator::KeepPreAsap(Operator::Aggregate(plain.clone()))).unwrap();
            builder.push(summary).unwrap();
            let dag = builder.finish();
            let json = dag.to_json().unwrap();
            prop_assert_eq!(json.contains("\"filters\""), filtered);
            prop_assert_eq!(&PostAsapDag::from_json(&json).unwrap(), &dag);
            let alone = serde_json::to_string(&plain).unwrap();
            prop_assert_eq!(serde_json::from_str::<Aggregate<NodeId>>(&alone).unwrap(), plain);
            Ok(())
        })
        .unwrap();
}

#[test]
fn the_canonical_form_gives_the_same_rows() {
    let compared = Cell::new(0);
    let steps = prop::collection::vec(any::<Step>(), 1..7);
    let config = Config { cases: 12_000, rng_seed: RngSeed::Fixed(1), failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&(steps, table()), |(steps, table)| {
            let query = steps.into_iter().fold(scan(), |input, step| add(&input, step));
            let form = canonicalize(&query).unwrap();
            prop_assert_eq!(form.schema().fields(), query.schema().fields());
            prop_assert_eq!(&canonicalize(&form).unwrap(), &form, "not idempotent: {:#?}", form);
            prop_assert_eq!(cse(std::slice::from_ref(&form)).unwrap(), vec![Arc::clone(&form)]);
            if let Ok(plain) = rows_of(&query, &table) {
                compared.set(compared.get() + 1);
                prop_assert_eq!(rows_of(&form, &table), Ok(plain), "{:#?}", form);
            }
            Ok(())
        })
        .unwrap();
    assert!(compared.get() > 6_000, "{}", compared.get());
}
