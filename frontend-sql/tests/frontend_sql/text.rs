//! Texts: statements, comments, line ends, byte order marks, places.

use asap_frontend_sql::{FrontendError, lower_workload, parse_workload};
use rstest::rstest;

use crate::catalog;

fn statements(text: &str) -> Vec<String> {
    let parsed = parse_workload(text).unwrap();
    for statement in &parsed {
        let written = &text[statement.span()];
        assert_eq!(written.replace('\r', "\n"), statement.sql().replace('\r', "\n"));
    }
    parsed.iter().map(|statement| statement.sql().to_owned()).collect()
}

#[rstest]
#[case::empty("", &[])]
#[case::only_comments("-- nothing\n/* here */ ; ;", &[])]
#[case::one("SELECT 1", &["SELECT 1"])]
#[case::trailing("  SELECT 1 ;\n", &["SELECT 1"])]
#[case::several("SELECT 1;;SELECT 2;\nSELECT 3", &["SELECT 1", "SELECT 2", "SELECT 3"])]
#[case::semicolon_in_quotes("SELECT ';' AS \";\"; SELECT 2", &["SELECT ';' AS \";\"", "SELECT 2"])]
#[case::semicolon_in_comments("SELECT 1 -- a; b\n+ 1; /* ; */ SELECT 2", &["SELECT 1 -- a; b\n+ 1", "SELECT 2"])]
#[case::comment_after("SELECT 1 -- end\n; -- more", &["SELECT 1"])]
#[case::crlf("-- a\r\nSELECT 1\r\n  , 2;\r\nSELECT 3\r\n", &["SELECT 1\r\n  , 2", "SELECT 3"])]
#[case::cr("-- a\rSELECT 1 -- b\r, 2;\rSELECT 3\r", &["SELECT 1 -- b\n, 2", "SELECT 3"])]
#[case::cr_in_quotes("SELECT 'a\rb';\rSELECT 2", &["SELECT 'a\rb'", "SELECT 2"])]
#[case::cr_after_apostrophe_in_comment("-- don't\rSELECT 1 -- it's\r;/* ' */\rSELECT 2", &["SELECT 1", "SELECT 2"])]
#[case::byte_order_mark("\u{feff}SELECT 1;SELECT 2", &["SELECT 1", "SELECT 2"])]
#[case::unicode("SELECT 'é→😀';\n-- naïve\nSELECT 'ü'", &["SELECT 'é→😀'", "SELECT 'ü'"])]
fn splits(#[case] text: &str, #[case] expected: &[&str]) {
    assert_eq!(statements(text), expected);
}

#[test]
fn names_come_from_comments() {
    let text = "-- Dashboard\n-- name: first tile\nSELECT 1;\n-- other\nSELECT 2;\n--name:third\n/* x */ SELECT 3";
    let parsed = parse_workload(text).unwrap();
    let names: Vec<_> = parsed.iter().map(asap_frontend_sql::Statement::name).collect();
    assert_eq!(names, [Some("first tile"), None, Some("third")]);
}

#[rstest]
#[case("SELECT FROM", "")]
#[case("SELECT (k FROM t", "FROM")]
#[case("SELECT k FROM t WHERE", "")]
#[case("SELECT k FROM t;\nSELEC k FROM t;", "SELEC")]
#[case("SELECT 'ü', k FROM t WHERE ) > 1", ")")]
#[case("\u{feff}-- é\r\nSELECT 'é',, 1", ",")]
#[case("-- a\rSELECT k k k FROM t", "k")]
#[case("SELECT k FROM t t2 t3 t4", "t3")]
#[case("SELECT 'open", "'open")]
fn syntax_errors_have_a_place(#[case] text: &str, #[case] place: &str) {
    let error = parse_workload(text).unwrap_err();
    assert!(matches!(error, FrontendError::Syntax { .. }), "{error:?}");
    assert_eq!(&text[error.span()], place, "{error}");
    assert!(!error.to_string().contains(" at Line:"), "{error}");
}

/// Places count bytes of the whole text, behind byte order marks, other statements and characters of several bytes.
#[rstest]
#[case::lf("\u{feff}-- é\nSELECT 1;\nSELECT 'é→', wrong\nFROM t")]
#[case::crlf("\u{feff}-- é\r\nSELECT 1;\r\nSELECT 'é→', wrong\r\nFROM t")]
#[case::cr("\u{feff}-- é\rSELECT 1;\rSELECT 'é→', wrong\rFROM t")]
fn places_are_bytes_of_the_whole_text(#[case] text: &str) {
    let workload = lower_workload(text, &catalog()).unwrap();
    let error = workload[1].query.as_ref().unwrap_err();
    assert_eq!(&text[error.span()], "wrong");
    assert!(matches!(error, FrontendError::UnknownColumn { .. }), "{error:?}");
}

/// A refused statement leaves the others alone.
#[test]
fn other_statements_are_lowered() {
    let text = "SELECT count(*) FROM t; SELECT median(a) FROM t; SELECT k FROM t";
    let workload = lower_workload(text, &catalog()).unwrap();
    let lowered: Vec<bool> = workload.iter().map(|statement| statement.query.is_ok()).collect();
    assert_eq!(lowered, [true, false, true]);
    let unresolved = workload[0].statement.lower(&catalog()).unwrap();
    assert_eq!(&asap_types::resolve(&unresolved).unwrap(), workload[0].query.as_ref().unwrap());
}
