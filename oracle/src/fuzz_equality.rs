//! The command `fuzz-equality`.

mod duration;
mod live;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use asap_oracle::fuzz::{FailedCase, FuzzOptions, FuzzReport, Length, Scope, fuzz, replay};
use asap_oracle::generate::Bias;
use asap_oracle::recipe::Recipe;
use asap_oracle::{OracleError, Result};

use self::live::LiveLine;

/// What the bare command takes.
const TIME: Duration = Duration::from_secs(120);

const AFTER_HELP: &str = "\
Coverage decides only in full runs: without --only, --crate and --case. A point's quota grows with the number of cases;
a short run is asked for little.

Exit status:
  0  every answer is the row interpreter's, and coverage is as it must be
  1  an answer differs, or a full run reached a point too seldom, or one that the catalogue does not hold
  2  wrong arguments, a recipe that cannot be read, or no case that counts

Examples:
  cargo xtask fuzz-equality                                        two minutes of a fresh seed
  cargo xtask fuzz-equality --time 10m --report report.json
  cargo xtask fuzz-equality --comparisons 100000
  cargo xtask fuzz-equality --cases 200 --only 'stable row ids' --only 'b-tree index'
  cargo xtask fuzz-equality --crate aware-mapping
  cargo xtask fuzz-equality --seed 7 --case 41
  cargo xtask fuzz-equality --replay target/fuzz-equality/7/41/recipe.json";

/// Answers random workloads over random Lance datasets in every way and compares with a row interpreter.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    length: LengthArgs,
    /// The seed; a fresh one, which is printed, by default.
    #[arg(long)]
    seed: Option<u64>,
    /// The bias that a run printed with its case, as 'history: drop column'.
    #[arg(long, value_name = "POINT", requires = "case")]
    bias: Option<Bias>,
    /// Run a recipe from a file.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["length", "seed", "only", "crate_name", "report", "jobs"]
    )]
    replay: Option<PathBuf>,
    /// Only cases that go through a coverage point with this text in its name, as 'stable row ids' or 'bucket: literal';
    /// several must all fit. What recipes show decides before anything runs; else a case runs, and counts if it fits.
    #[arg(long, value_name = "STATE", conflicts_with = "case")]
    only: Vec<String>,
    /// Only the sides that this crate takes part in: pushdown plans for lance-pushdown, workload plans for the others.
    #[arg(long = "crate", value_name = "NAME", value_enum)]
    crate_name: Option<CrateName>,
    /// Cases that run at the same time; the number of cores by default.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Write the report as JSON too.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
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

/// How long the run is.
#[derive(Debug, clap::Args)]
#[group(id = "length", multiple = false)]
struct LengthArgs {
    /// Run so many cases.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    cases: Option<u64>,
    /// Run until so many answers were compared.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    comparisons: Option<u64>,
    /// Run for so long, as 90s, 10m or 1h; 2m by default.
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    time: Option<Duration>,
    /// Run only this case of the seed.
    #[arg(long, value_name = "K", requires = "seed")]
    case: Option<u64>,
}

#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum CrateName {
    LancePushdown,
    AwareMapping,
    FrontendSql,
    Execution,
}

impl From<CrateName> for Scope {
    fn from(name: CrateName) -> Self {
        match name {
            CrateName::LancePushdown => Self::LancePushdown,
            CrateName::AwareMapping => Self::AwareMapping,
            CrateName::FrontendSql => Self::FrontendSql,
            CrateName::Execution => Self::Execution,
        }
    }
}

impl Args {
    fn options(&self) -> FuzzOptions {
        let LengthArgs { cases, comparisons, time, case } = &self.length;
        let length = match (cases, comparisons, case) {
            (Some(cases), _, _) => Length::Cases(*cases),
            (_, Some(comparisons), _) => Length::Comparisons(*comparisons),
            (_, _, Some(case)) => Length::One(*case, self.bias.clone()),
            _ => Length::Time(time.unwrap_or(TIME)),
        };
        FuzzOptions {
            seed: self.seed.unwrap_or_else(rand::random),
            length,
            only: self.only.clone(),
            scope: self.crate_name.map(Scope::from),
            jobs: self.jobs.map_or_else(cores, usize::from),
            max_failures: usize::from(self.max_failures),
            shrink: Duration::from_secs(self.shrink),
            artifacts: self.artifacts.clone(),
        }
    }
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
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
    for (number, answers) in &outcome.defects {
        _ = writeln!(out, "wrong in the libraries: defect {number}, {answers} answers");
    }
    _ = writeln!(out, "{} comparisons, {} different", outcome.comparisons, outcome.failures.len());
    Ok(if outcome.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn fuzz_cases(args: &Args) -> Result<ExitCode> {
    let options = args.options();
    let out = &mut std::io::stdout();
    _ = writeln!(out, "{}", header(&options));
    let mut live = LiveLine::new();
    let report = fuzz(&options, &mut |report| live.show(report)).await;
    live.clear();
    let report = report?;
    for failed in &report.failed {
        _ = writeln!(out, "{}", described(failed, &options));
    }
    _ = writeln!(out, "{report}");
    if let Some(file) = &args.report {
        write_json(file, &report)?;
    }
    Ok(if report.is_success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn write_json(file: &Path, report: &FuzzReport) -> Result<()> {
    let io = |source| OracleError::Io { path: file.to_owned(), source };
    std::fs::write(file, report.to_json()? + "\n").map_err(io)
}

/// The seed and the settings, in one line.
fn header(options: &FuzzOptions) -> String {
    let length = match &options.length {
        Length::Cases(cases) => format!("{cases} cases"),
        Length::Comparisons(comparisons) => format!("{comparisons} comparisons"),
        Length::Time(time) => format!("{} s", time.as_secs()),
        Length::One(case, None) => format!("case {case}"),
        Length::One(case, Some(bias)) => format!("case {case} with bias '{bias}'"),
    };
    let mut text = format!("fuzz-equality: seed {} · {length} · {} at a time", options.seed, options.jobs);
    for only in &options.only {
        text.push_str(&format!(" · only '{only}'"));
    }
    if let Some(scope) = options.scope {
        text.push_str(&format!(" · {scope}"));
    }
    text
}

/// A failed case, and how to run it again.
fn described(failed: &FailedCase, options: &FuzzOptions) -> String {
    let mut text = format!("DIFFERENT case {}: {}\n", failed.case.index, failed.failure);
    text.push_str(&format!("  again:  cargo xtask fuzz-equality --seed {} --case {}", options.seed, failed.case.index));
    if let Some(bias) = &failed.bias {
        text.push_str(&format!(" --bias '{bias}'"));
    }
    if let Some(scope) = options.scope {
        text.push_str(&format!(" --crate {scope}"));
    }
    let (drawn, shrunk) = &failed.sizes;
    text.push_str(&format!(
        "\n  shrunk: from {drawn}\n          to {shrunk}\n  replay: cargo xtask fuzz-equality --replay {}/recipe.json",
        failed.artifacts.display()
    ));
    text
}
