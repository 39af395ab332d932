//! Answers one recipe in every way and compares.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::coverage::Point;
use super::failure::{Failure, FailureClass};
use super::judge::{Judge, Sessions};
use super::plan_fingerprint::Plans;
use super::pushdown::PushdownSide;
use super::relations::{self, fragments, old_version};
use super::scope::{Scope, has_pushdown, has_workload};
use super::states;
use super::static_points::static_points;
use super::workload::{self, PlannedTogether};
use crate::Result;
use crate::dataset::{TestDataset, memory_session};
use crate::model::Table;
use crate::query::Column;
use crate::recipe::Recipe;
use crate::value::Type;

/// What was seen of a case.
#[derive(Debug, Clone, Default)]
pub struct CaseOutcome {
    /// The failures; none is what is hoped for.
    pub failures: Vec<Failure>,
    /// What the case went through, each point once.
    pub points: BTreeSet<Point>,
    /// Answers that were compared with the interpreter's.
    pub comparisons: u64,
    /// Whether the rows were in memory, without Lance.
    pub in_memory: bool,
    /// Queries that the front end refused, with its reason.
    pub refused: u64,
    /// Answers that are wrong because of a numbered defect of the libraries, by its number.
    pub defects: BTreeMap<u32, u64>,
    /// The plans that were made.
    pub plans: Plans,
    /// Where the time went.
    pub times: BTreeMap<&'static str, Duration>,
}

impl CaseOutcome {
    pub(super) fn fail(&mut self, class: FailureClass, query: Option<usize>, detail: impl Into<String>) {
        self.failures.push(Failure { class, query, detail: detail.into() });
    }

    pub(super) fn reach(&mut self, group: &'static str, name: impl Into<String>) {
        self.points.insert(Point::new(group, name));
    }

    fn took(&mut self, stage: &'static str, start: Instant) {
        *self.times.entry(stage).or_default() += start.elapsed();
    }
}

/// Builds a recipe's dataset, answers its workload with the row interpreter, plainly, with pushdown and as one planned
/// workload, and compares each answer with the interpreter's. In a task of its own: a panic is a failure like any other.
pub async fn check_recipe(recipe: &Recipe) -> CaseOutcome {
    check_within(recipe, None).await
}

/// [`check_recipe`], of the sides within a scope.
pub(super) async fn check_within(recipe: &Recipe, scope: Option<Scope>) -> CaseOutcome {
    let recipe = recipe.clone();
    let task = tokio::spawn(async move {
        let mut outcome = CaseOutcome::default();
        if let Err(error) = check(&recipe, scope, &mut outcome).await {
            outcome.fail(FailureClass::Recipe, None, error.to_string());
        }
        outcome
    });
    task.await.unwrap_or_else(|error| {
        let mut outcome = CaseOutcome::default();
        let detail = error.try_into_panic().map_or_else(|error| error.to_string(), |panic| panic_text(&*panic));
        outcome.fail(FailureClass::Panic, None, detail);
        outcome
    })
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "without a message".to_owned())
}

async fn check(recipe: &Recipe, scope: Option<Scope>, outcome: &mut CaseOutcome) -> Result<()> {
    recipe.validate()?;
    if recipe.settings.in_memory {
        check_in_memory(recipe, outcome).await
    } else {
        check_lance(recipe, scope, outcome).await
    }
}

async fn check_lance(recipe: &Recipe, scope: Option<Scope>, outcome: &mut CaseOutcome) -> Result<()> {
    let start = Instant::now();
    let settings = &recipe.settings;
    let test = TestDataset::build(&recipe.table).await?;
    outcome.took("dataset", start);
    let start = Instant::now();
    let judge = Judge::new(recipe, &test.table, Sessions::over(&test, settings)?, outcome).await;
    states::note(recipe, &test, &judge, outcome).await?;
    outcome.took("interpreter and plain plans", start);
    let start = Instant::now();
    let side = PushdownSide::open(&test, settings).await?;
    if has_pushdown(scope) {
        for index in 0..recipe.workload.len() {
            side.check(&test, index, &judge, outcome).await?;
        }
    }
    outcome.took("pushdown plans", start);
    let start = Instant::now();
    if has_workload(scope) {
        workload::check(&side.context, &judge, outcome).await?;
    }
    outcome.took("workload plans", start);
    let start = Instant::now();
    if has_pushdown(scope) {
        relations::check(&side, &judge, outcome).await;
        fragments::check(&side, &test.dataset, &judge, outcome).await?;
        old_version::check(&side, &test.dataset, &judge, outcome).await?;
    }
    outcome.took("relations", start);
    Ok(())
}

fn view_text(column: &mut Column) {
    if column.data_type == Type::Utf8 {
        column.data_type = Type::Utf8View;
    }
}

/// The plain plans and the workload plan over the rows in memory.
async fn check_in_memory(recipe: &Recipe, outcome: &mut CaseOutcome) -> Result<()> {
    outcome.in_memory = true;
    let start = Instant::now();
    let mut table = Table::of(&recipe.table)?;
    if recipe.settings.text_views {
        table.columns.iter_mut().for_each(view_text);
    }
    let session = || memory_session(&table, recipe.table.rows_per_file, &recipe.settings);
    let judge = Judge::new(recipe, &table, Sessions { plain: session()?, unindexed: session()? }, outcome).await;
    outcome.points.extend(static_points(recipe));
    states::note_answers(&judge, outcome);
    outcome.took("in memory: interpreter and plain plans", start);
    let start = Instant::now();
    let context = session()?;
    workload::check(&context, &judge, outcome).await?;
    outcome.took("in memory: workload plans", start);
    let start = Instant::now();
    relations::check(&PlannedTogether { context: &context }, &judge, outcome).await;
    outcome.took("in memory: relations", start);
    Ok(())
}
