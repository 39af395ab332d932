//! Plants faults and runs cases until one fails.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use asap_faults::{Fault, plant, take_reached};
use futures::FutureExt;
use futures::future::join_all;

use super::FaultReport;
use crate::Result;
use crate::dataset::TestDataset;
use crate::fuzz::{BIASES, CaseOutcome, Failure, Point, ROUND, Steering, check_recipe, shrink, static_points};
use crate::generate::{biased_case, case};
use crate::recipe::{Case, Operation, Recipe};

/// Which faults to plant, and how long to look for each.
#[derive(Debug, Clone)]
pub struct FaultOptions {
    /// The seed of the cases, the same for each fault.
    pub seed: u64,
    /// The faults.
    pub faults: Vec<Fault>,
    /// Cases after which a fault has survived.
    pub cases: u64,
    /// Time of an ordinary run after which a fault has survived.
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
    /// The cases, with the one that failed.
    pub cases: u64,
    /// Those of them that were run with the fault, because they could reach it.
    pub reached: u64,
    /// How long an ordinary run takes for so many cases.
    pub elapsed: Duration,
    /// The failure; none for a fault that survived.
    pub caught: Option<Caught>,
}

/// A failure that is there because of a planted fault.
#[derive(Debug, Clone)]
pub struct Caught {
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

/// Runs each case without a fault, and then with each fault that it could reach and that is not caught yet: what does not
/// reach a fault is the same with it. After each round, every other case leads to the faults that the fewest cases reached,
/// or is of a kind that was seldom drawn.
/// `progress` is called whenever a fault is caught or has survived.
///
/// # Errors
/// A dataset of a recipe that failed because of a fault cannot be built without it.
pub async fn run(options: &FaultOptions, progress: &mut (dyn FnMut(&FaultRun) + Send)) -> Result<FaultReport> {
    let start = |fault: &Fault| FaultRun { fault: *fault, cases: 0, reached: 0, elapsed: Duration::ZERO, caught: None };
    let mut runs: Vec<FaultRun> = options.faults.iter().map(start).collect();
    let mut steering = Steering::default();
    let (mut next, mut elapsed) = (0, Duration::ZERO);
    while next < options.cases && elapsed < options.time && runs.iter().any(|run| run.caught.is_none()) {
        let end_of_round = (next / ROUND + 1) * ROUND;
        let indexes = next..(next + options.jobs.max(1) as u64).min(options.cases).min(end_of_round);
        next = indexes.end;
        let cases = Cases::run(options.seed, indexes, &steering).await;
        elapsed += cases.elapsed;
        cases.note(&mut steering);
        for run in runs.iter_mut().filter(|run| run.caught.is_none()) {
            (run.cases, run.elapsed) = (next, elapsed);
            if !cases.reached.contains(&run.fault) {
                continue;
            }
            run.reached += cases.cases.len() as u64;
            if let Some((case, failure)) = cases.with(run.fault).await {
                run.cases = case.index + 1;
                run.caught = Some(smallest(run.fault, &case.recipe, failure, options.shrink).await?);
                progress(run);
            }
        }
        if next == end_of_round {
            steering.lead_to(&seldom_reached(&runs), BIASES);
            steering.explore();
        }
    }
    runs.iter().filter(|run| run.caught.is_none()).for_each(progress);
    Ok(FaultReport { seed: options.seed, runs })
}

/// The faults that are not caught, those first that the fewest cases reached.
fn seldom_reached(runs: &[FaultRun]) -> Vec<Point> {
    let mut left: Vec<&FaultRun> = runs.iter().filter(|run| run.caught.is_none()).collect();
    left.sort_by_key(|run| run.reached);
    left.into_iter().map(|run| point(run.fault)).collect()
}

fn point(fault: Fault) -> Point {
    Point::new("fault", fault.name())
}

/// Cases that run at the same time, and how they went without a fault.
struct Cases {
    cases: Vec<Case>,
    outcomes: Vec<CaseOutcome>,
    reached: BTreeSet<Fault>,
    elapsed: Duration,
}

impl Cases {
    async fn run(seed: u64, indexes: std::ops::Range<u64>, steering: &Steering) -> Self {
        let drawn = |index| match steering.bias(index % ROUND) {
            Some(bias) => biased_case(seed, index, bias),
            None => case(seed, index),
        };
        let cases: Vec<Case> = indexes.map(drawn).collect();
        take_reached();
        let start = Instant::now();
        let outcomes = outcomes(&cases, None).await;
        Self { cases, outcomes, reached: take_reached().into_iter().collect(), elapsed: start.elapsed() }
    }

    /// Which of the cases reached a fault is not known, so each did.
    fn note(&self, steering: &mut Steering) {
        let reached = self.reached.iter().copied().map(point).collect();
        for case in &self.cases {
            steering.note(&static_points(&case.recipe), &reached, 0);
        }
    }

    /// The first failure with a fault that is none without it.
    async fn with(&self, fault: Fault) -> Option<(&Case, Failure)> {
        let outcomes = outcomes(&self.cases, Some(fault)).await;
        self.cases.iter().zip(&self.outcomes).zip(outcomes).find_map(|((case, plain), outcome)| {
            let is_new =
                |failure: &Failure| !plain.failures.iter().any(|plain| plain.signature() == failure.signature());
            Some((case, outcome.failures.into_iter().find(is_new)?))
        })
    }
}

/// A fault is that of the whole process, so all cases end before another one is planted.
async fn outcomes(cases: &[Case], fault: Option<Fault>) -> Vec<CaseOutcome> {
    plant(fault);
    let outcomes = join_all(cases.iter().map(|case| check_recipe(&case.recipe))).await;
    plant(None);
    outcomes
}

async fn smallest(fault: Fault, recipe: &Recipe, failure: Failure, time: Duration) -> Result<Caught> {
    let start = Instant::now();
    plant(Some(fault));
    let shrunk = shrink(recipe, &failure, time).boxed_local().await;
    plant(None);
    let shrinking = start.elapsed();
    // A recipe that fails anyway says nothing about the fault.
    let recipe = if fails(&shrunk, &failure).await { recipe.clone() } else { shrunk };
    let size = size(&recipe).await?;
    Ok(Caught { failure, recipe, size, shrinking })
}

async fn fails(recipe: &Recipe, like: &Failure) -> bool {
    check_recipe(recipe).await.failures.iter().any(|failure| failure.signature() == like.signature())
}

async fn size(recipe: &Recipe) -> Result<Size> {
    let test = TestDataset::build(&recipe.table).boxed().await?;
    let rows = recipe.table.history.iter().filter_map(Operation::rows).map(Vec::len).sum();
    Ok(Size { fragments: test.dataset.fragments().len(), rows, queries: recipe.workload.len() })
}
