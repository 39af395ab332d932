//! The result of a run.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use super::coverage::{Coverage, REQUIRED};
use super::failure::Failure;
use crate::recipe::Case;

/// A case that failed.
#[derive(Debug, Clone)]
pub struct FailedCase {
    /// The case as it was generated.
    pub case: Case,
    /// What was wrong first.
    pub failure: Failure,
    /// Where its artifacts are.
    pub artifacts: std::path::PathBuf,
}

/// The result of a run. Everything but the time follows from the seed and the number of cases.
#[derive(Debug, Clone, Default)]
pub struct FuzzReport {
    /// The seed.
    pub seed: u64,
    /// The cases that were asked for.
    pub requested: u64,
    /// The cases that were run.
    pub cases: u64,
    /// The answers that were compared with the interpreter's.
    pub comparisons: u64,
    /// The queries that the front end refused.
    pub refused: u64,
    /// Answers that are wrong because of a numbered defect of the libraries, by its number.
    pub defects: BTreeMap<u32, u64>,
    /// What the cases went through.
    pub coverage: Coverage,
    /// The cases that failed, by number.
    pub failed: Vec<FailedCase>,
    /// How long it took.
    pub elapsed: Duration,
    /// Where the time went, summed over the cases that ran at the same time.
    pub times: BTreeMap<&'static str, Duration>,
}

impl FuzzReport {
    /// The points that a run of this length must reach and did not.
    #[must_use]
    pub fn missing(&self) -> Vec<String> {
        let asked = REQUIRED.iter().filter(|required| self.requested >= required.cases);
        let unreached = asked.filter(|required| self.coverage.count(required.group, required.name) == 0);
        unreached.map(|required| format!("{}: {}", required.group, required.name)).collect()
    }

    /// Whether all cases ran, none failed, and nothing required is missing.
    #[must_use]
    pub fn is_success(&self) -> bool {
        self.cases == self.requested && self.failed.is_empty() && self.missing().is_empty()
    }
}

impl fmt::Display for FuzzReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut group = "";
        for (point, count) in self.coverage.iter() {
            if point.group != group {
                group = point.group;
                writeln!(f, "{group}")?;
            }
            writeln!(f, "  {count:>8}  {}", point.name)?;
        }
        let seconds = self.elapsed.as_secs_f64();
        #[expect(clippy::cast_precision_loss, reason = "a rate for people")]
        let rate = self.comparisons as f64 / seconds.max(f64::EPSILON);
        writeln!(f, "(number of cases that went through each point)\n")?;
        writeln!(
            f,
            "seed {}: {} cases, {} comparisons with the row interpreter in {seconds:.1} s ({rate:.0}/s), {} queries refused by the front end",
            self.seed, self.cases, self.comparisons, self.refused
        )?;
        for (number, answers) in &self.defects {
            writeln!(f, "{answers} answers are wrong because of upstream defect {number} (oracle/src/defects.rs)")?;
        }
        let times = self.times.iter().map(|(stage, time)| format!("{stage} {:.1} s", time.as_secs_f64()));
        writeln!(f, "time: {}", times.collect::<Vec<_>>().join(", "))?;
        for missing in self.missing() {
            writeln!(f, "NOT REACHED {missing}")?;
        }
        write!(f, "{} different", self.failed.len())
    }
}
