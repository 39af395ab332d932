//! `cargo xtask demo`: from nothing to a dashboard that is answered, explained and compared.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use crate::cargo::{self, Workspace};
use crate::error::Error;

const DATASET: &str = "lineitem.lance";

/// Build the programs, make a Lance dataset, answer a dashboard over it and compare each answer with the plain one.
///
/// Ends with `equal: N/N`, and a non-zero exit status when any answer differs.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  cargo xtask demo
  cargo xtask demo --scale 1 --dir /data/asap --keep")]
pub(crate) struct Args {
    /// The TPC-H scale factor: 1 is about six million rows.
    #[arg(long, default_value = "0.1", value_parser = parse_scale)]
    scale: f64,

    /// Where to make the dataset; a directory of its own among the temporary files when absent.
    #[arg(long)]
    dir: Option<PathBuf>,

    /// Leave the dataset where it is.
    #[arg(long)]
    keep: bool,
}

pub(crate) fn run(args: &Args) -> Result<ExitCode, Error> {
    let started = Instant::now();
    let workspace = Workspace::find()?;
    let place = Place::prepare(args)?;

    println!("[1/3] build asap and asap-oracle (several minutes the first time)");
    let programs = match workspace.build_programs()? {
        Ok(programs) => programs,
        Err(status) => return Ok(cargo::pass_on(status)),
    };

    println!("[2/3] make lineitem at scale {}: {} ({})", args.scale, place.dataset.display(), fate(args.keep));
    let mut oracle = programs.command("asap-oracle")?;
    oracle.args(["lineitem", "--scale", &args.scale.to_string(), "--dir"]).arg(&place.dataset);
    let status = cargo::run(&mut oracle)?;
    if !status.success() {
        return Ok(cargo::pass_on(status));
    }

    println!("[3/3] answer examples/dashboards/lineitem.sql and compare");
    let mut asap = programs.command("asap")?;
    asap.arg("run")
        .arg(workspace.root().join("examples/dashboards/lineitem.sql"))
        .arg("--table")
        .arg(table_argument(&place.dataset))
        .args(["--compare", "--explain"]);
    let status = cargo::run(&mut asap)?;

    if args.keep {
        println!("kept: {}", place.dataset.display());
    }
    println!("demo took {:.1} s in all", started.elapsed().as_secs_f64());
    Ok(cargo::pass_on(status))
}

/// What becomes of the dataset. Ctrl-C ends this program at once, so the user must know what is left then.
fn fate(keep: bool) -> &'static str {
    if keep { "kept" } else { "removed at the end; a demo that is interrupted leaves it there" }
}

fn table_argument(dataset: &Path) -> std::ffi::OsString {
    let mut argument = std::ffi::OsString::from("lineitem=");
    argument.push(dataset);
    argument
}

fn parse_scale(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(scale) if scale.is_finite() && scale > 0.0 => Ok(scale),
        _ => Err("a positive number is needed".to_owned()),
    }
}

/// Where the dataset goes. Dropping it removes the dataset, and the directory if it was made here, unless it is kept;
/// nothing that was there before is ever removed.
struct Place {
    dataset: PathBuf,
    directory_made: Option<PathBuf>,
    keep: bool,
}

impl Place {
    fn prepare(args: &Args) -> Result<Self, Error> {
        let directory = match &args.dir {
            Some(directory) => std::path::absolute(directory).map_err(Error::io(directory))?,
            None => std::env::temp_dir().join(format!("asap-demo-{}", std::process::id())),
        };
        let dataset = directory.join(DATASET);
        if dataset.exists() {
            return Err(Error::DataExists(dataset));
        }
        let is_new = !directory.exists();
        fs::create_dir_all(&directory).map_err(Error::io(&directory))?;
        Ok(Self { dataset, directory_made: is_new.then_some(directory), keep: args.keep })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if self.keep {
            return;
        }
        let removed = match fs::remove_dir_all(&self.dataset) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            other => other,
        };
        let removed = removed.and_then(|()| self.directory_made.as_ref().map_or(Ok(()), fs::remove_dir));
        if let Err(error) = removed {
            eprintln!("warning: cannot remove {}: {error}", self.dataset.display());
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    fn args(dir: PathBuf, keep: bool) -> Args {
        Args { scale: 0.01, dir: Some(dir), keep }
    }

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("asap-xtask-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_directory_that_was_there_survives_and_its_dataset_does_not() {
        let directory = scratch("survives");
        fs::write(directory.join("mine.txt"), "mine").unwrap();
        let place = Place::prepare(&args(directory.clone(), false)).unwrap();
        fs::create_dir(&place.dataset).unwrap();
        let dataset = place.dataset.clone();
        drop(place);
        assert!(!dataset.exists());
        assert!(directory.join("mine.txt").exists());
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn a_dataset_that_was_there_is_refused() {
        let directory = scratch("refused");
        fs::create_dir(directory.join(DATASET)).unwrap();
        let refused = Place::prepare(&args(directory.clone(), false));
        assert!(matches!(refused, Err(Error::DataExists(_))));
        assert!(directory.join(DATASET).exists());
        fs::remove_dir_all(directory).unwrap();
    }

    #[test]
    fn what_is_kept_stays() {
        let parent = scratch("kept");
        let place = Place::prepare(&args(parent.join("new"), true)).unwrap();
        fs::create_dir(&place.dataset).unwrap();
        let dataset = place.dataset.clone();
        drop(place);
        assert!(dataset.exists());
        fs::remove_dir_all(parent).unwrap();
    }

    #[test]
    fn a_scale_is_a_positive_number() {
        assert_eq!(parse_scale("0.1"), Ok(0.1));
        for wrong in ["0", "-1", "inf", "NaN", "much"] {
            assert!(parse_scale(wrong).is_err(), "{wrong}");
        }
    }
}
