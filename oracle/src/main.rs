//! `asap-oracle`: makes demo data.

mod fuzz_equality;

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use asap_oracle::tpch::{LineitemOptions, write_lineitem};
use clap::{Parser, Subcommand};

/// Makes the data that asap is shown and tested with.
#[derive(Parser)]
#[command(version, about)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Write TPC-H lineitem as a Lance dataset with indexes, deletions, NULLs and a fragment that no index covers.
    #[command(after_help = "Example:\n  asap-oracle lineitem --scale 0.1 --dir target/demo/lineitem.lance")]
    Lineitem {
        /// TPC-H's scale factor; 1 is six million rows.
        #[arg(long, default_value_t = 0.1)]
        scale: f64,
        /// Where the dataset goes; must not exist.
        #[arg(long)]
        dir: PathBuf,
        /// No lines of progress on standard error.
        #[arg(long)]
        quiet: bool,
    },
    FuzzEquality(fuzz_equality::Args),
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
        Command::Lineitem { scale, dir, quiet } => {
            let options = LineitemOptions { scale, ..LineitemOptions::default() };
            let progress = |step: &_| {
                if !quiet {
                    _ = writeln!(std::io::stderr(), "{step}");
                }
            };
            let summary = write_lineitem(&dir, &options, progress).await?;
            // A reader that has gone away needs no summary.
            _ = writeln!(std::io::stdout(), "{summary}");
            Ok(ExitCode::SUCCESS)
        }
        Command::FuzzEquality(args) => fuzz_equality::run(&args).await,
    }
}
