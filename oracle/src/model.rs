//! What SQL means, row by row, written apart from the IR and from DataFusion.

mod aggregate;
mod evaluate;
mod history;
mod like;
mod operators;
mod select;
mod subquery;
mod table;

pub use table::Table;

/// Why a query has no answer. DataFusion must refuse or fail on it too.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModelError {
    /// The source has no such table.
    #[error("no table is named {0}")]
    UnknownTable(String),
    /// The source has no such column, or it is neither grouped nor aggregated.
    #[error("no column is named {0}")]
    UnknownColumn(String),
    /// The operands' types do not go together.
    #[error("the types do not fit in {0}")]
    Types(String),
    /// An aggregate stands where there are only rows.
    #[error("{0} stands outside an aggregation")]
    MisplacedAggregate(String),
    /// The remainder of a division by zero.
    #[error("division by zero")]
    DivideByZero,
    /// A decimal does not fit its result type.
    #[error("a decimal overflows in {0}")]
    DecimalOverflow(String),
}
