//! Answers a workload once: every query gets its answer or its own error.

use asap_execution::{ExecutionError, QueryResult, run_observed};
use datafusion::prelude::SessionContext;

use crate::error::reason;
use crate::explain::PushdownLog;
use crate::plain;
use crate::planning::Planned;
use crate::progress::Progress;
use crate::tables::AsapSession;
use crate::workload::Query;

/// What became of one query.
pub(crate) struct Answered {
    pub(crate) result: Result<QueryResult, ExecutionError>,
    /// Why the query's part of the plan failed, if it did: then `result` is what its text alone gives.
    pub(crate) plan_failed: Option<String>,
}

/// Answers the planned queries together, refused ones and those whose plan failed by themselves.
pub(crate) async fn with_asap(
    queries: &[Query],
    planned: &Planned,
    session: &AsapSession,
    log: &mut PushdownLog,
    progress: &Progress,
) -> Vec<Answered> {
    progress.say(format!("answering {} queries", queries.len()));
    let mut results = run_observed(&planned.selection.dag, &session.context, log).await.into_iter();
    let mut answers = Vec::with_capacity(queries.len());
    for (query, root) in queries.iter().zip(&planned.roots) {
        let plan_failed = match root.and_then(|_| results.next()) {
            Some(Ok(result)) => {
                answers.push(Answered { result: Ok(result), plan_failed: None });
                continue;
            }
            Some(Err(error)) => Some(reason(&error)),
            None if query.lowered.is_ok() => planned.failed.clone(),
            None => None,
        };
        progress.say(format!("answering {} by itself", query.name));
        answers.push(Answered { result: plain::answer(query, &session.context).await, plan_failed });
    }
    answers
}

/// Answers each query by its text in a stock session.
pub(crate) async fn plainly(
    queries: &[Query],
    context: &SessionContext,
    progress: &Progress,
) -> Vec<Result<QueryResult, ExecutionError>> {
    let mut answers = Vec::with_capacity(queries.len());
    for query in queries {
        progress.say(format!("answering {} plainly", query.name));
        answers.push(plain::answer(query, context).await);
    }
    answers
}
