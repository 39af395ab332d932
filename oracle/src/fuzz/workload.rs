//! All queries planned together, as `asap` does.

use std::sync::Arc;

use asap_aware_mapping::{Candidate, CandidateSpace, Selection, search_workload, select};
use asap_execution::{ExecutionError, QueryResult, RunObserver, SharedNode, run, run_observed};
use asap_frontend_sql::{FrontendError, TableCatalog, TableSchema, lower_workload};
use asap_types::{GraphFormat, PostAsapDag, QueryExpr, canonicalize};
use datafusion::prelude::SessionContext;

use super::check::CaseOutcome;
use super::failure::FailureClass;
use super::judge::Judge;
use super::plan_fingerprint;
use super::price::SeededCost;
use super::relations::Answers;
use crate::answer::Answer;
use crate::error_class::ErrorClass;
use crate::query::Query;
use crate::{OracleError, Result};

/// A query by its position, and its plan.
type Planned = (usize, Arc<QueryExpr>);

/// Plans all queries together and runs them. Each has an answer or an error of its own.
pub(super) async fn check(context: &SessionContext, judge: &Judge<'_>, outcome: &mut CaseOutcome) -> Result<()> {
    let planned = lowered(context, judge, outcome).await?;
    match answers(context, &planned, judge, outcome).await {
        Ok(answers) => {
            for ((index, _), answer) in planned.iter().zip(answers) {
                judge.judge(FailureClass::Workload, *index, answer, outcome);
            }
        }
        Err(error) => outcome.fail(FailureClass::Error, None, format!("the workload plan: {error}")),
    }
    Ok(())
}

/// The plan that is chosen for all queries: its tree, and the choices in it.
pub(super) async fn plan_text(context: &SessionContext, judge: &Judge<'_>) -> Result<String> {
    let planned = lowered(context, judge, &mut CaseOutcome::default()).await?;
    let (space, selection) = plan(&planned, judge)?;
    let mut text = format!("{}\nchoices:\n", selection.dag.render(GraphFormat::Tree));
    for (position, (target, choice)) in space.targets.iter().zip(&selection.choices).enumerate() {
        let chosen = match target.candidates.get(choice.candidate) {
            Some(Candidate::Rewrite(rewrite)) => rewrite.strategy.to_string(),
            _ => "as written".to_owned(),
        };
        let refused = target.refused.iter().map(|refused| format!("; refused: {}", refused.reason.name()));
        text.extend([format!("  {}: {chosen}", position + 1)].into_iter().chain(refused).chain(["\n".to_owned()]));
    }
    Ok(text)
}

/// The queries that the front end takes. It may refuse one, or find that it makes no sense if the interpreter does too.
async fn lowered(context: &SessionContext, judge: &Judge<'_>, outcome: &mut CaseOutcome) -> Result<Vec<Planned>> {
    let catalog = catalog(context, judge).await?;
    let mut planned = Vec::new();
    for (index, query) in judge.queries().iter().enumerate() {
        match lower(&query.to_string(), &catalog) {
            Ok(root) => planned.push((index, root)),
            Err(FrontendError::Unsupported { feature, .. }) => {
                outcome.refused += 1;
                outcome.reach("front end refusal", feature.name());
            }
            Err(error) => outcome.fail(FailureClass::Error, Some(index), format!("the front end: {error}")),
        }
    }
    Ok(planned)
}

async fn catalog(context: &SessionContext, judge: &Judge<'_>) -> Result<TableCatalog> {
    let mut catalog = TableCatalog::new();
    let provider = context.table_provider(judge.table.name.as_str()).await?;
    catalog.insert(&judge.table.name, TableSchema::new(provider.schema()));
    Ok(catalog)
}

fn lower(sql: &str, catalog: &TableCatalog) -> Result<Arc<QueryExpr>, FrontendError> {
    let statements = lower_workload(sql, catalog)?;
    let Some(statement) = statements.into_iter().next() else {
        return Err(FrontendError::Syntax { message: "no statement".to_owned(), span: 0..sql.len() });
    };
    canonicalize(&statement.query?).map_err(|source| FrontendError::Ir { source, span: 0..sql.len() })
}

