//! Runs cases.

use std::ops::Range;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures::StreamExt;

use super::artifacts::write_artifacts;
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
    /// How long shrinking one failure may take.
    pub shrink: Duration,
    /// Where failures leave their recipes.
    pub artifacts: PathBuf,
}

/// Runs cases and shrinks what fails. `progress` is called after each case.
///
/// # Errors
/// Artifacts cannot be written, or the run ended before its last case though no limit of failures was reached.
pub async fn fuzz(options: &FuzzOptions, progress: &mut (dyn FnMut(&FuzzReport) + Send)) -> Result<FuzzReport> {
    let start = Instant::now();
    let seed = options.seed;
    let requested = options.cases.end.saturating_sub(options.cases.start);
    let mut report = FuzzReport { seed, requested, ..FuzzReport::default() };
    let mut running = futures::stream::iter(options.cases.clone())
        .map(|index| async move {
            let case = case(seed, index);
            let outcome = check_recipe(&case.recipe).await;
            (case, outcome)
        })
        .buffered(options.jobs.max(1));
    while let Some((case, outcome)) = running.next().await {
        report.cases += 1;
        report.comparisons += outcome.comparisons;
        report.refused += outcome.refused;
        for (number, answers) in outcome.defects {
            *report.defects.entry(number).or_insert(0) += answers;
        }
        for (stage, time) in outcome.times {
            *report.times.entry(stage).or_default() += time;
        }
        report.coverage.add(outcome.points);
        if let Some(failure) = outcome.failures.into_iter().next() {
            let shrunk = shrink(&case.recipe, &failure, options.shrink).await;
            let artifacts = write_artifacts(&options.artifacts, &case, &shrunk, &failure).await?;
            report.failed.push(FailedCase { case, failure, artifacts });
        }
        report.elapsed = start.elapsed();
        progress(&report);
        if report.failed.len() >= options.max_failures {
            return Ok(report);
        }
    }
    if report.cases == 0 || report.cases < requested {
        return Err(OracleError::Incomplete { cases: report.cases, requested });
    }
    Ok(report)
}

/// Runs one recipe.
pub async fn replay(recipe: &Recipe) -> CaseOutcome {
    check_recipe(recipe).await
}
