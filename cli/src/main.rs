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
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return finish(Err(error.into())),
    };
    finish(runtime.block_on(async {
        match cli.command {
            Command::Run(args) => commands::run(&args).await,
            Command::Plan(args) => commands::plan(&args).await,
            Command::Query(args) => commands::query(&args).await,
        }
    }))
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
