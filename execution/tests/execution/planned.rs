//! Statements that are planned together and answered, against what a stock session answers to each.

use std::sync::Arc;

use asap_aware_mapping::{CandidateSpace, FloatPolicy, Selection, UnknownLeafCost, search_workload, select};
use asap_execution::{Comparison, QueryResult, compare};
use asap_frontend_sql::{TableCatalog, TableSchema, lower_workload};
use asap_types::{QueryExpr, canonicalize};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::arrow::util::pretty::pretty_format_batches_with_options;
use datafusion::prelude::{SessionConfig, SessionContext};

/// `r(a, b, x, p, k, ts, f)` with NULLs in every column; `nothing` with the same columns and no row.
const TABLES: &str = "
CREATE TABLE r (a BIGINT, b BIGINT, x BIGINT, p BOOLEAN, k VARCHAR, ts TIMESTAMP, f DOUBLE) AS VALUES
  (1, 1, 10, true, 'u', '2024-01-01T00:00:00', 0.5),
  (1, 1, NULL, NULL, 'v', '2024-01-01T06:00:00', NULL),
  (1, 2, 5, false, 'u', '2024-01-02T00:00:00', 2.0),
  (1, NULL, 7, true, NULL, NULL, 1.25),
  (2, 1, NULL, false, 'v', '2024-01-01T00:00:00', NULL),
  (2, 1, NULL, NULL, 'w', '2024-01-02T00:00:00', NULL),
  (NULL, 1, 3, true, 'u', '2024-01-01T00:00:00', -1.0),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, 3, -4, false, 'w', '2024-01-03T12:00:00', 8.0);
CREATE TABLE nothing AS SELECT * FROM r WHERE false";

pub(crate) async fn session(partitions: usize) -> SessionContext {
    let context = SessionContext::new_with_config(SessionConfig::new().with_target_partitions(partitions));
    for statement in TABLES.split(';') {
        context.sql(statement).await.unwrap().collect().await.unwrap();
    }
    context
}

pub(crate) async fn lower(context: &SessionContext, sql: &[&str]) -> Vec<Arc<QueryExpr>> {
    let mut catalog = TableCatalog::new();
    for name in context.catalog("datafusion").unwrap().schema("public").unwrap().table_names() {
        let schema = context.table_provider(name.as_str()).await.unwrap().schema();
        catalog.insert(&name, TableSchema::new(schema.as_ref().clone()));
    }
    let lowered = lower_workload(&sql.join(";\n"), &catalog).unwrap();
    lowered.into_iter().map(|statement| canonicalize(&statement.query.unwrap()).unwrap()).collect()
}

/// The candidates and the plan of statements that are called `0`, `1`, ….
pub(crate) async fn plan(context: &SessionContext, sql: &[&str]) -> (CandidateSpace, Selection) {
    let space = search_workload(&lower(context, sql).await).unwrap();
    let names: Vec<String> = (0..sql.len()).map(|index| index.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let selection = select(&space, &names, &UnknownLeafCost, FloatPolicy::Exact).unwrap();
    (space, selection)
}

/// Plans and runs statements together. Each answer must be that of the statement in a stock session, and each must be
/// derived from the statement that `sources` says, or from none.
pub(crate) async fn assert_answers(
    context: &SessionContext,
    sql: &[&str],
    sources: &[Option<usize>],
) -> Vec<QueryResult> {
    let (space, selection) = plan(context, sql).await;
    let names: Vec<String> = (0..sql.len()).map(|index| index.to_string()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found: Vec<Option<usize>> =
        space.sources(&selection, &names).into_iter().map(|source| source.map(|name| name.parse().unwrap())).collect();
    assert_eq!(found, sources, "{}", space.explain(&selection, &names));
    let results = crate::support::answers(&selection.dag, context).await;
    for (result, sql) in results.iter().zip(sql) {
        let frame = context.sql(sql).await.unwrap();
        let schema = Arc::new(frame.schema().as_arrow().clone());
        let plain = frame.collect().await.unwrap();
        let difference = compare((&result.schema, &result.batches), (&schema, &plain), &Comparison::exact()).unwrap();
        assert_eq!(difference, None, "{sql}");
    }
    results
}

/// The rows of one statement that is planned alone: a line per row, values separated by blanks.
pub(crate) async fn rows(context: &SessionContext, sql: &str) -> Vec<String> {
    text(&assert_answers(context, &[sql], &[None]).await[0].batches)
}

pub(crate) fn text(batches: &[RecordBatch]) -> Vec<String> {
    let options = FormatOptions::default().with_null("NULL");
    let table = pretty_format_batches_with_options(batches, &options).unwrap().to_string();
    let lines = table.lines().filter(|line| line.starts_with('|')).skip(1);
    lines.map(|line| line.replace('|', " ").split_whitespace().collect::<Vec<_>>().join(" ")).collect()
}
