//! What can be wrong with a workload's text.

use std::ops::Range;

use asap_types::{Schema, TypesError};
use thiserror::Error;

use crate::Feature;

/// Errors of parsing and lowering. Each carries the place in the workload's text, as a byte range, and says by
/// [`FrontendError::hint`] what to do.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FrontendError {
    /// The text is not SQL. The whole workload is refused.
    #[error("syntax error: {message}")]
    Syntax {
        /// What the parser expected and found.
        message: String,
        /// The place.
        span: Range<usize>,
    },
    /// The catalog does not know a table.
    #[error("table '{name}' not found")]
    UnknownTable {
        /// The name as it was resolved.
        name: String,
        /// The tables that the catalog lists, nearest name first.
        candidates: Vec<String>,
        /// The place.
        span: Range<usize>,
    },
    /// No column in scope has the name.
    #[error("column '{name}' not found")]
    UnknownColumn {
        /// The name as it was resolved.
        name: String,
        /// The columns in scope, nearest name first.
        candidates: Vec<String>,
        /// The place.
        span: Range<usize>,
    },
    /// Several columns in scope have the name.
    #[error("column '{name}' is ambiguous")]
    AmbiguousColumn {
        /// The name.
        name: String,
        /// The place.
        span: Range<usize>,
    },
    /// The statement does not type-check or breaks a rule of SQL.
    #[error("{message}")]
    Plan {
        /// DataFusion's message.
        message: String,
        /// The place.
        span: Range<usize>,
    },
    /// The statement is valid SQL that the workload IR does not hold.
    #[error("{feature} cannot be planned as part of a workload")]
    Unsupported {
        /// What is not supported.
        feature: Feature,
        /// The place.
        span: Range<usize>,
    },
    /// The IR refuses the lowered operators.
    #[error("this statement has no exact form in the workload IR: {source}")]
    Ir {
        /// What the IR refuses.
        source: TypesError,
        /// The place: the statement.
        span: Range<usize>,
    },
    /// The lowered query has another schema than DataFusion's plan.
    #[error("the lowered schema {found} differs from {expected}")]
    SchemaDiffers {
        /// DataFusion's schema.
        expected: Box<Schema>,
        /// The schema of the lowered query.
        found: Box<Schema>,
        /// The place: the statement.
        span: Range<usize>,
    },
}

impl FrontendError {
    /// The place in the workload's text, as a byte range.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Syntax { span, .. }
            | Self::UnknownTable { span, .. }
            | Self::UnknownColumn { span, .. }
            | Self::AmbiguousColumn { span, .. }
            | Self::Plan { span, .. }
            | Self::Unsupported { span, .. }
            | Self::Ir { span, .. }
            | Self::SchemaDiffers { span, .. } => span.clone(),
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        match self {
            Self::Syntax { .. } => "correct the statement; statements are separated by ';'".to_owned(),
            Self::UnknownTable { candidates, .. } => suggest("table", candidates),
            Self::UnknownColumn { candidates, .. } => suggest("column", candidates),
            Self::AmbiguousColumn { .. } => "qualify the column with its table's name or alias".to_owned(),
            Self::Plan { .. } => "correct the statement: DataFusion refuses it as well".to_owned(),
            Self::Unsupported { feature, .. } => feature.hint(),
            Self::Ir { .. } | Self::SchemaDiffers { .. } => {
                "run the statement by itself; please report it, with its text and the tables' schemas".to_owned()
            }
        }
    }
}

fn suggest(kind: &str, candidates: &[String]) -> String {
    const SHOWN: usize = 5;
    match candidates {
        [] => format!("there is no {kind} to choose from"),
        [only] => format!("the only {kind} is '{only}'"),
        [first, ..] => {
            let shown = candidates.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            let more = if candidates.len() > SHOWN { ", …" } else { "" };
            format!("did you mean '{first}'? Available: {shown}{more}")
        }
    }
}
