//! The wire form: what is written is read, and nothing else is.

use arrow_schema::{DataType, IntervalUnit, TimeUnit};
use asap_types::{
    AccuracyTarget, AggIntent, Aggregate, AggregateFacts, ArithmeticOp, CompareOp, DagBuilder, ExactOperation, Expr,
    F64Bits, Literal, LiteralValue, LogicalOp, NamedExpr, NodeId, Operator, POST_ASAP_DAG_WIRE_VERSION, PostAsapDag,
    PostOperator, Predicate, Reduction, SortKey, SummaryFamily, TableRef, TypesError, UnaryOp, Volatility,
};
use rstest::rstest;

use crate::build::*;

const VERSION_2: &str = include_str!("fixtures/dag-v2.json");

fn boxed(index: usize) -> Box<Expr> {
    Box::new(col(index))
}

fn literals() -> Vec<Literal> {
    let zoned = DataType::Timestamp(TimeUnit::Microsecond, Some("Europe/Berlin".into()));
    let interval = LiteralValue::Interval { months: -1, days: 2, nanos: i64::MIN };
    vec![
        Literal::null(DataType::Null),
        Literal::null(DataType::List(std::sync::Arc::new(arrow_schema::Field::new("item", DataType::Utf8, true)))),
        Literal::boolean(true),
        Literal::int64(i64::MIN),
        Literal::new(DataType::UInt64, LiteralValue::Integer(u64::MAX.into())),
        Literal::new(DataType::Decimal128(38, 9), LiteralValue::Integer(i128::MAX)),
        Literal::new(zoned, LiteralValue::Integer(-1)),
        Literal::new(DataType::Float64, LiteralValue::Float(F64Bits::new(-0.0))),
        Literal::new(DataType::Float64, LiteralValue::Float(F64Bits(f64::NAN.to_bits() | 7))),
        Literal::new(DataType::Float32, LiteralValue::Float(F64Bits::new(f64::INFINITY))),
        Literal::utf8("it's \"quoted\"\n\u{1F600}"),
        Literal::new(DataType::Binary, LiteralValue::Bytes(vec![0, 255])),
        Literal::new(DataType::Interval(IntervalUnit::MonthDayNano), interval),
    ]
}

/// One expression of every kind, over the columns of [`schema`].
fn expressions() -> Vec<Expr> {
    let ops = [CompareOp::Eq, CompareOp::NotEq, CompareOp::Lt, CompareOp::LtEq, CompareOp::Gt, CompareOp::GtEq];
    let distinct = [CompareOp::IsDistinctFrom, CompareOp::IsNotDistinctFrom];
    let tests = [
        UnaryOp::IsNull,
        UnaryOp::IsNotNull,
        UnaryOp::IsTrue,
        UnaryOp::IsNotTrue,
        UnaryOp::IsFalse,
        UnaryOp::IsNotFalse,
        UnaryOp::IsUnknown,
        UnaryOp::IsNotUnknown,
        UnaryOp::Not,
    ];
    let math =
        [ArithmeticOp::Add, ArithmeticOp::Subtract, ArithmeticOp::Multiply, ArithmeticOp::Divide, ArithmeticOp::Modulo];
    let text = || Box::new(cast(col(0), DataType::Utf8));
    let like = |escape, case_insensitive, negated| Expr::Like {
        arg: text(),
        pattern: Box::new(Expr::Literal(Literal::utf8("1%"))),
        escape,
        case_insensitive,
        negated,
    };
    let mut all: Vec<Expr> = literals().into_iter().map(Expr::Literal).collect();
    all.extend(ops.into_iter().chain(distinct).map(|op| col(0).compare(op, col(1))));
    all.extend(tests.into_iter().map(|op| greater(col(0), 1).unary(op)));
    all.extend(math.into_iter().map(|op| arithmetic(op, col(0), col(1))));
    all.extend([
        col(3),
        Expr::Logical { op: LogicalOp::Or, left: Box::new(boolean(false)), right: Box::new(is_null(col(0))) },
        col(0).unary(UnaryOp::Negative),
        Expr::Cast { arg: boxed(0), to: DataType::Decimal128(10, 2), null_on_failure: true },
        Expr::InList { arg: boxed(0), list: vec![int(1), col(1)], negated: true },
        like(None, false, false),
        like(Some('\\'), true, true),
        Expr::Case { operand: Some(boxed(0)), branches: vec![(int(1), col(1)), (int(2), col(2))], otherwise: None },
        Expr::Case { operand: None, branches: vec![(is_null(col(0)), col(1))], otherwise: Some(boxed(2)) },
        random(),
        Expr::AverageFromParts { sum: boxed(0), count: boxed(2), data_type: DataType::Float64 },
    ]);
    all
}

