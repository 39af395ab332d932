//! A recipe's rows and queries as a sqllogictest, in the dialect of DataFusion's own test files. The dataset's physical
//! state is lost: what still fails is DataFusion's.

use std::fmt::Write as _;

use crate::calendar::{date_text, timestamp_text};
use crate::model::{ModelError, Table};
use crate::query::{Column, Expr, Query};
use crate::recipe::Recipe;
use crate::value::{Decimal, Float, Row, Type, Value};

/// The file's text; the expected rows are the interpreter's.
pub(super) fn render(seed: u64, index: u64, recipe: &Recipe) -> String {
    let mut text = format!("# Case {index} of seed {seed}\n\n");
    match live_rows(recipe) {
        Ok(table) => {
            text.push_str(&create(&table));
            for query in &recipe.workload {
                text.push_str(&of_query(&table, query));
            }
            let _ = writeln!(text, "statement ok\nDROP TABLE {}", table.name);
        }
        Err(error) => {
            let _ = writeln!(text, "# The interpreter cannot follow the history: {error}");
        }
    }
    text
}

/// The rows that the queries read.
pub(super) fn live_rows(recipe: &Recipe) -> Result<Table, ModelError> {
    let mut table = Table::new(&recipe.table.name, recipe.table.columns.clone());
    for operation in recipe.table.history.iter().take(recipe.table.read_after()) {
        table.apply(operation)?;
    }
    Ok(table)
}

fn create(table: &Table) -> String {
    let column = |column: &crate::query::Column| {
        format!("{} {}{}", column.name, column.data_type, if column.nullable { "" } else { " NOT NULL" })
    };
    let columns = table.columns.iter().map(column).collect::<Vec<_>>().join(", ");
    let mut text = format!("statement ok\nCREATE TABLE {} ({columns})\n\n", table.name);
    if !table.rows.is_empty() {
        let rows = table.rows.iter().map(|row| literals(table, row)).collect::<Vec<_>>().join(",\n");
        let _ = write!(text, "statement ok\nINSERT INTO {} VALUES\n{rows}\n\n", table.name);
    }
    text
}

fn literals(table: &Table, row: &Row) -> String {
    let literal =
        |(value, column): (&Value, &crate::query::Column)| Expr::literal(value.clone(), column.data_type).to_string();
    format!("({})", row.iter().zip(&table.columns).map(literal).collect::<Vec<_>>().join(", "))
}

fn of_query(table: &Table, query: &Query) -> String {
    let (Ok(answer), Ok(columns)) = (table.answer(query), query.output_columns(&table.columns)) else {
        return format!("statement error\n{query}\n\n");
    };
    let types: String = columns.iter().map(|column| type_letter(column.data_type)).collect();
    let mut rows: Vec<String> = answer.rows.iter().map(|row| row_text(row, &columns)).collect();
    // Rows that tie under ORDER BY come in any order.
    let is_ordered = (0..query.outputs.len()).all(|output| query.order_by.iter().any(|key| key.output == output));
    if !is_ordered {
        rows.sort_unstable();
    }
    let mut text = format!("query {types}{}\n{query}\n----\n", if is_ordered { "" } else { " rowsort" });
    rows.iter().for_each(|row| text.extend([row, "\n"]));
    text.push('\n');
    text
}

fn type_letter(data_type: Type) -> char {
    match data_type {
        Type::Boolean => 'B',
        Type::Date => 'D',
        _ if data_type.is_integer() => 'I',
        _ if data_type.is_numeric() => 'R',
        _ if data_type.second_digits().is_some() => 'P',
        _ if data_type.is_text() => 'T',
        _ => '?',
    }
}

fn row_text(row: &Row, columns: &[Column]) -> String {
    let text = |(value, column): (&Value, &Column)| value_text(value, column.data_type);
    row.iter().zip(columns).map(text).collect::<Vec<_>>().join(" ")
}

/// Source: DataFusion's `sqllogictest/src/engines/datafusion_engine/normalize.rs` and `conversion.rs`.
fn value_text(value: &Value, data_type: Type) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Boolean(value) => value.to_string(),
        Value::Int32(value) => value.to_string(),
        Value::Int64(value) => value.to_string(),
        Value::UInt64(value) => value.to_string(),
        Value::Float64(Float(value)) => float_text(*value),
        Value::Decimal(value) => trimmed(decimal_at_12(*value).to_string()),
        Value::Utf8(text) if text.is_empty() => "(empty)".to_owned(),
        Value::Utf8(text) => text.clone(),
        Value::Date(days) => date_text(i64::from(*days)),
        Value::Binary(bytes) => bytes.iter().map(|byte| format!("{byte:02x}")).collect(),
        Value::Timestamp(instant) => moment_text(*instant, data_type.second_digits().unwrap_or_default()),
    }
}

/// The fraction of a second has no, three, six or nine digits.
fn moment_text(instant: i64, digits: u32) -> String {
    let text = timestamp_text(instant, digits).replace(' ', "T");
    let Some((second, mut fraction)) = text.split_once('.') else { return text };
    while let Some(shorter) = fraction.strip_suffix("000") {
        fraction = shorter;
    }
    if fraction.is_empty() { second.to_owned() } else { format!("{second}.{fraction}") }
}

fn float_text(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else {
        trimmed(format!("{value:.12}"))
    }
}

/// Twelve digits behind the point, rounded half away from zero.
fn decimal_at_12(value: Decimal) -> Decimal {
    const DIGITS: i8 = 12;
    let Ok(extra) = u32::try_from(value.scale.saturating_sub(DIGITS)) else { return value };
    let divisor = 10_i128.saturating_pow(extra);
    let (whole, rest) = (value.unscaled / divisor, value.unscaled % divisor);
    let rounds_up = rest.unsigned_abs() >= (divisor.unsigned_abs()).div_ceil(2) && extra > 0;
    let unscaled = if rounds_up { whole + value.unscaled.signum() } else { whole };
    Decimal { unscaled, scale: value.scale.min(DIGITS) }
}

/// Without zeros at the end of a fraction, and without the sign of zero.
fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}
