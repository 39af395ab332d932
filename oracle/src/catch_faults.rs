//! The command `faults`.

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use asap_oracle::faults::{Fault, FaultOptions, FaultRun, Format, run as catch};
use asap_oracle::{OracleError, Result};

const AFTER_HELP: &str = "\
Exit status:
  0  every fault was caught
  1  a fault survived
  2  wrong arguments, or the run ended early

Examples:
  cargo xtask fuzz-equality --faults
  cargo xtask fuzz-equality --faults --only counts-counted --seed 7
  cargo xtask fuzz-equality --faults --markdown";

/// Plants named faults, one after the other, and measures how soon a case fails because of each.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The seed of the cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only this fault; may be given several times.
    #[arg(long, value_name = "NAME", value_parser = fault)]
    only: Vec<Fault>,
    /// Cases after which a fault has survived.
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u64).range(1..))]
    cases: u64,
    /// Seconds of an ordinary run after which a fault has survived.
    #[arg(long, value_name = "SECONDS", default_value_t = 300)]
    time: u64,
    /// Cases that run at the same time; the number of cores by default.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..))]
    jobs: Option<u16>,
    /// Seconds that making one failure smaller may take.
    #[arg(long, value_name = "SECONDS", default_value_t = 10)]
    shrink: u64,
    /// Where the shrunk recipes go, as NAME.json.
    #[arg(long, value_name = "DIR", default_value = "target/fuzz-equality/faults")]
    artifacts: PathBuf,
    /// Print the table as Markdown.
    #[arg(long)]
    markdown: bool,
}

fn fault(name: &str) -> Result<Fault, String> {
    let names = || Fault::ALL.iter().map(Fault::name).collect::<Vec<_>>().join(", ");
    Fault::named(name).ok_or_else(|| format!("the faults are {}", names()))
}

pub(crate) async fn run(args: &Args) -> Result<ExitCode> {
    let jobs = args.jobs.map_or_else(|| std::thread::available_parallelism().map_or(1, usize::from), usize::from);
    let options = FaultOptions {
        seed: args.seed,
        faults: if args.only.is_empty() { Fault::ALL.to_vec() } else { args.only.clone() },
        cases: args.cases,
        time: Duration::from_secs(args.time),
        jobs,
        shrink: Duration::from_secs(args.shrink),
    };
    let report = catch(&options, &mut show).await?;
    for run in &report.runs {
        keep(args, run)?;
    }
    let format = if args.markdown { Format::Markdown } else { Format::Text };
    _ = write!(std::io::stdout(), "{}", report.display(format));
    Ok(if report.survivors().next().is_none() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// One line on standard error for each fault as soon as it is done.
fn show(run: &FaultRun) {
    let FaultRun { fault, cases, reached, elapsed, caught } = run;
    let seconds = elapsed.as_secs_f64();
    let text = match caught {
        Some(caught) => format!(
            "{fault}: caught in case {}, after {seconds:.1} s; shrunk in {:.1} s: {}",
            cases.saturating_sub(1),
            caught.shrinking.as_secs_f64(),
            caught.failure.class
        ),
        None => format!("{fault}: SURVIVED {cases} cases, {seconds:.1} s; {reached} could reach it"),
    };
    _ = writeln!(std::io::stderr(), "{text}");
}

/// Leaves the shrunk recipe for people: it replays without failure in a build without the fault.
fn keep(args: &Args, run: &FaultRun) -> Result<()> {
    let Some(caught) = &run.caught else { return Ok(()) };
    let path = args.artifacts.join(format!("{}.json", run.fault));
    let json = caught.recipe.to_json()?;
    std::fs::create_dir_all(&args.artifacts)
        .and_then(|()| std::fs::write(&path, json))
        .map_err(|source| OracleError::Io { path, source })
}
