//! Plants faults and runs cases until one fails.

use std::time::{Duration, Instant};

use asap_faults::{Fault, plant};
use futures::FutureExt;
use futures::future::join_all;

use super::FaultReport;
use crate::Result;
use crate::dataset::TestDataset;
use crate::fuzz::{Failure, FailureClass, check_recipe, shrink};
use crate::generate::case;
use crate::recipe::{Operation, Recipe};

/// Which faults to plant, and how long to look for each.
#[derive(Debug, Clone)]
pub struct FaultOptions {
    /// The seed of the cases, the same for each fault.
    pub seed: u64,
    /// The faults.
    pub faults: Vec<Fault>,
    /// Cases after which a fault has survived.
    pub cases: u64,
    /// Time after which a fault has survived.
    pub time: Duration,
    /// Cases that run at the same time.
    pub jobs: usize,
    /// How long shrinking one failure may take.
    pub shrink: Duration,
}

/// How it went with one fault.
#[derive(Debug, Clone)]
pub struct FaultRun {
    /// The fault.
    pub fault: Fault,
    /// The cases that were run, with the one that failed.
    pub cases: u64,
    /// How long that took, without shrinking.
    pub elapsed: Duration,
    /// The failure; none for a fault that survived.
    pub caught: Option<Caught>,
}

/// A failure that is there because of a planted fault.
#[derive(Debug, Clone)]
pub struct Caught {
    /// The number of the case.
    pub case: u64,
    /// What was wrong first.
    pub failure: Failure,
    /// The smallest recipe found that fails in this way, and does not without the fault.
    pub recipe: Recipe,
    /// The size of that recipe.
    pub size: Size,
    /// How long shrinking took.
    pub shrinking: Duration,
}

/// How much of a case there is to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Fragments of the dataset that the queries read.
    pub fragments: usize,
    /// Rows in all operations of the history.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
}

/// Plants the faults, one after the other: a fault is that of the whole process. `progress` is called after each.
///
/// # Errors
/// A dataset of a recipe that failed because of a fault cannot be built without it.
pub async fn run(options: &FaultOptions, progress: &mut (dyn FnMut(&FaultRun) + Send)) -> Result<FaultReport> {
    let mut report = FaultReport { seed: options.seed, runs: Vec::new() };
    for fault in &options.faults {
        let outcome = hunt(*fault, options).await;
        plant(None);
        let run = outcome?;
        progress(&run);
        report.runs.push(run);
    }
    Ok(report)
}

/// Runs cases with a fault until one fails that does not fail without it.
async fn hunt(fault: Fault, options: &FaultOptions) -> Result<FaultRun> {
    let start = Instant::now();
    let jobs = options.jobs.max(1) as u64;
    let mut next = 0;
    while next < options.cases && start.elapsed() < options.time {
        let indexes = next..(next + jobs).min(options.cases);
        next = indexes.end;
        let cases: Vec<_> = indexes.map(|index| case(options.seed, index)).collect();
        plant(Some(fault));
        // All of them end before another fault is planted.
        let outcomes = join_all(cases.iter().map(|case| check_recipe(&case.recipe))).await;
        plant(None);
        for (case, outcome) in cases.into_iter().zip(outcomes) {
            let Some(failure) = outcome.failures.into_iter().next() else { continue };
            if fails(&case.recipe, failure.class).await {
                continue;
            }
            let elapsed = start.elapsed();
            let caught = Some(smallest(fault, case.index, &case.recipe, failure, options.shrink).await?);
            return Ok(FaultRun { fault, cases: case.index + 1, elapsed, caught });
        }
    }
    Ok(FaultRun { fault, cases: next, elapsed: start.elapsed(), caught: None })
}

async fn smallest(fault: Fault, case: u64, recipe: &Recipe, failure: Failure, time: Duration) -> Result<Caught> {
    let start = Instant::now();
    plant(Some(fault));
    let shrunk = shrink(recipe, failure.class, time).boxed().await;
    plant(None);
    let shrinking = start.elapsed();
    // A recipe that fails anyway says nothing about the fault.
    let recipe = if fails(&shrunk, failure.class).await { recipe.clone() } else { shrunk };
    let size = size(&recipe).await?;
    Ok(Caught { case, failure, recipe, size, shrinking })
}

async fn fails(recipe: &Recipe, class: FailureClass) -> bool {
    check_recipe(recipe).await.failures.iter().any(|failure| failure.class == class)
}

async fn size(recipe: &Recipe) -> Result<Size> {
    let test = TestDataset::build(&recipe.table).boxed().await?;
    let rows = recipe.table.history.iter().filter_map(Operation::rows).map(Vec::len).sum();
    Ok(Size { fragments: test.dataset.fragments().len(), rows, queries: recipe.workload.len() })
}
