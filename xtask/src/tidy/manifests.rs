//! Every crate takes the workspace's lints.

use super::Violation;

pub(super) fn check(manifest: &str, text: &str) -> Option<Violation> {
    (!inherits_lints(text)).then(|| Violation::new(manifest, "needs `[lints]` with `workspace = true`"))
}

fn inherits_lints(text: &str) -> bool {
    let mut table = "";
    text.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            table = line;
        }
        let assignment: String = line.split('#').next().unwrap_or("").split_whitespace().collect();
        (table == "[lints]" && assignment == "workspace=true") || assignment == "lints.workspace=true"
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lints_are_inherited_or_it_is_a_violation() {
        assert_eq!(check("a/Cargo.toml", "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n"), None);
        for broken in [
            "[package]\nname = \"a\"\n",
            "[lints]\n[dependencies]\nworkspace = true\n",
            "[lints]\n# workspace = true\n",
        ] {
            assert!(check("a/Cargo.toml", broken).is_some(), "{broken}");
        }
    }
}
