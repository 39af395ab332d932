//! Follows a recipe's history twice: as a Lance dataset on disk, and as the model's rows.

use std::path::Path;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchIterator};
use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionContext;
use lance::Dataset;
use lance::datafusion::LanceTableProvider;
use lance::dataset::optimize::{CompactionOptions, compact_files};
use lance::dataset::{WriteMode, WriteParams};
use lance::index::DatasetIndexExt;
use lance_index::IndexType;
use lance_index::optimize::OptimizeOptions;
use lance_index::scalar::{BuiltinIndexType, ScalarIndexParams};
use tempfile::TempDir;

use crate::answer::Answer;
use crate::convert::{arrow_schema, record_batch};
use crate::model::Table;
use crate::query::Query;
use crate::recipe::{IndexKind, Operation, Settings, TableRecipe};
use crate::value::Row;
use crate::{OracleError, Result};

/// A recipe's dataset on disk and the rows that it must hold. The directory goes with it.
#[derive(Debug)]
pub struct TestDataset {
    /// The dataset's latest version.
    pub dataset: Arc<Dataset>,
    /// The model's table.
    pub table: Table,
    /// Holds the directory until the last reader is done.
    _directory: TempDir,
}

impl TestDataset {
    /// Follows the recipe's history.
    ///
    /// # Errors
    /// The recipe is not valid, or an operation fails.
    pub async fn build(recipe: &TableRecipe) -> Result<Self> {
        let directory = tempfile::Builder::new()
            .prefix("asap-oracle-")
            .tempdir()
            .map_err(|source| OracleError::Io { path: std::env::temp_dir(), source })?;
        let mut table = Table::new(&recipe.name, recipe.columns.clone());
        let mut dataset = None;
        for operation in &recipe.history {
            dataset = Some(apply(operation, recipe, dataset, directory.path()).await?);
            apply_to_model(operation, &mut table)?;
        }
        let dataset = dataset.ok_or_else(|| OracleError::Recipe("its history is empty".to_owned()))?;
        Ok(Self { dataset: Arc::new(dataset), table, _directory: directory })
    }

    /// A stock DataFusion session that knows the dataset by the table's name.
    ///
    /// # Errors
    /// DataFusion refuses the table.
    pub fn plain_session(&self, settings: &Settings) -> Result<SessionContext> {
        self.session(settings, Arc::new(self.stock_table()))
    }

    /// [`Self::plain_session`] without the use of any index: Lance hands on all rows, and DataFusion filters them.
    ///
    /// # Errors
    /// DataFusion refuses the table.
    pub fn unindexed_session(&self, settings: &Settings) -> Result<SessionContext> {
        self.session(settings, Arc::new(Unindexed(self.stock_table())))
    }

    fn stock_table(&self) -> LanceTableProvider {
        LanceTableProvider::new(Arc::clone(&self.dataset), false, false)
    }

    fn session(&self, settings: &Settings, table: Arc<dyn TableProvider>) -> Result<SessionContext> {
        let session = SessionContext::new_with_config(settings.session_config());
        session.register_table(self.table.name.as_str(), table)?;
        Ok(session)
    }
}

/// Takes no filter.
#[derive(Debug)]
struct Unindexed(LanceTableProvider);

#[async_trait]
impl TableProvider for Unindexed {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _filters: &[Expr],
        limit: Option<usize>,
    ) -> datafusion::error::Result<Arc<dyn ExecutionPlan>> {
        self.0.scan(state, projection, &[], limit).await
    }
}

/// The answer of `ctx.sql` for the query's text, and the schema of its physical plan.
///
/// # Errors
/// DataFusion refuses the query or fails on it.
pub async fn plain_answer(session: &SessionContext, query: &Query) -> Result<(Answer, SchemaRef)> {
    let plan = session.sql(&query.to_string()).await?.create_physical_plan().await?;
    let schema = plan.schema();
    let batches = collect(plan, session.task_ctx()).await?;
    Ok((Answer::from_batches(&schema, &batches, query.sort_columns())?, schema))
}

/// What an operation does to the rows. Indexes and compaction do nothing to them.
fn apply_to_model(operation: &Operation, table: &mut Table) -> Result<()> {
    match operation {
        Operation::Create { rows } | Operation::Append { rows } => table.append(rows),
        Operation::Delete { predicate } => {
            table.delete(predicate)?;
        }
        Operation::CreateIndex { .. } | Operation::OptimizeIndices | Operation::Compact { .. } => {}
    }
    Ok(())
}

/// What an operation does to the dataset.
async fn apply(
    operation: &Operation,
    recipe: &TableRecipe,
    dataset: Option<Dataset>,
    directory: &Path,
) -> Result<Dataset> {
    let Some(mut dataset) = dataset else {
        return match operation {
            Operation::Create { rows } => {
                let (batches, parameters) = write(recipe, rows, WriteMode::Create)?;
                Ok(Dataset::write(batches, &*directory.to_string_lossy(), Some(parameters)).await?)
            }
            _ => Err(OracleError::Recipe("its history does not start with `create`".to_owned())),
        };
    };
    match operation {
        Operation::Create { .. } => return Err(OracleError::Recipe("its history has two `create`".to_owned())),
        Operation::Append { rows } => {
            let (batches, parameters) = write(recipe, rows, WriteMode::Append)?;
            dataset.append(batches, Some(parameters)).await?;
        }
        Operation::Delete { predicate } => {
            dataset.delete(&predicate.to_string()).await?;
        }
        Operation::CreateIndex { column, kind } => {
            let (index_type, builtin) = index_types(*kind);
            let name = format!("{column}_{}", builtin.as_str().to_lowercase());
            let parameters = ScalarIndexParams::for_builtin(builtin);
            dataset.create_index(&[column], index_type, Some(name), &parameters, true).await?;
        }
        Operation::OptimizeIndices => dataset.optimize_indices(&OptimizeOptions::append()).await?,
        Operation::Compact { target_rows } => {
            let options = CompactionOptions { target_rows_per_fragment: *target_rows, ..CompactionOptions::default() };
            compact_files(&mut dataset, options, None).await?;
        }
    }
    Ok(dataset)
}

type Batches = RecordBatchIterator<std::iter::Once<Result<RecordBatch, arrow::error::ArrowError>>>;

fn write(recipe: &TableRecipe, rows: &[Row], mode: WriteMode) -> Result<(Batches, WriteParams)> {
    let batch = record_batch(&recipe.columns, rows)?;
    let parameters = WriteParams { mode, max_rows_per_file: recipe.rows_per_file, ..WriteParams::default() };
    Ok((RecordBatchIterator::new(std::iter::once(Ok(batch)), arrow_schema(&recipe.columns)), parameters))
}

fn index_types(kind: IndexKind) -> (IndexType, BuiltinIndexType) {
    match kind {
        IndexKind::Bitmap => (IndexType::Bitmap, BuiltinIndexType::Bitmap),
        IndexKind::BTree => (IndexType::BTree, BuiltinIndexType::BTree),
        IndexKind::ZoneMap => (IndexType::ZoneMap, BuiltinIndexType::ZoneMap),
    }
}
