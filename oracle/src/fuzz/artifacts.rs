//! What a failure leaves behind.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::failure::Failure;
use crate::recipe::{Case, Recipe};
use crate::{OracleError, Result};

/// Writes the shrunk recipe and a description under `directory/SEED/CASE/`; returns that directory.
pub(super) fn write(directory: &Path, case: &Case, shrunk: &Recipe, failure: &Failure) -> Result<PathBuf> {
    let target = directory.join(case.seed.to_string()).join(case.index.to_string());
    let io = |source| OracleError::Io { path: target.clone(), source };
    std::fs::create_dir_all(&target).map_err(io)?;
    std::fs::write(target.join("recipe.json"), shrunk.to_json()?).map_err(io)?;
    std::fs::write(target.join("original.json"), case.recipe.to_json()?).map_err(io)?;
    let mut text = format!("seed {} case {}\n{failure}\n\nqueries of the shrunk recipe:\n", case.seed, case.index);
    for query in &shrunk.workload {
        let _ = writeln!(text, "{query};");
    }
    std::fs::write(target.join("failure.txt"), text).map_err(io)?;
    Ok(target)
}
