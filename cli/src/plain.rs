//! The plain plan: DataFusion's own answer to the user's text.

use std::time::{Duration, Instant};

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::execution::context::SQLOptions;
use datafusion::physical_plan::execute_stream;
use datafusion::prelude::SessionContext;
use futures::TryStreamExt;

use crate::error::CliError;
use crate::workload::{Query, WorkloadText};

pub(crate) struct PlainAnswer {
    pub(crate) schema: SchemaRef,
    pub(crate) batches: Vec<RecordBatch>,
    pub(crate) elapsed: Duration,
}

/// Runs a query's text in a session. Only queries are run: nothing that writes or changes the session.
pub(crate) async fn answer(
    query: &Query,
    context: &SessionContext,
    workload: &WorkloadText,
) -> Result<PlainAnswer, CliError> {
    let failed = |error: datafusion::error::DataFusionError| CliError::Query {
        query: query.name.clone(),
        reason: error.strip_backtrace(),
        source_name: workload.name.clone(),
        text: workload.text.clone(),
        span: query.span.clone(),
    };
    let start = Instant::now();
    let only_queries = SQLOptions::new().with_allow_ddl(false).with_allow_dml(false).with_allow_statements(false);
    let frame = context.sql_with_options(&query.sql, only_queries).await.map_err(failed)?;
    let plan = frame.create_physical_plan().await.map_err(failed)?;
    let schema = plan.schema();
    let stream = execute_stream(plan, context.task_ctx()).map_err(failed)?;
    let batches = stream.try_collect().await.map_err(failed)?;
    Ok(PlainAnswer { schema, batches, elapsed: start.elapsed() })
}
