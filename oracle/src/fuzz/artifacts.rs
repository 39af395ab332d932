//! What a failure leaves behind.

mod plans;
mod reproduction;
mod slt;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use futures::FutureExt;
use futures::future::BoxFuture;

use super::failure::Failure;
use super::shrink::RecipeSize;
use crate::recipe::{Case, Recipe};
use crate::{OracleError, Result};

/// Writes what a maintainer needs of a failed case under `directory/SEED/CASE/`; returns that directory.
///
/// - `failure.txt`: what differs, the sizes before and after shrinking, the queries as SQL;
/// - `recipe.json`: the shrunk recipe, `original.json`: the case as drawn;
/// - `failure.rs`: a test that replays `recipe.json` beside it;
/// - `reproduction.rs`: a test without asap, for a report to Lance or DataFusion;
/// - `failure.slt`: the rows and queries alone, as a sqllogictest of DataFusion;
/// - `plain-plan.txt`, `optimized-plan.txt`: the plans of the shrunk recipe.
///
/// # Errors
/// A file cannot be written.
pub async fn write_artifacts(directory: &Path, case: &Case, shrunk: &Recipe, failure: &Failure) -> Result<PathBuf> {
    let target = directory.join(case.seed.to_string()).join(case.index.to_string());
    let of_rows = |render: fn(u64, u64, &Recipe) -> String| {
        let (seed, index, recipe) = (case.seed, case.index, shrunk.clone());
        guarded(async move { Ok(render(seed, index, &recipe)) }.boxed())
    };
    let files = [
        ("recipe.json", shrunk.to_json()?),
        ("original.json", case.recipe.to_json()?),
        ("failure.txt", description(case, shrunk, failure)),
        ("failure.rs", rust_test(case, shrunk, failure)),
        ("reproduction.rs", of_rows(reproduction::render).await),
        ("failure.slt", of_rows(slt::render).await),
        ("plain-plan.txt", guarded(plans::plain(shrunk.clone()).boxed()).await),
        ("optimized-plan.txt", guarded(plans::optimized(shrunk.clone()).boxed()).await),
    ];
    let io = |path: PathBuf| |source| OracleError::Io { path, source };
    std::fs::create_dir_all(&target).map_err(io(target.clone()))?;
    for (name, text) in files {
        let file = target.join(name);
        std::fs::write(&file, text).map_err(io(file.clone()))?;
    }
    Ok(target)
}

/// The text, or why there is none: making it may fail or panic in the way that the recipe is about.
async fn guarded(text: BoxFuture<'static, Result<String>>) -> String {
    match tokio::spawn(text).await {
        Ok(Ok(text)) => text,
        Ok(Err(error)) => format!("// ended early: {error}\n"),
        Err(error) => format!("// ended early: {error}\n"),
    }
}

fn description(case: &Case, shrunk: &Recipe, failure: &Failure) -> String {
    let (before, after) = (RecipeSize::of(&case.recipe), RecipeSize::of(shrunk));
    let mut text = format!(
        "seed {} case {}\n{failure}\n\nas drawn: {before}\nshrunk:   {after}\n\nqueries of the shrunk recipe:\n",
        case.seed, case.index
    );
    for query in &shrunk.workload {
        let _ = writeln!(text, "{query};");
    }
    text
}

/// A test that fails as long as the recipe beside it does.
fn rust_test(case: &Case, shrunk: &Recipe, failure: &Failure) -> String {
    let mut text = format!("//! Found as case {} of seed {}: {}.\n//!\n", case.index, case.seed, failure.class);
    text.push_str("//! ```sql\n");
    for query in &shrunk.workload {
        let _ = writeln!(text, "//! {query};");
    }
    let name = format!("seed_{}_case_{}", case.seed, case.index);
    let _ = write!(
        text,
        r#"//! ```

use asap_oracle::fuzz::replay;
use asap_oracle::recipe::Recipe;

#[tokio::test(flavor = "multi_thread")]
async fn {name}() {{
    let recipe = Recipe::from_json(include_str!("recipe.json")).unwrap();
    let failures = replay(&recipe).await.failures;
    assert!(failures.is_empty(), "{{failures:#?}}");
}}
"#
    );
    text
}
