//! The plain plan: DataFusion's own answer to the user's text.

use std::time::Instant;

use asap_execution::{ExecutionError, QueryResult, catch_panic};
use datafusion::error::DataFusionError;
use datafusion::execution::context::SQLOptions;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;

use crate::workload::Query;

/// Runs a query's text in a session. Only queries are run: nothing that writes or changes the session.
pub(crate) async fn answer(query: &Query, context: &SessionContext) -> Result<QueryResult, ExecutionError> {
    let answer = async {
        let start = Instant::now();
        let only_queries = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
        let frame = context.sql_with_options(&query.sql, only_queries).await?;
        let plan = frame.create_physical_plan().await?;
        let schema = plan.schema();
        let batches = execute_stream(plan, context.task_ctx())?.try_collect().await?;
        Ok(QueryResult { name: query.name.clone(), schema, batches, elapsed: start.elapsed() })
    };
    catch_panic(answer).await.flatten()
}

/// Whether DataFusion accepts a statement: names, types and rules of SQL. Nothing is run.
pub(crate) async fn check(sql: &str, context: &SessionContext) -> Result<(), DataFusionError> {
    let state = context.state();
    let plan = state.create_logical_plan(sql).await?;
    state.analyzer().execute_and_check(plan, state.config_options(), |_, _| {})?;
    Ok(())
}
