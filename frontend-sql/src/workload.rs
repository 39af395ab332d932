//! From a workload's text to resolved queries, in one call.

use std::sync::Arc;

use asap_types::QueryExpr;

use crate::{Catalog, FrontendError, Statement, lower, parse_workload};

/// A statement and what became of it.
#[derive(Debug, Clone)]
pub struct LoweredStatement {
    /// The statement.
    pub statement: Statement,
    /// The resolved query, or why the statement is refused: then its plain text is what can be run.
    pub query: Result<Arc<QueryExpr>, FrontendError>,
}

/// Parses a workload, and lowers and resolves each statement.
///
/// # Errors
/// [`FrontendError::Syntax`] if any statement does not parse; all other errors are in the statement's own result.
pub fn lower_workload(text: &str, catalog: &dyn Catalog) -> Result<Vec<LoweredStatement>, FrontendError> {
    let statements = parse_workload(text)?;
    Ok(statements
        .into_iter()
        .map(|statement| LoweredStatement {
            query: lower::lower(&statement, catalog).map(|(_, query)| query),
            statement,
        })
        .collect())
}
