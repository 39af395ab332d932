//! The command line: what is refused, and with which exit status.

use std::process::{Command, Output};

use rstest::rstest;

fn fuzz_equality(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_asap-oracle")).arg("fuzz-equality").args(arguments).output().unwrap()
}

#[rstest]
#[case::two_lengths(&["--cases", "1", "--time", "1m"], "cannot be used with")]
#[case::case_and_length(&["--seed", "1", "--case", "1", "--comparisons", "9"], "cannot be used with")]
#[case::case_without_seed(&["--case", "1"], "--seed")]
#[case::bias_without_case(&["--bias", "history: append"], "--case")]
#[case::no_bias(&["--seed", "1", "--case", "1", "--bias", "weather: rain"], "is no coverage point")]
#[case::replay_and_seed(&["--replay", "recipe.json", "--seed", "1"], "cannot be used with")]
#[case::only_and_case(&["--seed", "1", "--case", "1", "--only", "append"], "cannot be used with")]
#[case::no_unit(&["--time", "90"], "'90' is no duration: write a whole number and s, m or h")]
#[case::no_number(&["--time", "m"], "is no duration")]
#[case::signed(&["--time", "+5s"], "is no duration")]
#[case::too_long(&["--time", "18446744073709551615h"], "is no duration")]
#[case::no_time(&["--time", "0s"], "a run of no time has no case")]
#[case::no_case(&["--cases", "0"], "0")]
#[case::no_crate(&["--crate", "types"], "lance-pushdown, aware-mapping, frontend-sql, execution")]
#[case::no_state(&["--cases", "1", "--only", "quantum index"], "no coverage point contains 'quantum index'")]
#[case::no_recipe(&["--replay", "/nowhere/recipe.json"], "/nowhere/recipe.json")]
fn wrong_arguments(#[case] arguments: &[&str], #[case] message: &str) {
    let output = fuzz_equality(arguments);
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains(message), "{text}");
}

#[test]
fn a_case_prints_its_settings_and_leaves_its_report() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report.json");
    let bias = "table: stable row ids";
    let output = fuzz_equality(&["--seed", "9", "--case", "4", "--bias", bias, "--report", file.to_str().unwrap()]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    assert!(text.starts_with("fuzz-equality: seed 9 · case 4 with bias 'table: stable row ids' · "), "{text}");
    assert!(text.trim_end().ends_with("0 different"), "{text}");
    let report: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    assert_eq!((&report["seed"], &report["cases"], &report["success"]), (&9.into(), &1.into(), &true.into()));
}
