//! Files short enough to read, and no lint silenced without a reason.

use super::Violation;

const LONGEST_FILE: usize = 600;

/// Files that may be longer, each with the reason why splitting it would make it harder to read.
const LONG_FILES: &[(&str, &str)] = &[];

/// `sources` are names, relative to the root, and texts.
pub(super) fn check(sources: &[(String, String)]) -> Vec<Violation> {
    let mut violations = check_lengths(sources, LONG_FILES);
    violations.extend(sources.iter().flat_map(|(name, text)| bare_allows(name, text)));
    violations
}

fn check_lengths(sources: &[(String, String)], excused: &[(&str, &str)]) -> Vec<Violation> {
    let is_long = |text: &str| text.lines().count() > LONGEST_FILE;
    let mut violations = Vec::new();
    for (name, text) in sources {
        if is_long(text) && !excused.iter().any(|(excused, _)| excused == name) {
            let message = format!(
                "{} lines, more than {LONGEST_FILE}; split it, or give a reason in xtask/src/tidy/sources.rs",
                text.lines().count()
            );
            violations.push(Violation::new(name, message));
        }
    }
    for (excused, reason) in excused {
        if !sources.iter().any(|(name, text)| name == excused && is_long(text)) {
            violations.push(Violation::new(*excused, "is no long file any more; remove it from LONG_FILES"));
        }
        if reason.trim().is_empty() {
            violations.push(Violation::new(*excused, "stands in LONG_FILES without a reason"));
        }
    }
    violations
}

fn bare_allows(name: &str, text: &str) -> Vec<Violation> {
    let lines: Vec<&str> = text.lines().collect();
    let is_allow = |line: &str| ["#[allow(", "#![allow("].iter().any(|start| line.trim_start().starts_with(start));
    let mut violations = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        if is_allow(line) && !attribute_at(&lines[index..]).contains("reason") {
            let message = "a lint is allowed without a reason; use `#[expect(…, reason = \"…\")]`";
            violations.push(Violation::new(format!("{name}:{}", index + 1), message));
        }
    }
    violations
}

/// The attribute that starts on the first of these lines, to its closing bracket.
fn attribute_at(lines: &[&str]) -> String {
    let last = lines.iter().position(|line| line.contains(")]")).unwrap_or(0);
    lines[..=last].join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(name: &str, lines: usize) -> (String, String) {
        (name.to_owned(), "//\n".repeat(lines))
    }

    #[test]
    fn a_long_file_needs_a_reason() {
        let sources = [source("a.rs", LONGEST_FILE), source("b.rs", LONGEST_FILE + 1)];
        assert_eq!(check_lengths(&sources, &[]).len(), 1);
        assert_eq!(check_lengths(&sources, &[("b.rs", "one table")]), []);
        assert_eq!(check_lengths(&sources, &[("b.rs", " ")]).len(), 1);
    }

    #[test]
    fn an_excuse_that_is_not_needed_is_a_violation() {
        let sources = [source("a.rs", 1)];
        assert_eq!(check_lengths(&sources, &[("a.rs", "was long")]).len(), 1);
        assert_eq!(check_lengths(&sources, &[("gone.rs", "was long")]).len(), 1);
    }

    #[test]
    fn a_bare_allow_is_found_and_a_reason_excuses() {
        let found = |text: &str| bare_allows("a.rs", text).len();
        assert_eq!(found("#[allow(dead_code)]\nfn f() {}\n"), 1);
        assert_eq!(found("    #![allow(\n    unused,\n)]\n"), 1);
        assert_eq!(found("#[allow(\n    unused,\n    reason = \"generated\"\n)]\n"), 0);
        assert_eq!(found("#[expect(dead_code, reason = \"x\")]\n"), 0);
        assert_eq!(found("#[allow(unused)]\n// the reason is missing\n"), 1);
    }
}
