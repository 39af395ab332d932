//! One failing query does not hide the others.

use std::sync::Arc;

use asap_execution::{ExecutionError, catch_panic, run};
use asap_types::{AggIntent, Expr, NamedExpr, Operator, PostAsapDag, Predicate, QueryExpr};
use datafusion::arrow::array::{ArrayRef, Decimal128Array, Int64Array, RecordBatch};
use datafusion::arrow::datatypes::DataType;
use datafusion::prelude::SessionContext;
use rstest::rstest;

use crate::planned::{plan, text};
use crate::support::{K, X, aggregate, context, scan};

/// `k` as an integer: fails for every row of `t`.
fn failing(input: Arc<QueryExpr>) -> Arc<QueryExpr> {
    let cast = Expr::Cast { arg: Box::new(Expr::column(K)), to: DataType::Int64, null_on_failure: false };
    let columns = vec![NamedExpr { expr: cast, name: "i".into() }];
    QueryExpr::new(Operator::Project { columns, input }).unwrap()
}

fn sum(input: Arc<QueryExpr>, column: usize) -> Arc<QueryExpr> {
    aggregate(input, &[], vec![(AggIntent::Sum { arg: Expr::column(column) }, None)], &["s"])
}

#[tokio::test]
async fn a_shared_node_that_fails_fails_its_readers_alone() {
    let context = context();
    let bad = sum(failing(scan("t")), 0);
    let above = |input: &Arc<QueryExpr>| {
        QueryExpr::new(Operator::Filter {
            predicate: Predicate(Expr::column(0).is_not_null()),
            input: Arc::clone(input),
        })
        .unwrap()
    };
    let fine = aggregate(scan("t"), &[K], vec![(AggIntent::Sum { arg: Expr::column(X) }, None)], &["k", "s"]);
    let bad_above_fine = sum(failing(Arc::clone(&fine)), 0);
    let queries = [
        ("fine", fine),
        ("bad", Arc::clone(&bad)),
        ("bad again", Arc::clone(&bad)),
        ("above bad", above(&bad)),
        ("nowhere", scan("nowhere")),
        ("bad above fine", Arc::clone(&bad_above_fine)),
        ("and above", above(&bad_above_fine)),
        ("total", sum(scan("t"), X)),
    ];
    let dag = PostAsapDag::from_queries(queries.iter().map(|(name, query)| (*name, query))).unwrap();
    let results = run(&dag, &context).await;
    let succeeded: Vec<bool> = results.iter().map(Result::is_ok).collect();
    assert_eq!(succeeded, [true, false, false, false, false, false, false, true]);
    for failed in [1, 2, 3, 5, 6] {
        let error = results[failed].as_ref().unwrap_err().to_string();
        assert!(error.contains("Cannot cast string"), "{error}");
    }
    assert_eq!(results[7].as_ref().unwrap().name, "total");
    assert_eq!(context.runtime_env().memory_pool.reserved(), 0, "everything is released");
}

#[tokio::test]
async fn a_panic_is_the_error_of_one_query() {
    let context = context();
    context.register_table("broken", Arc::new(support::Panics)).unwrap();
    let queries = [("broken", sum(scan("broken"), X)), ("total", sum(scan("t"), X))];
    let dag = PostAsapDag::from_queries(queries.iter().map(|(name, query)| (*name, query))).unwrap();
    let results = run(&dag, &context).await;
    assert!(matches!(&results[0], Err(ExecutionError::Panicked(text)) if text == "a bug"), "{:?}", results[0]);
    assert_eq!(results[1].as_ref().unwrap().row_count(), 1);
}

#[tokio::test]
async fn panics_keep_their_text() {
    let name = "x";
    let formatted = catch_panic(async { panic!("bad {name}") }).await.unwrap_err();
    assert!(matches!(&formatted, ExecutionError::Panicked(text) if text == "bad x"), "{formatted}");
    assert_eq!(catch_panic(async { 1 }).await.unwrap(), 1);
}

mod support {
    use std::sync::Arc;

    use datafusion::arrow::datatypes::SchemaRef;
    use datafusion::catalog::{Session, TableProvider};
    use datafusion::common::Result;
    use datafusion::logical_expr::{Expr, TableType};
    use datafusion::physical_plan::ExecutionPlan;

    /// A table whose scan panics.
    #[derive(Debug)]
    pub(super) struct Panics;

    #[async_trait::async_trait]
    impl TableProvider for Panics {
        fn schema(&self) -> SchemaRef {
            let fields = crate::support::scan("t").schema().fields().to_vec();
            let fields = fields
                .into_iter()
                .map(|field| datafusion::arrow::datatypes::Field::new(field.name, field.data_type, field.nullable));
            Arc::new(datafusion::arrow::datatypes::Schema::new(fields.collect::<Vec<_>>()))
        }

        fn table_type(&self) -> TableType {
            TableType::Base
        }

        async fn scan(
            &self,
            _: &dyn Session,
            _: Option<&Vec<usize>>,
            _: &[Expr],
            _: Option<usize>,
        ) -> Result<Arc<dyn ExecutionPlan>> {
            panic!("a bug")
        }
    }
}

/// DataFusion leaves `x IS NOT NULL` out of a filter where `x` has no NULL, also if its evaluation fails.
#[rstest]
#[case::counted("count(d + d) AS n", true)]
#[case::tested("count(*) FILTER (WHERE d + d IS NOT NULL) AS n", true)]
#[case::beside_a_filter("count(d + d) FILTER (WHERE a > 1) AS n", true)]
#[case::in_a_case("count(CASE WHEN a > 1 THEN d + d END) AS n", true)]
#[case::grouped("a, count(d + d) AS n", true)]
#[case::rejected_by_a_filter("count(d + d) FILTER (WHERE a < 2) AS n", false)]
#[case::rejected_by_a_case("count(CASE WHEN a < 2 THEN d + d END) AS n", false)]
#[tokio::test]
async fn a_count_of_what_has_no_null_evaluates_it(#[case] outputs: &str, #[case] fails: bool) {
    let context = SessionContext::new();
    let digits = Decimal128Array::from(vec![1, 10_i128.pow(38) - 1]).with_precision_and_scale(38, 0).unwrap();
    let batch = RecordBatch::try_from_iter_with_nullable([
        ("a", Arc::new(Int64Array::from(vec![1, 2])) as ArrayRef, false),
        ("d", Arc::new(digits) as ArrayRef, false),
    ]);
    context.register_batch("t", batch.unwrap()).unwrap();
    let keys = if outputs.starts_with("a,") { "GROUP BY a" } else { "" };
    let planned = plan(&context, &[&format!("SELECT {outputs} FROM t {keys}")]).await.1;
    let [result] = run(&planned.dag, &context).await.try_into().unwrap();
    match result {
        Ok(answer) => assert!(!fails, "{}", text(&answer.batches).join("; ")),
        Err(error) => assert!(fails && error.to_string().to_lowercase().contains("overflow"), "{error}"),
    }
}
