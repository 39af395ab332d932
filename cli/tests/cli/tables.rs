//! Tables that are not what their argument says.

use crate::{assert_fails, folder, write};

#[rstest::rstest]
#[case::directory("b=empty")]
#[case::text("b=notes.txt")]
#[case::no_ending("b=notes")]
fn what_is_no_dataset_is_called_so(#[case] table: &str) {
    let folder = folder();
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    write(folder.path(), "notes.txt", b"k\n1\n");
    write(folder.path(), "notes", b"k\n1\n");
    let arguments = ["query", "SELECT 1 FROM b", "--table", table];
    assert_fails(folder.path(), &arguments, 2, "cannot open table 'b'");
    assert_fails(folder.path(), &arguments, 2, "not a Lance dataset");
    assert_fails(folder.path(), &arguments, 2, "_versions");
}

#[test]
fn a_name_with_a_schema_is_refused_and_quotes_help() {
    let folder = folder();
    assert_fails(folder.path(), &["query", "SELECT 1 FROM m", "--table", "a.m=m.csv"], 2, "write m=m.csv");
    let sql = "SELECT count(*) AS n FROM \"a.m\"";
    let output = crate::asap(folder.path(), &["query", sql, "--table", "\"a.m\"=m.csv", "--format", "csv"]);
    assert_eq!(crate::stdout(&output), "n\n4\n", "{output:?}");
}

#[rstest::rstest]
#[case::empty_csv("empty.csv", b"", "it has no columns")]
#[case::empty_parquet("empty.parquet", b"", "it has no columns")]
#[case::equal_names("twice.csv", b"k,k\n1,2\n", "two of its columns are named 'k'")]
fn a_file_without_usable_columns_is_refused(#[case] file: &str, #[case] content: &[u8], #[case] reason: &str) {
    let folder = folder();
    write(folder.path(), file, content);
    let table = format!("t={file}");
    assert_fails(folder.path(), &["query", "SELECT count(*) FROM t", "--table", &table], 2, reason);
}

#[test]
fn the_ending_of_a_file_may_be_upper_case_and_so_may_its_table() {
    let folder = folder();
    write(folder.path(), "DATA.CSV", b"k\n1\n2\n");
    let arguments = ["query", "SELECT count(*) AS n FROM T", "--table", "T=DATA.CSV", "--format", "csv"];
    let output = crate::asap(folder.path(), &arguments);
    assert_eq!(crate::stdout(&output), "n\n2\n", "{output:?}");
}
