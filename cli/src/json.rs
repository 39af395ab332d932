//! Answers as one JSON document: rows are arrays in the order of the columns, so that equal names do
//! not collapse; integers and finite floats are numbers with all their digits; decimals, other floats, dates and whatever
//! JSON has no type for are strings, bytes in hexadecimal.

use std::io::Write;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DataType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, SchemaRef, UInt8Type,
    UInt16Type, UInt32Type, UInt64Type,
};
use datafusion::arrow::util::display::array_value_to_string;
use serde::Serialize;
use serde_json::{Value, json};

use crate::answers::Answered;
use crate::error::{CliError, reason};
use crate::presentable::presentable;
use crate::workload::Query;

/// Prints `{"queries": […]}`: for each query its columns and rows, or its error.
pub(crate) fn write_json(out: &mut dyn Write, queries: &[Query], answers: &[Answered]) -> Result<(), CliError> {
    write!(out, "{{\n  \"queries\": [")?;
    for (index, (query, answered)) in queries.iter().zip(answers).enumerate() {
        let separator = if index == 0 { "" } else { "," };
        write!(out, "{separator}\n    {{\n      \"name\": {},\n", Value::from(query.name.as_str()))?;
        writeln!(out, "      \"sql\": {},", Value::from(query.sql.as_str()))?;
        match &answered.result {
            Ok(answer) => {
                writeln!(out, "      \"columns\": {},", columns(&answer.schema))?;
                write_rows(out, &answer.batches)?;
            }
            Err(error) => writeln!(out, "      \"error\": {}", Value::from(reason(error)))?,
        }
        write!(out, "    }}")?;
    }
    Ok(write!(out, "\n  ]\n}}\n")?)
}

fn columns(schema: &SchemaRef) -> Value {
    let column = |name: &str, data_type: &DataType| json!({ "name": name, "type": data_type.to_string() });
    schema.fields().iter().map(|field| column(field.name(), field.data_type())).collect()
}

fn write_rows(out: &mut dyn Write, batches: &[RecordBatch]) -> Result<(), CliError> {
    write!(out, "      \"rows\": [")?;
    let mut separator = "";
    for batch in batches {
        let columns = presentable(batch)?.columns().iter().map(decoded).collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            write!(out, "{separator}\n        [")?;
            for (index, column) in columns.iter().enumerate() {
                if index > 0 {
                    write!(out, ", ")?;
                }
                write_value(out, column, row)?;
            }
            write!(out, "]")?;
            separator = ",";
        }
    }
    let end = if separator.is_empty() { "" } else { "\n      " };
    Ok(writeln!(out, "{end}]")?)
}

/// A column without its dictionary.
fn decoded(column: &ArrayRef) -> Result<ArrayRef, CliError> {
    match column.data_type() {
        DataType::Dictionary(_, values) => Ok(cast(column, values)?),
        _ => Ok(ArrayRef::clone(column)),
    }
}

fn write_value(out: &mut dyn Write, column: &ArrayRef, row: usize) -> Result<(), CliError> {
    if column.is_null(row) {
        return Ok(write!(out, "null")?);
    }
    match column.data_type() {
        DataType::Null => Ok(write!(out, "null")?),
        DataType::Boolean => Ok(write!(out, "{}", column.as_boolean().value(row))?),
        DataType::Int8 => number(out, column.as_primitive::<Int8Type>().value(row)),
        DataType::Int16 => number(out, column.as_primitive::<Int16Type>().value(row)),
        DataType::Int32 => number(out, column.as_primitive::<Int32Type>().value(row)),
        DataType::Int64 => number(out, column.as_primitive::<Int64Type>().value(row)),
        DataType::UInt8 => number(out, column.as_primitive::<UInt8Type>().value(row)),
        DataType::UInt16 => number(out, column.as_primitive::<UInt16Type>().value(row)),
        DataType::UInt32 => number(out, column.as_primitive::<UInt32Type>().value(row)),
        DataType::UInt64 => number(out, column.as_primitive::<UInt64Type>().value(row)),
        DataType::Float16 => float(out, column.as_primitive::<Float16Type>().value(row).to_f32()),
        DataType::Float32 => float(out, column.as_primitive::<Float32Type>().value(row)),
        DataType::Float64 => float(out, column.as_primitive::<Float64Type>().value(row)),
        DataType::List(_) => list(out, &column.as_list::<i32>().value(row)),
        DataType::LargeList(_) => list(out, &column.as_list::<i64>().value(row)),
        DataType::FixedSizeList(..) => list(out, &column.as_fixed_size_list().value(row)),
        _ => Ok(write!(out, "{}", Value::from(array_value_to_string(column, row)?))?),
    }
}

fn number(out: &mut dyn Write, value: impl Serialize) -> Result<(), CliError> {
    Ok(serde_json::to_writer(out, &value).map_err(std::io::Error::from)?)
}

/// A finite float as the shortest number that reads as the same float, any other as the name that Arrow gives it.
fn float(out: &mut dyn Write, value: impl Serialize + Into<f64> + Copy) -> Result<(), CliError> {
    let wide: f64 = value.into();
    match wide {
        _ if wide.is_nan() => Ok(write!(out, "\"NaN\"")?),
        f64::INFINITY => Ok(write!(out, "\"inf\"")?),
        f64::NEG_INFINITY => Ok(write!(out, "\"-inf\"")?),
        _ => number(out, value),
    }
}

fn list(out: &mut dyn Write, values: &ArrayRef) -> Result<(), CliError> {
    let values = decoded(values)?;
    write!(out, "[")?;
    for row in 0..values.len() {
        if row > 0 {
            write!(out, ", ")?;
        }
        write_value(out, &values, row)?;
    }
    Ok(write!(out, "]")?)
}
