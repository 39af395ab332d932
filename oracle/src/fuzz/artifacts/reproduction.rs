//! A recipe as a Rust test of Lance's and DataFusion's own API, step by step.

use std::fmt::Write as _;

use super::slt::live_rows;
use crate::model::Table;
use crate::query::{Column, Expr};
use crate::recipe::{Assignment, IndexKind, Operation, Recipe, TableRecipe};
use crate::value::{Row, Type};

const HEAD: &str = r##"//! Needs arrow, datafusion, lance, lance-index and tokio. If it passes, neither Lance nor DataFusion is wrong.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use lance::Dataset;
use lance::dataset::{WriteMode, WriteParams};

fn schema(fields: &[(&str, DataType, bool)]) -> SchemaRef {
    let field = |(name, data_type, nullable): &(&str, DataType, bool)| Field::new(*name, data_type.clone(), *nullable);
    Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
}

/// The rows of a query, with exactly these fields. No query, no row.
async fn batch(schema: SchemaRef, sql: &str) -> RecordBatch {
    if sql.is_empty() {
        return RecordBatch::new_empty(schema);
    }
    let found = SessionContext::new().sql(sql).await.unwrap().collect().await.unwrap();
    let found = concat_batches(&found[0].schema(), &found).unwrap();
    let columns = found.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| cast(column, field.data_type()).unwrap()).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

fn reader(batch: RecordBatch) -> Box<dyn RecordBatchReader + Send> {
    let schema = batch.schema();
    Box::new(RecordBatchIterator::new([Ok(batch)], schema))
}

/// The rows as a multiset.
async fn check(session: &SessionContext, sql: &str, expected: RecordBatch) {
    let frame = session.sql(sql).await.unwrap();
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let found = concat_batches(&schema, &frame.collect().await.unwrap()).unwrap();
    let lines = |batch: RecordBatch| {
        let mut lines: Vec<String> =
            pretty_format_batches(&[batch]).unwrap().to_string().lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(found), lines(expected), "{sql}");
}
"##;

/// The test's text; the expected rows are the interpreter's.
pub(super) fn render(seed: u64, index: u64, recipe: &Recipe) -> String {
    let table = &recipe.table;
    let mut text = HEAD.to_owned();
    let _ = write!(
        text,
        "\n{}\n#[tokio::test(flavor = \"multi_thread\")]\nasync fn reproduction_{seed}_{index}() {{\n",
        parameters(table)
    );
    // Every later step changes it, and so does going back to an older version.
    let is_changed = table.history.len() > 1 || table.read_after.is_some();
    let mut columns = table.columns.clone();
    for (position, operation) in table.history.iter().enumerate() {
        let step = step(operation, &mut columns);
        text.push_str(&if is_changed { step } else { step.replacen("let mut dataset", "let dataset", 1) });
        if table.read_after.is_some() && position + 1 == table.read_after() {
            text.push_str("    let read = dataset.version().version;\n");
        }
    }
    if table.read_after.is_some() {
        text.push_str("    dataset = dataset.checkout_version(read).await.unwrap();\n");
    }
    text.push_str(&queries(recipe));
    text.push_str("}\n");
    text
}

fn parameters(table: &TableRecipe) -> String {
    let version = match &table.storage_version {
        Some(version) => format!("\n        data_storage_version: Some(\"{version}\".parse().unwrap()),"),
        None => String::new(),
    };
    format!(
        "fn parameters(mode: WriteMode) -> WriteParams {{\n    WriteParams {{\n        mode,\n        max_rows_per_file: {},\n        \
         enable_stable_row_ids: {},{version}\n        ..WriteParams::default()\n    }}\n}}\n",
        table.rows_per_file, table.stable_row_ids
    )
}

