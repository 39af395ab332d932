//! Constants.

use asap_types::{F64Bits, Literal, LiteralValue};
use datafusion_common::ScalarValue;

const NANOS_PER_MILLI: i64 = 1_000_000;

/// The constant in the IR; `None` for nested types and for decimals of more than 128 bits.
pub(super) fn literal(scalar: &ScalarValue) -> Option<Literal> {
    if scalar.is_null() {
        return Some(Literal::null(scalar.data_type()));
    }
    Some(Literal::new(scalar.data_type(), value(scalar)?))
}

fn value(scalar: &ScalarValue) -> Option<LiteralValue> {
    let float = |value: f64| Some(LiteralValue::Float(F64Bits::new(value)));
    match scalar {
        ScalarValue::Boolean(value) => value.map(LiteralValue::Boolean),
        ScalarValue::Float16(value) => value.and_then(|value| float(value.to_f64())),
        ScalarValue::Float32(value) => value.and_then(|value| float(value.into())),
        ScalarValue::Float64(value) => value.and_then(float),
        ScalarValue::Decimal32(value, ..) => integer(*value),
        ScalarValue::Decimal64(value, ..) => integer(*value),
        ScalarValue::Decimal128(value, ..) => integer(*value),
        ScalarValue::Decimal256(value, ..) => integer((*value)?.to_i128()),
        ScalarValue::Int8(value) => integer(*value),
        ScalarValue::Int16(value) => integer(*value),
        ScalarValue::Int32(value) | ScalarValue::Date32(value) => integer(*value),
        ScalarValue::Time32Second(value) | ScalarValue::Time32Millisecond(value) => integer(*value),
        ScalarValue::Int64(value) | ScalarValue::Date64(value) => integer(*value),
        ScalarValue::Time64Microsecond(value) | ScalarValue::Time64Nanosecond(value) => integer(*value),
        ScalarValue::UInt8(value) => integer(*value),
        ScalarValue::UInt16(value) => integer(*value),
        ScalarValue::UInt32(value) => integer(*value),
        ScalarValue::UInt64(value) => integer(*value),
        ScalarValue::TimestampSecond(value, _)
        | ScalarValue::TimestampMillisecond(value, _)
        | ScalarValue::TimestampMicrosecond(value, _)
        | ScalarValue::TimestampNanosecond(value, _) => integer(*value),
        ScalarValue::DurationSecond(value)
        | ScalarValue::DurationMillisecond(value)
        | ScalarValue::DurationMicrosecond(value)
        | ScalarValue::DurationNanosecond(value) => integer(*value),
        ScalarValue::IntervalYearMonth(months) => {
            months.map(|months| LiteralValue::Interval { months, days: 0, nanos: 0 })
        }
        ScalarValue::IntervalDayTime(value) => value.map(|value| LiteralValue::Interval {
            months: 0,
            days: value.days,
            nanos: i64::from(value.milliseconds) * NANOS_PER_MILLI,
        }),
        ScalarValue::IntervalMonthDayNano(value) => value.map(|value| LiteralValue::Interval {
            months: value.months,
            days: value.days,
            nanos: value.nanoseconds,
        }),
        ScalarValue::Utf8(text) | ScalarValue::Utf8View(text) | ScalarValue::LargeUtf8(text) => {
            text.clone().map(LiteralValue::Text)
        }
        ScalarValue::Binary(bytes)
        | ScalarValue::BinaryView(bytes)
        | ScalarValue::LargeBinary(bytes)
        | ScalarValue::FixedSizeBinary(_, bytes) => bytes.clone().map(LiteralValue::Bytes),
        ScalarValue::Dictionary(_, scalar) => value(scalar),
        _ => None,
    }
}

fn integer(value: Option<impl Into<i128>>) -> Option<LiteralValue> {
    value.map(|value| LiteralValue::Integer(value.into()))
}
