//! One failing query does not hide the others, and nothing fails where the plain plan answers.

use serde_json::{Value, json};

use crate::{asap, folder, stdout, write};

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

const ONE_FAILS: &[u8] =
    b"SELECT count(*) AS n FROM m;\nSELECT sum(cast(k AS int)) AS s FROM m;\nSELECT sum(v) AS s FROM m;\n";

#[test]
fn the_answers_of_the_others_are_printed() {
    let folder = folder();
    write(folder.path(), "w.sql", ONE_FAILS);
    let output = asap(folder.path(), &["run", "w.sql", "--table", "m=m.csv", "--format", "csv"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert_eq!(stdout(&output), "n\n4\n\ns\n6\n");
    let error = stderr(&output);
    assert_eq!(error.matches("Cannot cast string 'a'").count(), 1, "{error}");
    assert!(error.contains("q2: ") && error.contains("[w.sql:2:1]"), "{error}");
    assert!(error.contains("SELECT sum(cast(k AS int)) AS s FROM m"), "{error}");
}

#[test]
fn a_query_that_fails_on_both_sides_is_not_different() {
    let folder = folder();
    write(folder.path(), "w.sql", ONE_FAILS);
    let output = asap(folder.path(), &["run", "w.sql", "--table", "m=m.csv", "--compare"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(text.contains("FAILED q2: on both sides") && text.contains("equal: 2/3"), "{text}");
    assert!(!text.contains("DIFFERENT"), "{text}");
}

#[test]
fn json_holds_the_error_of_a_failed_query() {
    let folder = folder();
    write(folder.path(), "w.sql", ONE_FAILS);
    let output = asap(folder.path(), &["run", "w.sql", "--table", "m=m.csv", "--format", "json"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let printed: Value = serde_json::from_str(&stdout(&output)).unwrap();
    let failed = &printed["queries"][1];
    assert!(failed["error"].as_str().unwrap().contains("Cannot cast string 'a'"), "{failed}");
    assert_eq!((&failed["rows"], &failed["columns"]), (&Value::Null, &Value::Null));
    assert_eq!(printed["queries"][2]["rows"], json!([[6]]));
}

/// The second query reads the aggregate of the first, which divides by zero. In its text alone nobody needs the quotient.
#[test]
fn a_query_whose_plan_fails_is_answered_by_its_text() {
    let folder = folder();
    let fine = "SELECT k, sum(1 / (v - 1)) AS f, sum(v) AS s FROM m GROUP BY k";
    write(folder.path(), "w.sql", format!("{fine};\nSELECT max(s) AS most FROM ({fine});\n").as_bytes());
    let output = asap(folder.path(), &["run", "w.sql", "--table", "m=m.csv", "--compare", "--explain"]);
    let (text, error) = (stdout(&output), stderr(&output));
    assert_eq!(output.status.code(), Some(3), "{text}{error}");
    assert!(text.contains("q2: itself alone: its plan failed: "), "{text}");
    assert!(error.contains("warning: q2 was answered by itself"), "{error}");
    assert!(text.contains("| 3    |") && text.contains("equal: 1/2") && !text.contains("DIFFERENT"), "{text}");
}

/// Pricing plans each aggregate, and a plan that cannot be made is no reason to answer nothing.
#[test]
fn a_query_that_cannot_be_priced_fails_alone() {
    let directory = tempfile::tempdir().unwrap();
    let table = format!("t={}", crate::lance_dataset(directory.path()));
    let sql = "SELECT count(*) FROM t WHERE x > CAST('a' AS INT); SELECT sum(x) AS s FROM t";
    let output = asap(directory.path(), &["query", sql, "--table", &table, "--compare"]);
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    assert!(stdout(&output).contains("| 34 |") && stdout(&output).contains("equal: 1/2"), "{}", stdout(&output));
    assert!(
        stderr(&output).contains("q1: ") && stderr(&output).contains("Cannot cast string 'a'"),
        "{}",
        stderr(&output)
    );
}

/// A statement that DataFusion's planner rejects is wrong, whatever it calls its error, and also when it is not planned
/// with the others.
#[rstest::rstest]
#[case::sum_of_text("SELECT sum(k) FROM m")]
#[case::refused_sum_of_text("SELECT sum(DISTINCT k) FROM m")]
#[case::branches_of_a_union("SELECT k FROM m UNION SELECT k, v FROM m")]
#[case::window("SELECT avg(k) OVER () FROM m")]
#[case::twice_the_same_name("WITH a AS (SELECT k FROM m), a AS (SELECT v FROM m) SELECT count(*) FROM a")]
#[case::twice_the_same_name_beside_a_union("WITH a AS (SELECT k FROM m), a AS (SELECT v FROM m) TABLE a UNION TABLE a")]
fn what_the_planner_rejects_is_a_wrong_statement(#[case] sql: &str) {
    let folder = folder();
    let workload = format!("SELECT count(*) FROM m; {sql}");
    let output = asap(folder.path(), &["query", &workload, "--table", "m=m.csv"]);
    let error = stderr(&output);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(output.stdout.is_empty());
    assert!(error.contains("[query:1:"), "{error}");
    assert!(!error.contains("bug") && !error.contains("Internal error"), "{error}");
}

#[rstest::rstest]
#[case::or(join(1000, "SELECT count(*) FROM m WHERE ", " OR ", |i| format!("v = {i}")))]
#[case::and(join(1000, "SELECT count(*) FROM m WHERE ", " AND ", |i| format!("v <> {}", i + 10)))]
#[case::plus(join(1000, "SELECT max(v + 1) + ", " + ", |_| "1".to_owned()) + " FROM m")]
#[case::ctes(chained_ctes(40))]
fn deep_statements_do_not_overflow_the_stack(#[case] sql: String) {
    let folder = folder();
    write(folder.path(), "w.sql", sql.as_bytes());
    let output = asap(folder.path(), &["run", "w.sql", "--table", "m=m.csv", "--compare"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert!(stdout(&output).contains("equal: 1/1"), "{}", stdout(&output));
}

fn join(terms: usize, start: &str, operator: &str, term: impl Fn(usize) -> String) -> String {
    start.to_owned() + &(0..terms).map(term).collect::<Vec<_>>().join(operator)
}

fn chained_ctes(count: usize) -> String {
    let next = |i: usize| format!(", c{i} AS (SELECT k, v + 1 AS v FROM c{})", i - 1);
    let rest: String = (1..count).map(next).collect();
    format!("WITH c0 AS (SELECT k, v FROM m){rest} SELECT k, sum(v) FROM c{} GROUP BY k", count - 1)
}
