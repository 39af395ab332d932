//! What the operations of a history do to a Lance dataset.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchIterator};
use arrow::datatypes::Schema;
use arrow::error::ArrowError;
use lance::Dataset;
use lance::dataset::optimize::{CompactionOptions, compact_files};
use lance::dataset::{
    BatchUDF, MergeInsertBuilder, MergeInsertWriteMode, NewColumnTransform, UpdateBuilder, WhenMatched, WhenNotMatched,
    WriteMode, WriteParams,
};
use lance::index::DatasetIndexExt;
use lance_index::IndexType;
use lance_index::optimize::OptimizeOptions;
use lance_index::scalar::{BuiltinIndexType, ScalarIndexParams};

use crate::convert::{arrow_schema, record_batch, values};
use crate::model::Table;
use crate::query::{Column, Expr};
use crate::recipe::{Assignment, IndexKind, Operation, TableRecipe};
use crate::value::Row;
use crate::{OracleError, Result};

/// Writes the dataset.
pub(super) async fn create(recipe: &TableRecipe, rows: &[Row], uri: &str) -> Result<Dataset> {
    let parameters = WriteParams { mode: WriteMode::Create, ..parameters(recipe)? };
    Ok(Dataset::write(reader(record_batch(&recipe.columns, rows)?), uri, Some(parameters)).await?)
}

/// Follows one operation on a table of these columns.
pub(super) async fn apply(
    operation: &Operation,
    recipe: &TableRecipe,
    columns: &[Column],
    mut dataset: Dataset,
) -> Result<Dataset> {
    match operation {
        Operation::Create { .. } => return Err(OracleError::Recipe("its history has two `create`".to_owned())),
        Operation::Append { rows } => {
            let parameters = WriteParams { mode: WriteMode::Append, ..parameters(recipe)? };
            dataset.append(reader(record_batch(columns, rows)?), Some(parameters)).await?;
        }
        Operation::Delete { predicate } => {
            dataset.delete(&predicate.to_string()).await?;
        }
        Operation::Update { set, predicate } => return update(dataset, set, predicate.as_ref()).await,
        Operation::MergeInsert { on, rows } => {
            let mode = (WhenNotMatched::InsertAll, MergeInsertWriteMode::RewriteRows);
            return merge(dataset, on, record_batch(columns, rows)?, mode).await;
        }
        Operation::RewriteColumns { on, columns: names, rows } => {
            let names = std::iter::once(on).chain(names);
            let columns = names.filter_map(|name| columns.iter().find(|column| column.name == *name).cloned());
            let batch = record_batch(&columns.collect::<Vec<_>>(), rows)?;
            return merge(dataset, on, batch, (WhenNotMatched::DoNothing, MergeInsertWriteMode::RewriteColumns)).await;
        }
        Operation::AddColumn { column, value } => add_column(&mut dataset, columns, column, value.as_ref()).await?,
        Operation::DropColumn { column } => dataset.drop_columns(&[column]).await?,
        Operation::CreateIndex { column, kind, .. } => {
            let (index_type, builtin) = index_types(*kind);
            let parameters = ScalarIndexParams::for_builtin(builtin);
            dataset.create_index(&[column], index_type, operation.index_name(), &parameters, true).await?;
        }
        Operation::DropIndex { name } => {
            if !dataset.load_indices_by_name(name).await?.is_empty() {
                dataset.drop_index(name).await?;
            }
        }
        Operation::OptimizeIndices => dataset.optimize_indices(&OptimizeOptions::append()).await?,
        Operation::MergeIndices => dataset.optimize_indices(&OptimizeOptions::merge(usize::MAX)).await?,
        Operation::Compact { target_rows, defer_index_remap } => {
            let options = CompactionOptions {
                target_rows_per_fragment: *target_rows,
                defer_index_remap: *defer_index_remap,
                ..CompactionOptions::default()
            };
            compact_files(&mut dataset, options, None).await?;
        }
    }
    Ok(dataset)
}

