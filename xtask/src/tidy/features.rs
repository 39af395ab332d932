//! Programs and tests resolve the same features, or every package that differs, and all above it, compiles twice.

use std::collections::{BTreeMap, BTreeSet};

use super::Violation;
use crate::cargo::{self, Workspace};
use crate::error::Error;

pub(super) fn check(workspace: &Workspace) -> Result<Vec<Violation>, Error> {
    let of_programs = resolved(workspace, "normal,build")?;
    let of_tests = resolved(workspace, "normal,build,dev")?;
    Ok(compare(&of_programs, &of_tests))
}

/// One line for each package: its name, a bar, and its features.
fn resolved(workspace: &Workspace, edges: &str) -> Result<String, Error> {
    cargo::stdout_of(&mut workspace.cargo(&[
        "tree",
        "--workspace",
        "--edges",
        edges,
        "--prefix",
        "none",
        "--format",
        "{p}|{f}|",
    ]))
}

fn compare(of_programs: &str, of_tests: &str) -> Vec<Violation> {
    let of_tests = feature_sets(of_tests);
    feature_sets(of_programs)
        .into_iter()
        .filter(|(package, features)| of_tests.get(package) != Some(features))
        .map(|(package, _)| {
            let message = "has other features in tests than in programs, so that it and all above it compile twice; \
                           make the dev-dependency that adds them a normal dependency of asap-oracle";
            Violation::new(package, message)
        })
        .collect()
}

/// The feature sets that each package is compiled with; build scripts and procedural macros may have one of their own.
fn feature_sets(tree: &str) -> BTreeMap<&str, BTreeSet<&str>> {
    let mut sets = BTreeMap::<_, BTreeSet<_>>::new();
    for line in tree.lines() {
        let mut parts = line.split('|');
        if let (Some(package), Some(features)) = (parts.next(), parts.next()) {
            sets.entry(package).or_default().insert(features);
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_only_tests_have_is_found() {
        let programs = "syn v2.0.1|full|\nserde v1.0.1|std| (*)\n";
        let tests = "syn v2.0.1|full,visit|\nserde v1.0.1|std|\nrstest v0.26.1||\n";
        let found: Vec<String> = compare(programs, tests).into_iter().map(|violation| violation.place).collect();
        assert_eq!(found, ["syn v2.0.1"]);
        assert_eq!(compare(programs, programs), []);
    }
}
