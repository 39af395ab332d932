//! Runs cases.

use std::ops::Range;
use std::path::PathBuf;
use std::time::Instant;

use futures::StreamExt;

use super::artifacts;
use super::check::{CaseOutcome, check_recipe};
use super::report::{FailedCase, FuzzReport};
use super::shrink::shrink;
use crate::generate::case;
use crate::recipe::Recipe;
use crate::{OracleError, Result};

/// What to run.
#[derive(Debug, Clone)]
pub struct FuzzOptions {
    /// The seed.
    pub seed: u64,
    /// The cases, by number.
    pub cases: Range<u64>,
    /// Cases that run at the same time.
    pub jobs: usize,
    /// Failed cases after which the run stops: one defect fails many.
    pub max_failures: usize,
    /// Where failures leave their recipes.
    pub artifacts: PathBuf,
}

/// Runs cases and shrinks what fails. `progress` is called after each case.
///
/// # Errors
/// Artifacts cannot be written, or a task panicked.
pub async fn fuzz(options: &FuzzOptions, progress: &mut (dyn FnMut(&FuzzReport) + Send)) -> Result<FuzzReport> {
    let start = Instant::now();
    let mut report = FuzzReport { seed: options.seed, ..FuzzReport::default() };
    let seed = options.seed;
    let mut running = futures::stream::iter(options.cases.clone())
        .map(|index| async move {
            let case = case(seed, index);
            let recipe = case.recipe.clone();
            let outcome = tokio::spawn(async move { check_recipe(&recipe).await }).await;
            (case, outcome)
        })
        .buffered(options.jobs.max(1));
    while let Some((case, outcome)) = running.next().await {
        let outcome: CaseOutcome =
            outcome.map_err(|error| OracleError::Case { seed, index: case.index, problem: error.to_string() })?;
        report.cases += 1;
        report.comparisons += outcome.comparisons;
        report.refused += outcome.refused;
        for (number, answers) in outcome.defects {
            *report.defects.entry(number).or_insert(0) += answers;
        }
        report.coverage.add(outcome.points);
        if let Some(failure) = outcome.failures.into_iter().next() {
            let shrunk = shrink(&case.recipe, failure.class).await;
            let artifacts = artifacts::write(&options.artifacts, &case, &shrunk, &failure)?;
            report.failed.push(FailedCase { case, failure, artifacts });
        }
        report.elapsed = start.elapsed();
        progress(&report);
        if report.failed.len() >= options.max_failures {
            break;
        }
    }
    Ok(report)
}

/// Runs one recipe.
pub async fn replay(recipe: &Recipe) -> CaseOutcome {
    check_recipe(recipe).await
}
