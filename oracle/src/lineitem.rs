//! The command `lineitem`.

use std::io::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use asap_oracle::Result;
use asap_oracle::tpch::{LineitemOptions, LineitemProgress, write_lineitem};

/// Write TPC-H lineitem as a Lance dataset with indexes, deletions, NULLs and a fragment that no index covers.
#[derive(Debug, clap::Args)]
#[command(after_help = "Example:\n  asap-oracle lineitem --scale 0.1 --dir target/demo/lineitem.lance")]
pub(crate) struct Args {
    /// TPC-H's scale factor, 0.001 to 100; 1 is six million rows.
    #[arg(long, default_value_t = 0.1)]
    scale: f64,
    /// Where the dataset goes; must not exist.
    #[arg(long)]
    dir: PathBuf,
    /// No lines of progress on standard error.
    #[arg(long)]
    quiet: bool,
}

pub(crate) async fn run(args: &Args) -> Result<ExitCode> {
    let options = LineitemOptions { scale: args.scale, ..LineitemOptions::default() };
    let progress = |step: &LineitemProgress| {
        if !args.quiet {
            _ = writeln!(std::io::stderr(), "{step}");
        }
    };
    let summary = write_lineitem(&args.dir, &options, progress).await?;
    // A reader that has gone away needs no summary.
    _ = writeln!(std::io::stdout(), "{summary}");
    Ok(ExitCode::SUCCESS)
}
