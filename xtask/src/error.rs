//! What can stop a command before it has a verdict.

use std::path::{Path, PathBuf};

/// A command could not do its work; a check that fails is not an `Error` but a non-zero exit status.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum Error {
    /// `cargo metadata` failed or printed what cannot be read.
    #[error("cargo metadata: {0}")]
    Metadata(#[from] cargo_metadata::Error),
    /// A program could not be started.
    #[error("cannot start {program}: {source}")]
    Spawn { program: String, source: std::io::Error },
    /// A file or directory could not be read, written or removed.
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    /// The output of a program could not be read.
    #[error("cannot read what {program} prints: {source}")]
    Output { program: String, source: std::io::Error },
    /// A program whose output is needed failed.
    #[error("{program} failed: {status}")]
    Failed { program: String, status: std::process::ExitStatus },
    /// The build ended well, yet this program is not among what it made.
    #[error("the build made no program `{0}`")]
    NoProgram(&'static str),
    /// No vendored `protoc` exists for this machine.
    #[error("no protoc: {0}; install protobuf-compiler, or set PROTOC to the path of protoc")]
    NoProtoc(String),
    /// The demo would overwrite data.
    #[error("{} exists already; remove it, or name another directory with --dir", .0.display())]
    DataExists(PathBuf),
}

impl Error {
    pub(crate) fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::Io { path: path.to_owned(), source }
    }
}
