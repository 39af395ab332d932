//! Between the oracle's values and Arrow's arrays.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Decimal128Array, DictionaryArray, GenericByteArray,
    LargeBinaryArray, LargeStringArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray,
};
use arrow::compute::cast;
use arrow::datatypes::{
    ArrowPrimitiveType, ByteArrayType, DataType, Date32Type, Decimal128Type, Field, Float32Type, Float64Type, Int8Type,
    Int16Type, Int32Type, Int64Type, Schema, SchemaRef, TimeUnit, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};

use crate::query::Column;
use crate::value::{Decimal, Float, Row, Type, Value};
use crate::{OracleError, Result};

/// The time zone of [`Type::TimestampUtc`].
const UTC: &str = "UTC";

/// The Arrow type.
pub(crate) fn arrow_type(data_type: Type) -> DataType {
    match data_type {
        Type::Boolean => DataType::Boolean,
        Type::Int8 => DataType::Int8,
        Type::Int16 => DataType::Int16,
        Type::Int32 => DataType::Int32,
        Type::Int64 => DataType::Int64,
        Type::UInt8 => DataType::UInt8,
        Type::UInt16 => DataType::UInt16,
        Type::UInt32 => DataType::UInt32,
        Type::UInt64 => DataType::UInt64,
        Type::Float32 => DataType::Float32,
        Type::Float64 => DataType::Float64,
        Type::Decimal { precision, scale } => DataType::Decimal128(precision, scale),
        Type::Utf8 => DataType::Utf8,
        Type::LargeUtf8 => DataType::LargeUtf8,
        Type::Utf8View => DataType::Utf8View,
        Type::Dictionary => DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8)),
        Type::Binary => DataType::Binary,
        Type::LargeBinary => DataType::LargeBinary,
        Type::Date => DataType::Date32,
        Type::TimestampSecond => DataType::Timestamp(TimeUnit::Second, None),
        Type::TimestampMillisecond => DataType::Timestamp(TimeUnit::Millisecond, None),
        Type::Timestamp => DataType::Timestamp(TimeUnit::Microsecond, None),
        Type::TimestampNanosecond => DataType::Timestamp(TimeUnit::Nanosecond, None),
        Type::TimestampUtc => DataType::Timestamp(TimeUnit::Microsecond, Some(UTC.into())),
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
                _ => Err(unfit($column, value)),
            })
            .collect::<Result<$array>>()?
    };
}

fn unfit(column: &Column, value: Option<&Value>) -> OracleError {
    OracleError::Recipe(format!("{value:?} in column {}", column.name))
}

fn array<'a>(column: &Column, values: impl Iterator<Item = Option<&'a Value>>) -> Result<ArrayRef> {
    Ok(match column.data_type {
        Type::Boolean => Arc::new(collect!(BooleanArray, Value::Boolean(value) => *value, column, values)),
        Type::Int8 => integers::<Int8Type>(column, values)?,
        Type::Int16 => integers::<Int16Type>(column, values)?,
        Type::Int32 => integers::<Int32Type>(column, values)?,
        Type::Int64 => integers::<Int64Type>(column, values)?,
        Type::UInt8 => integers::<UInt8Type>(column, values)?,
        Type::UInt16 => integers::<UInt16Type>(column, values)?,
        Type::UInt32 => integers::<UInt32Type>(column, values)?,
        Type::UInt64 => integers::<UInt64Type>(column, values)?,
        Type::Float32 => {
            Arc::new(collect!(PrimitiveArray<Float32Type>, Value::Float64(value) => value.0 as f32, column, values))
        }
        Type::Float64 => {
            Arc::new(collect!(PrimitiveArray<Float64Type>, Value::Float64(value) => value.0, column, values))
        }
        Type::Utf8 => Arc::new(collect!(StringArray, Value::Utf8(value) => value.as_str(), column, values)),
        Type::LargeUtf8 => Arc::new(collect!(LargeStringArray, Value::Utf8(value) => value.as_str(), column, values)),
        Type::Utf8View => Arc::new(collect!(StringViewArray, Value::Utf8(value) => value.as_str(), column, values)),
        Type::Dictionary => {
            Arc::new(collect!(DictionaryArray<Int32Type>, Value::Utf8(value) => value.as_str(), column, values))
        }
        Type::Binary => Arc::new(collect!(BinaryArray, Value::Binary(value) => value.as_slice(), column, values)),
        Type::LargeBinary => {
            Arc::new(collect!(LargeBinaryArray, Value::Binary(value) => value.as_slice(), column, values))
        }
        Type::Date => Arc::new(collect!(PrimitiveArray<Date32Type>, Value::Date(value) => *value, column, values)),
        Type::TimestampSecond => timestamps::<TimestampSecondType>(column, values)?,
        Type::TimestampMillisecond => timestamps::<TimestampMillisecondType>(column, values)?,
        Type::Timestamp => timestamps::<TimestampMicrosecondType>(column, values)?,
        Type::TimestampNanosecond => timestamps::<TimestampNanosecondType>(column, values)?,
        Type::TimestampUtc => {
            let instants =
                collect!(PrimitiveArray<TimestampMicrosecondType>, Value::Timestamp(value) => *value, column, values);
            Arc::new(instants.with_timezone(UTC))
        }
        Type::Decimal { precision, scale } => {
            let digits = collect!(Decimal128Array, Value::Decimal(value) => value.unscaled, column, values);
            Arc::new(digits.with_precision_and_scale(precision, scale)?)
        }
    })
}

