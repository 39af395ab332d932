//! What can go wrong when a plan is run.

use std::sync::Arc;

use asap_types::{NodeId, TypesError};
use datafusion::error::DataFusionError;
use thiserror::Error;

/// Errors of translating and running plans. Cheap to clone: a shared node that fails gives its error to each reader.
#[derive(Clone, Debug, Error)]
#[non_exhaustive]
pub enum ExecutionError {
    /// DataFusion failed to plan or to run.
    #[error(transparent)]
    DataFusion(Arc<DataFusionError>),
    /// The plan is not valid.
    #[error(transparent)]
    Types(#[from] TypesError),
    /// A table's columns are no longer those that the plan was made for.
    #[error("table '{table}' has columns {found}, but the plan was made for {expected}; plan the workload again")]
    SchemaChanged {
        /// The table.
        table: String,
        /// The columns that the plan expects.
        expected: String,
        /// The columns that the catalog returns.
        found: String,
    },
    /// A function is not known to the session that runs the plan.
    #[error("function '{0}' is not registered in this session")]
    UnknownFunction(String),
    /// DataFusion has no operator for this node.
    #[error("{0} cannot be run on DataFusion")]
    Unsupported(&'static str),
    /// A literal's value does not belong to its type.
    #[error("the literal {0} has a value that its type cannot hold")]
    Literal(String),
    /// A node refers to something that was not computed before it.
    #[error("node {} was read before it was computed", .0.0)]
    NotComputed(NodeId),
    /// A library panicked while it planned or ran a query.
    #[error("a library panicked: {0}")]
    Panicked(String),
}

impl From<DataFusionError> for ExecutionError {
    fn from(error: DataFusionError) -> Self {
        Self::DataFusion(Arc::new(error))
    }
}
