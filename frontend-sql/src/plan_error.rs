//! DataFusion's planning errors as errors with a place.

use std::ops::Range;

use datafusion_common::utils::datafusion_strsim::levenshtein;
use datafusion_common::{Column, DataFusionError, SchemaError};

use crate::planner::MissingTable;
use crate::source::{Source, parser_span};
use crate::{Catalog, FrontendError};

/// The error of a statement that DataFusion does not plan.
pub(crate) fn convert(error: &DataFusionError, source: &Source, catalog: &dyn Catalog) -> FrontendError {
    let error = error.iter().next().unwrap_or(error);
    let place = error.diagnostic().and_then(|diagnostic| diagnostic.span).map(parser_span);
    let span = |column: Option<&Column>| -> Range<usize> {
        let of_column = column.and_then(|column| column.spans.first()).map(parser_span);
        source.span(of_column.or(place))
    };
    match error.find_root() {
        DataFusionError::External(external) => match external.downcast_ref::<MissingTable>() {
            Some(MissingTable(name)) => {
                let name = name.to_string();
                FrontendError::UnknownTable {
                    candidates: nearest(&name, catalog.table_names()),
                    name,
                    span: span(None),
                }
            }
            None => FrontendError::Plan { message: external.to_string(), span: span(None) },
        },
        DataFusionError::SchemaError(schema_error, _) => match &**schema_error {
            SchemaError::FieldNotFound { field, valid_fields } => {
                let names = valid_fields.iter().map(Column::quoted_flat_name).collect();
                let name = field.flat_name();
                FrontendError::UnknownColumn { candidates: nearest(&name, names), name, span: span(Some(field)) }
            }
            SchemaError::AmbiguousReference { field } => {
                FrontendError::AmbiguousColumn { name: field.flat_name(), span: span(Some(field)) }
            }
            other => FrontendError::Plan { message: other.to_string(), span: span(None) },
        },
        root => FrontendError::Plan { message: message(root), span: span(None) },
    }
}

/// The message of an error, without the name of DataFusion's error class and without a backtrace.
fn message(error: &DataFusionError) -> String {
    let text = error.message().into_owned();
    text.split(DataFusionError::BACK_TRACE_SEP).next().unwrap_or_default().trim().to_owned()
}

/// The names by their distance to a wrong one; a qualifier that only one of them has does not count.
fn nearest(wrong: &str, mut names: Vec<String>) -> Vec<String> {
    let bare = |name: &str| name.rsplit_once('.').map_or(name, |(_, bare)| bare).trim_matches('"').to_lowercase();
    let wrong = bare(wrong);
    names.sort_by_cached_key(|name| (levenshtein(&wrong, &bare(name)), name.clone()));
    names
}
