//! What the program tells its user when it cannot go on, and with which exit status.

use std::ops::Range;

use asap_execution::ExecutionError;
use asap_frontend_sql::FrontendError;
use datafusion::arrow::error::ArrowError;
use datafusion::error::DataFusionError;
use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use thiserror::Error;

use crate::workload::{Query, WorkloadText};

/// The exit status when an answer differed from the plain one.
pub(crate) const DIFFERENT: u8 = 1;
/// The exit status when the input was wrong.
const WRONG: u8 = 2;
/// The exit status when a query failed while it ran.
pub(crate) const FAILED: u8 = 3;

/// Everything that ends the program early, and the error of one query.
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
    #[error("{}", without_bug_report(&error.to_string()))]
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
    /// The error of a query that has no answer.
    pub(crate) fn failed_query(query: &Query, workload: &WorkloadText, error: &ExecutionError) -> Self {
        Self::Query {
            query: query.name.clone(),
            reason: reason(error),
            source_name: workload.name.clone(),
            text: workload.text.clone(),
            span: query.span.clone(),
        }
    }

    /// The exit status of the program: see `asap --help`.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Workload { .. }
            | Self::EmptyWorkload(_)
            | Self::Table { .. }
            | Self::TableTwice(_)
            | Self::Sql { .. } => WRONG,
            _ => FAILED,
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
                Some("give --table NAME=PATH with a Lance dataset (the directory that holds _versions), a .parquet or a .csv file".to_owned())
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

/// Why a query failed, without backtraces.
pub(crate) fn reason(error: &ExecutionError) -> String {
    match error {
        ExecutionError::DataFusion(error) => error.strip_backtrace(),
        other => other.to_string(),
    }
}

/// A wrong statement that DataFusion rejects with an internal error is no bug, though its message says so.
fn without_bug_report(message: &str) -> String {
    const START: &str = "This issue was likely caused by a bug in DataFusion's code.";
    const END: &str = "https://github.com/apache/datafusion/issues";
    let message = message.strip_prefix("Internal error: ").unwrap_or(message);
    let parts = message.split_once(START).and_then(|(before, rest)| Some((before, rest.split_once(END)?.1)));
    match parts {
        Some((before, after)) => {
            let before = before.trim_end().trim_end_matches('.');
            format!("{before}.{}", after.trim_start_matches('.'))
        }
        None => message.to_owned(),
    }
}

impl From<ExecutionError> for CliError {
    fn from(error: ExecutionError) -> Self {
        Self::Execution(reason(&error))
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
