//! Opens the tables of a command in sessions.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use asap_execution::{ExecutionError, catch_panic};
use datafusion::arrow::csv::reader::Format;
use datafusion::arrow::datatypes::Schema;
use datafusion::catalog::TableProvider;
use datafusion::common::TableReference;
use datafusion::error::DataFusionError;
use datafusion::parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use datafusion::prelude::{CsvReadOptions, ParquetReadOptions, SessionConfig, SessionContext};
use lance::Dataset;
use lance::datafusion::LanceTableProvider;
use lance::dataset::builder::DatasetBuilder;
use lance_pushdown::LancePushdown;

use crate::args::{SessionArgs, TableArg};
use crate::error::CliError;

/// The directory that every Lance dataset has.
const LANCE_VERSIONS: &str = "_versions";
const NOT_LANCE: &str = "not a Lance dataset, and its name ends neither in .parquet nor in .csv";

/// The session that answers: aggregate pushdown and its tables.
pub(crate) struct AsapSession {
    pub(crate) context: SessionContext,
    pub(crate) pushdown: LancePushdown,
    /// Live rows of the Lance tables, by registered name.
    pub(crate) table_rows: HashMap<String, u64>,
    /// The version of each Lance table that was opened, by the name that the user gave.
    versions: HashMap<String, u64>,
}

impl AsapSession {
    pub(crate) async fn open(args: &SessionArgs) -> Result<Self, CliError> {
        let pushdown = LancePushdown::new();
        let context = SessionContext::new_with_state(pushdown.session_state(config(args)));
        let (mut table_rows, mut versions) = (HashMap::new(), HashMap::new());
        for table in &args.tables {
            let dataset = register(&context, table, None, Some(&pushdown)).await?;
            if let Some(dataset) = dataset {
                versions.insert(table.name.clone(), dataset.version().version);
                let counted = catch_panic(async { dataset.count_rows(None).await }).await;
                let counted = counted.map_err(|panic| corrupt(table, &panic))?;
                let rows = counted.map_err(|error| unopened(table, error.to_string()))?;
                let name = TableReference::from(table.name.as_str()).table().to_owned();
                table_rows.insert(name, rows as u64);
            }
        }
        Ok(Self { context, pushdown, table_rows, versions })
    }
}

fn unopened(table: &TableArg, reason: String) -> CliError {
    CliError::Table { name: table.name.clone(), path: table.path.clone(), reason: without_locations(&reason) }
}

/// Lance 14.0.2 panics on some files that are cut short.
fn corrupt(table: &TableArg, panic: &ExecutionError) -> CliError {
    let text = match panic {
        ExecutionError::Panicked(text) => text.clone(),
        other => other.to_string(),
    };
    unopened(table, format!("the dataset is corrupt ({text})"))
}

/// A stock session over the same tables, each in the version that `asap` reads: the plain side of a comparison.
pub(crate) async fn plain_session(args: &SessionArgs, asap: &AsapSession) -> Result<SessionContext, CliError> {
    let context = SessionContext::new_with_config(config(args));
    for table in &args.tables {
        register(&context, table, asap.versions.get(&table.name).copied(), None).await?;
    }
    Ok(context)
}

fn config(args: &SessionArgs) -> SessionConfig {
    match args.target_partitions {
        Some(partitions) => SessionConfig::new().with_target_partitions(partitions.into()),
        None => SessionConfig::new(),
    }
}

/// Makes a table known to a session; its dataset, if it is one, in the given or else in the newest version, and with
/// what aggregate pushdown wants to know, if that is given.
async fn register(
    context: &SessionContext,
    table: &TableArg,
    version: Option<u64>,
    pushdown: Option<&LancePushdown>,
) -> Result<Option<Arc<Dataset>>, CliError> {
    let unopened = |reason: String| unopened(table, reason);
    let reference = TableReference::from(table.name.as_str());
    if context.table_exist(reference.clone()).map_err(|error| unopened(error.to_string()))? {
        return Err(CliError::TableTwice(table.name.clone()));
    }
    if !is_remote(&table.path) && !Path::new(&table.path).exists() {
        return Err(unopened("no such file or directory".to_owned()));
    }
    let failed = |error: DataFusionError| unopened(error.strip_backtrace());
    let extension = extension(&table.path);
    match extension.to_lowercase().as_str() {
        ".csv" => {
            let options = CsvReadOptions::new().file_extension(&extension);
            context.register_csv(reference.clone(), &table.path, options).await.map_err(failed)?;
            check_columns(context, reference)
                .await
                .and_then(|()| check_names(&table.path, csv_header))
                .map_err(unopened)?;
            Ok(None)
        }
        ".parquet" => {
            let options = ParquetReadOptions { file_extension: &extension, ..ParquetReadOptions::default() };
            context.register_parquet(reference.clone(), &table.path, options).await.map_err(failed)?;
            check_columns(context, reference)
                .await
                .and_then(|()| check_names(&table.path, parquet_schema))
                .map_err(unopened)?;
            Ok(None)
        }
        _ => {
            let dataset = Arc::new(open_dataset(table, version).await?);
            let provider = provider(&dataset, pushdown).await;
            context.register_table(reference, provider).map_err(failed)?;
            Ok(Some(dataset))
        }
    }
}

