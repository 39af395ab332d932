//! What JSON keeps.

use serde_json::{Value, json};

use crate::{asap, folder, stdout};

fn rows(sql: &str) -> (String, Value) {
    let folder = folder();
    let output = asap(folder.path(), &["query", sql, "--table", "m=m.csv", "--format", "json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let text = stdout(&output);
    let printed: Value = serde_json::from_str(&text).unwrap();
    (text, printed["queries"][0].clone())
}

#[test]
fn equal_names_keep_their_values() {
    let (_, answer) = rows("SELECT a.n, b.n FROM (SELECT 1 AS n) a, (SELECT 2 AS n) b");
    assert_eq!(answer["columns"][0]["name"], answer["columns"][1]["name"]);
    assert_eq!(answer["rows"], json!([[1, 2]]));
}

#[test]
fn numbers_keep_their_digits() {
    let nines = "9".repeat(38);
    let sql = format!(
        "SELECT CAST('{nines}' AS DECIMAL(38, 0)) AS d, 9223372036854775807 AS i, 18446744073709551615 AS u,
                0.1::double AS f, CAST(0.1 AS REAL) AS r, 1e300::double AS large, CAST('0.10' AS DECIMAL(5, 2)) AS c"
    );
    let (text, answer) = rows(&sql);
    assert_eq!(answer["rows"][0][0], json!(nines));
    assert_eq!(answer["rows"][0][6], json!("0.10"));
    assert!(text.contains("9223372036854775807, 18446744073709551615, 0.1, 0.1, 1e+300"), "{text}");
}

#[test]
fn what_is_no_json_number_is_text_and_null_is_null() {
    let sql = "SELECT 'NaN'::double AS n, 'inf'::double AS i, '-inf'::double AS m, NULL AS nothing, '' AS empty,
                      true AS b, DATE '2024-02-29' AS d, arrow_cast('x', 'Dictionary(Int32, Utf8)') AS k,
                      make_array(1, NULL, 3) AS l, 'a\"b' AS q";
    let (_, answer) = rows(sql);
    let row = json!(["NaN", "inf", "-inf", null, "", true, "2024-02-29", "x", [1, null, 3], "a\"b"]);
    assert_eq!(answer["rows"], json!([row]));
}

/// DataFusion's sums may have more digits than their type.
#[test]
fn decimals_beyond_their_type_keep_their_digits() {
    let row = |digits: &str, scale| format!("SELECT CAST('{digits}' AS DECIMAL(38, {scale})) AS d");
    let zeros = "0".repeat(37);
    let whole = format!("{} UNION ALL {}", row(&format!("9{zeros}"), 0), row(&format!("5{zeros}"), 0));
    let part = format!("{} UNION ALL {}", row("0.9", 38), row("0.6", 38));
    let sums =
        format!("SELECT a.s, b.s FROM (SELECT sum(d) AS s FROM ({whole})) a, (SELECT sum(d) AS s FROM ({part})) b");
    let (_, answer) = rows(&sums);
    assert_eq!(answer["rows"], json!([[format!("14{zeros}"), format!("1.5{zeros}")]]));
}

#[rstest::rstest]
fn a_time_beyond_the_calendar_is_a_number(#[values("table", "csv", "json")] format: &str) {
    let folder = folder();
    let time = |value: &str, unit: &str| format!("arrow_cast(arrow_cast({value}, 'Int64'), 'Timestamp({unit}, None)')");
    let (max, min) = (time("9223372036854775807", "Microsecond"), time("-9223372036854775808", "Second"));
    let sql = format!("SELECT {max} AS a, {min} AS b, {} AS c; SELECT 7 AS after", time("0", "Second"));
    let output = asap(folder.path(), &["query", &sql, "--table", "m=m.csv", "--format", format]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    for shown in ["9223372036854775807", "-9223372036854775808", "1970-01-01T00:00:00", "after", "7"] {
        assert!(stdout(&output).contains(shown), "{shown} is missing in {}", stdout(&output));
    }
}

#[test]
fn no_rows_are_an_empty_array() {
    let (_, answer) = rows("SELECT k, sum(v) AS s FROM m WHERE v > 9 GROUP BY k");
    assert_eq!(answer["rows"], json!([]));
    assert_eq!(answer["columns"].as_array().map(Vec::len), Some(2));
}
