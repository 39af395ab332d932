//! The result of a run.

use std::collections::BTreeMap;
use std::time::Duration;

use super::catalogue::{UnderQuota, under_quota, unknown};
use super::check::CaseOutcome;
use super::coverage::{Coverage, Point};
use super::failure::Failure;
use super::plan_fingerprint::Plans;
use super::run::{FuzzOptions, Length};
use super::scope::Scope;
use crate::generate::Bias;
use crate::recipe::Case;

/// A case that failed.
#[derive(Debug, Clone)]
pub struct FailedCase {
    /// The case as it was generated.
    pub case: Case,
    /// What it was drawn with.
    pub bias: Option<Bias>,
    /// What was wrong first.
    pub failure: Failure,
    /// Where its artifacts are.
    pub artifacts: std::path::PathBuf,
}

/// The result of a run. Everything but times and [`Self::defects`] follows from the seed and the number of cases.
#[derive(Debug, Clone)]
pub struct FuzzReport {
    /// The seed.
    pub seed: u64,
    /// How long a run was asked for.
    pub length: Length,
    /// What the cases had to go through.
    pub only: Vec<String>,
    /// The crate that the run was for.
    pub scope: Option<Scope>,
    /// How many cases were drawn, also those that do not count.
    pub drawn: u64,
    /// The cases that were run and count.
    pub cases: u64,
    /// The answers that were compared with the interpreter's.
    pub comparisons: u64,
    /// The queries that the front end refused.
    pub refused: u64,
    /// The different plans that were made.
    pub plans: Plans,
    /// What the cases went through.
    pub coverage: Coverage,
    /// The cases that failed, by number.
    pub failed: Vec<FailedCase>,
    /// Answers that are wrong because of a numbered defect of the libraries, by its number. Some defects strike at random,
    /// so that another run of the same cases may count others.
    pub defects: BTreeMap<u32, u64>,
    /// Cases that ran at the same time.
    pub jobs: usize,
    /// How long it took.
    pub elapsed: Duration,
    /// Where the time went, summed over the cases that ran at the same time.
    pub times: BTreeMap<&'static str, Duration>,
}

impl FuzzReport {
    /// Before the first case.
    pub(super) fn new(options: &FuzzOptions) -> Self {
        Self {
            seed: options.seed,
            length: options.length.clone(),
            only: options.only.clone(),
            scope: options.scope,
            drawn: 0,
            cases: 0,
            comparisons: 0,
            refused: 0,
            plans: Plans::default(),
            coverage: Coverage::default(),
            failed: Vec::new(),
            defects: BTreeMap::new(),
            jobs: options.jobs,
            elapsed: Duration::ZERO,
            times: BTreeMap::new(),
        }
    }

    /// Takes in what was seen of a case; returns how many plans it was the first to have.
    pub(super) fn add(&mut self, outcome: CaseOutcome) -> u64 {
        self.cases += 1;
        self.comparisons += outcome.comparisons;
        self.refused += outcome.refused;
        for (number, answers) in outcome.defects {
            *self.defects.entry(number).or_insert(0) += answers;
        }
        for (stage, time) in outcome.times {
            *self.times.entry(stage).or_default() += time;
        }
        self.coverage.add(outcome.points);
        self.plans.add(outcome.plans)
    }

    /// Whether coverage decides too: not for a part of the cases or of the sides.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.only.is_empty() && self.scope.is_none() && !matches!(self.length, Length::One(..))
    }

    /// The points that a full run of this length must reach and did not, or not often enough.
    #[must_use]
    pub fn under_quota(&self) -> Vec<UnderQuota> {
        if self.is_full() { under_quota(&self.coverage, self.cases) } else { Vec::new() }
    }

    /// What a full run reached though the catalogue does not hold it.
    #[must_use]
    pub fn unknown(&self) -> Vec<Point> {
        if self.is_full() { unknown(&self.coverage) } else { Vec::new() }
    }

    /// Whether no case failed, nothing is below its quota, and nothing unknown was reached.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.cases > 0 && self.failed.is_empty() && self.under_quota().is_empty() && self.unknown().is_empty()
    }

    /// Comparisons a second.
    #[must_use]
    pub fn rate(&self) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let comparisons = self.comparisons as f64;
        comparisons / self.elapsed.as_secs_f64().max(f64::EPSILON)
    }
}