fn measures() -> Vec<AggIntent> {
    let facts = AggregateFacts {
        data_type: DataType::Int64,
        nullable: true,
        volatility: Volatility::Stable,
        can_fail: true,
        skips_nulls: false,
        order_matters: true,
    };
    let epsilon = F64Bits::new(0.01);
    vec![
        AggIntent::count(),
        AggIntent::Count { accuracy: AccuracyTarget::Epsilon { epsilon } },
        AggIntent::Count { accuracy: AccuracyTarget::EpsilonDelta { epsilon, delta: F64Bits::new(0.05) } },
        AggIntent::Sum { arg: col(3) },
        AggIntent::Sum0 { arg: col(3) },
        AggIntent::Min { arg: col(3) },
        AggIntent::Max { arg: col(3) },
        AggIntent::Avg { arg: col(3) },
        AggIntent::Rate { arg: col(3) },
        AggIntent::Named { name: "first_value".to_owned(), args: vec![col(3), col(0)], distinct: true, facts },
    ]
}

/// A DAG with every operator, expression and measure.
fn everything() -> PostAsapDag {
    let mut builder = DagBuilder::default();
    let mut push = |node| builder.push(node).unwrap();
    let keep = PostOperator::KeepPreAsap;
    let table = TableRef { catalog: Some("c".into()), schema: Some("s".into()), table: "t".into() };
    let keyed = schema().with_unique_key([2]);
    let scan = push(keep(Operator::Scan { table, schema: keyed, predicates: vec![Predicate(greater(col(0), 1))] }));
    let filter = push(keep(Operator::Filter { predicate: Predicate(is_null(col(1))), input: scan }));
    let columns = expressions().into_iter().enumerate().map(|(i, expr)| NamedExpr { expr, name: format!("e{i}") });
    push(keep(Operator::Project { columns: columns.collect(), input: filter }));
    let filters =
        measures().into_iter().enumerate().map(|(i, measure)| (measure, (i % 2 == 0).then(|| is_null(col(0)))));
    let node = aggregate_of(filter, vec![col(0), col(1)], filters.collect(), Some(greater(col(2), 3)));
    let aggregate = push(keep(Operator::Aggregate(node)));
    let rolled = aggregate_of(aggregate, vec![col(1)], vec![(AggIntent::Sum0 { arg: col(2) }, None)], None);
    let rolled = push(PostOperator::Exact(ExactOperation::Aggregate(rolled)));
    let distinct = push(keep(Operator::Distinct { input: rolled }));
    let key = SortKey { expr: col(0), descending: true, nulls_first: true };
    let sort = push(keep(Operator::Sort { keys: vec![key], input: distinct }));
    let limit = push(keep(Operator::Limit { skip: 1, fetch: Some(2), input: sort }));
    push(keep(Operator::Limit { skip: 1, fetch: None, input: limit }));
    let summary = push(PostOperator::SummaryAgg {
        family: SummaryFamily::Exact { measure: AggIntent::Sum { arg: col(3) } },
        reduction: asap_types::Reduction::by(vec![col(0)]),
        filter: Some(Predicate(is_null(col(1)))),
        input: scan,
    });
    let names = vec!["a".to_owned(), "sum".to_owned()];
    let estimate = push(PostOperator::SummaryEstimate { output_names: names, input: summary });
    builder.root("limited", limit).unwrap();
    builder.root("estimated", estimate).unwrap();
    builder.root("limited again", limit).unwrap();
    builder.finish()
}

#[test]
fn every_operator_expression_and_measure_survives_the_wire() {
    let dag = everything();
    let json = dag.to_json().unwrap();
    let read = PostAsapDag::from_json(&json).unwrap();
    assert_eq!(read, dag);
    assert_eq!(read.to_json().unwrap(), json);
    let ids = (0..dag.nodes().len()).map(NodeId);
    assert!(ids.into_iter().all(|id| read.schema(id).is_some() && read.schema(id) == dag.schema(id)));
}

#[test]
fn expressions_and_literals_survive_alone_and_by_bits() {
    for expr in expressions() {
        let json = serde_json::to_string(&expr).unwrap();
        assert_eq!(serde_json::from_str::<Expr>(&json).unwrap(), expr, "{json}");
    }
    assert_ne!(F64Bits::new(0.0), F64Bits::new(-0.0));
    assert_eq!(F64Bits::new(f64::NAN), F64Bits::new(f64::NAN));
    assert_ne!(Literal::int64(1), Literal::new(DataType::Int32, LiteralValue::Integer(1)));
}

