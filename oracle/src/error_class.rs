//! Kinds of errors, so that failing on both sides counts as agreement only for the same reason.

use std::error::Error;

use arrow::error::ArrowError;
use datafusion::error::DataFusionError;

use crate::OracleError;
use crate::model::ModelError;

/// Why a query has no answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ErrorClass {
    /// A division, or its remainder, by zero.
    DivideByZero,
    /// A number leaves its type.
    Overflow,
    /// A value cannot be cast.
    Cast,
    /// The query makes no sense: names or types do not fit.
    Invalid,
    /// A broken invariant, a panic, or mismatching schemas: a defect, never an answer.
    Internal,
    /// The session's memory does not suffice.
    OutOfMemory,
    /// Anything else, as an unreadable file.
    Other,
}

impl ErrorClass {
    /// Every class.
    pub const ALL: [Self; 7] =
        [Self::DivideByZero, Self::Overflow, Self::Cast, Self::Invalid, Self::Internal, Self::OutOfMemory, Self::Other];

    /// The name in coverage and failures.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DivideByZero => "division by zero",
            Self::Overflow => "overflow",
            Self::Cast => "cast",
            Self::Invalid => "invalid query",
            Self::Internal => "internal",
            Self::OutOfMemory => "out of memory",
            Self::Other => "other",
        }
    }

    /// Do two sides fail for the same reason? Internal and unclassified errors, and a lack of memory, agree with nothing.
    #[must_use]
    pub fn agrees(self, other: Self) -> bool {
        self == other && !matches!(self, Self::Internal | Self::OutOfMemory | Self::Other)
    }

    /// Of the interpreter's refusal.
    #[must_use]
    pub fn of_model(error: &ModelError) -> Self {
        match error {
            ModelError::DivideByZero => Self::DivideByZero,
            ModelError::DecimalOverflow(_) => Self::Overflow,
            ModelError::UnknownTable(_)
            | ModelError::UnknownColumn(_)
            | ModelError::Types(_)
            | ModelError::MisplacedAggregate(_) => Self::Invalid,
        }
    }

    /// Of a plan's failure.
    #[must_use]
    pub fn of(error: &OracleError) -> Self {
        let mut next: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = next {
            if let Some(error) = error.downcast_ref::<DataFusionError>() {
                return of_datafusion(error);
            }
            if let Some(error) = error.downcast_ref::<ArrowError>() {
                return of_arrow(error);
            }
            next = error.source();
        }
        of_text(&error.to_string())
    }
}

fn of_datafusion(error: &DataFusionError) -> ErrorClass {
    match error.find_root() {
        DataFusionError::ArrowError(error, _) => of_arrow(error),
        DataFusionError::Plan(_) | DataFusionError::SchemaError(..) | DataFusionError::SQL(..) => ErrorClass::Invalid,
        DataFusionError::Internal(_) | DataFusionError::ExecutionJoin(_) => ErrorClass::Internal,
        root => of_text(&root.to_string()),
    }
}

fn of_arrow(error: &ArrowError) -> ErrorClass {
    match error {
        ArrowError::DivideByZero => ErrorClass::DivideByZero,
        ArrowError::ArithmeticOverflow(_) => ErrorClass::Overflow,
        ArrowError::SchemaError(_) => ErrorClass::Internal,
        error => of_text(&error.to_string()),
    }
}

/// Lance and some of DataFusion's functions keep only the text of what went wrong.
fn of_text(text: &str) -> ErrorClass {
    let text = text.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if says(&["panic", "internal error", "schema mismatch"]) {
        ErrorClass::Internal
    } else if says(&["resources exhausted"]) {
        ErrorClass::OutOfMemory
    } else if says(&["divide by zero", "division by zero"]) {
        ErrorClass::DivideByZero
    } else if says(&["overflow", "is too large to store", "is too small to store"]) {
        ErrorClass::Overflow
    } else if says(&["cannot cast", "cast error", "can't cast"]) {
        ErrorClass::Cast
    } else {
        ErrorClass::Other
    }
}
