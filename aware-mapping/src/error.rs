//! What can go wrong in planning.

use asap_types::{Schema, TypesError};
use thiserror::Error;

/// Errors of searching and selecting. None is caused by a query: a query that cannot be improved is kept.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MappingError {
    /// A plan is not valid.
    #[error(transparent)]
    Types(#[from] TypesError),
    /// A strategy built a replacement with another schema than its target's.
    #[error("strategy '{strategy}' built a replacement with schema {found} for {expected}")]
    SchemaMismatch {
        /// The strategy.
        strategy: &'static str,
        /// The target's schema.
        expected: Schema,
        /// The replacement's schema.
        found: Schema,
    },
    /// The roots and their names differ in number.
    #[error("{roots} queries have {names} names")]
    NameCount {
        /// The number of queries.
        roots: usize,
        /// The number of names.
        names: usize,
    },
}
