//! Answers one recipe in every way and compares.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use asap_aware_mapping::{Candidate, FloatPolicy, UnknownLeafCost, search_workload, select};
use asap_execution::run;
use asap_frontend_sql::{FrontendError, TableCatalog, TableSchema, lower_workload};
use asap_types::{GraphFormat, QueryExpr, canonicalize};
use datafusion::execution::SessionState;
use datafusion::physical_plan::execution_plan::reset_plan_states;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use lance_pushdown::{Bucket, LancePushdown, PushdownReport};

use super::coverage::Point;
use super::failure::{Failure, FailureClass};
use super::reader::WatchedReader;
use crate::Result;
use crate::answer::Answer;
use crate::dataset::{TestDataset, sql_answer};
use crate::defects::{Defect, recognize};
use crate::query::Query;
use crate::recipe::{Recipe, Settings};

/// What was seen of a case.
#[derive(Debug, Clone, Default)]
pub struct CaseOutcome {
    /// The failures; none is what is hoped for.
    pub failures: Vec<Failure>,
    /// What the case went through, each point once.
    pub points: BTreeSet<Point>,
    /// Answers that were compared with the interpreter's.
    pub comparisons: u64,
    /// Queries that the front end refused, with its reason.
    pub refused: u64,
    /// Answers that are wrong because of a numbered defect of the libraries, by its number.
    pub defects: BTreeMap<u32, u64>,
    /// The defect that makes a query's plain answer wrong, by the query's position.
    plain_defects: BTreeMap<usize, u32>,
}

impl CaseOutcome {
    fn fail(&mut self, class: FailureClass, query: Option<usize>, detail: impl Into<String>) {
        self.failures.push(Failure { class, query, detail: detail.into() });
    }

    fn reach(&mut self, group: &'static str, name: impl Into<String>) {
        self.points.insert(Point::new(group, name));
    }
}

/// Builds a recipe's dataset, answers its workload with the row interpreter, plainly, with pushdown and as one planned
/// workload, and compares each answer with the interpreter's.
pub async fn check_recipe(recipe: &Recipe) -> CaseOutcome {
    let mut outcome = CaseOutcome::default();
    if let Err(error) = check(recipe, &mut outcome).await {
        outcome.fail(FailureClass::Recipe, None, error.to_string());
    }
    outcome
}

async fn check(recipe: &Recipe, outcome: &mut CaseOutcome) -> Result<()> {
    recipe.validate()?;
    let test = TestDataset::build(&recipe.table).await?;
    let expected: Vec<Expected> =
        recipe.workload.iter().map(|query| test.table.answer(query).map_err(|error| error.to_string())).collect();
    note_states(recipe, &test, &expected, outcome);
    let judge = Judge { plain: test.plain_session(&recipe.settings)?, queries: &recipe.workload, expected: &expected };
    for (index, query) in recipe.workload.iter().enumerate() {
        let found = sql_answer(&judge.plain, query).await;
        judge.judge(FailureClass::Plain, index, found, outcome).await?;
    }
    let pushdown = PushdownSide::open(&test, &recipe.settings)?;
    for index in 0..recipe.workload.len() {
        pushdown.check(&test, index, &judge, outcome).await?;
    }
    pushdown.check_workload(&test, &judge, outcome).await
}

type Expected = Result<Answer, String>;

/// Compares answers, or errors, with the interpreter's.
struct Judge<'a> {
    plain: SessionContext,
    queries: &'a [Query],
    expected: &'a [Expected],
}

impl Judge<'_> {
    async fn judge(
        &self,
        class: FailureClass,
        index: usize,
        found: Result<Answer>,
        outcome: &mut CaseOutcome,
    ) -> Result<()> {
        let (Some(query), Some(expected)) = (self.queries.get(index), self.expected.get(index)) else {
            return Ok(());
        };
        outcome.comparisons += 1;
        match (expected, found) {
            (Ok(expected), Ok(found)) => {
                let Some(difference) = expected.difference(&found) else { return Ok(()) };
                let optimized = self.plain.sql(&query.to_string()).await?.into_optimized_plan()?;
                let defect = recognize(query, &optimized, &difference).map(Defect::number);
                // What excuses the plain answer excuses another one only if the plain answer is wrong in the same way.
                let excused = match defect {
                    Some(number) if class == FailureClass::Plain => {
                        outcome.plain_defects.insert(index, number);
                        true
                    }
                    Some(number) => outcome.plain_defects.get(&index) == Some(&number),
                    None => false,
                };
                match defect {
                    Some(number) if excused => *outcome.defects.entry(number).or_insert(0) += 1,
                    _ => outcome.fail(class, Some(index), format!("interpreter on the left: {difference}")),
                }
            }
            (Err(_), Err(_)) => outcome.reach("query", "fails on every side"),
            (Ok(_), Err(error)) => {
                let detail = format!("{class}: the interpreter answers, but: {error}");
                outcome.fail(FailureClass::Error, Some(index), detail);
            }
            (Err(error), Ok(_)) => {
                let detail = format!("{class}: the interpreter fails: {error}");
                outcome.fail(FailureClass::Error, Some(index), detail);
            }
        }
        Ok(())
    }
}

