//! `asap`: answers a workload of SQL aggregate queries with as little reading as possible.

mod answers;
mod args;
mod commands;
mod compare;
mod error;
mod explain;
mod json;
mod leaf_cost;
mod output;
mod plain;
mod planning;
mod presentable;
mod progress;
mod tables;
mod times;
mod workload;

use std::fmt::Display;
use std::io::Write;
use std::process::ExitCode;

use asap_execution::catch_panic;
use clap::Parser;

use crate::args::{Cli, Command};
use crate::error::CliError;

/// The stack of each thread that works. Planners, optimizers and evaluators recurse over expressions and over plans, in
/// unoptimized builds with frames of some 20 kB: the 2 MB of an ordinary thread end at a hundred terms joined by AND.
/// It is address space: memory is taken as far as a stack grows.
const STACK_BYTES: usize = 256 << 20;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Libraries panic on some corrupt files (Lance 14.0.2 does on a manifest that is cut short); a panic is caught where
    // the work is started and reported as an error, so the hook has nothing to add.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().thread_stack_size(STACK_BYTES).build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return finish(Err(error.into())),
    };
    // On a thread of the runtime, for its stack: this one has what the system gives.
    let work = runtime.spawn(async move { catch_panic(command(cli.command)).await });
    finish(match runtime.block_on(work) {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(panic)) => Err(CliError::Internal(panic.to_string())),
        Err(stopped) => Err(CliError::Internal(stopped.to_string())),
    })
}

async fn command(command: Command) -> Result<ExitCode, CliError> {
    match command {
        Command::Run(args) => commands::run(&args).await,
        Command::Plan(args) => commands::plan(&args).await,
        Command::Query(args) => commands::query(&args).await,
    }
}

/// A line on standard error. Its reader may be gone, which is no error of ours.
pub(crate) fn say(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

fn finish(outcome: Result<ExitCode, CliError>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let code = error.exit_code();
            say(format_args!("{:?}", error.into_report()));
            ExitCode::from(code)
        }
    }
}