async fn answers(
    context: &SessionContext,
    planned: &[Planned],
    judge: &Judge<'_>,
    outcome: &mut CaseOutcome,
) -> Result<Vec<Result<Answer>>> {
    let (space, selection) = plan(planned, judge)?;
    note_choices(&space, &selection, outcome);
    let (_, again) = plan(planned, judge)?;
    let text = selection.dag.render(GraphFormat::Tree);
    outcome.plans.workload.insert(plan_fingerprint::of_text(&text));
    if text != again.dag.render(GraphFormat::Tree) {
        outcome.fail(FailureClass::Determinism, None, "planning the workload twice gave two plans");
    }
    let results = results(context, &selection.dag, judge, outcome).await?;
    let mut answers = Vec::new();
    for ((index, _), result) in planned.iter().zip(results) {
        if let Ok(result) = &result {
            judge.judge_schema(FailureClass::Workload, *index, &result.schema, outcome).await;
        }
        answers.push(match judge.queries().get(*index) {
            Some(query) => answer(query, result),
            None => continue,
        });
    }
    Ok(answers)
}

/// The results under the memory limit. Where that does not suffice for all, those without it.
async fn results(
    context: &SessionContext,
    dag: &PostAsapDag,
    judge: &Judge<'_>,
    outcome: &mut CaseOutcome,
) -> Result<Vec<Result<QueryResult, ExecutionError>>> {
    let mut spills = Spills(false);
    let limited = judge.recipe.settings.limited(context)?;
    let results = run_observed(dag, &limited, &mut spills).await;
    if spills.0 {
        outcome.reach("memory limit", "shared rows go to a file");
    }
    if judge.recipe.settings.memory_limit.is_none() || !results.iter().any(lacks_memory) {
        return Ok(results);
    }
    outcome.reach("memory limit", "not enough for an answer");
    Ok(run(dag, context).await)
}

fn lacks_memory(result: &Result<QueryResult, ExecutionError>) -> bool {
    let Err(error) = result else { return false };
    ErrorClass::of(&OracleError::from(error.clone())) == ErrorClass::OutOfMemory
}

/// Have the rows of a shared node gone to a temporary file?
struct Spills(bool);

impl RunObserver for Spills {
    fn computed(&mut self, shared: SharedNode) {
        self.0 |= shared.spilled;
    }
}

fn answer(query: &Query, result: std::result::Result<QueryResult, ExecutionError>) -> Result<Answer> {
    let result = result?;
    Answer::from_batches(&result.schema, &result.batches, query.sort_columns())
}

/// Answers by the workload plan: the queries are planned together.
pub(super) struct PlannedTogether<'a> {
    pub(super) context: &'a SessionContext,
}

impl Answers for PlannedTogether<'_> {
    /// `None` if the front end refuses one.
    async fn answers(&self, queries: &[Query], judge: &Judge<'_>) -> Result<Option<Vec<Result<Answer>>>> {
        let catalog = catalog(self.context, judge).await?;
        let mut planned = Vec::new();
        for (index, query) in queries.iter().enumerate() {
            match lower(&query.to_string(), &catalog) {
                Ok(root) => planned.push((index, root)),
                Err(FrontendError::Unsupported { .. }) => return Ok(None),
                Err(error) => return Err(OracleError::Lowering(error)),
            }
        }
        let (_, selection) = plan(&planned, judge)?;
        let results = run(&selection.dag, self.context).await;
        Ok(Some(queries.iter().zip(results).map(|(query, result)| answer(query, result)).collect()))
    }
}

fn plan(planned: &[Planned], judge: &Judge<'_>) -> Result<(CandidateSpace, Selection)> {
    let settings = &judge.recipe.settings;
    let roots: Vec<Arc<QueryExpr>> = planned.iter().map(|(_, root)| Arc::clone(root)).collect();
    let names: Vec<String> = planned.iter().map(|(index, _)| format!("q{}", index + 1)).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let space = search_workload(&roots)?;
    let selection = select(&space, &names, &SeededCost(settings.price_seed), settings.float_policy())?;
    Ok((space, selection))
}

fn note_choices(space: &CandidateSpace, selection: &Selection, outcome: &mut CaseOutcome) {
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
}
