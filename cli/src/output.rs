//! Answers as text.

use std::io::Write;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::json::writer::{JsonArray, WriterBuilder};
use datafusion::arrow::util::display::FormatOptions;
use datafusion::arrow::util::pretty::pretty_format_batches_with_options;
use serde_json::{Value, json};

use crate::args::AnswerFormat;
use crate::error::CliError;

/// Rows of an answer that a boxed table shows.
const MAX_TABLE_ROWS: usize = 40;

/// One answer to print.
pub(crate) struct Answer<'a> {
    pub(crate) name: &'a str,
    pub(crate) sql: &'a str,
    pub(crate) schema: &'a SchemaRef,
    pub(crate) batches: &'a [RecordBatch],
}

/// Prints answers in a format.
pub(crate) fn write_answers(out: &mut dyn Write, answers: &[Answer<'_>], format: AnswerFormat) -> Result<(), CliError> {
    match format {
        AnswerFormat::Table => answers.iter().try_for_each(|answer| write_table(out, answer)),
        AnswerFormat::Csv => answers.iter().enumerate().try_for_each(|(index, answer)| {
            if index > 0 {
                writeln!(out)?;
            }
            write_csv(out, answer)
        }),
        AnswerFormat::Json => write_json(out, answers),
    }
}

fn write_table(out: &mut dyn Write, answer: &Answer<'_>) -> Result<(), CliError> {
    let rows: usize = answer.batches.iter().map(RecordBatch::num_rows).sum();
    let mut shown = head(answer.batches, MAX_TABLE_ROWS);
    // The header comes from the first batch, and an empty answer has none.
    if shown.is_empty() {
        shown.push(RecordBatch::new_empty(std::sync::Arc::clone(answer.schema)));
    }
    let table = pretty_format_batches_with_options(&shown, &FormatOptions::new().with_null("NULL"))?;
    writeln!(out, "{}\n{table}", answer.name)?;
    if rows > MAX_TABLE_ROWS {
        writeln!(out, "{MAX_TABLE_ROWS} of {rows} rows; --format csv prints all")?;
    }
    Ok(writeln!(out)?)
}

fn head(batches: &[RecordBatch], mut rows: usize) -> Vec<RecordBatch> {
    let mut shown = Vec::new();
    for batch in batches {
        let take = rows.min(batch.num_rows());
        shown.push(batch.slice(0, take));
        rows -= take;
    }
    shown
}

fn write_csv(out: &mut dyn Write, answer: &Answer<'_>) -> Result<(), CliError> {
    let mut writer = csv::WriterBuilder::new().with_header(true).build(&mut *out);
    if answer.batches.is_empty() {
        writer.write(&RecordBatch::new_empty(std::sync::Arc::clone(answer.schema)))?;
    }
    Ok(answer.batches.iter().try_for_each(|batch| writer.write(batch))?)
}

fn write_json(out: &mut dyn Write, answers: &[Answer<'_>]) -> Result<(), CliError> {
    let queries = answers.iter().map(answer_value).collect::<Result<Vec<Value>, CliError>>()?;
    serde_json::to_writer_pretty(&mut *out, &json!({ "queries": queries })).map_err(std::io::Error::from)?;
    Ok(writeln!(out)?)
}

fn answer_value(answer: &Answer<'_>) -> Result<Value, CliError> {
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build::<_, JsonArray>(Vec::new());
    answer.batches.iter().try_for_each(|batch| writer.write(batch))?;
    writer.finish()?;
    let rows: Value =
        serde_json::from_slice(&writer.into_inner()).map_err(|error| ArrowError::JsonError(error.to_string()))?;
    let rows = if rows.is_null() { json!([]) } else { rows };
    let columns: Vec<Value> = answer
        .schema
        .fields()
        .iter()
        .map(|field| json!({ "name": field.name(), "type": field.data_type().to_string() }))
        .collect();
    Ok(json!({ "name": answer.name, "sql": answer.sql, "columns": columns, "rows": rows }))
}
