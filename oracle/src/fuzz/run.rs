//! Runs cases, in rounds: what is learned from one steers the next.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use futures::StreamExt;

use super::artifacts::write_artifacts;
use super::check::{CaseOutcome, check_recipe, check_within};
use super::report::{FailedCase, FuzzReport};
use super::scope::Scope;
use super::selection::Selection;
use super::shrink::shrink;
use super::static_points::static_points;
use super::steering::{ROUND, Steering};
use crate::generate::{Bias, biased_case, case};
use crate::recipe::{Case, Recipe};
use crate::{OracleError, Result};

/// Cases one after another of which none counts, after which a run gives up.
const PATIENCE: u64 = 10_000;

/// How long a run is. Each but the last is a full run, if nothing else limits it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Length {
    /// So many cases.
    Cases(u64),
    /// Until so many answers were compared.
    Comparisons(u64),
    /// As many cases as this time allows.
    Time(Duration),
    /// One case, by its number and by the bias that it was drawn with.
    One(u64, Option<Bias>),
}

/// What to run.
#[derive(Debug, Clone)]
pub struct FuzzOptions {
    /// The seed.
    pub seed: u64,
    /// How much.
    pub length: Length,
    /// Only cases count of which, for each of these texts, some coverage point (`group: name`) contains it. Where what
    /// recipes show has such a point, the recipe alone decides, and other cases do not run.
    pub only: Vec<String>,
    /// The crate that the run is for; all if absent.
    pub scope: Option<Scope>,
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
/// Artifacts cannot be written, no case is asked for, or none can be found that counts.
pub async fn fuzz(options: &FuzzOptions, progress: &mut (dyn FnMut(&FuzzReport) + Send)) -> Result<FuzzReport> {
    let mut run = Run::new(options)?;
    let mut is_done = run.is_done();
    while !is_done {
        let round = run.draw()?;
        let mut running = futures::stream::iter(round)
            .map(|drawn| async move {
                let outcome = check_within(&drawn.case.recipe, options.scope).await;
                (drawn, outcome)
            })
            .buffered(options.jobs.max(1));
        while let Some((drawn, outcome)) = running.next().await {
            run.take(drawn, outcome).await?;
            progress(&run.report);
            is_done = run.is_done();
            if is_done {
                break;
            }
        }
        run.steering.next_round(&run.report.coverage);
    }
    if run.report.cases == 0 && run.report.failed.is_empty() { Err(OracleError::NoCases) } else { Ok(run.report) }
}

/// Runs one recipe.
pub async fn replay(recipe: &Recipe) -> CaseOutcome {
    check_recipe(recipe).await
}

/// A run under way.
struct Run<'a> {
    options: &'a FuzzOptions,
    selection: Selection,
    steering: Steering,
    report: FuzzReport,
    start: Instant,
    /// The number of the first case.
    first: u64,
    /// The number of the next case.
    next: u64,
    /// Cases that ran since the last one that counted.
    in_vain: u64,
}

struct Drawn {
    case: Case,
    bias: Option<Bias>,
}

impl<'a> Run<'a> {
    fn new(options: &'a FuzzOptions) -> Result<Self> {
        let first = if let Length::One(case, _) = options.length { case } else { 0 };
        Ok(Self {
            options,
            selection: Selection::new(&options.only)?,
            steering: Steering::default(),
            report: FuzzReport::new(options),
            start: Instant::now(),
            first,
            next: first,
            in_vain: 0,
        })
    }

    fn is_done(&self) -> bool {
        let report = &self.report;
        let is_long_enough = match &self.options.length {
            Length::Cases(cases) => report.cases >= *cases,
            Length::Comparisons(comparisons) => report.comparisons >= *comparisons,
            Length::Time(time) => self.start.elapsed() >= *time,
            Length::One(..) => report.drawn > 0,
        };
        is_long_enough || report.failed.len() >= self.options.max_failures
    }

    /// The next round's cases, whose recipes show what they must.
    fn draw(&mut self) -> Result<Vec<Drawn>> {
        let cases = match self.options.length {
            Length::Cases(cases) => ROUND.min(cases.saturating_sub(self.report.cases)),
            Length::One(..) => 1,
            Length::Comparisons(_) | Length::Time(_) => ROUND,
        };
        let mut round = Vec::new();
        for position in 0..cases {
            let bias = self.bias(position);
            let shows = |drawn: &Drawn| self.selection.shows(&static_points(&drawn.case.recipe));
            let drawn = (0..PATIENCE).map(|draw| self.drawn(self.next.wrapping_add(draw), bias.clone())).find(shows);
            let drawn = drawn.ok_or_else(|| self.hopeless())?;
            self.next = drawn.case.index.wrapping_add(1);
            round.push(drawn);
        }
        Ok(round)
    }

    /// Cases that must show something are not drawn with a bias to something else.
    fn bias(&self, position: u64) -> Option<Bias> {
        match &self.options.length {
            Length::One(_, bias) => bias.clone(),
            _ if self.options.only.is_empty() => self.steering.bias(position).cloned(),
            _ => None,
        }
    }

    fn drawn(&self, index: u64, bias: Option<Bias>) -> Drawn {
        let seed = self.options.seed;
        let mut case = bias.as_ref().map_or_else(|| case(seed, index), |bias| biased_case(seed, index, bias));
        if let Some(scope) = self.options.scope {
            scope.restrict(&mut case.recipe);
        }
        Drawn { case, bias }
    }

    fn hopeless(&self) -> OracleError {
        let only = self.options.only.join("' and '");
        OracleError::Options(format!("{PATIENCE} cases were drawn one after another without '{only}'"))
    }

    /// Takes a case's outcome in. One that does not count is reported all the same if it fails.
    async fn take(&mut self, drawn: Drawn, mut outcome: CaseOutcome) -> Result<()> {
        self.report.drawn = drawn.case.index.wrapping_sub(self.first).wrapping_add(1);
        let failures = std::mem::take(&mut outcome.failures);
        if let Some(failure) = failures.into_iter().next() {
            let Drawn { case, bias } = &drawn;
            let shrunk = shrink(&case.recipe, &failure, self.options.shrink).await;
            let artifacts = write_artifacts(&self.options.artifacts, case, &shrunk, &failure).await?;
            self.report.failed.push(FailedCase { case: case.clone(), bias: bias.clone(), failure, artifacts });
        }
        self.report.elapsed = self.start.elapsed();
        if !self.selection.reaches(&outcome.points) {
            self.in_vain += 1;
            return if self.in_vain < PATIENCE { Ok(()) } else { Err(self.hopeless()) };
        }
        self.in_vain = 0;
        let points = outcome.points.clone();
        let new_plans = self.report.add(outcome);
        self.steering.note(&static_points(&drawn.case.recipe), &points, new_plans);
        Ok(())
    }
}
