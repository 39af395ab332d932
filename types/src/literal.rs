//! Typed constants.

use std::fmt;

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

/// A 64-bit float that compares, orders and hashes by its bits, so that `-0.0`, `0.0` and every NaN are distinct.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct F64Bits(pub u64);

impl F64Bits {
    /// The bits of a value.
    #[must_use]
    pub fn new(value: f64) -> Self {
        Self(value.to_bits())
    }

    /// The value.
    #[must_use]
    pub fn get(self) -> f64 {
        f64::from_bits(self.0)
    }
}

/// A constant of any Arrow type that SQL text can spell. Literals compare and hash by type and bits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// The Arrow type of the constant.
    pub data_type: DataType,
    /// The value in the representation of that type.
    pub value: LiteralValue,
}

/// The value of a [`Literal`]; the literal's [`DataType`] says how to read it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum LiteralValue {
    /// NULL of any type.
    Null,
    /// TRUE or FALSE.
    Boolean(bool),
    /// Integers, dates, times, timestamps and durations as their Arrow representation, decimals as their unscaled value.
    Integer(#[serde(with = "integer_text")] i128),
    /// Floats of any width, by the bits of the widened 64-bit value.
    Float(F64Bits),
    /// Strings of any Arrow string type.
    Text(String),
    /// Binary of any Arrow binary type.
    Bytes(Vec<u8>),
    /// Intervals of any unit.
    Interval {
        /// Whole months.
        months: i32,
        /// Whole days.
        days: i32,
        /// Nanoseconds.
        nanos: i64,
    },
}

impl Literal {
    /// A literal of a type; the caller pairs type and value as [`LiteralValue`] says.
    #[must_use]
    pub fn new(data_type: DataType, value: LiteralValue) -> Self {
        Self { data_type, value }
    }

    /// NULL of a type.
    #[must_use]
    pub fn null(data_type: DataType) -> Self {
        Self::new(data_type, LiteralValue::Null)
    }

    /// A Boolean.
    #[must_use]
    pub fn boolean(value: bool) -> Self {
        Self::new(DataType::Boolean, LiteralValue::Boolean(value))
    }

    /// An `Int64`.
    #[must_use]
    pub fn int64(value: i64) -> Self {
        Self::new(DataType::Int64, LiteralValue::Integer(value.into()))
    }

    /// A `Utf8` string.
    pub fn utf8(value: impl Into<String>) -> Self {
        Self::new(DataType::Utf8, LiteralValue::Text(value.into()))
    }

    /// Whether the value is NULL.
    #[must_use]
    pub fn is_null(&self) -> bool {
        self.value == LiteralValue::Null
    }

    /// Whether this is the Boolean TRUE.
    #[must_use]
    pub fn is_true(&self) -> bool {
        self.value == LiteralValue::Boolean(true)
    }
}

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.value {
            LiteralValue::Null => f.write_str("NULL"),
            LiteralValue::Boolean(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            LiteralValue::Integer(value) => match &self.data_type {
                DataType::Decimal128(_, scale) | DataType::Decimal256(_, scale) => write_decimal(f, *value, *scale),
                integer if integer.is_integer() => write!(f, "{value}"),
                other => write!(f, "{other}({value})"),
            },
            LiteralValue::Float(value) => write!(f, "{:?}", value.get()),
            LiteralValue::Text(value) => write!(f, "'{}'", value.replace('\'', "''")),
            LiteralValue::Bytes(value) => {
                f.write_str("X'")?;
                value.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str("'")
            }
            LiteralValue::Interval { months, days, nanos } => write!(f, "INTERVAL({months} mon {days} d {nanos} ns)"),
        }
    }
}

fn write_decimal(f: &mut fmt::Formatter<'_>, value: i128, scale: i8) -> fmt::Result {
    let Ok(scale) = usize::try_from(scale) else { return write!(f, "{value}e{}", -i32::from(scale)) };
    if scale == 0 {
        return write!(f, "{value}");
    }
    let digits = format!("{:0>width$}", value.unsigned_abs(), width = scale + 1);
    let (whole, fraction) = digits.split_at(digits.len() - scale);
    write!(f, "{}{whole}.{fraction}", if value < 0 { "-" } else { "" })
}

/// 128-bit integers as decimal text: JSON numbers do not carry them.
mod integer_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(value: &i128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(value)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i128, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