/// One operation on a table of these columns, which it changes.
fn step(operation: &Operation, columns: &mut Vec<Column>) -> String {
    match operation {
        Operation::Create { rows } => format!(
            "    let rows = {};\n    let create = parameters(WriteMode::Create);\n    let mut dataset = \
             Dataset::write(reader(rows), \"memory://reproduction\", Some(create)).await.unwrap();\n",
            batch(columns, rows)
        ),
        Operation::Append { rows } => format!(
            "    let rows = {};\n    dataset.append(reader(rows), Some(parameters(WriteMode::Append))).await.unwrap();\n",
            batch(columns, rows)
        ),
        Operation::Delete { predicate } => format!("    dataset.delete({}).await.unwrap();\n", quoted(predicate)),
        Operation::Update { set, predicate } => update_step(set, predicate.as_ref()),
        Operation::MergeInsert { on, rows } => merge(on, columns, rows, ("InsertAll", "RewriteRows")),
        Operation::RewriteColumns { on, columns: names, rows } => {
            let named = |name: &String| columns.iter().find(|column| column.name == *name).cloned();
            let columns = std::iter::once(on).chain(names).filter_map(named).collect::<Vec<_>>();
            merge(on, &columns, rows, ("DoNothing", "RewriteColumns"))
        }
        Operation::AddColumn { column, value } => {
            columns.push(column.clone());
            add_column_step(column, value.as_ref())
        }
        Operation::DropColumn { column } => {
            columns.retain(|other| other.name != *column);
            format!("    dataset.drop_columns(&[\"{column}\"]).await.unwrap();\n")
        }
        Operation::Compact { target_rows, defer_index_remap } => format!(
            "    let options = lance::dataset::optimize::CompactionOptions {{\n        target_rows_per_fragment: {target_rows},\n        \
             defer_index_remap: {defer_index_remap},\n        ..Default::default()\n    }};\n    \
             lance::dataset::optimize::compact_files(&mut dataset, options, None).await.unwrap();\n"
        ),
        Operation::CreateIndex { .. }
        | Operation::DropIndex { .. }
        | Operation::OptimizeIndices
        | Operation::MergeIndices => index_step(operation),
    }
}

fn update_step(set: &[Assignment], predicate: Option<&Expr>) -> String {
    let mut text = "    let update = lance::dataset::UpdateBuilder::new(Arc::new(dataset));\n".to_owned();
    if let Some(predicate) = predicate {
        let _ = writeln!(text, "    let update = update.update_where({}).unwrap();", quoted(predicate));
    }
    for assignment in set {
        let (column, value) = (&assignment.column, quoted(&assignment.value));
        let _ = writeln!(text, "    let update = update.set(\"{column}\", {value}).unwrap();");
    }
    text.push_str("    let updated = update.build().unwrap().execute().await.unwrap();\n");
    text.push_str("    dataset = updated.new_dataset.as_ref().clone();\n");
    text
}

fn add_column_step(column: &Column, value: Option<&Expr>) -> String {
    let transform = match value {
        None => format!("AllNulls({})", schema(std::slice::from_ref(column))),
        Some(value) => {
            let value = format!("CAST({value} AS {})", column.data_type);
            format!("SqlExpressions(vec![(\"{}\".to_owned(), {}.to_owned())])", column.name, quoted(&value))
        }
    };
    format!(
        "    let column = lance::dataset::NewColumnTransform::{transform};\n    \
         dataset.add_columns(column, None, None).await.unwrap();\n"
    )
}

fn merge(on: &str, columns: &[Column], rows: &[Row], (unmatched, mode): (&str, &str)) -> String {
    format!(
        "    let rows = {};\n    let mut merge =\n        lance::dataset::MergeInsertBuilder::try_new(Arc::new(dataset), \
         vec![\"{on}\".to_owned()]).unwrap();\n    merge.when_matched(lance::dataset::WhenMatched::UpdateAll);\n    \
         merge.when_not_matched(lance::dataset::WhenNotMatched::{unmatched});\n    \
         merge.write_mode(lance::dataset::MergeInsertWriteMode::{mode});\n    \
         let (merged, _) = merge.try_build().unwrap().execute_reader(reader(rows)).await.unwrap();\n    \
         dataset = merged.as_ref().clone();\n",
        batch(columns, rows)
    )
}

