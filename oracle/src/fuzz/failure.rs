//! What can be wrong with a case.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error_class::ErrorClass;

/// The kind of a failure. Shrinking keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FailureClass {
    /// The recipe could not be followed.
    Recipe,
    /// The plain plan's answer is not the interpreter's.
    Plain,
    /// The answer with aggregate pushdown is not the interpreter's.
    Pushdown,
    /// The answer of the workload plan is not the interpreter's.
    Workload,
    /// One side fails and the interpreter does not, the other way round, or they fail for different reasons.
    Error,
    /// Planning read an index, or anything at all once the table's facts were loaded.
    PlanTimeRead,
    /// The fragments of a report are not those of the dataset, each once.
    Buckets,
    /// A plan that is run again has another answer.
    Reexecution,
    /// Planning twice gave two plans.
    Determinism,
    /// The schema of an optimized answer is not that of the plain one.
    Schema,
    /// Answers contradict one another.
    Relation,
    /// Something panicked.
    Panic,
    /// The answer of a downstream project's session is not the interpreter's.
    Session,
}

impl fmt::Display for FailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Recipe => "the recipe cannot be followed",
            Self::Plain => "the plain answer differs from the interpreter's",
            Self::Pushdown => "the pushdown answer differs from the interpreter's",
            Self::Workload => "the workload plan's answer differs from the interpreter's",
            Self::Error => "one side fails, the other does not, or for another reason",
            Self::PlanTimeRead => "planning read from the store",
            Self::Buckets => "the buckets do not partition the fragments",
            Self::Reexecution => "running a plan again gives another answer",
            Self::Determinism => "planning twice gives two plans",
            Self::Schema => "the schema differs from the plain answer's",
            Self::Relation => "answers contradict one another",
            Self::Panic => "a panic",
            Self::Session => "the session's answer differs from the interpreter's",
        })
    }
}

/// A failure of a case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Failure {
    /// The kind.
    pub class: FailureClass,
    /// The query, by position in the workload, if it is one query's failure.
    pub query: Option<usize>,
    /// What was seen.
    pub detail: String,
}

impl Failure {
    /// What a smaller recipe's failure must share to be the same: the class, and of errors what went wrong, as far as no
    /// name or number of the recipe is part of it.
    #[must_use]
    pub fn signature(&self) -> String {
        let reason = match self.class {
            FailureClass::Error => up_to_error_class(&self.detail),
            FailureClass::Recipe | FailureClass::Panic => start(&self.detail),
            _ => String::new(),
        };
        format!("{}: {reason}", self.class)
    }
}

/// The text up to the last error class in it, where the judge names one.
fn up_to_error_class(detail: &str) -> String {
    let ends = ErrorClass::ALL.iter().filter_map(|class| {
        let name = format!("({})", class.name());
        detail.find(&name).map(|position| position + name.len())
    });
    let Some(end) = ends.max() else { return start(detail) };
    // Between two classes stands the first error's text.
    let first_line = detail.lines().next().unwrap_or_default();
    let head = start(first_line.split('(').next().unwrap_or_default());
    let named = ErrorClass::ALL.iter().filter(|class| detail[..end].contains(&format!("({})", class.name())));
    format!("{head} {}", named.map(|class| class.name()).collect::<Vec<_>>().join(", "))
}

/// The first words, without numbers and what is quoted.
fn start(detail: &str) -> String {
    const LETTERS: usize = 40;
    let unquoted = detail.split(['\'', '"', '`']).step_by(2).collect::<String>();
    unquoted.chars().filter(|c| c.is_alphabetic() || *c == ' ').take(LETTERS).collect()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.class)?;
        if let Some(query) = self.query {
            write!(f, " (query {})", query + 1)?;
        }
        write!(f, ": {}", self.detail)
    }
}
