//! `cargo xtask protoc`: the Protocol Buffers compiler that lance's build scripts call.

use std::env;
use std::path::PathBuf;
use std::process::ExitCode;

use crate::error::Error;

/// Print the path of the protoc that the other commands build with.
///
/// The others set it themselves; this is for cargo without xtask.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:\n  export PROTOC=\"$(cargo xtask protoc)\" && cargo build --workspace")]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> Result<ExitCode, Error> {
    println!("{}", path()?.display());
    Ok(ExitCode::SUCCESS)
}

/// In this order: what `PROTOC` names, `protoc` on the search path, the vendored one.
pub(crate) fn path() -> Result<PathBuf, Error> {
    if let Some(path) = env::var_os("PROTOC").filter(|path| !path.is_empty()) {
        return Ok(path.into());
    }
    match on_search_path() {
        Some(path) => Ok(path),
        None => protoc_bin_vendored::protoc_bin_path().map_err(|error| Error::NoProtoc(error.to_string())),
    }
}

fn on_search_path() -> Option<PathBuf> {
    let name = format!("protoc{}", env::consts::EXE_SUFFIX);
    env::split_paths(&env::var_os("PATH")?).map(|directory| directory.join(&name)).find(|candidate| candidate.is_file())
}
