//! What SQL means, row by row, written apart from the IR and from DataFusion.

/// Why a query has no answer. DataFusion must refuse or fail on it too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The source has no such column.
    #[error("no column is named {0}")]
    UnknownColumn(String),
    /// The operands' types do not go together.
    #[error("the types do not fit in {0}")]
    Types(String),
}