fn note_states(recipe: &Recipe, test: &TestDataset, expected: &[Expected], outcome: &mut CaseOutcome) {
    let fragments = test.dataset.fragments();
    outcome.reach(
        "table",
        match fragments.len() {
            0 => "no fragment",
            1 => "one fragment",
            _ => "several fragments",
        },
    );
    if fragments.iter().any(|fragment| fragment.deletion_file.is_some()) {
        outcome.reach("table", "deletions");
    }
    for operation in &recipe.table.history {
        outcome.reach("history", operation.name());
    }
    for (query, expected) in recipe.workload.iter().zip(expected) {
        query.features().into_iter().for_each(|feature| outcome.reach("query", feature));
        if query.is_grand_total() && expected.is_ok() && test.table.rows.is_empty() {
            outcome.reach("query", "grand total over no rows");
        }
    }
}

/// The session with aggregate pushdown.
struct PushdownSide {
    context: SessionContext,
    pushdown: LancePushdown,
    reader: Arc<WatchedReader>,
}

impl PushdownSide {
    fn open(test: &TestDataset, settings: &Settings) -> Result<Self> {
        let reader = Arc::new(WatchedReader::default());
        let pushdown = LancePushdown::with_reader(Arc::clone(&reader) as _);
        let config = SessionConfig::new()
            .with_target_partitions(settings.target_partitions)
            .with_batch_size(settings.batch_size);
        let mut state: SessionState = pushdown.session_state(config);
        for (name, value) in &settings.pushdown {
            state.config_mut().options_mut().set(&format!("lance_pushdown.{name}"), value)?;
        }
        let context = SessionContext::new_with_state(state);
        context.register_table(test.table.name.as_str(), pushdown.table(Arc::clone(&test.dataset)))?;
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

    /// Plans a query twice, the second time under watch, runs it twice, and checks all that was seen.
    async fn check(
        &self,
        test: &TestDataset,
        index: usize,
        judge: &Judge<'_>,
        outcome: &mut CaseOutcome,
    ) -> Result<()> {
        let Some(query) = judge.queries.get(index) else { return Ok(()) };
        let sql = query.to_string();
        let (first, reports) = match self.plan(&sql).await {
            Ok(plan) => (plan, self.pushdown.take_reports()),
            Err(error) => {
                return judge.judge(FailureClass::Pushdown, index, Err(error), outcome).await;
            }
        };
        let store = test.dataset.object_store(None).await?;
        store.io_stats_incremental();
        let again = self.plan(&sql).await?;
        let reads = store.io_stats_incremental().read_iops;
        self.pushdown.take_reports();
        if reads > 0 || self.reader.plan_time_reads() > 0 {
            let calls = self.reader.plan_time_reads();
            outcome.fail(
                FailureClass::PlanTimeRead,
                Some(index),
                format!("{reads} reads of the store, {calls} calls of the index reader"),
            );
        }
        let text = |plan: &Arc<dyn ExecutionPlan>| displayable(plan.as_ref()).indent(true).to_string();
        if text(&first) != text(&again) {
            outcome.fail(FailureClass::Determinism, Some(index), format!("{}\n{}", text(&first), text(&again)));
        }
        for report in &reports {
            note_report(report, outcome);
            check_buckets(report, test, index, outcome);
        }
        let answer = self.execute(&first, query).await;
        if let Ok(answer) = &answer {
            let again = self.execute(&reset_plan_states(Arc::clone(&first))?, query).await;
            if again.as_ref().is_ok_and(|again| again.difference(answer).is_some()) || again.is_err() {
                outcome.fail(FailureClass::Reexecution, Some(index), text(&first));
            }
        }
        judge.judge(FailureClass::Pushdown, index, answer, outcome).await
    }

    async fn execute(&self, plan: &Arc<dyn ExecutionPlan>, query: &Query) -> Result<Answer> {
        let batches = collect(Arc::clone(plan), self.context.task_ctx()).await?;
        Answer::from_batches(&plan.schema(), &batches, query.sort_columns())
    }

    /// Plans all queries together and runs them.
    async fn check_workload(&self, test: &TestDataset, judge: &Judge<'_>, outcome: &mut CaseOutcome) -> Result<()> {
        let mut catalog = TableCatalog::new();
        let provider = self.context.table_provider(test.table.name.as_str()).await?;
        catalog.insert(&test.table.name, TableSchema::new(provider.schema()));
        let mut planned: Vec<(usize, Arc<QueryExpr>)> = Vec::new();
        for (index, query) in judge.queries.iter().enumerate() {
            match lower(&query.to_string(), &catalog) {
                Ok(root) => planned.push((index, root)),
                Err(FrontendError::Unsupported { feature, .. }) => {
                    outcome.refused += 1;
                    outcome.reach("front end refusal", feature.name());
                }
                Err(error) => outcome.fail(FailureClass::Error, Some(index), format!("the front end: {error}")),
            }
        }
        // A workload fails as a whole; queries that fail are compared one by one above.
        planned.retain(|(index, _)| judge.expected.get(*index).is_some_and(std::result::Result::is_ok));
        let found = self.run_workload(&planned, judge.queries, outcome).await;
        match found {
            Ok(answers) => {
                for ((index, _), answer) in planned.iter().zip(answers) {
                    judge.judge(FailureClass::Workload, *index, Ok(answer), outcome).await?;
                }
            }
            Err(error) => outcome.fail(FailureClass::Error, None, format!("the workload plan: {error}")),
        }
        Ok(())
    }

    async fn run_workload(
        &self,
        planned: &[(usize, Arc<QueryExpr>)],
        queries: &[Query],
        outcome: &mut CaseOutcome,
    ) -> Result<Vec<Answer>> {
        let roots: Vec<Arc<QueryExpr>> = planned.iter().map(|(_, root)| Arc::clone(root)).collect();
        let names: Vec<String> = planned.iter().map(|(index, _)| format!("q{}", index + 1)).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let space = search_workload(&roots)?;
        let selection = select(&space, &names, &UnknownLeafCost, FloatPolicy::Reassociate)?;
        for (target, choice) in space.targets.iter().zip(&selection.choices) {
            match target.candidates.get(choice.candidate) {
                Some(Candidate::Rewrite(rewrite)) => {
                    outcome.reach("plan", if rewrite.derivation.regroups { "roll-up" } else { "column reuse" });
                    outcome.reach("strategy", rewrite.strategy);
                }
                _ => outcome.reach("plan", "as written"),
            }
            target.refused.iter().for_each(|refused| outcome.reach("roll-up refusal", refused.reason.name()));
        }
        let again = select(&search_workload(&roots)?, &names, &UnknownLeafCost, FloatPolicy::Reassociate)?;
        if selection.dag.render(GraphFormat::Tree) != again.dag.render(GraphFormat::Tree) {
            outcome.fail(FailureClass::Determinism, None, "planning the workload twice gave two plans");
        }
        let results = run(&selection.dag, &self.context).await.into_iter().collect::<Result<Vec<_>, _>>()?;
        planned
            .iter()
            .zip(results)
            .map(|((index, _), result)| {
                let sorted_by = queries.get(*index).map(Query::sort_columns).unwrap_or_default();
                Answer::from_batches(&result.schema, &result.batches, sorted_by)
            })
            .collect()
    }
}

fn lower(sql: &str, catalog: &TableCatalog) -> Result<Arc<QueryExpr>, FrontendError> {
    let statements = lower_workload(sql, catalog)?;
    let Some(statement) = statements.into_iter().next() else {
        return Err(FrontendError::Syntax { message: "no statement".to_owned(), span: 0..sql.len() });
    };
    canonicalize(&statement.query?).map_err(|source| FrontendError::Ir { source, span: 0..sql.len() })
}

fn note_report(report: &PushdownReport, outcome: &mut CaseOutcome) {
    if let Some(refusal) = report.refusal {
        outcome.reach("pushdown refusal", refusal.name());
        return;
    }
    for fragment in &report.fragments {
        match fragment.bucket {
            Bucket::Index => outcome.reach("bucket", "index"),
            Bucket::Literal => outcome.reach("bucket", "literal"),
            Bucket::Scan(reason) => {
                outcome.reach("bucket", "scan");
                outcome.reach("scan reason", reason.name());
            }
        }
    }
}

/// The fragments of a report are those of the dataset, each once.
fn check_buckets(report: &PushdownReport, test: &TestDataset, query: usize, outcome: &mut CaseOutcome) {
    if !report.is_rewritten() {
        return;
    }
    let mut reported: Vec<u64> = report.fragments.iter().map(|fragment| fragment.fragment_id).collect();
    let mut expected: Vec<u64> = test.dataset.fragments().iter().map(|fragment| fragment.id).collect();
    reported.sort_unstable();
    expected.sort_unstable();
    if reported != expected {
        outcome.fail(FailureClass::Buckets, Some(query), format!("{reported:?} reported, {expected:?} exist"));
    }
}
