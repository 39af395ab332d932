//! `cargo xtask tidy`: what the compiler does not check about this repository.

mod architecture;
mod features;
mod graph;
mod layers;
mod manifests;
mod readme;
mod seeds;
mod sources;

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use cargo_metadata::{Metadata, MetadataCommand};

use crate::cargo::Workspace;
use crate::error::Error;
use graph::DependencyGraph;

/// Check the layers, the features, the length of files, the lints, and that the documents name what exists.
///
/// Each violation is one line: where, and what to do. The exit status is 1 when there is any.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  cargo xtask tidy")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<ExitCode, Error> {
    let is_tidy = check_and_print(&Workspace::find()?)?;
    Ok(if is_tidy { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether the repository is tidy; prints why not.
pub(crate) fn check_and_print(workspace: &Workspace) -> Result<bool, Error> {
    let violations = check(workspace)?;
    for violation in &violations {
        println!("{violation}");
    }
    match violations.len() {
        0 => println!("tidy: no violation"),
        count => println!("tidy: violations: {count}"),
    }
    Ok(violations.is_empty())
}

/// One thing that is not as it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Violation {
    place: String,
    message: String,
}

impl Violation {
    fn new(place: impl Into<String>, message: impl Into<String>) -> Self {
        Self { place: place.into(), message: message.into() }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.place, self.message)
    }
}

/// A crate of the workspace.
struct Member {
    name: String,
    /// Relative to the workspace root.
    folder: String,
}

fn check(workspace: &Workspace) -> Result<Vec<Violation>, Error> {
    let root = workspace.root();
    let metadata = MetadataCommand::new().current_dir(root).exec()?;
    let members = members(&metadata);
    let mut violations = layers::check(&DependencyGraph::of_shipped_code(&metadata), &members);
    violations.extend(features::check(workspace)?);

    let mut source_files = Vec::new();
    for member in &members {
        let manifest = format!("{}/Cargo.toml", member.folder);
        violations.extend(manifests::check(&manifest, &read(root, &manifest)?));
        collect_rust_files(&root.join(&member.folder), &mut source_files)?;
    }
    source_files.sort();
    let mut sources = Vec::new();
    for file in &source_files {
        let name = file.strip_prefix(root).unwrap_or(file).to_string_lossy().replace('\\', "/");
        let text = read(root, &name)?;
        sources.push((name, text));
    }
    violations.extend(sources::check(&sources));

    let commands = readme::Commands::of_this_repository(&sources);
    violations.extend(readme::check(&read(root, "README.md")?, &commands));
    violations.extend(seeds::check(&read(root, "docs/seeds.md")?, &sources));
    violations.extend(architecture::check(&read(root, "ARCHITECTURE.md")?, &members));
    Ok(violations)
}

fn members(metadata: &Metadata) -> Vec<Member> {
    let mut members: Vec<Member> = metadata
        .workspace_packages()
        .into_iter()
        .filter_map(|package| {
            let folder = package.manifest_path.parent()?.strip_prefix(&metadata.workspace_root).ok()?;
            Some(Member { name: package.name.to_string(), folder: folder.as_str().replace('\\', "/") })
        })
        .collect();
    members.sort_by(|left, right| left.name.cmp(&right.name));
    members
}

fn read(root: &Path, name: &str) -> Result<String, Error> {
    let path = root.join(name);
    fs::read_to_string(&path).map_err(Error::io(&path))
}

fn collect_rust_files(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    for entry in fs::read_dir(directory).map_err(Error::io(directory))? {
        let path = entry.map_err(Error::io(directory))?.path();
        if path.is_dir() {
            let is_build_output = path.file_name().is_some_and(|name| name == "target");
            if !is_build_output {
                collect_rust_files(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
