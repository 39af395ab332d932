//! Answers as text.

use std::io::Write;
use std::sync::Arc;

use asap_execution::QueryResult;
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::csv;
use datafusion::arrow::util::display::FormatOptions;
use datafusion::arrow::util::pretty::pretty_format_batches_with_options;

use crate::answers::Answered;
use crate::args::AnswerFormat;
use crate::error::CliError;
use crate::json::write_json;
use crate::presentable::presentable;
use crate::workload::Query;

/// Rows of an answer that a boxed table shows.
const MAX_TABLE_ROWS: usize = 40;

/// Prints the answers that there are in a format.
pub(crate) fn write_answers(
    out: &mut dyn Write,
    queries: &[Query],
    answers: &[Answered],
    format: AnswerFormat,
) -> Result<(), CliError> {
    let mut succeeded = answers.iter().filter_map(|answered| answered.result.as_ref().ok());
    match format {
        AnswerFormat::Table => succeeded.try_for_each(|answer| write_table(out, answer)),
        AnswerFormat::Csv => succeeded.enumerate().try_for_each(|(index, answer)| {
            if index > 0 {
                writeln!(out)?;
            }
            write_csv(out, answer)
        }),
        AnswerFormat::Json => write_json(out, queries, answers),
    }
}

fn write_table(out: &mut dyn Write, answer: &QueryResult) -> Result<(), CliError> {
    let rows = answer.row_count();
    let mut shown = head(&answer.batches, MAX_TABLE_ROWS)?;
    // The header comes from the first batch, and an empty answer has none.
    if shown.is_empty() {
        shown.push(RecordBatch::new_empty(Arc::clone(&answer.schema)));
    }
    let table = pretty_format_batches_with_options(&shown, &FormatOptions::new().with_null("NULL"))?;
    writeln!(out, "{}\n{table}", answer.name)?;
    if rows > MAX_TABLE_ROWS {
        writeln!(out, "{MAX_TABLE_ROWS} of {rows} rows; --format csv prints all")?;
    }
    Ok(writeln!(out)?)
}

fn head(batches: &[RecordBatch], mut rows: usize) -> Result<Vec<RecordBatch>, CliError> {
    let mut shown = Vec::new();
    for batch in batches {
        let take = rows.min(batch.num_rows());
        shown.push(presentable(&batch.slice(0, take))?);
        rows -= take;
    }
    Ok(shown)
}

fn write_csv(out: &mut dyn Write, answer: &QueryResult) -> Result<(), CliError> {
    let mut writer = csv::WriterBuilder::new().with_header(true).build(&mut *out);
    if answer.batches.is_empty() {
        writer.write(&RecordBatch::new_empty(Arc::clone(&answer.schema)))?;
    }
    Ok(answer.batches.iter().try_for_each(|batch| writer.write(&presentable(batch)?))?)
}
