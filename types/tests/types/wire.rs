use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use arrow_schema::{DataType, TimeUnit};
use asap_types::{
    DagBuilder, Expr, F64Bits, Literal, LiteralValue, NodeId, Operator, POST_ASAP_DAG_WIRE_VERSION, PostAsapDag,
    PostOperator, Predicate, TypesError,
};
use rstest::rstest;

use crate::support::{BYTES, JOB, aggregate, host_is, job_is, node, planned, scan, sum};

const VERSION_2: &str = include_str!("fixtures/dag-v2.json");

#[test]
fn what_is_written_is_read() {
    for filter in [None, Some(Predicate(host_is(asap_types::CompareOp::Gt, 1)))] {
        let dag = planned(filter);
        let read = PostAsapDag::from_json(&dag.to_json().unwrap()).unwrap();
        assert_eq!(read, dag);
        let schemas = |dag: &PostAsapDag| (0..dag.nodes().len()).map(|id| dag.schema(NodeId(id)).cloned()).collect();
        let (read, written): (Vec<_>, Vec<_>) = (schemas(&read), schemas(&dag));
        assert_eq!(read, written, "schemas are derived again");
    }
}

#[test]
fn version_2_reads_as_version_3_without_filters() {
    assert!(VERSION_2.contains("\"version\": 2"));
    let dag = planned(None);
    assert_eq!(PostAsapDag::from_json(VERSION_2).unwrap(), dag);
    let rewritten = VERSION_2.replace("\"version\": 2", "\"version\": 3");
    assert_eq!(dag.to_json().unwrap(), rewritten.trim_end(), "nothing filtered is written as before");
    assert_eq!(POST_ASAP_DAG_WIRE_VERSION, 3);
}

#[rstest]
#[case::newer(4)]
#[case::older(1)]
fn other_versions_are_refused_whatever_they_hold(#[case] version: u32) {
    let json = format!("{{\"version\": {version}, \"a field of that version\": []}}");
    let error = PostAsapDag::from_json(&json).unwrap_err();
    assert_eq!(error, TypesError::WireVersion { found: version, oldest: 2, newest: 3 });
}

#[rstest]
#[case::of_the_document("\"roots\"", "\"more\": 1, \"roots\"")]
#[case::of_an_operator("\"table\": {", "\"more\": 1, \"table\": {")]
#[case::of_an_aggregate("\"output_names\"", "\"more\": 1, \"output_names\"")]
#[case::of_a_field("\"nullable\"", "\"more\": 1, \"nullable\"")]
fn unknown_fields_are_refused(#[case] before: &str, #[case] after: &str) {
    let json = VERSION_2.replacen(before, after, 1);
    assert_ne!(json, VERSION_2);
    let error = PostAsapDag::from_json(&json).unwrap_err();
    assert!(error.to_string().contains("unknown field `more`"), "{error}");
}

#[test]
fn filters_that_are_not_parallel_are_refused() {
    let filtered = planned(Some(Predicate(host_is(asap_types::CompareOp::Gt, 1)))).to_json().unwrap();
    let json = filtered.replacen("\"filters\": [", "\"filters\": [null, ", 1);
    assert_ne!(json, filtered);
    let error = PostAsapDag::from_json(&json).unwrap_err();
    assert!(error.to_string().contains("1 measures has 2 filters"), "{error}");
}

#[test]
fn nodes_refer_to_earlier_nodes_only() {
    let mut builder = DagBuilder::default();
    let forward = PostOperator::KeepPreAsap(Operator::Distinct { input: NodeId(0) });
    assert_eq!(builder.push(forward).unwrap_err(), TypesError::NodeOrder { node: 0, input: 0 });
    assert_eq!(builder.root("q", NodeId(7)).unwrap_err(), TypesError::NodeOrder { node: 0, input: 7 });
}

#[test]
fn a_summary_is_no_relation_and_only_summaries_are_estimated() {
    let dag = planned(None);
    let mut builder = DagBuilder::default();
    for node in dag.nodes() {
        builder.push(node.clone()).unwrap();
    }
    let is_summary = |node: &PostOperator| matches!(node, PostOperator::SummaryAgg { .. });
    let summary = NodeId(dag.nodes().iter().position(is_summary).unwrap());
    let read = builder.push(PostOperator::KeepPreAsap(Operator::Distinct { input: summary }));
    assert!(matches!(read, Err(TypesError::SummaryKind { .. })), "{read:?}");
    let estimate = PostOperator::SummaryEstimate { output_names: vec![], input: NodeId(0) };
    assert!(matches!(builder.push(estimate), Err(TypesError::SummaryKind { .. })));
}

#[test]
fn shared_nodes_are_written_once() {
    let scan = scan();
    let by_job = node(aggregate(&scan, &[JOB], vec![(sum(BYTES), None)]));
    let dag = PostAsapDag::from_queries([("a", &by_job), ("b", &scan), ("c", &by_job)]).unwrap();
    assert_eq!(dag.nodes().len(), 2);
    assert_eq!(dag.roots().iter().map(|root| root.node).collect::<Vec<_>>(), [NodeId(1), NodeId(0), NodeId(1)]);
    assert_eq!(dag.reader_counts(), [2, 2]);
}

#[rstest]
#[case::null(Literal::null(DataType::Utf8View))]
#[case::large_decimal(Literal::new(DataType::Decimal128(38, 0), LiteralValue::Integer(i128::MAX)))]
#[case::unsigned(Literal::new(DataType::UInt64, LiteralValue::Integer(u64::MAX.into())))]
#[case::timestamp(Literal::new(DataType::Timestamp(TimeUnit::Nanosecond, Some("Europe/Vienna".into())), LiteralValue::Integer(-1)))]
#[case::nan(Literal::new(DataType::Float64, LiteralValue::Float(F64Bits::new(f64::NAN))))]
#[case::negative_zero(Literal::new(DataType::Float64, LiteralValue::Float(F64Bits::new(-0.0))))]
#[case::bytes(Literal::new(DataType::Binary, LiteralValue::Bytes(vec![0, 255])))]
#[case::text(Literal::utf8("it's \u{1F980}\n"))]
fn literals_keep_their_bits(#[case] literal: Literal) {
    let expr: Expr = Expr::Literal(literal);
    let json = serde_json::to_string(&expr).unwrap();
    assert_eq!(serde_json::from_str::<Expr>(&json).unwrap(), expr);
}

#[test]
fn literals_compare_by_type_and_bits() {
    let float = |value| Literal::new(DataType::Float64, LiteralValue::Float(F64Bits::new(value)));
    assert_ne!(float(0.0), float(-0.0));
    assert_eq!(float(f64::NAN), float(f64::NAN));
    let int32 = Literal::new(DataType::Int32, LiteralValue::Integer(1));
    assert_ne!(int32, Literal::int64(1));
    let hash = |literal: &Literal| {
        let mut hasher = DefaultHasher::new();
        literal.hash(&mut hasher);
        hasher.finish()
    };
    assert_eq!(hash(&float(f64::NAN)), hash(&float(f64::NAN)));
    assert_eq!(job_is("a"), job_is("a"));
}
