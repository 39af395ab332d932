//! Opens the tables of a command in sessions.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionConfig, SessionContext};
use lance::Dataset;
use lance::datafusion::LanceTableProvider;
use lance_pushdown::LancePushdown;

use crate::args::{SessionArgs, TableArg};
use crate::error::CliError;
use crate::panic_text;

/// The session that answers: aggregate pushdown and its tables.
pub(crate) struct AsapSession {
    pub(crate) context: SessionContext,
    pub(crate) pushdown: LancePushdown,
    /// Live rows of the Lance tables, by registered name.
    pub(crate) table_rows: HashMap<String, u64>,
}

impl AsapSession {
    pub(crate) async fn open(args: &SessionArgs) -> Result<Self, CliError> {
        let pushdown = LancePushdown::new();
        let context = SessionContext::new_with_state(pushdown.session_state(config(args)));
        let mut table_rows = HashMap::new();
        for table in &args.tables {
            let dataset = register(&context, table, |dataset| pushdown.table(dataset)).await?;
            if let Some(dataset) = dataset {
                let rows = dataset.count_rows(None).await.map_err(|error| unopened(table, error.to_string()))?;
                let name = TableReference::from(table.name.as_str()).table().to_owned();
                table_rows.insert(name, rows as u64);
            }
        }
        Ok(Self { context, pushdown, table_rows })
    }
}

fn unopened(table: &TableArg, reason: String) -> CliError {
    CliError::Table { name: table.name.clone(), path: table.path.clone(), reason: without_locations(&reason) }
}

/// A stock session over the same tables: the plain side of a comparison.
pub(crate) async fn plain_session(args: &SessionArgs) -> Result<SessionContext, CliError> {
    let context = SessionContext::new_with_config(config(args));
    for table in &args.tables {
        let stock =
            |dataset: Arc<Dataset>| Arc::new(LanceTableProvider::new(dataset, false, false)) as Arc<dyn TableProvider>;
        register(&context, table, stock).await?;
    }
    Ok(context)
}

fn config(args: &SessionArgs) -> SessionConfig {
    match args.target_partitions {
        Some(partitions) => SessionConfig::new().with_target_partitions(partitions.into()),
        None => SessionConfig::new(),
    }
}

async fn register(
    context: &SessionContext,
    table: &TableArg,
    provider: impl FnOnce(Arc<Dataset>) -> Arc<dyn TableProvider>,
) -> Result<Option<Arc<Dataset>>, CliError> {
    let unopened = |reason: String| unopened(table, reason);
    let reference = TableReference::from(table.name.as_str());
    if context.table_exist(reference.clone()).map_err(|error| unopened(error.to_string()))? {
        return Err(CliError::TableTwice(table.name.clone()));
    }
    let is_remote = table.path.contains("://");
    if !is_remote && !Path::new(&table.path).exists() {
        return Err(unopened("no such file or directory".to_owned()));
    }
    let failed = |error: datafusion::error::DataFusionError| unopened(error.strip_backtrace());
    match extension(&table.path).as_str() {
        "csv" => {
            context.register_csv(reference, &table.path, CsvReadOptions::new()).await.map_err(failed)?;
            Ok(None)
        }
        "parquet" => {
            context.register_parquet(reference, &table.path, ParquetReadOptions::default()).await.map_err(failed)?;
            Ok(None)
        }
        _ => {
            let path = table.path.clone();
            let opened = tokio::spawn(async move { Dataset::open(&path).await }).await;
            let opened = opened.map_err(|panic| unopened(format!("the dataset is corrupt ({})", panic_text(panic))))?;
            let dataset = Arc::new(opened.map_err(|error| unopened(error.to_string()))?);
            context.register_table(reference, provider(Arc::clone(&dataset))).map_err(failed)?;
            Ok(Some(dataset))
        }
    }
}

fn extension(path: &str) -> String {
    Path::new(path).extension().map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// A library's message without the places in its own sources (`, /…/file.rs:12:34`) and without repeated prefixes.
fn without_locations(message: &str) -> String {
    let parts = message.split(", ").filter(|part| !(part.starts_with('/') && part.contains(".rs:")));
    parts.collect::<Vec<_>>().join(", ").replace("Parquet error: Parquet error:", "Parquet error:")
}
