//! The command `fuzz-equality`.

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use asap_oracle::fuzz::{FuzzOptions, FuzzReport, fuzz, replay};
use asap_oracle::recipe::Recipe;
use asap_oracle::{OracleError, Result};

const AFTER_HELP: &str = "\
Exit status:
  0  every answer is the row interpreter's
  1  an answer differs, or a run of 300 cases or more missed a point that it must reach
  2  wrong arguments, a recipe that cannot be read, or a run that ended early

Examples:
  cargo xtask fuzz-equality
  cargo xtask fuzz-equality --cases 2000 --seed 7
  cargo xtask fuzz-equality --seed 7 --case 41
  cargo xtask fuzz-equality --replay target/fuzz-equality/7/41/recipe.json";

/// Answers random workloads over random Lance datasets in every way and compares with a row interpreter.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// How many cases to run.
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// The seed; a fresh one, which is printed, by default.
    #[arg(long)]
    seed: Option<u64>,
    /// Only this case of the seed.
    #[arg(long, conflicts_with = "cases", value_parser = clap::value_parser!(u64).range(..u64::MAX))]
    case: Option<u64>,
    /// Run a recipe from a file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["cases", "seed", "case"])]
    replay: Option<PathBuf>,
    /// Cases that run at the same time; the number of cores by default.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Stop after this many failed cases.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    max_failures: u16,
    /// Seconds that making one failure smaller may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    shrink: u64,
    /// Where failures leave their recipes.
    #[arg(long, value_name = "DIR", default_value = "target/fuzz-equality")]
    artifacts: PathBuf,
}

pub(crate) async fn run(args: &Args) -> Result<ExitCode> {
    match &args.replay {
        Some(file) => replay_file(file).await,
        None => fuzz_cases(args).await,
    }
}

async fn replay_file(file: &PathBuf) -> Result<ExitCode> {
    let text = std::fs::read_to_string(file).map_err(|source| OracleError::Io { path: file.clone(), source })?;
    let outcome = replay(&Recipe::from_json(&text)?).await;
    let out = &mut std::io::stdout();
    for failure in &outcome.failures {
        _ = writeln!(out, "DIFFERENT {failure}");
    }
    _ = writeln!(out, "{} comparisons, {} different", outcome.comparisons, outcome.failures.len());
    Ok(if outcome.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn fuzz_cases(args: &Args) -> Result<ExitCode> {
    let seed = args.seed.unwrap_or_else(rand::random);
    let cases = args.case.map_or(0..args.cases, |case| case..case + 1);
    let jobs = args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let out = &mut std::io::stdout();
    _ = writeln!(out, "fuzz-equality: seed {seed}, cases {} to {}, {jobs} at a time", cases.start, cases.end);
    let mut live = LiveLine::new();
    let shrink = Duration::from_secs(args.shrink);
    let max_failures = usize::from(args.max_failures);
    let options = FuzzOptions { seed, cases, jobs, max_failures, shrink, artifacts: args.artifacts.clone() };
    let report = fuzz(&options, &mut |report| live.show(report)).await?;
    live.clear();
    for failed in &report.failed {
        _ = writeln!(out, "DIFFERENT case {}: {}", failed.case.index, failed.failure);
        _ = writeln!(out, "  replay: cargo xtask fuzz-equality --replay {}/recipe.json", failed.artifacts.display());
    }
    _ = writeln!(out, "{report}");
    Ok(if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Progress on standard error: one line that is rewritten on a terminal, a line a quarter of a minute elsewhere.
struct LiveLine {
    terminal: bool,
    shown: Instant,
}

impl LiveLine {
    fn new() -> Self {
        Self { terminal: std::io::stderr().is_terminal(), shown: Instant::now() }
    }

    fn show(&mut self, report: &FuzzReport) {
        let pause = if self.terminal { Duration::from_millis(200) } else { Duration::from_secs(15) };
        if self.shown.elapsed() < pause {
            return;
        }
        self.shown = Instant::now();
        let (start, end) = if self.terminal { ("\r\x1b[K", "") } else { ("", "\n") };
        let text = format!(
            "{start}{} cases, {} comparisons, {} coverage points, {} different{end}",
            report.cases,
            report.comparisons,
            report.coverage.len(),
            report.failed.len()
        );
        _ = std::io::stderr().write_all(text.as_bytes());
    }

    fn clear(&self) {
        if self.terminal {
            _ = std::io::stderr().write_all(b"\r\x1b[K");
        }
    }
}
