use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{
    AggIntent, Aggregate, ArithmeticOp, CompareOp, DagBuilder, ExactOperation, Expr, Field, FunctionFacts, Literal,
    MeasureFilters, NamedExpr, Operator, PostAsapDag, PostOperator, Predicate, QueryExpr, Reduction, Schema,
    SummaryFamily, TableRef, Volatility,
};

pub(crate) const JOB: usize = 0;
pub(crate) const HOST: usize = 1;
pub(crate) const BYTES: usize = 2;
pub(crate) const PRICE: usize = 3;
pub(crate) const LOAD: usize = 4;

pub(crate) fn table() -> Schema {
    Schema::new(vec![
        Field::new("job", DataType::Utf8, true),
        Field::new("host", DataType::Int64, false),
        Field::new("bytes", DataType::Int32, true),
        Field::new("price", DataType::Decimal128(15, 2), false),
        Field::new("load", DataType::Float64, true),
    ])
}

pub(crate) fn scan_where(conjuncts: Vec<Expr>) -> Arc<QueryExpr> {
    let predicates = conjuncts.into_iter().map(Predicate).collect();
    QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema: table(), predicates }).unwrap()
}

pub(crate) fn scan() -> Arc<QueryExpr> {
    scan_where(vec![])
}

pub(crate) fn filter(predicate: Expr, input: &Arc<QueryExpr>) -> Arc<QueryExpr> {
    QueryExpr::new(Operator::Filter { predicate: Predicate(predicate), input: Arc::clone(input) }).unwrap()
}

pub(crate) fn project(columns: Vec<(Expr, &str)>, input: &Arc<QueryExpr>) -> Arc<QueryExpr> {
    let columns = columns.into_iter().map(|(expr, name)| NamedExpr { expr, name: name.to_owned() }).collect();
    QueryExpr::new(Operator::Project { columns, input: Arc::clone(input) }).unwrap()
}

/// Groups by plain columns; outputs are named `c0`, `c1`, ….
pub(crate) fn aggregate(
    input: &Arc<QueryExpr>,
    keys: &[usize],
    measures: Vec<(AggIntent, Option<Expr>)>,
) -> Aggregate<Arc<QueryExpr>> {
    let output_names = (0..keys.len() + measures.len()).map(|index| format!("c{index}")).collect();
    let (measures, filters): (Vec<_>, Vec<_>) = measures.into_iter().unzip();
    Aggregate {
        reduction: Reduction::by(keys.iter().map(|&key| Expr::column(key)).collect()),
        measures,
        filters: filters.into_iter().map(|filter| filter.map(Predicate)).collect::<MeasureFilters>(),
        output_names,
        having: None,
        input: Arc::clone(input),
    }
}

pub(crate) fn node(aggregate: Aggregate<Arc<QueryExpr>>) -> Arc<QueryExpr> {
    QueryExpr::new(Operator::Aggregate(aggregate)).unwrap()
}

pub(crate) fn sum(column: usize) -> AggIntent {
    AggIntent::Sum { arg: Expr::column(column) }
}

pub(crate) fn int(value: i64) -> Expr {
    Expr::Literal(Literal::int64(value))
}

pub(crate) fn host_is(op: CompareOp, value: i64) -> Expr {
    Expr::column(HOST).compare(op, int(value))
}

pub(crate) fn job_is(value: &str) -> Expr {
    Expr::column(JOB).eq(Expr::Literal(Literal::utf8(value)))
}

/// `1 / host > 0`, which fails for a host of 0.
pub(crate) fn can_fail() -> Expr {
    let (left, right) = (Box::new(int(1)), Box::new(Expr::column(HOST)));
    let quotient = Expr::Arithmetic { op: ArithmeticOp::Divide, left, right, data_type: DataType::Int64 };
    quotient.compare(CompareOp::Gt, int(0))
}

/// `random() = load`.
pub(crate) fn volatile() -> Expr {
    let facts = FunctionFacts {
        data_type: DataType::Float64,
        nullable: false,
        volatility: Volatility::Volatile,
        can_fail: false,
    };
    Expr::Function { name: "random".into(), args: vec![], facts }.eq(Expr::column(LOAD))
}

/// Three queries: a sum by job and host as it is written, a sum by job that is rolled up from it, and a count that a summary
/// of its own answers.
pub(crate) fn planned(filter: Option<Predicate>) -> PostAsapDag {
    let mut builder = DagBuilder::default();
    let fine = builder.query(&node(aggregate(&scan(), &[JOB, HOST], vec![(sum(BYTES), None)]))).unwrap();
    builder.root("fine", fine).unwrap();
    let combine = AggIntent::Sum { arg: Expr::column(2) };
    let rolled = aggregate(&scan(), &[JOB], vec![(combine, filter.map(|filter| filter.0))]).with_input(fine);
    let coarse = builder.push(PostOperator::Exact(ExactOperation::Aggregate(rolled))).unwrap();
    builder.root("coarse", coarse).unwrap();
    let table = builder.query(&scan_where(vec![job_is("a\"<b>")])).unwrap();
    let family = SummaryFamily::Exact { measure: AggIntent::count() };
    let reduction = Reduction::by(vec![Expr::column(HOST)]);
    let summary = builder.push(PostOperator::SummaryAgg { family, reduction, filter: None, input: table }).unwrap();
    let output_names = vec!["host".to_owned(), "rows".to_owned()];
    let estimate = builder.push(PostOperator::SummaryEstimate { output_names, input: summary }).unwrap();
    builder.root("rows", estimate).unwrap();
    builder.finish()
}