#[test]
fn version_2_is_version_3_without_filters() {
    let dag = PostAsapDag::from_json(VERSION_2).unwrap();
    let PostOperator::KeepPreAsap(Operator::Aggregate(aggregate)) = &dag.nodes()[1] else { panic!("{dag:?}") };
    assert!(aggregate.filters.is_none());
    let PostOperator::Exact(ExactOperation::Aggregate(rollup)) = &dag.nodes()[2] else { panic!("{dag:?}") };
    assert!(rollup.filters.is_none());
    let PostOperator::SummaryAgg { filter: None, .. } = &dag.nodes()[3] else { panic!("{dag:?}") };
    assert!(!dag.nodes().iter().any(PostOperator::is_filtered));
    let current = dag.to_json().unwrap();
    assert_eq!(current.trim(), VERSION_2.trim().replace("\"version\": 2", "\"version\": 3"));
    assert_eq!(PostAsapDag::from_json(&current).unwrap(), dag);
    assert_eq!(
        dag.render(asap_types::GraphFormat::Tree),
        "\
fine
  n1 = Aggregate(by job, region: sum(bytes))
    n0 = Scan(metrics)
coarse
  RollUp(by job: sum(bytes))
    n1 (see above)
total
  Estimate(bytes)
    Summary(grand total: sum(bytes))
      n0 (see above)
"
    );
}

#[rstest]
#[case::newer("{\"version\": 4, \"nodes\": [{\"Teleport\": {}}], \"roots\": [], \"hints\": 1}", 4)]
#[case::newer_without_anything_else("{\"version\": 4}", 4)]
#[case::older("{\"version\": 1, \"nodes\": [], \"roots\": []}", 1)]
fn another_version_is_refused_for_its_version(#[case] json: &str, #[case] found: u32) {
    let newest = POST_ASAP_DAG_WIRE_VERSION;
    assert_eq!(PostAsapDag::from_json(json), Err(TypesError::WireVersion { found, oldest: 2, newest }));
}

fn wire_error(json: &str) -> String {
    match PostAsapDag::from_json(json) {
        Err(TypesError::Wire(message)) => message,
        other => panic!("{other:?}"),
    }
}

#[rstest]
#[case::no_json("")]
#[case::no_object("3")]
#[case::no_version("{\"nodes\": [], \"roots\": []}")]
#[case::no_nodes("{\"version\": 3, \"roots\": []}")]
#[case::version_is_text("{\"version\": \"3\", \"nodes\": [], \"roots\": []}")]
#[case::trailing("{\"version\": 3, \"nodes\": [], \"roots\": []} {}")]
fn what_is_no_dag_is_refused(#[case] json: &str) {
    assert!(!wire_error(json).is_empty());
}

/// A field that nobody knows, put into every object of a document that holds one of each kind.
#[test]
fn unknown_fields_are_refused_wherever_they_stand() {
    let json: serde_json::Value = serde_json::from_str(&everything().to_json().unwrap()).unwrap();
    let mut objects = Vec::new();
    collect_objects(&json, String::new(), &mut objects);
    assert!(objects.len() > 100);
    for pointer in objects {
        // Arrow's own types decide for themselves.
        if pointer.contains("data_type") || pointer.ends_with("/to") {
            continue;
        }
        let mut changed = json.clone();
        let object = changed.pointer_mut(&pointer).unwrap().as_object_mut().unwrap();
        object.insert("not_a_field".to_owned(), serde_json::Value::from(1));
        let read = PostAsapDag::from_json(&changed.to_string());
        assert!(matches!(read, Err(TypesError::Wire(_))), "accepted at {pointer}: {read:?}");
    }
}

fn collect_objects(value: &serde_json::Value, pointer: String, out: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(map) => {
            map.iter().for_each(|(key, value)| collect_objects(value, format!("{pointer}/{key}"), out));
            out.push(pointer);
        }
        serde_json::Value::Array(items) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| collect_objects(value, format!("{pointer}/{index}"), out));
        }
        _ => {}
    }
}

