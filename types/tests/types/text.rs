//! Plans as text, to the byte.

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use asap_types::{
    AggIntent, ArithmeticOp, CompareOp, DagBuilder, ExactOperation, Expr, F64Bits, GraphFormat, Literal, LiteralValue,
    Operator, PostAsapDag, PostOperator, Reduction, SortKey, SummaryFamily, UnaryOp,
};
use rstest::rstest;

use crate::build::*;

/// Two results over a shared aggregate, one of them sorted and limited, and a summary.
fn workload() -> PostAsapDag {
    let fine = aggregate(
        &scan_where(vec![greater(col(0), 1), is_null(col(1))]),
        vec![col(0), plus(col(1), int(1))],
        vec![(AggIntent::Sum { arg: col(3) }, Some(greater(col(3), 2))), (AggIntent::count(), None)],
        None,
    );
    let keys = vec![
        SortKey { expr: col(2), descending: true, nulls_first: true },
        SortKey { expr: col(0), descending: false, nulls_first: false },
    ];
    let top = limit(&node(Operator::Sort { keys, input: filter(&fine, greater(col(3), 9)) }), 5, Some(3));
    let mut builder = DagBuilder::default();
    let top = builder.query(&top).unwrap();
    builder.root("the \"top\"", top).unwrap();
    let fine = builder.query(&fine).unwrap();
    let combined = aggregate_of(fine, vec![], vec![(AggIntent::Sum0 { arg: col(3) }, None)], None);
    let total = builder.push(PostOperator::Exact(ExactOperation::Aggregate(combined))).unwrap();
    builder.root("total", total).unwrap();
    let scan = builder.query(&scan()).unwrap();
    let family = SummaryFamily::Exact { measure: AggIntent::Max { arg: col(3) } };
    let reduction = Reduction::by(vec![col(2)]);
    let summary = builder.push(PostOperator::SummaryAgg { family, reduction, filter: None, input: scan }).unwrap();
    let output_names = vec!["c".to_owned(), "most".to_owned()];
    let most = builder.push(PostOperator::SummaryEstimate { output_names, input: summary }).unwrap();
    builder.root("most", most).unwrap();
    builder.finish()
}

#[test]
fn tree() {
    let expected = "\
the \"top\"
  Limit(3, skip 5)
    Sort(m0 DESC NULLS FIRST, k0 NULLS LAST)
      Filter(m1 > 9)
        n1 = Aggregate(by a, b + 1: sum(x) filter (x > 2), count(*))
          Scan(t: a > 1 AND b IS NULL)
total
  RollUp(grand total: sum0(m1))
    n1 (see above)
most
  Estimate(c, most)
    Summary(by c: max(x))
      Scan(t)
";
    assert_eq!(workload().render(GraphFormat::Tree), expected);
}

#[test]
fn dot() {
    let expected = r#"digraph workload {
  rankdir=LR;
  node [shape=box];
  n0 [label="Scan(t: a > 1 AND b IS NULL)"];
  n1 [label="Aggregate(by a, b + 1: sum(x) filter (x > 2), count(*))"];
  n2 [label="Filter(m1 > 9)"];
  n3 [label="Sort(m0 DESC NULLS FIRST, k0 NULLS LAST)"];
  n4 [label="Limit(3, skip 5)"];
  n5 [label="RollUp(grand total: sum0(m1))"];
  n6 [label="Scan(t)"];
  n7 [label="Summary(by c: max(x))"];
  n8 [label="Estimate(c, most)"];
  q0 [shape=ellipse, label="the \"top\""];
  q1 [shape=ellipse, label="total"];
  q2 [shape=ellipse, label="most"];
  n0 -> n1;
  n1 -> n2;
  n2 -> n3;
  n3 -> n4;
  n1 -> n5;
  n6 -> n7;
  n7 -> n8;
  n4 -> q0;
  n5 -> q1;
  n8 -> q2;
}
"#;
    assert_eq!(workload().render(GraphFormat::Dot), expected);
}

#[test]
fn mermaid() {
    let expected = r#"flowchart LR
  n0["Scan(t: a &gt; 1 AND b IS NULL)"]
  n1["Aggregate(by a, b + 1: sum(x) filter (x &gt; 2), count(*))"]
  n2["Filter(m1 &gt; 9)"]
  n3["Sort(m0 DESC NULLS FIRST, k0 NULLS LAST)"]
  n4["Limit(3, skip 5)"]
  n5["RollUp(grand total: sum0(m1))"]
  n6["Scan(t)"]
  n7["Summary(by c: max(x))"]
  n8["Estimate(c, most)"]
  q0(["the &quot;top&quot;"])
  q1(["total"])
  q2(["most"])
  n0 --> n1
  n1 --> n2
  n2 --> n3
  n3 --> n4
  n1 --> n5
  n6 --> n7
  n7 --> n8
  n4 --> q0
  n5 --> q1
  n8 --> q2
"#;
    assert_eq!(workload().render(GraphFormat::Mermaid), expected);
}

