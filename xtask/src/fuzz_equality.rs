//! `cargo xtask fuzz-equality`: builds the oracle and lets it look for an answer that differs.

use std::process::ExitCode;

use crate::cargo::{self, Workspace};
use crate::error::Error;

/// Look for a query whose optimized answer differs from the plain one.
///
/// The oracle draws datasets, queries and workloads, answers each with a row interpreter, with the plain plan and with
/// the optimized plan. It prints its seed first, leaves a recipe for each difference, and stops after ten of them.
///
/// How much it runs: two minutes; or --time 10m, --cases N, --comparisons N; or --seed S --case K, one case again; or
/// --replay FILE, one recipe again. Which part: --only STATE, --crate NAME. Also --seed S, --jobs N, --report FILE.
///
/// It exits with 0 if every answer is right and coverage is as it must be, with 1 if not, with 2 if it could not run.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask fuzz-equality
  cargo xtask fuzz-equality --time 10m --report report.json
  cargo xtask fuzz-equality --cases 2000 --seed 7 --jobs 2
  cargo xtask fuzz-equality --cases 200 --only 'stable row ids'
  cargo xtask fuzz-equality --replay failure.json
  cargo xtask fuzz-equality --release --comparisons 100000
  cargo xtask fuzz-equality --faults --only counts-counted
  cargo xtask fuzz-equality -- --help    what the oracle itself says of its options")]
pub(crate) struct Args {
    /// Test the oracle itself: plant its named faults, one after the other, and show how soon it finds each. Takes --seed,
    /// --only NAME, --markdown and more behind it.
    #[arg(long)]
    faults: bool,
    /// Build the oracle optimized first, which takes far longer than the usual build; for long runs.
    #[arg(long)]
    release: bool,
    /// Handed to the oracle as they are.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ORACLE-OPTION")]
    args: Vec<String>,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let workspace = Workspace::find()?;
    let command = if args.faults { "faults" } else { "fuzz-equality" };
    match workspace.build_oracle(args.faults, args.release)? {
        Ok(programs) => {
            let mut oracle = programs.command("asap-oracle")?;
            Ok(cargo::pass_on(cargo::run(oracle.arg(command).args(&args.args))?))
        }
        Err(status) => Ok(cargo::pass_on(status)),
    }
}
