//! How a step ended, and what all of them add up to.

use std::fmt;
use std::time::Duration;

/// How many checks of a step held. A step that failed has at least one failed check.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) passed: u64,
    pub(crate) failed: u64,
}

impl Outcome {
    /// A step that is one check.
    pub(crate) fn of_one(holds: bool) -> Self {
        Self { passed: u64::from(holds), failed: u64::from(!holds) }
    }

    /// Adds up the `test result:` lines of a run of `cargo test`.
    pub(crate) fn count_line(&mut self, line: &str) {
        if let Some((passed, failed)) = parse_test_result(line) {
            self.passed += passed;
            self.failed += failed;
        }
    }

    /// A run of `cargo test` that failed without a failed test did not compile, or a test took the process down.
    pub(crate) fn with_exit(mut self, success: bool) -> Self {
        if !success && self.failed == 0 {
            self.failed = 1;
        }
        self
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verdict = if self.failed == 0 { "ok" } else { "FAILED" };
        write!(f, "{verdict} ({} passed, {} failed)", self.passed, self.failed)
    }
}

/// `(passed, failed)` of libtest's closing line, `None` for every other line.
fn parse_test_result(line: &str) -> Option<(u64, u64)> {
    let counts = line.trim_start().strip_prefix("test result: ")?;
    let (_verdict, counts) = counts.split_once(". ")?;
    let count =
        |what: &str| counts.split(';').find_map(|part| part.trim().strip_suffix(what)?.trim().parse::<u64>().ok());
    Some((count("passed")?, count("failed")?))
}

/// All steps that ran, in order.
#[derive(Debug, Default)]
pub(crate) struct Summary {
    steps: Vec<(String, Outcome, Duration)>,
}

impl Summary {
    pub(crate) fn add(&mut self, name: String, outcome: Outcome, took: Duration) {
        self.steps.push((name, outcome, took));
    }

    fn total(&self) -> Outcome {
        self.steps.iter().fold(Outcome::default(), |total, (_, outcome, _)| Outcome {
            passed: total.passed + outcome.passed,
            failed: total.failed + outcome.failed,
        })
    }

    pub(crate) fn is_success(&self) -> bool {
        self.total().failed == 0
    }

    /// The line that other programs read.
    pub(crate) fn closing_line(&self) -> String {
        let Outcome { passed, failed } = self.total();
        format!("{passed} passed, {failed} failed")
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.steps.iter().map(|(name, ..)| name.chars().count()).max().unwrap_or(0);
        for (index, (name, outcome, took)) in self.steps.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{name:width$}  {:>7.1} s  {outcome}", took.as_secs_f64())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn libtest_lines_add_up() {
        let mut outcome = Outcome::default();
        for line in [
            "running 14 tests",
            "test a::b ... ok",
            "test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out; finished in 0.01s",
            "test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 1.20s",
            "a test that prints 7 passed; 7 failed",
        ] {
            outcome.count_line(line);
        }
        assert_eq!(outcome, Outcome { passed: 15, failed: 2 });
    }

    #[test]
    fn a_failing_exit_is_never_without_a_failure() {
        assert_eq!(Outcome::default().with_exit(false), Outcome { passed: 0, failed: 1 });
        assert_eq!(Outcome { passed: 3, failed: 2 }.with_exit(false), Outcome { passed: 3, failed: 2 });
        assert_eq!(Outcome { passed: 3, failed: 0 }.with_exit(true), Outcome { passed: 3, failed: 0 });
    }

    #[test]
    fn the_closing_line_sums_all_steps() {
        let mut summary = Summary::default();
        summary.add("tests".to_owned(), Outcome { passed: 40, failed: 1 }, Duration::from_secs(2));
        summary.add("tidy".to_owned(), Outcome::of_one(true), Duration::from_secs(1));
        assert_eq!(summary.closing_line(), "41 passed, 1 failed");
        assert!(!summary.is_success());
    }
}
