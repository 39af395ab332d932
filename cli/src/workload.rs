//! Reads a workload and decides, per statement, whether it is planned with the others or run by itself.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use asap_frontend_sql::{Feature, FrontendError, LoweredStatement, TableCatalog, TableSchema, lower_workload};
use asap_types::{QueryExpr, canonicalize};
use datafusion::common::TableReference;
use datafusion::prelude::SessionContext;

use crate::args::SessionArgs;
use crate::error::CliError;
use crate::plain;

/// The text of a workload and what its errors call it.
#[derive(Clone, Debug)]
pub(crate) struct WorkloadText {
    pub(crate) name: String,
    pub(crate) text: String,
}

impl WorkloadText {
    pub(crate) fn read(path: &Path) -> Result<Self, CliError> {
        let name = path.display().to_string();
        let unreadable = |reason: String| CliError::Workload { path: name.clone(), reason };
        let bytes = std::fs::read(path).map_err(|error| unreadable(error.to_string()))?;
        let text =
            String::from_utf8(bytes).map_err(|error| unreadable(format!("not UTF-8 text: {}", error.utf8_error())))?;
        Ok(Self { name, text })
    }

    /// The line and the column, in characters, of a byte offset; both count from 1. Lines end as on any system.
    pub(crate) fn line_and_column(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(&self.text);
        let before = before.strip_prefix('\u{feff}').unwrap_or(before);
        let lines = before.replace("\r\n", "\n").replace('\r', "\n");
        let last = lines.rsplit('\n').next().unwrap_or_default();
        (lines.matches('\n').count() + 1, last.chars().count() + 1)
    }
}

/// One query of a workload.
#[derive(Clone, Debug)]
pub(crate) struct Query {
    /// `q1`, `q2`, … or the name that a comment gives it.
    pub(crate) name: String,
    pub(crate) sql: String,
    pub(crate) span: Range<usize>,
    /// The canonical query, or why this statement is run by itself.
    pub(crate) lowered: Result<Arc<QueryExpr>, FrontendError>,
}

impl Query {
    /// The canonical query, if the statement was lowered.
    pub(crate) fn root(&self) -> Option<&Arc<QueryExpr>> {
        self.lowered.as_ref().ok()
    }
}

/// Lowers every statement. One that is not SQL, that DataFusion rejects when it plans it, or that is no query ends the
/// program.
pub(crate) async fn lower(
    workload: &WorkloadText,
    args: &SessionArgs,
    context: &SessionContext,
) -> Result<Vec<Query>, CliError> {
    let mut catalog = TableCatalog::new();
    for table in &args.tables {
        let provider = context.table_provider(TableReference::from(table.name.as_str())).await?;
        catalog.insert(table.name.as_str(), TableSchema::new(provider.schema()));
    }
    let wrong = |error: FrontendError| CliError::Sql {
        source_name: workload.name.clone(),
        text: workload.text.clone(),
        error: Box::new(error),
    };
    let statements = lower_workload(&workload.text, &catalog).map_err(wrong)?;
    if statements.is_empty() {
        return Err(CliError::EmptyWorkload(workload.name.clone()));
    }
    let queries = statements.into_iter().enumerate().map(|(index, statement)| to_query(index, statement));
    let queries: Vec<Query> = queries.collect::<Result<_, _>>().map_err(&wrong)?;
    for query in queries.iter().filter(|query| query.lowered.is_err()) {
        if let Err(error) = plain::check(&query.sql, context).await {
            let message = error.find_root().message().into_owned();
            return Err(wrong(FrontendError::Plan { message, span: query.span.clone() }));
        }
    }
    Ok(queries)
}

fn to_query(index: usize, LoweredStatement { statement, query }: LoweredStatement) -> Result<Query, FrontendError> {
    let canonical = query
        .and_then(|query| canonicalize(&query).map_err(|source| FrontendError::Ir { source, span: statement.span() }));
    let lowered = match canonical {
        Ok(query) => Ok(query),
        Err(refused) if runs_by_itself(&refused) => Err(refused),
        Err(error) => return Err(error),
    };
    Ok(Query {
        name: statement.name().map_or_else(|| format!("q{}", index + 1), str::to_owned),
        sql: statement.sql().to_owned(),
        span: statement.span(),
        lowered,
    })
}

/// Whether the statement is a valid query all the same, so that the plain plan stands.
fn runs_by_itself(error: &FrontendError) -> bool {
    match error {
        FrontendError::Unsupported { feature, .. } => !matches!(feature, Feature::NotAQuery | Feature::Parameter),
        FrontendError::Ir { .. } | FrontendError::SchemaDiffers { .. } => true,
        _ => false,
    }
}