#[rstest]
#[case(greater(col(0), 1).and(not(is_null(col(1)))), "(a > 1) AND (NOT (b IS NULL))")]
#[case(or(is_null(col(0)), col(9).compare(CompareOp::IsDistinctFrom, col(1))), "(a IS NULL) OR (#9 IS DISTINCT FROM b)")]
#[case(arithmetic(ArithmeticOp::Modulo, plus(col(0), int(-1)), col(2)), "(a + -1) % c")]
#[case(col(0).unary(UnaryOp::Negative), "-a")]
#[case(greater(col(0), 1).unary(UnaryOp::IsNotUnknown), "(a > 1) IS NOT UNKNOWN")]
#[case(cast(plus(col(0), col(1)), DataType::Utf8), "CAST(a + b AS Utf8)")]
#[case(Expr::Cast { arg: Box::new(col(0)), to: DataType::Int8, null_on_failure: true }, "TRY_CAST(a AS Int8)")]
#[case(Expr::InList { arg: Box::new(col(0)), list: vec![int(1), col(1)], negated: true }, "a NOT IN (1, b)")]
#[case(
    Expr::Like {
        arg: Box::new(cast(col(0), DataType::Utf8)),
        pattern: Box::new(Expr::Literal(Literal::utf8("it's%"))),
        escape: Some('!'),
        case_insensitive: true,
        negated: false,
    },
    "CAST(a AS Utf8) ILIKE 'it''s%' ESCAPE '!'"
)]
#[case(
    Expr::Case { operand: Some(Box::new(col(0))), branches: vec![(int(1), col(1))], otherwise: Some(Box::new(int(2))) },
    "CASE a WHEN 1 THEN b ELSE 2 END"
)]
#[case(random(), "random()")]
#[case(
    Expr::AverageFromParts { sum: Box::new(col(0)), count: Box::new(plus(col(1), col(2))), data_type: DataType::Float64 },
    "average(a / (b + c))"
)]
fn expressions(#[case] expr: Expr, #[case] text: &str) {
    assert_eq!(expr.display(&schema()).to_string(), text);
}

#[rstest]
#[case(Literal::null(DataType::Utf8), "NULL")]
#[case(Literal::boolean(false), "FALSE")]
#[case(Literal::new(DataType::Decimal128(9, 2), LiteralValue::Integer(-5)), "-0.05")]
#[case(Literal::new(DataType::Decimal128(9, 2), LiteralValue::Integer(12345)), "123.45")]
#[case(Literal::new(DataType::Decimal128(9, 0), LiteralValue::Integer(12)), "12")]
#[case(Literal::new(DataType::Decimal128(9, -2), LiteralValue::Integer(12)), "12e2")]
#[case(Literal::new(DataType::Date32, LiteralValue::Integer(1)), "Date32(1)")]
#[case(Literal::new(DataType::Time64(TimeUnit::Nanosecond), LiteralValue::Integer(1)), "Time64(ns)(1)")]
#[case(Literal::new(DataType::Float64, LiteralValue::Float(F64Bits::new(-0.0))), "-0.0")]
#[case(Literal::utf8("o'clock"), "'o''clock'")]
#[case(Literal::new(DataType::Binary, LiteralValue::Bytes(vec![1, 255])), "X'01ff'")]
#[case(
    Literal::new(
        DataType::Interval(IntervalUnit::MonthDayNano),
        LiteralValue::Interval { months: 1, days: -2, nanos: 3 },
    ),
    "INTERVAL(1 mon -2 d 3 ns)"
)]
fn literals(#[case] literal: Literal, #[case] text: &str) {
    assert_eq!(literal.to_string(), text);
}

#[test]
fn every_format_is_the_same_every_time() {
    for format in [GraphFormat::Tree, GraphFormat::Dot, GraphFormat::Mermaid] {
        let first = workload().render(format);
        assert!((0..20).all(|_| workload().render(format) == first));
    }
}

#[test]
fn a_summary_is_read_by_an_estimate_only() {
    let summary = |builder: &mut DagBuilder| {
        let scan = builder.query(&scan()).unwrap();
        let family = SummaryFamily::Exact { measure: AggIntent::count() };
        let reduction = Reduction::by(vec![]);
        (scan, builder.push(PostOperator::SummaryAgg { family, reduction, filter: None, input: scan }).unwrap())
    };
    let mut builder = DagBuilder::default();
    let (scan, summary) = summary(&mut builder);
    let rows = builder.push(PostOperator::KeepPreAsap(Operator::Distinct { input: summary })).unwrap_err();
    assert_eq!(rows.to_string(), "node 2: reads a summary as rows; estimate it first");
    let names = vec!["n".to_owned()];
    let estimate = builder.push(PostOperator::SummaryEstimate { output_names: names, input: scan }).unwrap_err();
    assert_eq!(estimate.to_string(), "node 2: estimates something that is no summary");
    let two_names = vec!["n".to_owned(), "m".to_owned()];
    assert!(builder.push(PostOperator::SummaryEstimate { output_names: two_names, input: summary }).is_err());
}
