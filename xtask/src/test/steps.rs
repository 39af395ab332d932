//! The steps of `cargo xtask test`: the one list of what is checked.

use crate::cargo::{self, Workspace};
use crate::error::Error;
use crate::test::outcome::Outcome;
use crate::tidy;

/// Tests that guard what silently gives wrong answers or slow plans. They run among all tests too; here so many of them
/// must exist, so that renaming or deleting one is noticed. A floor rises with the tests.
const GATES: &[Gate] = &[
    Gate { name: "schema-invariant", module: "schema_invariant::", at_least: 11 },
    Gate { name: "deletion-vectors", module: "deletion_vectors::", at_least: 42 },
    Gate { name: "plan-time-io", module: "plan_time_io::", at_least: 9 },
];

/// The tests of one module of `lance-pushdown`, of which at least so many must pass.
#[derive(Clone, Copy)]
pub(crate) struct Gate {
    name: &'static str,
    module: &'static str,
    at_least: u64,
}

const FIXED_SEED: u64 = 1;
const FUZZ_CASES: u32 = 300;

pub(crate) struct Step {
    pub(crate) name: String,
    pub(crate) work: Work,
}

pub(crate) enum Work {
    /// A cargo command that holds or does not.
    Cargo {
        args: &'static [&'static str],
        env: Option<(&'static str, &'static str)>,
    },
    /// A `cargo test`, whose tests are counted.
    Tests(&'static [&'static str]),
    /// One check: all tests of the gate pass, and there are as many as it names.
    Gate(Gate),
    Tidy,
    Fuzz {
        cases: u32,
        seed: u64,
    },
}

/// For daily use: seconds after a small change.
pub(crate) fn quick() -> Vec<Step> {
    vec![
        fmt(),
        clippy(),
        tidy_step(),
        step(
            "tests of the light crates",
            Work::Tests(&["test", "--no-fail-fast", "-p", "asap-types", "-p", "asap-aware-mapping", "-p", "xtask"]),
        ),
    ]
}

/// Everything.
pub(crate) fn all(fresh_seed: u64) -> Vec<Step> {
    let mut steps = vec![
        fmt(),
        tidy_step(),
        clippy(),
        step(
            "docs",
            Work::Cargo { args: &["doc", "--workspace", "--no-deps"], env: Some(("RUSTDOCFLAGS", "-D warnings")) },
        ),
        step(
            "tests",
            Work::Tests(&["test", "--workspace", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples"]),
        ),
        step("doc tests", Work::Tests(&["test", "--workspace", "--no-fail-fast", "--doc"])),
    ];
    steps.extend(GATES.iter().map(|gate| step(&format!("gate {}", gate.name), Work::Gate(*gate))));
    steps.extend([FIXED_SEED, fresh_seed].map(|seed| {
        let name = format!("fuzz-equality --cases {FUZZ_CASES} --seed {seed}");
        step(&name, Work::Fuzz { cases: FUZZ_CASES, seed })
    }));
    steps
}

fn fmt() -> Step {
    step("fmt", Work::Cargo { args: &["fmt", "--all", "--check"], env: None })
}

fn clippy() -> Step {
    step("clippy", Work::Cargo { args: &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], env: None })
}

fn tidy_step() -> Step {
    step("tidy", Work::Tidy)
}

fn step(name: &str, work: Work) -> Step {
    Step { name: name.to_owned(), work }
}

impl Work {
    pub(crate) fn run(&self, workspace: &Workspace) -> Result<Outcome, Error> {
        match self {
            Self::Cargo { args, env } => {
                let mut command = workspace.cargo(args);
                command.envs(env.iter().copied());
                Ok(Outcome::of_one(cargo::run(&mut command)?.success()))
            }
            Self::Tests(args) => run_tests(workspace, args),
            Self::Gate(gate) => run_gate(workspace, gate),
            Self::Tidy => Ok(Outcome::of_one(tidy::check_and_print(workspace)?)),
            Self::Fuzz { cases, seed } => run_fuzz(workspace, *cases, *seed),
        }
    }
}

fn run_tests(workspace: &Workspace, args: &[&str]) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let status = cargo::run_watched(&mut workspace.cargo(args), |line| outcome.count_line(line))?;
    Ok(outcome.with_exit(status.success()))
}

fn run_gate(workspace: &Workspace, gate: &Gate) -> Result<Outcome, Error> {
    let ran = run_tests(workspace, &["test", "--workspace", "--test", "lance_pushdown", "--", gate.module])?;
    if ran.passed < gate.at_least {
        println!("{} tests of {} passed, and there must be {}", ran.passed, gate.module, gate.at_least);
    }
    Ok(verdict_of_gate(ran, gate.at_least))
}

/// The gate's tests are counted with all tests already, so the gate is one check more, not all of them again.
fn verdict_of_gate(ran: Outcome, at_least: u64) -> Outcome {
    Outcome::of_one(ran.failed == 0 && ran.passed >= at_least)
}

fn run_fuzz(workspace: &Workspace, cases: u32, seed: u64) -> Result<Outcome, Error> {
    let Ok(programs) = workspace.build_programs()? else {
        return Ok(Outcome::of_one(false));
    };
    let mut oracle = programs.command("asap-oracle")?;
    oracle.args(["fuzz-equality", "--cases", &cases.to_string(), "--seed", &seed.to_string()]);
    Ok(Outcome::of_one(cargo::run(&mut oracle)?.success()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gate_that_misses_a_test_fails() {
        assert_eq!(verdict_of_gate(Outcome { passed: 3, failed: 0 }, 4), Outcome::of_one(false));
        assert_eq!(verdict_of_gate(Outcome { passed: 4, failed: 1 }, 4), Outcome::of_one(false));
        assert_eq!(verdict_of_gate(Outcome { passed: 4, failed: 0 }, 4), Outcome::of_one(true));
        assert!(GATES.iter().all(|gate| gate.at_least > 0));
    }

    #[test]
    fn the_fresh_seed_is_printed_with_its_step() {
        let steps = all(4711);
        assert!(steps.iter().any(|step| step.name.contains("--seed 4711")));
    }
}
