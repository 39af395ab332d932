use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{
    AggIntent, Aggregate, Expr, Field, MeasureFilters, Operator, Predicate, QueryExpr, Reduction, Schema, TableRef,
};

pub(crate) const JOB: usize = 0;
pub(crate) const REGION: usize = 1;
pub(crate) const HOST: usize = 2;
pub(crate) const LOAD: usize = 3;
pub(crate) const BYTES: usize = 4;

fn schema() -> Schema {
    Schema::new(vec![
        Field::new("job", DataType::Utf8, true),
        Field::new("region", DataType::Utf8, true),
        Field::new("host", DataType::Int64, false),
        Field::new("load", DataType::Float64, true),
        Field::new("bytes", DataType::Int64, true),
        Field::new("price", DataType::Decimal128(15, 2), false),
    ])
}

pub(crate) fn scan() -> Arc<QueryExpr> {
    QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema: schema(), predicates: vec![] }).unwrap()
}

pub(crate) fn sum(column: usize) -> AggIntent {
    AggIntent::Sum { arg: Expr::column(column) }
}

pub(crate) type Measure = (AggIntent, Option<Expr>);

/// An aggregate by plain columns whose outputs are named `c0`, `c1`, ….
pub(crate) fn by(input: &Arc<QueryExpr>, keys: &[usize], measures: Vec<Measure>) -> Arc<QueryExpr> {
    by_exprs(input, keys.iter().map(|&key| Expr::column(key)).collect(), measures)
}

pub(crate) fn by_exprs(input: &Arc<QueryExpr>, keys: Vec<Expr>, measures: Vec<Measure>) -> Arc<QueryExpr> {
    let names = (0..keys.len() + measures.len()).map(|index| format!("c{index}")).collect();
    let (measures, filters): (Vec<_>, Vec<_>) = measures.into_iter().unzip();
    QueryExpr::new(Operator::Aggregate(Aggregate {
        reduction: Reduction::by(keys),
        measures,
        filters: filters.into_iter().map(|filter| filter.map(Predicate)).collect::<MeasureFilters>(),
        output_names: names,
        having: None,
        input: Arc::clone(input),
    }))
    .unwrap()
}

/// An aggregate with one unfiltered measure.
pub(crate) fn single(keys: &[usize], measure: AggIntent) -> Arc<QueryExpr> {
    by(&scan(), keys, vec![(measure, None)])
}
