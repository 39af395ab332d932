//! `asap-oracle`: makes demo data, and looks for answers that differ.

#[cfg(feature = "faults")]
mod catch_faults;
mod fuzz_equality;
mod lineitem;

use std::io::Write as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Makes the data that asap is shown and tested with, and judges its answers.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Lineitem(lineitem::Args),
    FuzzEquality(fuzz_equality::Args),
    #[cfg(feature = "faults")]
    Faults(catch_faults::Args),
}

#[tokio::main]
async fn main() -> ExitCode {
    match run(Arguments::parse().command).await {
        Ok(code) => code,
        Err(error) => {
            _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::from(2)
        }
    }
}

async fn run(command: Command) -> asap_oracle::Result<ExitCode> {
    match command {
        Command::Lineitem(args) => lineitem::run(&args).await,
        Command::FuzzEquality(args) => fuzz_equality::run(&args).await,
        #[cfg(feature = "faults")]
        Command::Faults(args) => catch_faults::run(&args).await,
    }
}
