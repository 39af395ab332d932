//! Short spellings of plans.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{
    AggIntent, Aggregate, ArithmeticOp, CompareOp, Expr, Field, FunctionFacts, Literal, MeasureFilters, NamedExpr,
    Operator, Predicate, QueryExpr, Reduction, Schema, SortKey, TableRef, UnaryOp, Volatility,
};

pub(crate) fn col(index: usize) -> Expr {
    Expr::column(index)
}

pub(crate) fn int(value: i64) -> Expr {
    Expr::Literal(Literal::int64(value))
}

pub(crate) fn boolean(value: bool) -> Expr {
    Expr::Literal(Literal::boolean(value))
}

pub(crate) fn not(arg: Expr) -> Expr {
    arg.unary(UnaryOp::Not)
}

pub(crate) fn is_null(arg: Expr) -> Expr {
    arg.unary(UnaryOp::IsNull)
}

pub(crate) fn or(left: Expr, right: Expr) -> Expr {
    Expr::Logical { op: asap_types::LogicalOp::Or, left: Box::new(left), right: Box::new(right) }
}

pub(crate) fn arithmetic(op: ArithmeticOp, left: Expr, right: Expr) -> Expr {
    Expr::Arithmetic { op, left: Box::new(left), right: Box::new(right), data_type: DataType::Int64 }
}

pub(crate) fn plus(left: Expr, right: Expr) -> Expr {
    arithmetic(ArithmeticOp::Add, left, right)
}

/// `10 / divisor`, which fails for a divisor of 0.
pub(crate) fn ten_over(divisor: Expr) -> Expr {
    arithmetic(ArithmeticOp::Divide, int(10), divisor)
}

pub(crate) fn greater(left: Expr, right: i64) -> Expr {
    left.compare(CompareOp::Gt, int(right))
}

pub(crate) fn random() -> Expr {
    let facts = FunctionFacts {
        data_type: DataType::Int64,
        nullable: false,
        volatility: Volatility::Volatile,
        can_fail: false,
    };
    Expr::Function { name: "random".to_owned(), args: vec![], facts }
}

pub(crate) fn cast(arg: Expr, to: DataType) -> Expr {
    Expr::Cast { arg: Box::new(arg), to, null_on_failure: false }
}

/// Columns 0 `a`, 1 `b`, 2 `c` (not NULL), 3 `x`.
pub(crate) fn schema() -> Schema {
    let column = |name: &str, nullable| Field::new(name, DataType::Int64, nullable);
    Schema::new(vec![column("a", true), column("b", true), column("c", false), column("x", true)])
}

pub(crate) fn scan() -> Arc<QueryExpr> {
    scan_where(vec![])
}

pub(crate) fn scan_where(predicates: Vec<Expr>) -> Arc<QueryExpr> {
    let predicates = predicates.into_iter().map(Predicate).collect();
    node(Operator::Scan { table: TableRef::bare("t"), schema: schema(), predicates })
}

pub(crate) fn node(operator: Operator<Arc<QueryExpr>>) -> Arc<QueryExpr> {
    QueryExpr::new(operator).unwrap()
}

pub(crate) fn filter(input: &Arc<QueryExpr>, predicate: Expr) -> Arc<QueryExpr> {
    node(Operator::Filter { predicate: Predicate(predicate), input: Arc::clone(input) })
}

/// A projection to `(expression, name)` columns.
pub(crate) fn project(input: &Arc<QueryExpr>, columns: &[(Expr, &str)]) -> Arc<QueryExpr> {
    let columns = columns.iter().map(|(expr, name)| NamedExpr { expr: expr.clone(), name: (*name).to_owned() });
    node(Operator::Project { columns: columns.collect(), input: Arc::clone(input) })
}

pub(crate) fn sort(input: &Arc<QueryExpr>, key: Expr) -> Arc<QueryExpr> {
    let keys = vec![SortKey { expr: key, descending: false, nulls_first: false }];
    node(Operator::Sort { keys, input: Arc::clone(input) })
}

pub(crate) fn limit(input: &Arc<QueryExpr>, skip: u64, fetch: Option<u64>) -> Arc<QueryExpr> {
    node(Operator::Limit { skip, fetch, input: Arc::clone(input) })
}

pub(crate) fn distinct(input: &Arc<QueryExpr>) -> Arc<QueryExpr> {
    node(Operator::Distinct { input: Arc::clone(input) })
}

/// An aggregate with generated output names `k0`, …, `m0`, ….
pub(crate) fn aggregate_of<N>(
    input: N,
    by: Vec<Expr>,
    measures: Vec<(AggIntent, Option<Expr>)>,
    having: Option<Expr>,
) -> Aggregate<N> {
    let keys = (0..by.len()).map(|key| format!("k{key}"));
    let output_names = keys.chain((0..measures.len()).map(|measure| format!("m{measure}"))).collect();
    let (measures, filters): (Vec<_>, Vec<_>) = measures.into_iter().unzip();
    Aggregate {
        reduction: Reduction::by(by),
        measures,
        filters: filters.into_iter().map(|filter| filter.map(Predicate)).collect::<MeasureFilters>(),
        output_names,
        having: having.map(Predicate),
        input,
    }
}

pub(crate) fn aggregate(
    input: &Arc<QueryExpr>,
    by: Vec<Expr>,
    measures: Vec<(AggIntent, Option<Expr>)>,
    having: Option<Expr>,
) -> Arc<QueryExpr> {
    node(Operator::Aggregate(aggregate_of(Arc::clone(input), by, measures, having)))
}

/// `count(*)` by columns.
pub(crate) fn counted(input: &Arc<QueryExpr>, by: &[usize]) -> Arc<QueryExpr> {
    aggregate(input, by.iter().map(|&key| col(key)).collect(), vec![(AggIntent::count(), None)], None)
}
