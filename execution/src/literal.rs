//! IR literals as DataFusion scalars.

use std::sync::Arc;

use asap_types::{Literal, LiteralValue};
use datafusion::arrow::datatypes::{
    ArrowPrimitiveType, DataType, Float16Type, IntervalDayTime, IntervalMonthDayNano, IntervalUnit, TimeUnit, i256,
};
use datafusion::common::ScalarValue;

use crate::ExecutionError;

/// The scalar of a literal.
pub(crate) fn to_scalar(literal: &Literal) -> Result<ScalarValue, ExecutionError> {
    if let DataType::Dictionary(keys, values) = &literal.data_type {
        let value = to_scalar(&Literal::new(values.as_ref().clone(), literal.value.clone()))?;
        return Ok(ScalarValue::Dictionary(keys.clone(), Box::new(value)));
    }
    let invalid = || ExecutionError::Literal(format!("{literal:?}"));
    match &literal.value {
        LiteralValue::Null => Ok(ScalarValue::try_from(&literal.data_type)?),
        LiteralValue::Boolean(value) if literal.data_type == DataType::Boolean => {
            Ok(ScalarValue::Boolean(Some(*value)))
        }
        LiteralValue::Boolean(_) => Err(invalid()),
        LiteralValue::Integer(value) => integer(&literal.data_type, *value).ok_or_else(invalid),
        LiteralValue::Float(bits) => float(&literal.data_type, bits.get()).ok_or_else(invalid),
        LiteralValue::Text(text) => match &literal.data_type {
            DataType::Utf8 => Ok(ScalarValue::Utf8(Some(text.clone()))),
            DataType::LargeUtf8 => Ok(ScalarValue::LargeUtf8(Some(text.clone()))),
            DataType::Utf8View => Ok(ScalarValue::Utf8View(Some(text.clone()))),
            _ => Err(invalid()),
        },
        LiteralValue::Bytes(bytes) => match &literal.data_type {
            DataType::Binary => Ok(ScalarValue::Binary(Some(bytes.clone()))),
            DataType::LargeBinary => Ok(ScalarValue::LargeBinary(Some(bytes.clone()))),
            DataType::BinaryView => Ok(ScalarValue::BinaryView(Some(bytes.clone()))),
            DataType::FixedSizeBinary(width) => Ok(ScalarValue::FixedSizeBinary(*width, Some(bytes.clone()))),
            _ => Err(invalid()),
        },
        LiteralValue::Interval { months, days, nanos } => {
            interval(&literal.data_type, *months, *days, *nanos).ok_or_else(invalid)
        }
    }
}

fn integer(data_type: &DataType, value: i128) -> Option<ScalarValue> {
    let scalar = match data_type {
        DataType::Int8 => ScalarValue::Int8(Some(value.try_into().ok()?)),
        DataType::Int16 => ScalarValue::Int16(Some(value.try_into().ok()?)),
        DataType::Int32 => ScalarValue::Int32(Some(value.try_into().ok()?)),
        DataType::Int64 => ScalarValue::Int64(Some(value.try_into().ok()?)),
        DataType::UInt8 => ScalarValue::UInt8(Some(value.try_into().ok()?)),
        DataType::UInt16 => ScalarValue::UInt16(Some(value.try_into().ok()?)),
        DataType::UInt32 => ScalarValue::UInt32(Some(value.try_into().ok()?)),
        DataType::UInt64 => ScalarValue::UInt64(Some(value.try_into().ok()?)),
        DataType::Decimal32(p, s) => ScalarValue::Decimal32(Some(value.try_into().ok()?), *p, *s),
        DataType::Decimal64(p, s) => ScalarValue::Decimal64(Some(value.try_into().ok()?), *p, *s),
        DataType::Decimal128(p, s) => ScalarValue::Decimal128(Some(value), *p, *s),
        DataType::Decimal256(p, s) => ScalarValue::Decimal256(Some(i256::from_i128(value)), *p, *s),
        DataType::Date32 => ScalarValue::Date32(Some(value.try_into().ok()?)),
        DataType::Date64 => ScalarValue::Date64(Some(value.try_into().ok()?)),
        DataType::Time32(TimeUnit::Second) => ScalarValue::Time32Second(Some(value.try_into().ok()?)),
        DataType::Time32(TimeUnit::Millisecond) => ScalarValue::Time32Millisecond(Some(value.try_into().ok()?)),
        DataType::Time64(TimeUnit::Microsecond) => ScalarValue::Time64Microsecond(Some(value.try_into().ok()?)),
        DataType::Time64(TimeUnit::Nanosecond) => ScalarValue::Time64Nanosecond(Some(value.try_into().ok()?)),
        DataType::Timestamp(unit, zone) => timestamp(*unit, zone.as_ref(), value.try_into().ok()?),
        DataType::Duration(unit) => duration(*unit, value.try_into().ok()?),
        _ => return None,
    };
    Some(scalar)
}

fn timestamp(unit: TimeUnit, zone: Option<&Arc<str>>, value: i64) -> ScalarValue {
    let (value, zone) = (Some(value), zone.cloned());
    match unit {
        TimeUnit::Second => ScalarValue::TimestampSecond(value, zone),
        TimeUnit::Millisecond => ScalarValue::TimestampMillisecond(value, zone),
        TimeUnit::Microsecond => ScalarValue::TimestampMicrosecond(value, zone),
        TimeUnit::Nanosecond => ScalarValue::TimestampNanosecond(value, zone),
    }
}

fn duration(unit: TimeUnit, value: i64) -> ScalarValue {
    let value = Some(value);
    match unit {
        TimeUnit::Second => ScalarValue::DurationSecond(value),
        TimeUnit::Millisecond => ScalarValue::DurationMillisecond(value),
        TimeUnit::Microsecond => ScalarValue::DurationMicrosecond(value),
        TimeUnit::Nanosecond => ScalarValue::DurationNanosecond(value),
    }
}

type F16 = <Float16Type as ArrowPrimitiveType>::Native;

#[expect(clippy::cast_possible_truncation, reason = "narrow floats are stored widened, so narrowing gives them back")]
fn float(data_type: &DataType, value: f64) -> Option<ScalarValue> {
    match data_type {
        DataType::Float16 => Some(ScalarValue::Float16(Some(F16::from_f64(value)))),
        DataType::Float32 => Some(ScalarValue::Float32(Some(value as f32))),
        DataType::Float64 => Some(ScalarValue::Float64(Some(value))),
        _ => None,
    }
}

fn interval(data_type: &DataType, months: i32, days: i32, nanos: i64) -> Option<ScalarValue> {
    const NANOS_PER_MILLI: i64 = 1_000_000;
    match data_type {
        DataType::Interval(IntervalUnit::YearMonth) if days == 0 && nanos == 0 => {
            Some(ScalarValue::IntervalYearMonth(Some(months)))
        }
        DataType::Interval(IntervalUnit::DayTime) if months == 0 && nanos % NANOS_PER_MILLI == 0 => {
            let millis = (nanos / NANOS_PER_MILLI).try_into().ok()?;
            Some(ScalarValue::IntervalDayTime(Some(IntervalDayTime::new(days, millis))))
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            Some(ScalarValue::IntervalMonthDayNano(Some(IntervalMonthDayNano::new(months, days, nanos))))
        }
        _ => None,
    }
}
