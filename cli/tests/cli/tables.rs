//! Tables that are not what their argument says.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use arrow::datatypes::{DataType, Field, Schema};
use datafusion::parquet::arrow::ArrowWriter;

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

#[rstest::rstest]
#[case::file("twice.parquet", "twice.parquet")]
#[case::in_a_directory("twice.parquet", "twice.parquet/part-0.parquet")]
fn a_parquet_file_with_two_columns_of_one_name_is_refused(#[case] table: &str, #[case] path: &str) {
    let folder = folder();
    std::fs::create_dir_all(folder.path().join(path).parent().unwrap()).unwrap();
    let field = || Field::new("k", DataType::Int64, true);
    let column = |value| Arc::new(Int64Array::from(vec![value])) as _;
    let schema = Arc::new(Schema::new(vec![field(), field()]));
    let batch = RecordBatch::try_new(Arc::clone(&schema), vec![column(1), column(2)]).unwrap();
    let mut file = ArrowWriter::try_new(Vec::new(), schema, None).unwrap();
    file.write(&batch).unwrap();
    write(folder.path(), path, &file.into_inner().unwrap());
    let table = format!("t={table}");
    assert_fails(
        folder.path(),
        &["query", "SELECT sum(k) FROM t", "--table", &table],
        2,
        "two of its columns are named 'k'",
    );
}

#[test]
fn the_ending_of_a_file_may_be_upper_case_and_so_may_its_table() {
    let folder = folder();
    write(folder.path(), "DATA.CSV", b"k\n1\n2\n");
    let arguments = ["query", "SELECT count(*) AS n FROM T", "--table", "T=DATA.CSV", "--format", "csv"];
    let output = crate::asap(folder.path(), &arguments);
    assert_eq!(crate::stdout(&output), "n\n2\n", "{output:?}");
}