fn parameters(recipe: &TableRecipe) -> Result<WriteParams> {
    let version = recipe.storage_version.as_ref().map(|version| version.parse()).transpose()?;
    Ok(WriteParams {
        max_rows_per_file: recipe.rows_per_file,
        enable_stable_row_ids: recipe.stable_row_ids,
        data_storage_version: version,
        ..WriteParams::default()
    })
}

fn reader(batch: RecordBatch) -> RecordBatchIterator<std::iter::Once<Result<RecordBatch, ArrowError>>> {
    let schema = batch.schema();
    RecordBatchIterator::new(std::iter::once(Ok(batch)), schema)
}

async fn update(dataset: Dataset, set: &[Assignment], predicate: Option<&Expr>) -> Result<Dataset> {
    let mut builder = UpdateBuilder::new(Arc::new(dataset));
    if let Some(predicate) = predicate {
        builder = builder.update_where(&predicate.to_string())?;
    }
    for Assignment { column, value } in set {
        builder = builder.set(column, &value.to_string())?;
    }
    let updated = builder.build()?.execute().await?.new_dataset;
    Ok(updated.as_ref().clone())
}

async fn merge(
    dataset: Dataset,
    on: &str,
    batch: RecordBatch,
    (unmatched, mode): (WhenNotMatched, MergeInsertWriteMode),
) -> Result<Dataset> {
    let mut builder = MergeInsertBuilder::try_new(Arc::new(dataset), vec![on.to_owned()])?;
    let job = builder.when_matched(WhenMatched::UpdateAll).when_not_matched(unmatched).write_mode(mode).try_build()?;
    let (merged, _) =
        job.execute_reader(Box::new(reader(batch)) as Box<dyn arrow::array::RecordBatchReader + Send>).await?;
    Ok(merged.as_ref().clone())
}

/// The values come from the interpreter, so that the dataset and the model cannot differ in them.
async fn add_column(dataset: &mut Dataset, columns: &[Column], column: &Column, value: Option<&Expr>) -> Result<()> {
    let schema = arrow_schema(std::slice::from_ref(column));
    let transform = match value {
        None => NewColumnTransform::AllNulls(schema),
        Some(value) => {
            let (columns, column, value) = (columns.to_vec(), column.clone(), value.clone());
            let mapper = move |batch: &RecordBatch| {
                computed(batch, &columns, &column, &value)
                    .map_err(|error| lance::Error::invalid_input(error.to_string()))
            };
            NewColumnTransform::BatchUDF(BatchUDF {
                mapper: Box::new(mapper),
                output_schema: schema,
                result_checkpoint: None,
            })
        }
    };
    Ok(dataset.add_columns(transform, None, None).await?)
}

fn computed(batch: &RecordBatch, columns: &[Column], column: &Column, value: &Expr) -> Result<RecordBatch> {
    let schema: &Schema = &batch.schema();
    let position = |column: &Column| schema.index_of(&column.name);
    let read = columns.iter().map(|column| values(batch.column(position(column)?))).collect::<Result<Vec<_>>>()?;
    let rows = (0..batch.num_rows()).map(|row| read.iter().map(|values| values[row].clone()).collect::<Row>());
    let mut table = Table::new("batch", columns.to_vec());
    table.append(&rows.collect::<Vec<_>>());
    let rows = table.values(value)?.into_iter().map(|value| vec![value]).collect::<Vec<_>>();
    record_batch(std::slice::from_ref(column), &rows)
}

fn index_types(kind: IndexKind) -> (IndexType, BuiltinIndexType) {
    match kind {
        IndexKind::Bitmap => (IndexType::Bitmap, BuiltinIndexType::Bitmap),
        IndexKind::BTree => (IndexType::BTree, BuiltinIndexType::BTree),
        IndexKind::ZoneMap => (IndexType::ZoneMap, BuiltinIndexType::ZoneMap),
    }
}
