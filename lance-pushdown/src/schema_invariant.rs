//! Every branch emits the partial state that it replaces.

use std::fmt;

use arrow_schema::Schema;

use crate::error::{PushdownError, Result};

/// The first difference between a branch and the partial state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaMismatch {
    /// Another number of columns.
    Arity {
        /// Columns of the partial state.
        expected: usize,
        /// Columns of the branch.
        found: usize,
    },
    /// A column has another name, or stands at another place.
    Name {
        /// Column position.
        column: usize,
        /// Name in the partial state.
        expected: String,
        /// Name in the branch.
        found: String,
    },
    /// A column has another type.
    Type {
        /// Column name.
        column: String,
        /// Type in the partial state.
        expected: String,
        /// Type in the branch.
        found: String,
    },
    /// A column may be NULL where the partial state's may not.
    WiderNullability {
        /// Column name.
        column: String,
    },
}

impl fmt::Display for SchemaMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Arity { expected, found } => write!(f, "{found} columns instead of {expected}"),
            Self::Name { column, expected, found } => write!(f, "column {column} is `{found}` instead of `{expected}`"),
            Self::Type { column, expected, found } => write!(f, "`{column}` is {found} instead of {expected}"),
            Self::WiderNullability { column } => write!(f, "`{column}` may be NULL"),
        }
    }
}

/// Proves that `branch` may stand in for a partial aggregate with schema `partial`: the same names,
/// types and order, nullability equal or narrower.
///
/// # Errors
/// [`PushdownError::Schema`] with the first difference.
pub fn check_branch_schema(name: &'static str, partial: &Schema, branch: &Schema) -> Result<()> {
    match first_mismatch(partial, branch) {
        None => Ok(()),
        Some(mismatch) => Err(PushdownError::Schema { branch: name, mismatch }),
    }
}

fn first_mismatch(partial: &Schema, branch: &Schema) -> Option<SchemaMismatch> {
    if partial.fields().len() != branch.fields().len() {
        return Some(SchemaMismatch::Arity { expected: partial.fields().len(), found: branch.fields().len() });
    }
    let pairs = partial.fields().iter().zip(branch.fields());
    for (column, (expected, found)) in pairs.enumerate() {
        if expected.name() != found.name() {
            return Some(SchemaMismatch::Name {
                column,
                expected: expected.name().clone(),
                found: found.name().clone(),
            });
        }
        if expected.data_type() != found.data_type() {
            return Some(SchemaMismatch::Type {
                column: expected.name().clone(),
                expected: expected.data_type().to_string(),
                found: found.data_type().to_string(),
            });
        }
        if found.is_nullable() && !expected.is_nullable() {
            return Some(SchemaMismatch::WiderNullability { column: expected.name().clone() });
        }
    }
    None
}
