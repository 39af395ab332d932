//! What the program tells its user when it cannot go on, and with which exit status.

use std::ops::Range;

use asap_execution::ExecutionError;
use asap_frontend_sql::FrontendError;
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use thiserror::Error;

/// Everything that ends the program early.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    #[error("cannot read {path}: {reason}")]
    Workload { path: String, reason: String },
    #[error("{0} holds no SQL statement")]
    EmptyWorkload(String),
    #[error("cannot open table '{name}' at {path}: {reason}")]
    Table { name: String, path: String, reason: String },
    #[error("table '{0}' is given twice")]
    TableTwice(String),
    #[error("{error}")]
    Sql { source_name: String, text: String, error: Box<FrontendError> },
    #[error("{query}: {reason}")]
    Query { query: String, reason: String, source_name: String, text: String, span: Range<usize> },
    #[error("planning failed: {0}")]
    Planning(String),
    #[error("the workload failed: {0}")]
    Execution(String),
    #[error("internal error: {0}; please report it with the workload")]
    Internal(String),
    #[error("cannot write the answers: {0}")]
    Output(#[from] std::io::Error),
    #[error("cannot format the answers: {0}")]
    Format(#[from] ArrowError),
}

impl CliError {
    /// The exit status of the program: see `asap --help`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Workload { .. }
            | Self::EmptyWorkload(_)
            | Self::Table { .. }
            | Self::TableTwice(_)
            | Self::Sql { .. } => 2,
            _ => 3,
        }
    }

    /// Whether the reader of standard output went away, which is no error of ours.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        match self {
            Self::Output(error) => error.kind() == std::io::ErrorKind::BrokenPipe,
            Self::Format(ArrowError::IoError(_, error)) => error.kind() == std::io::ErrorKind::BrokenPipe,
            Self::Format(ArrowError::CsvError(text)) => text.contains("Broken pipe"),
            _ => false,
        }
    }

    /// The error as a diagnostic with its place in the SQL.
    pub(crate) fn into_report(self) -> miette::Report {
        let place = match &self {
            Self::Sql { source_name, text, error } => {
                Some((source_name.clone(), text.clone(), error.span(), "here", Some(error.hint())))
            }
            Self::Query { source_name, text, span, .. } => {
                Some((source_name.clone(), text.clone(), span.clone(), "this query", None))
            }
            _ => None,
        };
        let hint = match &self {
            Self::Table { .. } => {
                Some("give --table NAME=PATH with a Lance dataset, a .parquet or a .csv file".to_owned())
            }
            _ => None,
        };
        let message = self.to_string();
        match place {
            Some((name, text, span, label, help)) => miette::Report::new(Placed {
                message,
                help,
                labels: vec![LabeledSpan::new_with_span(Some(label.to_owned()), span)],
                code: NamedSource::new(name, text).with_language("SQL"),
            }),
            None => miette::Report::new(Unplaced { message, help: hint }),
        }
    }
}

impl From<ExecutionError> for CliError {
    fn from(error: ExecutionError) -> Self {
        Self::Execution(match error {
            ExecutionError::DataFusion(error) => error.strip_backtrace(),
            other => other.to_string(),
        })
    }
}

impl From<DataFusionError> for CliError {
    fn from(error: DataFusionError) -> Self {
        Self::Execution(error.strip_backtrace())
    }
}

#[derive(Debug, Error)]
#[error("{message}")]
struct Placed {
    message: String,
    help: Option<String>,
    labels: Vec<LabeledSpan>,
    code: NamedSource<String>,
}

impl Diagnostic for Placed {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.code)
    }
}

#[derive(Debug, Error)]
#[error("{message}")]
struct Unplaced {
    message: String,
    help: Option<String>,
}

impl Diagnostic for Unplaced {
    fn help<'a>(&'a self) -> Option<Box<dyn std::fmt::Display + 'a>> {
        self.help.as_ref().map(|help| Box::new(help) as _)
    }
}
