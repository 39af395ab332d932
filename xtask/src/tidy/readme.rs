//! Commands that `README.md` tells people to type exist.

use std::collections::BTreeSet;

use clap::CommandFactory;

use super::Violation;

/// The subcommands there are.
pub(super) struct Commands {
    xtask: BTreeSet<String>,
    asap: BTreeSet<String>,
}

impl Commands {
    /// xtask's own from its parser; those of `asap`, which xtask must not depend on, from its sources.
    pub(super) fn of_this_repository(sources: &[(String, String)]) -> Self {
        let xtask = crate::Cli::command().get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let cli_sources = sources.iter().filter(|(name, _)| name.starts_with("cli/src/"));
        let asap = cli_sources.flat_map(|(_, text)| derived_subcommands(text)).collect();
        Self { xtask, asap }
    }
}

pub(super) fn check(readme: &str, commands: &Commands) -> Vec<Violation> {
    let mut violations = Vec::new();
    for (number, line) in fenced_lines(readme) {
        for (program, known) in [("cargo xtask", &commands.xtask), ("asap", &commands.asap)] {
            for subcommand in subcommands_of(program, line) {
                if !known.contains(subcommand) {
                    let message = format!("there is no command `{program} {subcommand}`");
                    violations.push(Violation::new(format!("README.md:{number}"), message));
                }
            }
        }
    }
    violations
}

/// The lines inside code fences, with their numbers.
fn fenced_lines(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut inside = false;
    markdown.lines().enumerate().filter_map(move |(index, line)| {
        if line.trim_start().starts_with("```") {
            inside = !inside;
            return None;
        }
        inside.then_some((index + 1, line))
    })
}

/// What follows `program` on a command line, where it starts a command: at the start of the line, or after `$`, `(`,
/// `&` or `|`.
fn subcommands_of<'line>(program: &str, line: &'line str) -> Vec<&'line str> {
    let mut found = Vec::new();
    for (at, _) in line.match_indices(program) {
        let before = line[..at].trim_end();
        let starts_command = before.is_empty() || before.ends_with(['$', '(', '&', '|']);
        let after = &line[at + program.len()..];
        let word = after.trim_start().split(|c: char| !c.is_ascii_alphanumeric() && c != '-').next().unwrap_or("");
        if starts_command && after.starts_with(' ') && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            found.push(word);
        }
    }
    found
}

/// The command names of the enums that derive `clap::Subcommand`, as clap spells them. The source is as rustfmt
/// leaves it: a variant stands on a line of its own, one level below its enum.
fn derived_subcommands(source: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut lines = source.lines();
    while let Some(line) = lines.next() {
        if !(line.contains("derive(") && line.contains("Subcommand")) {
            continue;
        }
        let Some(head) = lines.by_ref().find(|line| line.contains("enum ")) else {
            break;
        };
        let indent = head.len() - head.trim_start().len();
        for line in lines.by_ref() {
            let depth = line.len() - line.trim_start().len();
            if depth == indent && line.trim_start().starts_with('}') {
                break;
            }
            if depth == indent + 4 && line.trim_start().starts_with(|c: char| c.is_ascii_uppercase()) {
                let end = |c: char| !c.is_ascii_alphanumeric();
                names.push(kebab_case(line.trim_start().split(end).next().unwrap_or("")));
            }
        }
    }
    names
}

fn kebab_case(variant: &str) -> String {
    let mut name = String::new();
    for (index, c) in variant.chars().enumerate() {
        if c.is_ascii_uppercase() && index > 0 {
            name.push('-');
        }
        name.push(c.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands() -> Commands {
        let cli = "\
#[derive(Debug, Subcommand)]
enum Command {
    /// Answer a workload.
    Run(RunArgs),
    #[command(visible_alias = \"x\")]
    PlanAll {
        path: PathBuf,
        Other: u8,
    },
}

enum Unrelated {
    Nothing,
}
";
        Commands::of_this_repository(&[("cli/src/main.rs".to_owned(), cli.to_owned())])
    }

    #[test]
    fn subcommands_are_read_from_derives() {
        assert_eq!(commands().asap, BTreeSet::from(["run".to_owned(), "plan-all".to_owned()]));
        assert!(commands().xtask.contains("fuzz-equality"));
    }

    #[test]
    fn a_command_that_does_not_exist_is_found_in_fences_only() {
        let readme = "\
Type `cargo xtask nothing`, or not.
```sh
cargo xtask demo --keep
export PROTOC=\"$(cargo xtask protocol)\"
$ asap run a.sql
asap query 'SELECT asap fun'
asap --help
./asap-oracle run
```
";
        let shown: Vec<String> = check(readme, &commands()).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "README.md:4: there is no command `cargo xtask protocol`",
                "README.md:6: there is no command `asap query`",
            ]
        );
    }
}
