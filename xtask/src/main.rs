//! The project's commands, as `cargo xtask COMMAND`.
//!
//! This program depends on no crate of the workspace: it builds in seconds and then runs cargo on the rest, with
//! `PROTOC` set for lance's build scripts.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a command-line program talks to its user")]

mod cargo;
mod demo;
mod error;
mod fuzz_equality;
mod heartbeat;
mod protoc;
mod test;
mod tidy;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::Error;

/// The commands of this repository.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
pub(crate) struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::Args),
    Test(test::Args),
    FuzzEquality(fuzz_equality::Args),
    Tidy(tidy::Args),
    Protoc(protoc::Args),
}

fn main() -> ExitCode {
    let outcome = match Cli::parse().command {
        Command::Demo(args) => demo::run(&args),
        Command::Test(args) => test::run(&args),
        Command::FuzzEquality(args) => fuzz_equality::run(&args),
        Command::Tidy(args) => tidy::run(&args),
        Command::Protoc(args) => protoc::run(&args),
    };
    outcome.unwrap_or_else(|error: Error| {
        eprintln!("error: {error}");
        ExitCode::from(2)
    })
}
