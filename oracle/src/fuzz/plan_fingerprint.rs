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

/// A line of a plan's text as its operator and the vocabulary of the rest: which functions, operators and modes it names.
/// How often and in what order it names them is left out, as are constants and names: what holds a digit, what is quoted,
/// and what something is compared with. Without that nearly each random plan would be one of its own.
#[must_use]
pub fn normalized(line: &str) -> String {
    let words = split(line);
    let is_compared = |at: usize| at > 2 && words[at - 1] == " " && compares(&words[at - 2]) && words[at - 3] == " ";
    let named = words.iter().enumerate().filter(|(at, word)| is_term(word) && !is_compared(*at));
    let named: Vec<&str> = named.map(|(_, word)| word.as_str()).collect();
    let depth = words.iter().take_while(|word| *word == " ").count();
    let Some((operator, rest)) = named.split_first() else { return String::new() };
    let vocabulary: BTreeSet<&str> = rest.iter().copied().collect();
    format!("{:depth$}{operator} {}", "", Vec::from_iter(vocabulary).join(" "))
}

fn compares(word: &str) -> bool {
    matches!(word, "=" | "!=" | "<" | ">" | "<=" | ">=" | "LIKE" | "THEN" | "ELSE")
}

/// A name of something in a plan, and no constant.
fn is_term(word: &str) -> bool {
    let is_name = word.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    (is_name || compares(word)) && !matches!(word, "true" | "false" | "Some" | "None")
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
