use arrow_schema::DataType;
use asap_types::{
    AggIntent, Expr, GraphFormat, Literal, LiteralValue, Operator, PostAsapDag, QueryExpr, SortKey, UnaryOp,
};
use rstest::rstest;

use crate::support::{
    BYTES, HOST, JOB, aggregate, can_fail, filter, host_is, job_is, node, planned, project, scan_where, sum, table,
};

#[test]
fn trees() {
    assert_eq!(
        planned(None).render(GraphFormat::Tree),
        "\
fine
  n1 = Aggregate(by job, host: sum(bytes))
    Scan(metrics)
coarse
  RollUp(by c0: sum(c2))
    n1 (see above)
rows
  Estimate(host, rows)
    Summary(by host: count(*))
      Scan(metrics: job = 'a\"<b>')
"
    );
}

#[test]
fn dot() {
    assert_eq!(
        planned(None).render(GraphFormat::Dot),
        r#"digraph workload {
  rankdir=LR;
  node [shape=box];
  n0 [label="Scan(metrics)"];
  n1 [label="Aggregate(by job, host: sum(bytes))"];
  n2 [label="RollUp(by c0: sum(c2))"];
  n3 [label="Scan(metrics: job = 'a\"<b>')"];
  n4 [label="Summary(by host: count(*))"];
  n5 [label="Estimate(host, rows)"];
  q0 [shape=ellipse, label="fine"];
  q1 [shape=ellipse, label="coarse"];
  q2 [shape=ellipse, label="rows"];
  n0 -> n1;
  n1 -> n2;
  n3 -> n4;
  n4 -> n5;
  n1 -> q0;
  n2 -> q1;
  n5 -> q2;
}
"#
    );
}

#[test]
fn mermaid() {
    assert_eq!(
        planned(None).render(GraphFormat::Mermaid),
        r#"flowchart LR
  n0["Scan(metrics)"]
  n1["Aggregate(by job, host: sum(bytes))"]
  n2["RollUp(by c0: sum(c2))"]
  n3["Scan(metrics: job = 'a&quot;&lt;b&gt;')"]
  n4["Summary(by host: count(*))"]
  n5["Estimate(host, rows)"]
  q0(["fine"])
  q1(["coarse"])
  q2(["rows"])
  n0 --> n1
  n1 --> n2
  n3 --> n4
  n4 --> n5
  n1 --> q0
  n2 --> q1
  n5 --> q2
"#
    );
}

#[test]
fn every_operator_has_a_line() {
    let counted = node(aggregate(
        &scan_where(vec![job_is("a")]),
        &[JOB, HOST],
        vec![(sum(BYTES), None), (AggIntent::count(), Some(host_is(asap_types::CompareOp::GtEq, 2)))],
    ));
    let kept = filter(Expr::column(2).is_not_null(), &counted);
    let named = project(vec![(Expr::column(0), "c0"), (Expr::column(2), "total")], &kept);
    let distinct = QueryExpr::new(Operator::Distinct { input: named }).unwrap();
    let keys = vec![SortKey { expr: Expr::column(1), descending: true, nulls_first: true }];
    let sorted = QueryExpr::new(Operator::Sort { keys, input: distinct }).unwrap();
    let limit = QueryExpr::new(Operator::Limit { skip: 5, fetch: Some(10), input: sorted }).unwrap();
    let dag = PostAsapDag::from_queries([("top", &limit)]).unwrap();
    assert_eq!(
        dag.render(GraphFormat::Tree),
        "\
top
  Limit(10, skip 5)
    Sort(total DESC NULLS FIRST)
      Distinct
        Project(c0, c2 AS total)
          Filter(c2 IS NOT NULL)
            Aggregate(by job, host: sum(bytes), count(*) filter (host >= 2))
              Scan(metrics: job = 'a')
"
    );
}

#[rstest]
#[case::nested(host_is(asap_types::CompareOp::Gt, 1).and(job_is("it's")), "(host > 1) AND (job = 'it''s')")]
#[case::test(can_fail().unary(UnaryOp::IsNotTrue), "((1 / host) > 0) IS NOT TRUE")]
#[case::decimal(Expr::Literal(Literal::new(DataType::Decimal128(5, 2), LiteralValue::Integer(-5))), "-0.05")]
#[case::negative_scale(Expr::Literal(Literal::new(DataType::Decimal128(5, -2), LiteralValue::Integer(5))), "5e2")]
#[case::try_cast(Expr::Cast { arg: Box::new(Expr::column(JOB)), to: DataType::Int64, null_on_failure: true }, "TRY_CAST(job AS Int64)")]
#[case::in_list(
    Expr::InList { arg: Box::new(Expr::column(HOST)), list: vec![Expr::Literal(Literal::int64(1)), Expr::Literal(Literal::int64(2))], negated: true },
    "host NOT IN (1, 2)"
)]
#[case::case_expression(
    Expr::Case { operand: None, branches: vec![(job_is("a"), Expr::column(BYTES))], otherwise: None },
    "CASE WHEN job = 'a' THEN bytes END"
)]
#[case::outside(Expr::column(9), "#9")]
fn expressions(#[case] expr: Expr, #[case] text: &str) {
    assert_eq!(expr.display(&table()).to_string(), text);
}