fn index_step(operation: &Operation) -> String {
    let call = match operation {
        Operation::CreateIndex { column, kind, name } => {
            let name = name.clone().unwrap_or_else(|| format!("{column}_{}", kind.name()));
            let kind = match kind {
                IndexKind::Bitmap => "Bitmap",
                IndexKind::BTree => "BTree",
                IndexKind::ZoneMap => "ZoneMap",
            };
            format!(
                "let kind = lance_index::scalar::BuiltinIndexType::{kind};\n        \
                 let options = lance_index::scalar::ScalarIndexParams::for_builtin(kind);\n        \
                 let (kind, name) = (lance_index::IndexType::{kind}, Some(\"{name}\".to_owned()));\n        \
                 dataset.create_index(&[\"{column}\"], kind, name, &options, true).await.unwrap()"
            )
        }
        Operation::DropIndex { name } => format!("_ = dataset.drop_index(\"{name}\").await"),
        Operation::MergeIndices => optimize("merge(usize::MAX)"),
        _ => optimize("append()"),
    };
    format!("    {{\n        use lance::index::DatasetIndexExt as _;\n        {call};\n    }}\n")
}

fn optimize(how: &str) -> String {
    format!("dataset.optimize_indices(&lance_index::optimize::OptimizeOptions::{how}).await.unwrap()")
}

fn queries(recipe: &Recipe) -> String {
    let (name, settings) = (&recipe.table.name, &recipe.settings);
    let mut text = format!(
        "    let config = SessionConfig::new().with_target_partitions({}).with_batch_size({});\n    \
         let session = SessionContext::new_with_config(config);\n    \
         let provider = lance::datafusion::LanceTableProvider::new(Arc::new(dataset), false, false);\n    \
         session.register_table(\"{name}\", Arc::new(provider)).unwrap();\n",
        settings.target_partitions, settings.batch_size
    );
    let Ok(table) = live_rows(recipe) else { return text };
    recipe.workload.iter().for_each(|query| text.push_str(&expectation(&table, query)));
    text
}

fn expectation(table: &Table, query: &crate::query::Query) -> String {
    match (table.answer(query), query.output_columns(&table.columns)) {
        (Ok(answer), Ok(columns)) => format!(
            "    let expected = {};\n    check(&session, {}, expected).await;\n",
            batch(&columns, &answer.rows),
            quoted(query)
        ),
        _ => format!("    // This one has to fail.\n    // {query}\n"),
    }
}

/// An expression that is a batch of these rows.
fn batch(columns: &[Column], rows: &[Row]) -> String {
    let row = |row: &Row| {
        let literals = row.iter().zip(columns).map(|(value, column)| Expr::literal(value.clone(), column.data_type));
        format!("({})", literals.map(|literal| literal.to_string()).collect::<Vec<_>>().join(", "))
    };
    let rows = rows.iter().map(row).collect::<Vec<_>>().join(", ");
    let sql = if rows.is_empty() { rows } else { format!("VALUES {rows}") };
    format!("batch({}, {}).await", schema(columns), quoted(&sql))
}

fn schema(columns: &[Column]) -> String {
    let field =
        |column: &Column| format!("(\"{}\", {}, {})", column.name, type_path(column.data_type), column.nullable);
    format!("schema(&[{}])", columns.iter().map(field).collect::<Vec<_>>().join(", "))
}

fn type_path(data_type: Type) -> String {
    let timestamp = |unit: &str, zone: &str| format!("DataType::Timestamp(arrow::datatypes::TimeUnit::{unit}, {zone})");
    let unit = |unit: &str| timestamp(unit, "None");
    match data_type {
        Type::Decimal { precision, scale } => format!("DataType::Decimal128({precision}, {scale})"),
        Type::TimestampSecond => unit("Second"),
        Type::TimestampMillisecond => unit("Millisecond"),
        Type::Timestamp => unit("Microsecond"),
        Type::TimestampNanosecond => unit("Nanosecond"),
        Type::TimestampUtc => timestamp("Microsecond", "Some(\"UTC\".into())"),
        Type::Dictionary => "DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))".to_owned(),
        simple => format!("DataType::{}", simple.name()),
    }
}

fn quoted(text: &impl ToString) -> String {
    format!("{:?}", text.to_string())
}