#[test]
fn a_document_is_checked_as_a_builder_checks() {
    let scan = |predicate: &str| {
        let schema = r#"{"fields": [{"name": "a", "data_type": "Int64", "nullable": true}]}"#;
        let scan = format!(r#"{{"table": {{"table": "t"}}, "schema": {schema}, "predicates": [{predicate}]}}"#);
        format!(r#"{{"KeepPreAsap": {{"Scan": {scan}}}}}"#)
    };
    let dag = |nodes: &str, root: usize| {
        format!(r#"{{"version": 3, "nodes": [{nodes}], "roots": [{{"name": "q", "node": {root}}}]}}"#)
    };
    assert!(PostAsapDag::from_json(&dag(&scan(""), 0)).is_ok());
    assert!(wire_error(&dag(&scan(""), 1)).contains("refers to node 1"));
    assert!(wire_error(&dag(&scan(r#"{"Column": 0}"#), 0)).contains("must be Boolean"));
    assert!(wire_error(&dag(&scan(r#"{"Column": 7}"#), 0)).contains("out of range"));
    let forward = r#"{"KeepPreAsap": {"Distinct": {"input": 1}}}"#;
    assert!(wire_error(&dag(&format!("{forward}, {}", scan("")), 0)).contains("only to earlier nodes"));
    let own = r#"{"KeepPreAsap": {"Distinct": {"input": 0}}}"#;
    assert!(wire_error(&dag(own, 0)).contains("only to earlier nodes"));
}

#[test]
fn filters_in_a_document_are_parallel_to_measures() {
    let filtered = aggregate(&scan(), vec![], vec![(AggIntent::count(), Some(is_null(col(0))))], None);
    let json = PostAsapDag::from_queries([("q", &filtered)]).unwrap().to_json().unwrap();
    let longer = json.replacen("\"filters\": [", "\"filters\": [null, ", 1);
    assert_ne!(json, longer);
    assert!(wire_error(&longer).contains("1 measures has 2 filters"));
}

/// What version 3 added cannot stand in a document that says version 2: its writer did not know it.
#[test]
fn a_document_of_version_2_with_a_filter_is_refused() {
    let filtered = |input| aggregate_of(input, vec![], vec![(AggIntent::count(), Some(is_null(col(0))))], None);
    let nodes: [fn(NodeId, Aggregate<NodeId>) -> PostOperator; 3] = [
        |_, aggregate| PostOperator::KeepPreAsap(Operator::Aggregate(aggregate)),
        |_, aggregate| PostOperator::Exact(ExactOperation::Aggregate(aggregate)),
        |input, aggregate| PostOperator::SummaryAgg {
            family: SummaryFamily::Exact { measure: aggregate.measures[0].clone() },
            reduction: aggregate.reduction.clone(),
            filter: aggregate.filters.get(0).cloned(),
            input,
        },
    ];
    for node in nodes {
        let mut builder = DagBuilder::default();
        let scan = builder.query(&scan()).unwrap();
        builder.push(node(scan, filtered(scan))).unwrap();
        let json = builder.finish().to_json().unwrap();
        assert!(PostAsapDag::from_json(&json).is_ok());
        let older = json.replacen("\"version\": 3", "\"version\": 2", 1);
        assert!(wire_error(&older).contains("node 1 filters a measure, which wire version 2 cannot say"));
    }
}

#[test]
fn groupings_of_labels_survive_the_wire() {
    let labelled = [
        (Reduction::PerEntity, 0, "per entity: count(*)"),
        (Reduction::Reduce { by: vec![col(0)], without: vec![col(1)] }, 1, "by a without b: count(*)"),
        (Reduction::Reduce { by: vec![], without: vec![col(1), col(2)] }, 0, "without b, c: count(*)"),
    ];
    for (reduction, keys, text) in labelled {
        let by = (0..keys).map(col).collect();
        let plain = aggregate_of(scan(), by, vec![(AggIntent::count(), None)], None);
        let query = node(Operator::Aggregate(Aggregate { reduction, ..plain }));
        assert_eq!(query.schema().unique_keys().len(), 0);
        let dag = PostAsapDag::from_queries([("q", &query)]).unwrap();
        assert_eq!(PostAsapDag::from_json(&dag.to_json().unwrap()).unwrap(), dag);
        let Operator::Aggregate(aggregate) = query.operator() else { panic!() };
        assert_eq!(aggregate.describe(&schema()), text);
    }
}

#[test]
fn shared_nodes_are_written_once() {
    let scan = scan();
    let over_scan = counted(&scan, &[0]);
    let dag = PostAsapDag::from_queries([("a", &over_scan), ("b", &scan), ("c", &over_scan)]).unwrap();
    assert_eq!(dag.roots().iter().map(|root| root.node).collect::<Vec<_>>(), [NodeId(1), NodeId(0), NodeId(1)]);
    assert_eq!(dag.reader_counts(), [2, 2]);
}
