//! Types and typed constants as SQL text.

use std::fmt::{self, Display, Formatter, Write as _};

use super::Literal;
use crate::calendar::{date_text, timestamp_text};
use crate::value::{Decimal, Type, Value};

/// The type's SQL name.
impl Display for Type {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("BOOLEAN"),
            Self::Int8 => f.write_str("TINYINT"),
            Self::Int16 => f.write_str("SMALLINT"),
            Self::Int32 => f.write_str("INT"),
            Self::Int64 => f.write_str("BIGINT"),
            Self::UInt8 => f.write_str("TINYINT UNSIGNED"),
            Self::UInt16 => f.write_str("SMALLINT UNSIGNED"),
            Self::UInt32 => f.write_str("INT UNSIGNED"),
            Self::UInt64 => f.write_str("BIGINT UNSIGNED"),
            Self::Float32 => f.write_str("FLOAT"),
            Self::Float64 => f.write_str("DOUBLE"),
            Self::Decimal { precision, scale } => write!(f, "DECIMAL({precision}, {scale})"),
            Self::Utf8 | Self::LargeUtf8 | Self::Utf8View | Self::Dictionary => f.write_str("STRING"),
            Self::Binary | Self::LargeBinary => f.write_str("BYTEA"),
            Self::Date => f.write_str("DATE"),
            Self::TimestampSecond => f.write_str("TIMESTAMP(0)"),
            Self::TimestampMillisecond => f.write_str("TIMESTAMP(3)"),
            Self::Timestamp | Self::TimestampUtc => f.write_str("TIMESTAMP(6)"),
            Self::TimestampNanosecond => f.write_str("TIMESTAMP(9)"),
        }
    }
}

/// The constant with its type: a bare integer is a `BIGINT`, a bare number with a point a `DOUBLE`, all else is cast. What is
/// large is written as what is not.
impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let data_type = self.data_type;
        match &self.value {
            // Lance has no name for the type in SQL.
            Value::Null if data_type.is_binary() => f.write_str("NULL"),
            Value::Null => write!(f, "CAST(NULL AS {data_type})"),
            Value::Boolean(value) => write!(f, "{value}"),
            Value::Int32(value) => write!(f, "CAST({value} AS {data_type})"),
            // The parser reads a sign and then a positive number, which this one's magnitude overflows.
            Value::Int64(i64::MIN) => write!(f, "CAST('{}' AS {data_type})", i64::MIN),
            Value::Int64(value) if data_type == Type::Int64 => write!(f, "{value}"),
            Value::Int64(value) => write!(f, "CAST({value} AS {data_type})"),
            Value::UInt64(value) => write!(f, "CAST('{value}' AS {data_type})"),
            Value::Float64(value) if data_type == Type::Float32 => write!(f, "CAST('{:?}' AS {data_type})", value.0),
            Value::Float64(value) if value.0.is_finite() => write!(f, "{:?}", value.0),
            Value::Float64(value) => write!(f, "CAST('{}' AS {data_type})", value.0),
            Value::Decimal(value) => write!(f, "CAST('{value}' AS {data_type})"),
            Value::Utf8(value) => f.write_str(&quoted(value)),
            Value::Binary(bytes) => {
                f.write_str("X'")?;
                bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_char('\'')
            }
            Value::Date(days) => write!(f, "DATE '{}'", date_text(i64::from(*days))),
            Value::Timestamp(instant) => {
                let digits = data_type.second_digits().unwrap_or(0);
                write!(f, "CAST('{}' AS {data_type})", timestamp_text(*instant, digits))
            }
        }
    }
}

/// `-1.50`.
impl Display for Decimal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let sign = if self.unscaled < 0 { "-" } else { "" };
        let Ok(scale @ 1..) = usize::try_from(self.scale) else {
            return write!(f, "{}", self.unscaled);
        };
        let digits = format!("{:0>width$}", self.unscaled.unsigned_abs(), width = scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        write!(f, "{sign}{whole}.{fraction}")
    }
}

/// The text as a string.
pub(super) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}
