//! `cargo xtask test`: everything that must hold before a merge.

mod outcome;
mod steps;

use std::process::ExitCode;
use std::time::Instant;

use crate::cargo::Workspace;
use crate::error::Error;
use outcome::{Outcome, Summary};
use steps::Step;

/// Run every check: format, clippy, docs, tidy, all tests, the named gates, and fuzz-equality on two seeds.
///
/// The last line is `N passed, N failed`: each test counts once, and each other step counts as one. The exit status is
/// zero only when nothing failed. A failing step does not keep the later ones from running.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask test
  cargo xtask test --quick    while you work: no test of the crates that link DataFusion or Lance, no fuzzing")]
pub(crate) struct Args {
    /// Only format, clippy, tidy, and the tests of the crates that build in seconds.
    #[arg(long)]
    quick: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let workspace = Workspace::find()?;
    let steps = if args.quick { steps::quick() } else { steps::all(fresh_seed()) };
    let mut summary = Summary::default();
    let started = Instant::now();
    for (index, Step { name, work }) in steps.into_iter().enumerate() {
        println!("\n[{}] {name}", index + 1);
        let step_started = Instant::now();
        let outcome = outcome_of(work.run(&workspace));
        let took = step_started.elapsed();
        println!("[{}] {name}: {outcome} in {:.1} s", index + 1, took.as_secs_f64());
        summary.add(name, outcome, took);
    }
    println!("\n{summary}");
    println!("took {:.1} s in all", started.elapsed().as_secs_f64());
    println!("{}", summary.closing_line());
    Ok(if summary.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A step that could not do its work is one failed check: the later ones still run, and the closing line is printed.
fn outcome_of(ran: Result<Outcome, Error>) -> Outcome {
    ran.unwrap_or_else(|error| {
        eprintln!("error: {error}");
        Outcome::of_one(false)
    })
}

/// A seed that no run before is likely to have had. It is printed with the step that uses it.
fn fresh_seed() -> u64 {
    let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since_epoch.map_or(0, |duration| duration.as_secs() ^ (u64::from(duration.subsec_nanos()) << 32))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_ends_in_an_error_is_a_failed_check() {
        assert_eq!(outcome_of(Err(Error::NoProgram("asap"))), Outcome::of_one(false));
        assert_eq!(outcome_of(Ok(Outcome { passed: 2, failed: 0 })), Outcome { passed: 2, failed: 0 });
    }
}
