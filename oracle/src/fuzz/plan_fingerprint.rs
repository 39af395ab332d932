//! Fingerprints of plans: equal for plans that differ in constants, names of columns, ids and paths only.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde::Serialize;

/// The different plans of a case or of a run, each by its fingerprint.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plans {
    /// Physical plans of single queries, with pushdown.
    pub pushdown: BTreeSet<u64>,
    /// Plans of whole workloads.
    pub workload: BTreeSet<u64>,
}

/// How many different plans there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct PlanCounts {
    /// Physical plans of single queries, with pushdown.
    pub pushdown: usize,
    /// Plans of whole workloads.
    pub workload: usize,
}

impl Plans {
    /// Takes a case's plans in; returns how many of them are new.
    pub(super) fn add(&mut self, other: Self) -> u64 {
        let mut new = 0;
        for (all, more) in [(&mut self.pushdown, other.pushdown), (&mut self.workload, other.workload)] {
            new += more.into_iter().map(|plan| u64::from(all.insert(plan))).sum::<u64>();
        }
        new
    }

    /// How many there are.
    #[must_use]
    pub fn counts(&self) -> PlanCounts {
        PlanCounts { pushdown: self.pushdown.len(), workload: self.workload.len() }
    }
}

/// The fingerprint of a plan's text.
pub(super) fn of_text(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.lines().for_each(|line| normalized(line).hash(&mut hasher));
    hasher.finish()
}

/// A line of a plan's text without what is particular to one dataset: `#` for each word with a digit in it (numbers, names
/// of columns, ids), `?` for what is quoted or compared with, and a list of either is as long as its first item.
#[must_use]
pub fn normalized(line: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in split(line) {
        let is_operand =
            words.iter().rev().find(|before| before.as_str() != " ").is_some_and(|before| compares(before));
        words.push(match word.as_str() {
            quoted if quoted.starts_with(['"', '\'']) => "?".to_owned(),
            number if number.contains(|c: char| c.is_ascii_digit()) => "#".to_owned(),
            text if is_operand && text.starts_with(char::is_alphanumeric) => "?".to_owned(),
            other => other.to_owned(),
        });
    }
    let mut text = words.concat();
    for repeated in ["#, #", "?, ?", "?, #", "#, ?", "##", "#-#", "#.#"] {
        while text.contains(repeated) {
            text = text.replace(repeated, &repeated[..1]);
        }
    }
    text
}

fn compares(word: &str) -> bool {
    matches!(word, "=" | "!=" | "<" | ">" | "<=" | ">=" | "LIKE" | "THEN" | "ELSE")
}

/// Words of letters, digits, `_` and what is no ASCII; runs of `=`, `<`, `>`, `!`; quoted texts; and single characters.
fn split(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut characters = line.trim_end().chars().peekable();
    while let Some(first) = characters.next() {
        let mut word = String::from(first);
        let mut take = |belongs: &dyn Fn(char) -> bool| {
            while let Some(next) = characters.next_if(|&next| belongs(next)) {
                word.push(next);
            }
        };
        match first {
            '"' | '\'' => {
                take(&|next| next != first);
                word.extend(characters.next());
            }
            '=' | '<' | '>' | '!' => take(&|next| matches!(next, '=' | '<' | '>')),
            _ if is_word(first) => take(&is_word),
            _ => {}
        }
        words.push(word);
    }
    words
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_' || !character.is_ascii()
}
