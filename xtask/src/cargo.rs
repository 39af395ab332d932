//! The cargo that built this program, run on the workspace.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};

use cargo_metadata::{Message, MetadataCommand};

use crate::error::Error;
use crate::heartbeat::Heartbeat;
use crate::protoc;

/// The workspace, and how to run cargo in it.
pub(crate) struct Workspace {
    root: PathBuf,
    protoc: PathBuf,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self, Error> {
        let metadata = MetadataCommand::new().no_deps().exec()?;
        Ok(Self { root: metadata.workspace_root.into_std_path_buf(), protoc: protoc::path()? })
    }

    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// `cargo ARGS` at the workspace root, with `PROTOC` set and without what `cargo run` says of xtask.
    ///
    /// Build scripts such as ring's run again when `CARGO_MANIFEST_DIR` or `CARGO_PKG_NAME` changes: handed on, these would
    /// make cargo compile lance again each time that it is called now by xtask and now by hand.
    pub(crate) fn cargo(&self, args: &[&str]) -> Command {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let mut command = Command::new(cargo);
        command.args(args).current_dir(&self.root).env("PROTOC", &self.protoc);
        for (name, _) in std::env::vars_os() {
            if name.to_str().is_some_and(describes_package) {
                command.env_remove(name);
            }
        }
        command
    }

    /// Builds every program of the workspace. All members take part, so that features unify as in every other build of
    /// the workspace and nothing is compiled twice. `Err(status)` inside: the build failed and cargo said why.
    pub(crate) fn build_programs(&self) -> Result<Result<Programs, ExitStatus>, Error> {
        self.build(&["--bin", "asap", "--bin", "asap-oracle"])
    }

    /// Builds the oracle, with faults in the crates of the workspace, or optimized. Features of other packages stay as they
    /// are.
    pub(crate) fn build_oracle(&self, faults: bool, release: bool) -> Result<Result<Programs, ExitStatus>, Error> {
        let faults: &[&str] = if faults { &["--features", "asap-oracle/faults"] } else { &[] };
        let release: &[&str] = if release { &["--release"] } else { &[] };
        self.build(&[&["--bin", "asap-oracle"], faults, release].concat())
    }

    fn build(&self, selection: &[&str]) -> Result<Result<Programs, ExitStatus>, Error> {
        let mut command = self.cargo(&["build", "--workspace", "--message-format=json-render-diagnostics"]);
        command.args(selection);
        let program = name_of(&command);
        let _heartbeat = Heartbeat::start("building");
        let mut child = spawn(command.stdout(Stdio::piped()))?;
        let mut paths = BTreeMap::new();
        if let Some(stdout) = child.stdout.take() {
            for message in Message::parse_stream(BufReader::new(stdout)) {
                let message = message.map_err(|source| Error::Output { program: program.clone(), source })?;
                if let Message::CompilerArtifact(artifact) = message
                    && let Some(path) = artifact.executable
                {
                    paths.insert(artifact.target.name, path.into_std_path_buf());
                }
            }
        }
        let status = child.wait().map_err(|source| Error::Output { program, source })?;
        Ok(if status.success() { Ok(Programs(paths)) } else { Err(status) })
    }
}

/// Whether cargo sets this variable to describe the package that it compiles or runs.
fn describes_package(variable: &str) -> bool {
    const PREFIXES: [&str; 5] = ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_CFG_"];
    variable == "OUT_DIR"
        || variable == "CARGO_PRIMARY_PACKAGE"
        || PREFIXES.iter().any(|prefix| variable.starts_with(prefix))
}

/// The programs that a build made, by name, where cargo says that they are.
pub(crate) struct Programs(BTreeMap<String, PathBuf>);

impl Programs {
    pub(crate) fn command(&self, name: &'static str) -> Result<Command, Error> {
        self.0.get(name).map(Command::new).ok_or(Error::NoProgram(name))
    }
}

/// Runs with this program's own standard streams.
pub(crate) fn run(command: &mut Command) -> Result<ExitStatus, Error> {
    let program = name_of(command);
    spawn(command)?.wait().map_err(|source| Error::Output { program, source })
}

/// Runs, copies standard output through and shows each of its lines to `each_line`.
pub(crate) fn run_watched(command: &mut Command, mut each_line: impl FnMut(&str)) -> Result<ExitStatus, Error> {
    let program = name_of(command);
    let mut child = spawn(command.stdout(Stdio::piped()))?;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).split(b'\n') {
            let line = line.map_err(|source| Error::Output { program: program.clone(), source })?;
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            each_line(&line);
        }
    }
    child.wait().map_err(|source| Error::Output { program, source })
}

/// What a program prints. Its standard error is this program's own.
pub(crate) fn stdout_of(command: &mut Command) -> Result<String, Error> {
    let program = name_of(command);
    let mut child = spawn(command.stdout(Stdio::piped()))?;
    let mut text = String::new();
    if let Some(mut stdout) = child.stdout.take() {
        stdout.read_to_string(&mut text).map_err(|source| Error::Output { program: program.clone(), source })?;
    }
    let status = child.wait().map_err(|source| Error::Output { program: program.clone(), source })?;
    if status.success() { Ok(text) } else { Err(Error::Failed { program, status }) }
}

/// The exit status to end with when a program that ran in our place ended with `status`.
pub(crate) fn pass_on(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.map_or(ExitCode::FAILURE, ExitCode::from)
}

fn spawn(command: &mut Command) -> Result<std::process::Child, Error> {
    let program = name_of(command);
    command.spawn().map_err(|source| Error::Spawn { program, source })
}

fn name_of(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_cargo_hears_nothing_of_xtask_and_all_that_the_user_set() {
        for variable in ["CARGO_MANIFEST_DIR", "CARGO_MANIFEST_PATH", "CARGO_PKG_NAME", "CARGO_BIN_NAME", "OUT_DIR"] {
            assert!(describes_package(variable), "{variable}");
        }
        for variable in ["CARGO", "CARGO_HOME", "CARGO_TARGET_DIR", "CARGO_BUILD_JOBS", "CARGO_PROFILE_DEV_DEBUG", "CC"]
        {
            assert!(!describes_package(variable), "{variable}");
        }
    }

    /// This test runs under cargo, which describes xtask to it just as `cargo run` does.
    #[test]
    fn nested_cargo_is_started_without_a_package() {
        let workspace = Workspace { root: PathBuf::from("."), protoc: PathBuf::from("protoc") };
        let command = workspace.cargo(&["build"]);
        let removed: Vec<_> = command.get_envs().filter(|(_, value)| value.is_none()).map(|(name, _)| name).collect();
        assert!(removed.iter().any(|name| *name == "CARGO_MANIFEST_DIR"), "{removed:?}");
        assert!(removed.iter().any(|name| *name == "CARGO_PKG_NAME"), "{removed:?}");
    }
}
