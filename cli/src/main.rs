//! `asap`: answers a workload of SQL aggregate queries with as little reading as possible.

#![expect(clippy::print_stderr, reason = "a command-line program talks to its user")]

mod args;
mod commands;
mod compare;
mod error;
mod explain;
mod leaf_cost;
mod output;
mod plain;
mod planning;
mod progress;
mod tables;
mod workload;

use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::error::CliError;

fn main() -> ExitCode {
    let cli = Cli::parse();
    // Libraries panic on some corrupt files (Lance 14.0.2 does on a manifest that is cut short); the panic is caught where
    // the work is spawned and reported as an error, so the hook has nothing to add.
    std::panic::set_hook(Box::new(|_| {}));
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return finish(Err(error.into())),
    };
    let work = runtime.spawn(async move {
        match cli.command {
            Command::Run(args) => commands::run(&args).await,
            Command::Plan(args) => commands::plan(&args).await,
            Command::Query(args) => commands::query(&args).await,
        }
    });
    finish(runtime.block_on(work).unwrap_or_else(|error| Err(CliError::Internal(panic_text(error)))))
}

/// What a spawned task panicked with.
pub(crate) fn panic_text(error: tokio::task::JoinError) -> String {
    match error.try_into_panic() {
        Ok(panic) => match (panic.downcast_ref::<&str>(), panic.downcast_ref::<String>()) {
            (Some(text), _) => (*text).to_owned(),
            (_, Some(text)) => text.clone(),
            _ => "unknown panic".to_owned(),
        },
        Err(cancelled) => cancelled.to_string(),
    }
}

fn finish(outcome: Result<ExitCode, CliError>) -> ExitCode {
    match outcome {
        Ok(code) => code,
        Err(error) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let code = error.exit_code();
            eprintln!("{:?}", error.into_report());
            ExitCode::from(code)
        }
    }
}
