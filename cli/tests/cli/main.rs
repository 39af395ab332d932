//! Runs the real program on small files.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod failures;
mod json;
mod output;
mod tables;

use std::path::Path;
use std::process::{Command, Output};

use tempfile::TempDir;

/// A folder with `m.csv`, whose last two rows hold an empty string and a NULL value.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), "m.csv", b"k,v\na,1\nb,2\n,3\nc,\n");
    folder
}

fn write(folder: &Path, name: &str, content: &[u8]) {
    std::fs::write(folder.join(name), content).unwrap();
}

fn asap(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_asap")).current_dir(folder).args(arguments).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// The program must fail with this status and one error that says this, and print nothing else.
fn assert_fails(folder: &Path, arguments: &[&str], status: i32, says: &str) {
    let output = asap(folder, arguments);
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {error}");
    assert!(output.stdout.is_empty(), "{arguments:?} printed {}", stdout(&output));
    assert!(error.contains(says), "{arguments:?}: {error}");
    assert!(!error.contains("panicked"), "{arguments:?}: {error}");
}

#[test]
fn tables_show_null_apart_from_an_empty_string() {
    let folder = folder();
    let output =
        asap(folder.path(), &["query", "SELECT '' AS e, sum(v) AS s FROM m WHERE v > 9", "--table", "m=m.csv"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(
        stdout(&output).lines().any(|line| line.split_whitespace().eq(["|", "|", "NULL", "|"])),
        "{}",
        stdout(&output)
    );
}

#[test]
fn an_empty_answer_has_a_header() {
    let folder = folder();
    for format in ["table", "csv"] {
        let sql = "SELECT k, count(*) AS n FROM m WHERE v > 9 GROUP BY k";
        let output = asap(folder.path(), &["query", sql, "--table", "m=m.csv", "--format", format]);
        assert_eq!(output.status.code(), Some(0));
        let text = stdout(&output);
        assert!(text.contains("k,n") || text.contains("| k | n |"), "{format}: {text}");
    }
}

#[test]
fn a_workload_of_any_line_ending_is_compared_as_equal() {
    let folder = folder();
    let workload =
        "\u{feff}-- one\r\nSELECT k, sum(v) FROM m GROUP BY k;\rSELECT sum(v) FROM m;\nSELECT sum(v) FROM m;";
    write(folder.path(), "w.sql", workload.as_bytes());
    let output = asap(folder.path(), &["run", "w.sql", "--table", "m=m.csv", "--compare"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("equal: 3/3"), "{}", stdout(&output));
}

#[test]
fn wrong_sql_is_one_error_with_its_place() {
    let folder = folder();
    let cases = [
        ("SELECT nope FROM m", "[query:1:8]"),
        ("SELECT vv FROM m", "did you mean 'm.v'"),
        ("SELECT count(*) FROM zz", "table 'zz' not found"),
        ("COPY m TO 'x.csv'", "not a query"),
        ("SET a = 1", "not a query"),
        ("CREATE TABLE x AS SELECT * FROM m", "not a query"),
    ];
    for (sql, says) in cases {
        assert_fails(folder.path(), &["query", sql, "--table", "m=m.csv"], 2, says);
    }
    assert!(!folder.path().join("x.csv").exists());
}

#[test]
fn a_failure_at_run_time_has_its_own_status() {
    let folder = folder();
    let sql = "SELECT cast(k AS int) FROM m";
    assert_fails(folder.path(), &["query", sql, "--table", "m=m.csv"], 3, "Cannot cast string 'a'");
}

#[test]
fn a_table_that_cannot_be_opened_is_named() {
    let folder = folder();
    write(folder.path(), "bad.parquet", b"PAR1junk");
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    for table in ["b=bad.parquet", "b=empty", "b=missing.lance"] {
        assert_fails(folder.path(), &["query", "SELECT 1 FROM b", "--table", table], 2, "cannot open table 'b'");
    }
    let twice = ["query", "SELECT 1 FROM m", "--table", "m=m.csv", "--table", "m=m.csv"];
    assert_fails(folder.path(), &twice, 2, "given twice");
    assert_fails(folder.path(), &["query", "SELECT 1 FROM m", "--table", "m"], 2, "expected NAME=PATH");
}

#[test]
fn a_workload_that_cannot_be_read_is_named() {
    let folder = folder();
    write(folder.path(), "binary.sql", &[0xff, 0xfe]);
    write(folder.path(), "empty.sql", b"-- nothing\n;");
    assert_fails(folder.path(), &["run", "binary.sql", "--table", "m=m.csv"], 2, "not UTF-8");
    assert_fails(folder.path(), &["run", "empty.sql", "--table", "m=m.csv"], 2, "no SQL statement");
    assert_fails(folder.path(), &["run", "missing.sql", "--table", "m=m.csv"], 2, "cannot read missing.sql");
}

#[test]
fn fragments_are_explained_only_over_lance() {
    let folder = folder();
    let output = asap(folder.path(), &["query", "SELECT sum(v) FROM m", "--table", "m=m.csv", "--explain"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(stdout(&output).contains("Workload as planned"), "{}", stdout(&output));
    assert!(!stdout(&output).contains("fragments"), "{}", stdout(&output));
}

/// A real dataset on disk: rows 0 to 5, then 6 to 8 in a second fragment, and row 2 deleted.
fn lance_dataset(directory: &std::path::Path) -> String {
    use std::sync::Arc;

    use arrow::array::{ArrayRef, Int64Array, RecordBatch, RecordBatchIterator};
    use lance::dataset::{Dataset, WriteMode, WriteParams};

    let rows = |range: std::ops::Range<i64>| {
        let x: ArrayRef = Arc::new(Int64Array::from_iter_values(range));
        let batch = RecordBatch::try_from_iter([("x", x)]).unwrap();
        let schema = batch.schema();
        RecordBatchIterator::new([Ok(batch)], schema)
    };
    let uri = directory.join("t.lance").to_string_lossy().into_owned();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        Dataset::write(rows(0..6), &uri, None).await.unwrap();
        let append = WriteParams { mode: WriteMode::Append, ..WriteParams::default() };
        let mut dataset = Dataset::write(rows(6..9), &uri, Some(append)).await.unwrap();
        dataset.delete("x = 2").await.unwrap();
    });
    uri
}

#[test]
fn lance_tables_are_answered_from_what_the_manifest_records() {
    let directory = tempfile::tempdir().unwrap();
    let table = format!("t={}", lance_dataset(directory.path()));
    let sql = "SELECT count(*) AS n FROM t; SELECT sum(x) AS s FROM t";
    let arguments = ["query", sql, "--table", &table, "--compare", "--explain"];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_asap")).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("equal: 2/2"), "{text}");
    assert!(text.contains("| 8 ") && text.contains("| 34 "), "{text}");
    assert!(text.contains("literal"), "{text}");
}

/// Lance 14.0.2 panics on a manifest that is cut short.
#[test]
fn a_corrupt_dataset_is_an_error_and_no_panic() {
    let directory = tempfile::tempdir().unwrap();
    let uri = lance_dataset(directory.path());
    for manifest in std::fs::read_dir(format!("{uri}/_versions")).unwrap() {
        std::fs::OpenOptions::new().write(true).open(manifest.unwrap().path()).unwrap().set_len(100).unwrap();
    }
    let table = format!("t={uri}");
    let arguments = ["query", "SELECT count(*) FROM t", "--table", &table];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_asap")).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(text.contains("cannot open table 't'") && !text.contains("panicked"), "{text}");
    assert!(output.stdout.is_empty());
}

/// Both sides read the version that asap opened; here the newest of three.
#[test]
fn a_dataset_of_several_versions_is_compared_in_one() {
    let directory = tempfile::tempdir().unwrap();
    let table = format!("t={}", lance_dataset(directory.path()));
    let output = asap(directory.path(), &["query", "SELECT sum(x) AS s FROM t", "--table", &table, "--compare"]);
    assert!(stdout(&output).contains("equal: 1/1"), "{output:?}");
    assert!(stdout(&output).contains("planning the workload: "), "{output:?}");
}
