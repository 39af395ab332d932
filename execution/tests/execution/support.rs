use std::sync::Arc;

use asap_execution::{Comparison, QueryResult, compare, run};
use asap_types::{
    AggIntent, Aggregate, Expr, Field, MeasureFilters, Operator, PostAsapDag, Predicate, QueryExpr, Reduction, Schema,
    TableRef,
};
use datafusion::arrow::array::{ArrayRef, Decimal128Array, Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;

pub(crate) const K: usize = 0;
pub(crate) const X: usize = 1;
pub(crate) const F: usize = 2;
pub(crate) const D: usize = 3;

/// A table `t(k, x, f, d)` with NULLs in every column, a group of only NULLs and extremes; and `empty` with no row.
pub(crate) fn context() -> SessionContext {
    let context = SessionContext::new();
    let k: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), Some("a"), None, Some("b"), Some("c"), Some("a")]));
    let x: ArrayRef = Arc::new(Int64Array::from(vec![Some(i64::MAX), Some(7), None, None, Some(-3), None]));
    let f: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(-0.0), None, Some(f64::NAN), Some(2.25)]));
    let d: ArrayRef = Arc::new(
        Decimal128Array::from(vec![Some(100), Some(-33), None, None, Some(1), Some(99_999)])
            .with_precision_and_scale(15, 2)
            .unwrap(),
    );
    let batch =
        RecordBatch::try_from_iter_with_nullable([("k", k, true), ("x", x, true), ("f", f, true), ("d", d, true)])
            .unwrap();
    context.register_batch("empty", batch.slice(0, 0)).unwrap();
    context.register_batch("t", batch).unwrap();
    context
}

pub(crate) fn scan(table: &str) -> Arc<QueryExpr> {
    let schema = Schema::new(vec![
        Field::new("k", DataType::Utf8, true),
        Field::new("x", DataType::Int64, true),
        Field::new("f", DataType::Float64, true),
        Field::new("d", DataType::Decimal128(15, 2), true),
    ]);
    QueryExpr::new(Operator::Scan { table: TableRef::bare(table), schema, predicates: vec![] }).unwrap()
}

pub(crate) fn aggregate(
    input: Arc<QueryExpr>,
    by: &[usize],
    measures: Vec<(AggIntent, Option<Expr>)>,
    names: &[&str],
) -> Arc<QueryExpr> {
    let (measures, filters): (Vec<_>, Vec<_>) = measures.into_iter().unzip();
    QueryExpr::new(Operator::Aggregate(Aggregate {
        reduction: Reduction::by(by.iter().map(|&key| Expr::column(key)).collect()),
        measures,
        filters: filters.into_iter().map(|filter| filter.map(Predicate)).collect::<MeasureFilters>(),
        output_names: names.iter().map(|&name| name.to_owned()).collect(),
        having: None,
        input,
    }))
    .unwrap()
}

/// The answers of a workload of which nothing may fail.
pub(crate) async fn answers(dag: &PostAsapDag, context: &SessionContext) -> Vec<QueryResult> {
    run(dag, context).await.into_iter().collect::<Result<_, _>>().unwrap()
}

/// Runs a query through the IR and through SQL and wants the same answer.
pub(crate) async fn assert_same(context: &SessionContext, query: &Arc<QueryExpr>, sql: &str) {
    let dag = PostAsapDag::from_queries([("q", query)]).unwrap();
    let [ours] = answers(&dag, context).await.try_into().unwrap();
    let frame = context.sql(sql).await.unwrap();
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let plain = frame.collect().await.unwrap();
    let difference = compare((&ours.schema, &ours.batches), (&schema, &plain), &Comparison::exact()).unwrap();
    assert_eq!(difference, None, "{sql}");
    for (field, derived) in ours.schema.fields().iter().zip(query.schema().fields()) {
        assert_eq!(field.name(), &derived.name, "{sql}");
        assert_eq!(field.data_type(), &derived.data_type, "{sql}");
    }
}