fn integers<'a, T>(column: &Column, values: impl Iterator<Item = Option<&'a Value>>) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType,
    T::Native: TryFrom<i128>,
{
    let native = |value: Option<&Value>| match value {
        Some(Value::Null) => Ok(None),
        _ => {
            let native = value.and_then(Value::as_integer).and_then(|value| T::Native::try_from(value).ok());
            native.map(Some).ok_or_else(|| unfit(column, value))
        }
    };
    Ok(Arc::new(values.map(native).collect::<Result<PrimitiveArray<T>>>()?))
}

fn timestamps<'a, T>(column: &Column, values: impl Iterator<Item = Option<&'a Value>>) -> Result<ArrayRef>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    Ok(Arc::new(collect!(PrimitiveArray<T>, Value::Timestamp(value) => *value, column, values)))
}

/// The array's values.
///
/// # Errors
/// Its type is none that the oracle reads.
pub(crate) fn values(array: &dyn Array) -> Result<Vec<Value>> {
    let text = |text: &str| Value::Utf8(text.to_owned());
    let bytes = |bytes: &[u8]| Value::Binary(bytes.to_vec());
    Ok(match array.data_type() {
        DataType::Boolean => array.as_boolean().iter().map(|value| value.map_or(Value::Null, Value::Boolean)).collect(),
        DataType::Int8 => primitive::<Int8Type>(array, |value| Value::Int64(value.into())),
        DataType::Int16 => primitive::<Int16Type>(array, |value| Value::Int64(value.into())),
        DataType::Int32 => primitive::<Int32Type>(array, Value::Int32),
        DataType::Int64 => primitive::<Int64Type>(array, Value::Int64),
        DataType::UInt8 => primitive::<UInt8Type>(array, |value| Value::Int64(value.into())),
        DataType::UInt16 => primitive::<UInt16Type>(array, |value| Value::Int64(value.into())),
        DataType::UInt32 => primitive::<UInt32Type>(array, |value| Value::Int64(value.into())),
        DataType::UInt64 => primitive::<UInt64Type>(array, Value::UInt64),
        DataType::Float32 => primitive::<Float32Type>(array, |value| Value::Float64(Float(value.into()))),
        DataType::Float64 => primitive::<Float64Type>(array, |value| Value::Float64(Float(value))),
        DataType::Date32 => primitive::<Date32Type>(array, Value::Date),
        DataType::Timestamp(unit, _) => match unit {
            TimeUnit::Second => primitive::<TimestampSecondType>(array, Value::Timestamp),
            TimeUnit::Millisecond => primitive::<TimestampMillisecondType>(array, Value::Timestamp),
            TimeUnit::Microsecond => primitive::<TimestampMicrosecondType>(array, Value::Timestamp),
            TimeUnit::Nanosecond => primitive::<TimestampNanosecondType>(array, Value::Timestamp),
        },
        DataType::Decimal128(_, scale) => {
            let scale = *scale;
            primitive::<Decimal128Type>(array, move |unscaled| Value::Decimal(Decimal { unscaled, scale }))
        }
        DataType::Utf8 => strings(array.as_string::<i32>(), text),
        DataType::LargeUtf8 => strings(array.as_string::<i64>(), text),
        DataType::Utf8View => array.as_string_view().iter().map(|value| value.map_or(Value::Null, text)).collect(),
        DataType::Dictionary(_, value_type) => values(&cast(array, value_type)?)?,
        DataType::Binary => strings(array.as_binary::<i32>(), bytes),
        DataType::LargeBinary => strings(array.as_binary::<i64>(), bytes),
        other => return Err(OracleError::UnknownType(other.clone())),
    })
}

fn primitive<T: ArrowPrimitiveType>(array: &dyn Array, wrap: impl Fn(T::Native) -> Value) -> Vec<Value> {
    let array: &PrimitiveArray<T> = array.as_primitive();
    array.iter().map(|value| value.map_or(Value::Null, &wrap)).collect()
}

fn strings<T: ByteArrayType>(array: &GenericByteArray<T>, wrap: impl Fn(&T::Native) -> Value) -> Vec<Value> {
    array.iter().map(|value| value.map_or(Value::Null, &wrap)).collect()
}
