//! `docs/seeds.md`: each requirement of the design documents names a test, and each named test exists.

use super::Violation;

const DOCUMENT: &str = "docs/seeds.md";

/// Checks the tables of the document against the sources, given as name and text.
///
/// A row is `| requirement | tests | deviation |`. A test is written `path/to/file.rs::name`, an example or a benchmark
/// `path/to/file.rs`.
pub(super) fn check(document: &str, sources: &[(String, String)]) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut rows = 0;
    for (number, line) in document.lines().enumerate() {
        let Some(row) = line.strip_prefix('|').filter(|row| !is_separator(row)) else { continue };
        let is_header =
            document.lines().nth(number + 1).is_some_and(|next| next.starts_with('|') && is_separator(next));
        if is_header {
            continue;
        }
        rows += 1;
        let place = format!("{DOCUMENT}:{}", number + 1);
        let tests: Vec<&str> = row.split('|').nth(1).map(code_spans).unwrap_or_default();
        if tests.is_empty() {
            violations.push(Violation::new(&place, "no test proves this requirement; name one in the second column"));
        }
        let missing = tests.into_iter().filter(|test| !exists(test, sources));
        violations.extend(missing.map(|test| Violation::new(&place, format!("`{test}` does not exist"))));
    }
    if rows == 0 {
        violations.push(Violation::new(DOCUMENT, "holds no table"));
    }
    violations
}

fn is_separator(row: &str) -> bool {
    row.contains('-') && row.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '))
}

/// What stands between backticks.
fn code_spans(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

fn exists(test: &str, sources: &[(String, String)]) -> bool {
    let (path, name) = test.split_once("::").map_or((test, None), |(path, name)| (path, Some(name)));
    sources.iter().filter(|(file, _)| file == path).any(|(_, text)| match name {
        Some(name) => text.contains(&format!("fn {name}(")),
        None => path.contains("/examples/") || path.contains("/benches/"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(document: &str) -> Vec<String> {
        let sources = [
            ("a/tests/a/main.rs".to_owned(), "#[test]\nfn it_holds() {}".to_owned()),
            ("a/examples/one.rs".to_owned(), "fn main() {}".to_owned()),
        ];
        check(document, &sources).into_iter().map(|violation| violation.to_string()).collect()
    }

    fn table(row: &str) -> String {
        format!("Text | with a bar\n\n| what | tests | deviation |\n| --- | --- | --- |\n{row}\n")
    }

    #[test]
    fn tests_and_examples_that_exist_pass() {
        assert!(messages(&table("| it holds | `a/tests/a/main.rs::it_holds`, `a/examples/one.rs` | |")).is_empty());
    }

    #[test]
    fn what_is_missing_is_named_with_its_line() {
        let cases = [
            ("| it holds | | none |", "docs/seeds.md:5: no test proves"),
            ("| it holds | `a/tests/a/main.rs::it_held` | |", "`a/tests/a/main.rs::it_held` does not exist"),
            ("| it holds | `b/tests/b/main.rs::it_holds` | |", "does not exist"),
            ("| it holds | `a/tests/a/main.rs` | |", "does not exist"),
        ];
        for (row, says) in cases {
            let found = messages(&table(row));
            assert!(found.len() == 1 && found.iter().all(|message| message.contains(says)), "{row}: {found:?}");
        }
        assert_eq!(messages("no table").len(), 1);
    }
}
