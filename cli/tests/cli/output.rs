//! What the commands print: every format, refused statements, names as users spell them.

use std::io::Read;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::{asap, folder, stdout, write};

const ROLL_UP: &[u8] = b"SELECT k, sum(v) AS s FROM m GROUP BY k; SELECT sum(v) AS s FROM m";

#[rstest::rstest]
#[case::tree("tree", &["RollUp(grand total: sum(sum(v)))", "q2: aggregate of q1", "1 of 2 queries read", "not from q2 (roll-up)"])]
#[case::dot("dot", &["digraph workload {", "n1 -> n3;", "label=\"q2\""])]
#[case::mermaid("mermaid", &["flowchart LR", "n1 --> n3", "q1([\"q2\"])"])]
fn a_plan_is_drawn(#[case] format: &str, #[case] parts: &[&str]) {
    let folder = folder();
    write(folder.path(), "w.sql", ROLL_UP);
    let output = asap(folder.path(), &["plan", "w.sql", "--table", "m=m.csv", "--format", format]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for part in parts {
        assert!(stdout(&output).contains(part), "{part} is missing in\n{}", stdout(&output));
    }
}

#[test]
fn a_plan_in_json_is_the_versioned_wire_form() {
    let folder = folder();
    write(folder.path(), "w.sql", ROLL_UP);
    let output = asap(folder.path(), &["plan", "w.sql", "--table", "m=m.csv", "--format", "json"]);
    let plan = asap_types::PostAsapDag::from_json(&stdout(&output)).unwrap();
    let names: Vec<&str> = plan.roots().iter().map(|root| root.name.as_str()).collect();
    assert_eq!(names, ["q1", "q2"]);
    assert_eq!(plan.nodes().len(), 5);
}

#[test]
fn answers_in_json_keep_names_types_and_nulls() {
    let folder = folder();
    write(folder.path(), "w.sql", b"-- name: total\nSELECT sum(v) AS s, min(v) FILTER (WHERE v > 9) AS m FROM m");
    let output = asap(folder.path(), &["run", "w.sql", "--table", "m=m.csv", "--format", "json"]);
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let answer = &printed["queries"][0];
    assert_eq!(answer["columns"], json!([{ "name": "s", "type": "Int64" }, { "name": "m", "type": "Int64" }]));
    assert_eq!(answer["rows"], json!([[6, null]]));
}

#[test]
fn formats_for_programs_hold_the_answers_alone() {
    let folder = folder();
    write(folder.path(), "w.sql", b"SELECT sum(v) AS s FROM m; SELECT count(k) AS n FROM m");
    let arguments = ["run", "w.sql", "--table", "m=m.csv", "--format", "csv", "--compare", "--explain"];
    let output = asap(folder.path(), &arguments);
    assert_eq!(stdout(&output), "s\n6\n\nn\n3\n");
    assert!(String::from_utf8_lossy(&output.stderr).contains("equal: 2/2"));
}

#[rstest::rstest]
#[case::distinct("SELECT count(DISTINCT k) FROM m", "a DISTINCT aggregate")]
#[case::join("SELECT count(*) FROM m a JOIN m b ON a.k = b.k", "a join")]
#[case::union("SELECT k FROM m UNION SELECT 'z' FROM m", "a set operation (UNION, INTERSECT, EXCEPT)")]
#[case::window("SELECT k, row_number() OVER (ORDER BY k) AS r FROM m", "a window function")]
fn a_statement_that_is_not_planned_is_answered_alone_and_says_why(#[case] sql: &str, #[case] reason: &str) {
    let folder = folder();
    let workload = format!("SELECT k, sum(v) FROM m GROUP BY k; {sql}; SELECT sum(v) FROM m");
    let output = asap(folder.path(), &["query", &workload, "--table", "m=m.csv", "--compare", "--explain"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0), "{text}");
    let line = text.lines().find(|line| line.starts_with("  q2: ")).unwrap();
    let because = format!("  q2: itself alone: {reason} cannot be planned as part of a workload (query:1:");
    assert!(line.starts_with(&because) && line.ends_with(')') && line.contains("; "), "{line}");
    assert!(text.contains("q3: aggregate of q1") && text.contains("equal: 3/3"), "{text}");
}

#[test]
fn table_and_column_names_fold_unless_quoted() {
    let folder = folder();
    write(folder.path(), "Upper.csv", b"K,v\na,1\nb,2\n");
    let sql = "SELECT \"K\", SUM(V) AS \"S\" FROM UPPER GROUP BY \"K\"; SELECT count(*) FROM upper";
    let output = asap(folder.path(), &["query", sql, "--table", "Upper=Upper.csv", "--compare"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("| K | S |") && stdout(&output).contains("equal: 2/2"), "{}", stdout(&output));
}

#[test]
fn float_sums_are_derived_only_as_the_user_allows() {
    let folder = folder();
    write(folder.path(), "f.csv", b"k,x\na,0.1\na,0.2\nb,0.3\n");
    write(folder.path(), "w.sql", b"SELECT k, sum(x) FROM f GROUP BY k; SELECT sum(x) FROM f");
    for (float, derived) in [("exact", "0 of 2 queries read"), ("reassociate", "1 of 2 queries read")] {
        let output = asap(folder.path(), &["plan", "w.sql", "--table", "f=f.csv", "--float", float]);
        assert!(stdout(&output).contains(derived), "{float}: {}", stdout(&output));
    }
}

#[test]
fn one_partition_is_enough() {
    let folder = folder();
    let sql = "SELECT k, avg(v) FROM m GROUP BY k ORDER BY k; SELECT avg(v) FROM m";
    let output = asap(folder.path(), &["query", sql, "--table", "m=m.csv", "--compare", "--target-partitions", "1"]);
    assert!(stdout(&output).contains("equal: 2/2"), "{output:?}");
}

#[test]
fn a_refusal_says_its_line_and_column() {
    let folder = folder();
    let workload =
        "SELECT sum(v) FROM m;\r\n-- \u{e9}\r\n  SELECT k,\r\n  '\u{e9}' AS e, count(DISTINCT v) FROM m GROUP BY k;";
    write(folder.path(), "w.sql", workload.as_bytes());
    let output = asap(folder.path(), &["plan", "w.sql", "--table", "m=m.csv"]);
    assert!(stdout(&output).contains("workload (w.sql:4:13; run the statement"), "{}", stdout(&output));
}

#[test]
fn the_tolerance_for_floats_is_said_where_there_are_floats() {
    let folder = folder();
    let said = "floats are compared within a relative error of 1e-9 (--float exact: bit by bit)\nequal: 1/1";
    let compared = |sql: &str, float: &str| {
        let output = asap(folder.path(), &["query", sql, "--table", "m=m.csv", "--compare", "--float", float]);
        stdout(&output).contains(said)
    };
    assert!(compared("SELECT avg(v) FROM m", "reassociate"));
    assert!(!compared("SELECT avg(v) FROM m", "exact"));
    assert!(!compared("SELECT sum(v) FROM m", "reassociate"));
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let folder = folder();
    let rows: String = (0..200_000).map(|row| format!("{row}\n")).collect();
    write(folder.path(), "n.csv", format!("n\n{rows}").as_bytes());
    for format in ["table", "csv", "json"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_asap"))
            .current_dir(folder.path())
            .args(["query", "SELECT n FROM n", "--table", "n=n.csv", "--format", format])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let mut said = String::new();
        child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(0), "{format}: {said}");
        assert!(said.is_empty(), "{format}: {said}");
    }
}

/// What was found is the exit status, whether or not anybody reads the answers.
#[test]
fn a_reader_that_goes_away_does_not_hide_a_difference() {
    let folder = folder();
    let mut child = Command::new(env!("CARGO_BIN_EXE_asap"))
        .current_dir(folder.path())
        .args(["query", "SELECT random() AS r FROM m", "--table", "m=m.csv", "--compare"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}