async fn check_columns(context: &SessionContext, table: TableReference) -> Result<(), String> {
    let provider = context.table_provider(table).await.map_err(|error| error.strip_backtrace())?;
    let is_empty = provider.schema().fields().is_empty();
    if is_empty { Err("it has no columns: the file is empty".to_owned()) } else { Ok(()) }
}

/// DataFusion 54.1 takes columns of one name for one: of a CSV file it then fails on the rows, and of a Parquet file it
/// reads one of them without a word. What cannot be read here is not checked, as what is not on this machine.
fn check_names(path: &str, schema: impl Fn(File) -> Option<Schema>) -> Result<(), String> {
    for file in files(Path::new(path)) {
        let mut names = HashSet::new();
        let schema = File::open(file).ok().and_then(&schema).unwrap_or_else(Schema::empty);
        if let Some(field) = schema.fields().iter().find(|field| !names.insert(field.name())) {
            return Err(format!("two of its columns are named '{}'", field.name()));
        }
    }
    Ok(())
}

/// The file itself, or all below a directory that end as it does.
fn files(path: &Path) -> Vec<PathBuf> {
    let Ok(entries) = path.read_dir() else { return vec![path.to_owned()] };
    let is_read = |entry: &PathBuf| entry.is_dir() || entry.extension() == path.extension();
    entries.flatten().map(|entry| entry.path()).filter(is_read).flat_map(|entry| files(&entry)).collect()
}

fn csv_header(file: File) -> Option<Schema> {
    let (header, _) = Format::default().with_header(true).infer_schema(file, Some(0)).ok()?;
    Some(header)
}

fn parquet_schema(file: File) -> Option<Schema> {
    let metadata = ArrowReaderMetadata::load(&file, ArrowReaderOptions::new()).ok()?;
    Some(metadata.schema().as_ref().clone())
}

/// A scan does without zone maps; if it needs one that is broken, it says so itself.
async fn provider(dataset: &Arc<Dataset>, pushdown: Option<&LancePushdown>) -> Arc<dyn TableProvider> {
    match pushdown {
        None => Arc::new(LanceTableProvider::new(Arc::clone(dataset), false, false)),
        Some(pushdown) => match pushdown.open_table(Arc::clone(dataset)).await {
            Ok(table) => table,
            Err(_) => pushdown.table(Arc::clone(dataset)),
        },
    }
}

async fn open_dataset(table: &TableArg, version: Option<u64>) -> Result<Dataset, CliError> {
    if !is_remote(&table.path) && !Path::new(&table.path).join(LANCE_VERSIONS).is_dir() {
        return Err(unopened(table, NOT_LANCE.to_owned()));
    }
    let builder = DatasetBuilder::from_uri(&table.path);
    let builder = version.into_iter().fold(builder, DatasetBuilder::with_version);
    let opened = catch_panic(builder.load()).await.map_err(|panic| corrupt(table, &panic))?;
    opened.map_err(|error| match error {
        lance::Error::DatasetNotFound { .. } => unopened(table, NOT_LANCE.to_owned()),
        error => unopened(table, error.to_string()),
    })
}

fn is_remote(path: &str) -> bool {
    path.contains("://")
}

/// The end of the name, as it is written, with its dot.
fn extension(path: &str) -> String {
    Path::new(path).extension().map(|extension| format!(".{}", extension.to_string_lossy())).unwrap_or_default()
}

/// A library's message without the places in its own sources (`, /…/file.rs:12:34`) and without repeated prefixes.
fn without_locations(message: &str) -> String {
    let parts = message.split(", ").filter(|part| !(part.starts_with('/') && part.contains(".rs:")));
    parts.collect::<Vec<_>>().join(", ").replace("Parquet error: Parquet error:", "Parquet error:")
}
