//! `ARCHITECTURE.md` has a section for each crate, and in it the crate's invariant.

use super::{Member, Violation};

pub(super) fn check(architecture: &str, members: &[Member]) -> Vec<Violation> {
    let mut violations = Vec::new();
    for member in members {
        let message = match section_of(architecture, &member.folder) {
            None => format!("no section has `{}/` in its heading", member.folder),
            Some(section) if !section.contains("**Invariant") => {
                format!("the section on `{}/` states no **Invariant**", member.folder)
            }
            Some(_) => continue,
        };
        violations.push(Violation::new("ARCHITECTURE.md", message));
    }
    violations
}

/// The text between the heading that names the folder and the next heading.
fn section_of(markdown: &str, folder: &str) -> Option<String> {
    let name = format!("`{folder}/`");
    let mut lines = markdown.lines();
    lines.find(|line| line.starts_with('#') && line.contains(&name))?;
    Some(lines.take_while(|line| !line.starts_with('#')).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_crate_has_an_invariant_of_its_own() {
        let text = "### `types/`: the IR\n**Invariant:** no I/O.\n\n### `cli/`: the program\nWords.\n";
        let members =
            ["types", "cli", "oracle"].map(|folder| Member { name: folder.to_owned(), folder: folder.to_owned() });
        let shown: Vec<String> = check(text, &members).iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "ARCHITECTURE.md: the section on `cli/` states no **Invariant**",
                "ARCHITECTURE.md: no section has `oracle/` in its heading",
            ]
        );
    }
}
