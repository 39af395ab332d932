//! Between the oracle's values and Arrow's arrays.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, Decimal128Array, Float64Array, Int32Array, Int64Array,
    PrimitiveArray, RecordBatch, StringArray, TimestampMicrosecondArray,
};
use arrow::datatypes::{
    ArrowPrimitiveType, DataType, Date32Type, Decimal128Type, Field, Float64Type, Int32Type, Int64Type, Schema,
    SchemaRef, TimeUnit, TimestampMicrosecondType,
};

use crate::query::Column;
use crate::value::{Decimal, Float, Row, Type, Value};
use crate::{OracleError, Result};

/// The Arrow type.
pub(crate) fn arrow_type(data_type: Type) -> DataType {
    match data_type {
        Type::Boolean => DataType::Boolean,
        Type::Int32 => DataType::Int32,
        Type::Int64 => DataType::Int64,
        Type::Float64 => DataType::Float64,
        Type::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
        Type::Utf8 => DataType::Utf8,
        Type::Date => DataType::Date32,
        Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
    }
}

/// The Arrow schema.
pub(crate) fn arrow_schema(columns: &[Column]) -> SchemaRef {
    let field = |column: &Column| Field::new(&column.name, arrow_type(column.data_type), column.nullable);
    Arc::new(Schema::new(columns.iter().map(field).collect::<Vec<_>>()))
}

/// The rows as one batch.
///
/// # Errors
/// A row does not fit the columns.
pub(crate) fn record_batch(columns: &[Column], rows: &[Row]) -> Result<RecordBatch> {
    let arrays = columns
        .iter()
        .enumerate()
        .map(|(position, column)| array(column, rows.iter().map(|row| row.get(position))))
        .collect::<Result<Vec<_>>>()?;
    Ok(RecordBatch::try_new(arrow_schema(columns), arrays)?)
}

/// Collects one variant's content, and NULLs.
macro_rules! collect {
    ($array:ty, $variant:pat => $content:expr, $column:expr, $values:expr) => {
        $values
            .map(|value| match value {
                Some(Value::Null) => Ok(None),
                Some($variant) => Ok(Some($content)),
                _ => Err(OracleError::Recipe(format!("{value:?} in column {}", $column.name))),
            })
            .collect::<Result<$array>>()?
    };
}

fn array<'a>(column: &Column, values: impl Iterator<Item = Option<&'a Value>>) -> Result<ArrayRef> {
    Ok(match column.data_type {
        Type::Boolean => Arc::new(collect!(BooleanArray, Value::Boolean(value) => *value, column, values)),
        Type::Int32 => Arc::new(collect!(Int32Array, Value::Int32(value) => *value, column, values)),
        Type::Int64 => Arc::new(collect!(Int64Array, Value::Int64(value) => *value, column, values)),
        Type::Float64 => Arc::new(collect!(Float64Array, Value::Float64(value) => value.0, column, values)),
        Type::Utf8 => Arc::new(collect!(StringArray, Value::Utf8(value) => value.as_str(), column, values)),
        Type::Date => Arc::new(collect!(Date32Array, Value::Date(value) => *value, column, values)),
        Type::Timestamp => {
            Arc::new(collect!(TimestampMicrosecondArray, Value::Timestamp(value) => *value, column, values))
        }
        Type::Decimal { precision, scale } => {
            let digits = collect!(Decimal128Array, Value::Decimal(value) => value.unscaled, column, values);
            Arc::new(digits.with_precision_and_scale(precision, scale)?)
        }
    })
}

/// The array's values.
///
/// # Errors
/// Its type is none that the oracle reads.
pub(crate) fn values(array: &dyn Array) -> Result<Vec<Value>> {
    let optional = |value: Option<Value>| value.unwrap_or(Value::Null);
    Ok(match array.data_type() {
        DataType::Boolean => array.as_boolean().iter().map(|value| optional(value.map(Value::Boolean))).collect(),
        DataType::Int32 => primitive::<Int32Type>(array, Value::Int32),
        DataType::Int64 => primitive::<Int64Type>(array, Value::Int64),
        DataType::Float64 => primitive::<Float64Type>(array, |value| Value::Float64(Float(value))),
        DataType::Date32 => primitive::<Date32Type>(array, Value::Date),
        DataType::Timestamp(TimeUnit::Microsecond, None) => {
            primitive::<TimestampMicrosecondType>(array, Value::Timestamp)
        }
        DataType::Decimal128(_, scale) => {
            let scale = *scale;
            primitive::<Decimal128Type>(array, move |unscaled| Value::Decimal(Decimal { unscaled, scale }))
        }
        DataType::Utf8 => array
            .as_string::<i32>()
            .iter()
            .map(|value| optional(value.map(|text| Value::Utf8(text.to_owned()))))
            .collect(),
        DataType::Utf8View => array
            .as_string_view()
            .iter()
            .map(|value| optional(value.map(|text| Value::Utf8(text.to_owned()))))
            .collect(),
        other => return Err(OracleError::UnknownType(other.clone())),
    })
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, wrap: impl Fn(T::Native) -> Value) -> Vec<Value> {
    let array: &PrimitiveArray<T> = array.as_primitive();
    array.iter().map(|value| value.map_or(Value::Null, &wrap)).collect()
}
