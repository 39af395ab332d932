//! Short spellings of plans.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{
    AggIntent, Aggregate, ArithmeticOp, CompareOp, Expr, Field, Literal, MeasureFilters, Operator, Predicate,
    QueryExpr, Reduction, Schema, TableRef, UnaryOp,
};

pub(crate) fn col(index: usize) -> Expr {
    Expr::column(index)
}

pub(crate) fn int(value: i64) -> Expr {
    Expr::Literal(Literal::int64(value))
}

pub(crate) fn arithmetic(op: ArithmeticOp, left: Expr, right: Expr) -> Expr {
    Expr::Arithmetic { op, left: Box::new(left), right: Box::new(right), data_type: DataType::Int64 }
}

/// `10 / divisor`, which fails for a divisor of 0.
pub(crate) fn ten_over(divisor: Expr) -> Expr {
    arithmetic(ArithmeticOp::Divide, int(10), divisor)
}

pub(crate) fn greater(left: Expr, right: i64) -> Expr {
    left.compare(CompareOp::Gt, int(right))
}

pub(crate) fn is_null(arg: Expr) -> Expr {
    arg.unary(UnaryOp::IsNull)
}

pub(crate) fn sum(arg: Expr) -> AggIntent {
    AggIntent::Sum { arg }
}

pub(crate) fn min(arg: Expr) -> AggIntent {
    AggIntent::Min { arg }
}

pub(crate) fn max(arg: Expr) -> AggIntent {
    AggIntent::Max { arg }
}

pub(crate) fn avg(arg: Expr) -> AggIntent {
    AggIntent::Avg { arg }
}

/// Columns 0 `a`, 1 `b`, 2 `c` (not NULL), 3 `x`, 4 `d` (decimal), 5 `f` (float), 6 `y` (not NULL), 7 `g` (float, not NULL).
pub(crate) fn schema() -> Schema {
    let nullable = |name: &str, data_type| Field::new(name, data_type, true);
    Schema::new(vec![
        nullable("a", DataType::Int64),
        nullable("b", DataType::Int64),
        Field::new("c", DataType::Int64, false),
        nullable("x", DataType::Int64),
        nullable("d", DataType::Decimal128(5, 0)),
        nullable("f", DataType::Float64),
        Field::new("y", DataType::Int64, false),
        Field::new("g", DataType::Float64, false),
    ])
}

pub(crate) fn scan_of(table: &str) -> Arc<QueryExpr> {
    scan_where(table, vec![])
}

pub(crate) fn scan_where(table: &str, predicates: Vec<Expr>) -> Arc<QueryExpr> {
    let predicates = predicates.into_iter().map(Predicate).collect();
    QueryExpr::new(Operator::Scan { table: TableRef::bare(table), schema: schema(), predicates }).unwrap()
}

pub(crate) fn scan() -> Arc<QueryExpr> {
    scan_of("t")
}

/// An aggregate over `input` with generated output names.
pub(crate) fn aggregate(
    input: &Arc<QueryExpr>,
    by: Vec<Expr>,
    measures: Vec<(AggIntent, Option<Expr>)>,
) -> Arc<QueryExpr> {
    QueryExpr::new(Operator::Aggregate(aggregate_of(input, by, measures))).unwrap()
}

pub(crate) fn aggregate_of(
    input: &Arc<QueryExpr>,
    by: Vec<Expr>,
    measures: Vec<(AggIntent, Option<Expr>)>,
) -> Aggregate<Arc<QueryExpr>> {
    let keys = (0..by.len()).map(|key| format!("k{key}"));
    let output_names = keys.chain((0..measures.len()).map(|measure| format!("m{measure}"))).collect();
    let (measures, filters): (Vec<_>, Vec<_>) = measures.into_iter().unzip();
    Aggregate {
        reduction: Reduction::by(by),
        measures,
        filters: filters.into_iter().map(|filter| filter.map(Predicate)).collect::<MeasureFilters>(),
        output_names,
        having: None,
        input: Arc::clone(input),
    }
}

/// An aggregate over table `t`, by columns, with unfiltered measures.
pub(crate) fn by(keys: &[usize], measures: &[AggIntent]) -> Arc<QueryExpr> {
    over(&scan(), keys, measures)
}

pub(crate) fn over(input: &Arc<QueryExpr>, keys: &[usize], measures: &[AggIntent]) -> Arc<QueryExpr> {
    let keys = keys.iter().map(|&key| col(key)).collect();
    aggregate(input, keys, measures.iter().map(|measure| (measure.clone(), None)).collect())
}

/// A table of so many integer columns.
pub(crate) fn wide_scan(columns: usize) -> Arc<QueryExpr> {
    let fields = (0..columns).map(|column| Field::new(format!("c{column}"), DataType::Int64, true)).collect();
    let scan = Operator::Scan { table: TableRef::bare("wide"), schema: Schema::new(fields), predicates: vec![] };
    QueryExpr::new(scan).unwrap()
}
