use crate::model::ModelError;

/// What can go wrong while the oracle writes data, runs a plan or reads a recipe.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OracleError {
    /// The directory that a dataset should be written to is already there.
    #[error("{} exists already: choose another directory or remove it", .0.display())]
    TargetExists(std::path::PathBuf),
    /// The directory's name is not UTF-8, which Lance's addresses are.
    #[error("{} is not UTF-8: choose another directory", .0.display())]
    NotUtf8(std::path::PathBuf),
    /// The dataset's options make no sense.
    #[error("{0}")]
    Options(String),
    /// A recipe does not describe a case: its history is out of order, or a row does not fit the schema.
    #[error("the recipe is not valid: {0}")]
    Recipe(String),
    /// An answer holds a type that the oracle cannot read.
    #[error("the oracle reads no column of type {0}")]
    UnknownType(arrow::datatypes::DataType),
    /// An operation of a history fails.
    #[error("{name}: {source}")]
    Operation {
        /// The operation.
        name: &'static str,
        /// The reason.
        source: Box<OracleError>,
    },
    /// The interpreter refused.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The front end finds that a query makes no sense.
    #[error("the front end: {0}")]
    Lowering(asap_frontend_sql::FrontendError),
    /// Planning a workload failed.
    #[error("planning: {0}")]
    Mapping(#[from] asap_aware_mapping::MappingError),
    /// Running a planned workload failed.
    #[error("execution: {0}")]
    Execution(#[from] asap_execution::ExecutionError),
    /// A run without a case would prove nothing.
    #[error("the run had no case")]
    NoCases,
    /// A table with aggregate pushdown could not be opened.
    #[error("pushdown: {0}")]
    Pushdown(#[from] lance_pushdown::PushdownError),
    /// Lance failed.
    #[error("Lance: {0}")]
    Lance(#[from] lance::Error),
    /// DataFusion failed.
    #[error("DataFusion: {0}")]
    DataFusion(#[from] datafusion::error::DataFusionError),
    /// Arrow failed.
    #[error("Arrow: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
    /// A file could not be read or written.
    #[error("{}: {source}", .path.display())]
    Io {
        /// The file or directory.
        path: std::path::PathBuf,
        /// The reason.
        source: std::io::Error,
    },
    /// A recipe's JSON does not parse.
    #[error("the recipe's JSON: {0}")]
    Json(#[from] serde_json::Error),
}

/// The crate's result.
pub type Result<T, E = OracleError> = std::result::Result<T, E>;
