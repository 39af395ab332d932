//! The session with aggregate pushdown, and what must hold for each plan that it makes.

use std::sync::Arc;

use asap_execution::catch_panic;
use datafusion::execution::SessionState;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::SessionContext;
use lance::datafusion::LanceTableProvider;
use lance_pushdown::{Bucket, LancePushdown, PushdownReport};

use super::buckets;
use super::check::CaseOutcome;
use super::failure::FailureClass;
use super::judge::Judge;
use super::plan_fingerprint;
use super::reader::WatchedReader;
use super::relations::Answers;
use crate::Result;
use crate::answer::Answer;
use crate::dataset::TestDataset;
use crate::query::Query;
use crate::recipe::Settings;

/// The session with aggregate pushdown.
pub(super) struct PushdownSide {
    pub(super) context: SessionContext,
    pushdown: LancePushdown,
    reader: Arc<WatchedReader>,
}

impl PushdownSide {
    pub(super) async fn open(test: &TestDataset, settings: &Settings) -> Result<Self> {
        let reader = Arc::new(WatchedReader::default());
        let pushdown = LancePushdown::with_reader(Arc::clone(&reader) as _);
        let mut state: SessionState = pushdown.session_state(settings.session_config());
        for (name, value) in &settings.pushdown {
            state.config_mut().options_mut().set(&format!("lance_pushdown.{name}"), value)?;
        }
        let context = SessionContext::new_with_state(state);
        let table = if settings.stock_provider {
            Arc::new(LanceTableProvider::new(Arc::clone(&test.dataset), false, false))
        } else if settings.zone_maps_read {
            pushdown.open_table(Arc::clone(&test.dataset)).await?
        } else {
            pushdown.table(Arc::clone(&test.dataset))
        };
        context.register_table(test.table.name.as_str(), table)?;
        Ok(Self { context, pushdown, reader })
    }

    async fn plan(&self, sql: &str) -> Result<Arc<dyn ExecutionPlan>> {
        self.reader.set_planning(true);
        let plan = match self.context.sql(sql).await {
            Ok(frame) => frame.create_physical_plan().await,
            Err(error) => Err(error),
        };
        self.reader.set_planning(false);
        Ok(plan?)
    }

    /// The answer to any query.
    pub(super) async fn answer(&self, query: &Query) -> Result<Answer> {
        let plan = self.plan(&query.to_string()).await?;
        self.pushdown.take_reports();
        self.execute(&plan, query).await
    }

    /// Plans a query twice, the second time under watch, runs it twice, and checks all that was seen.
    pub(super) async fn check(
        &self,
        test: &TestDataset,
        index: usize,
        judge: &Judge<'_>,
        outcome: &mut CaseOutcome,
    ) -> Result<()> {
        let Some(query) = judge.queries().get(index) else { return Ok(()) };
        let sql = query.to_string();
        let (first, reports) = match self.plan(&sql).await {
            Ok(plan) => (plan, self.pushdown.take_reports()),
            Err(error) => {
                judge.judge(FailureClass::Pushdown, index, Err(error), outcome);
                return Ok(());
            }
        };
        let again = self.plan_under_watch(test, index, &sql, outcome).await?;
        if text(&first) != text(&again) && judge.is_planned_one_way(query).await? {
            outcome.fail(FailureClass::Determinism, Some(index), format!("{}\n{}", text(&first), text(&again)));
        }
        outcome.plans.pushdown.insert(plan_fingerprint::of_text(&text(&first)));
        for report in &reports {
            note_report(report, outcome);
        }
        if let Err(detail) = buckets::partition(&first, &reports, test) {
            outcome.fail(FailureClass::Buckets, Some(index), detail);
        }
        judge.judge_schema(FailureClass::Pushdown, index, &first.schema(), outcome).await;
        let answer = self.execute(&first, query).await;
        if let Ok(answer) = &answer {
            let again = self.execute(&reset_plan_states(Arc::clone(&first))?, query).await;
            if !again.is_ok_and(|again| judge.are_alike(index, answer, &again)) {
                outcome.fail(FailureClass::Reexecution, Some(index), text(&first));
            }
        }
        judge.judge(FailureClass::Pushdown, index, answer, outcome);
        Ok(())
    }

    /// Plans a query whose table's facts are loaded: nothing may be read.
    async fn plan_under_watch(
        &self,
        test: &TestDataset,
        index: usize,
        sql: &str,
        outcome: &mut CaseOutcome,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let store = test.dataset.object_store(None).await?;
        store.io_stats_incremental();
        let plan = self.plan(sql).await?;
        let reads = store.io_stats_incremental().read_iops;
        self.pushdown.take_reports();
        let calls = self.reader.plan_time_reads();
        if reads > 0 || calls > 0 {
            let detail = format!("{reads} reads of the store, {calls} calls of the index reader");
            outcome.fail(FailureClass::PlanTimeRead, Some(index), detail);
        }
        Ok(plan)
    }

    async fn execute(&self, plan: &Arc<dyn ExecutionPlan>, query: &Query) -> Result<Answer> {
        let batches = catch_panic(collect(Arc::clone(plan), self.context.task_ctx())).await??;
        Answer::from_batches(&plan.schema(), &batches, query.sort_columns())
    }
}

fn text(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(true).to_string()
}

/// A refusal, and where each fragment's answer came from or would have.
fn note_report(report: &PushdownReport, outcome: &mut CaseOutcome) {
    if let Some(refusal) = report.refusal {
        outcome.reach("pushdown refusal", refusal.name());
    }
    for fragment in &report.fragments {
        if let Some(undecided) = fragment.undecided {
            outcome.reach("undecided", undecided.name());
        }
        match fragment.bucket {
            Bucket::Scan(reason) => outcome.reach("scan reason", reason.name()),
            _ if !report.is_rewritten() => continue,
            Bucket::Index => outcome.reach("bucket", "index"),
            Bucket::Literal => outcome.reach("bucket", "literal"),
        }
        if report.is_rewritten() && matches!(fragment.bucket, Bucket::Scan(_)) {
            outcome.reach("bucket", "scan");
        }
    }
}

impl Answers for PushdownSide {
    async fn answers(&self, queries: &[Query], _judge: &Judge<'_>) -> Result<Option<Vec<Result<Answer>>>> {
        let mut answers = Vec::new();
        for query in queries {
            answers.push(self.answer(query).await);
        }
        Ok(Some(answers))
    }
}
