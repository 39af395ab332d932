//! Typed values of the recipes, the interpreter and the answers.

use std::cmp::Ordering;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The types that recipes and answers may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Type {
    /// `Boolean`.
    Boolean,
    /// `Int8`.
    Int8,
    /// `Int16`.
    Int16,
    /// `Int32`.
    Int32,
    /// `Int64`.
    Int64,
    /// `UInt8`.
    UInt8,
    /// `UInt16`.
    UInt16,
    /// `UInt32`.
    UInt32,
    /// `UInt64`.
    UInt64,
    /// `Float32`.
    Float32,
    /// `Float64`.
    Float64,
    /// `Decimal128(precision, scale)`.
    Decimal {
        /// Digits in all.
        precision: u8,
        /// Digits behind the point.
        scale: i8,
    },
    /// `Utf8`.
    Utf8,
    /// `LargeUtf8`.
    LargeUtf8,
    /// `Binary`.
    Binary,
    /// `LargeBinary`.
    LargeBinary,
    /// `Date32`.
    Date,
    /// `Timestamp(Second, None)`.
    TimestampSecond,
    /// `Timestamp(Millisecond, None)`.
    TimestampMillisecond,
    /// `Timestamp(Microsecond, None)`.
    Timestamp,
    /// `Timestamp(Nanosecond, None)`.
    TimestampNanosecond,
}

impl Type {
    /// Arrow's name, without parameters, for coverage.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Boolean => "Boolean",
            Self::Int8 => "Int8",
            Self::Int16 => "Int16",
            Self::Int32 => "Int32",
            Self::Int64 => "Int64",
            Self::UInt8 => "UInt8",
            Self::UInt16 => "UInt16",
            Self::UInt32 => "UInt32",
            Self::UInt64 => "UInt64",
            Self::Float32 => "Float32",
            Self::Float64 => "Float64",
            Self::Decimal { .. } => "Decimal128",
            Self::Utf8 => "Utf8",
            Self::LargeUtf8 => "LargeUtf8",
            Self::Binary => "Binary",
            Self::LargeBinary => "LargeBinary",
            Self::Date => "Date32",
            Self::TimestampSecond => "Timestamp(s)",
            Self::TimestampMillisecond => "Timestamp(ms)",
            Self::Timestamp => "Timestamp(µs)",
            Self::TimestampNanosecond => "Timestamp(ns)",
        }
    }

    /// Integers, floats and decimals.
    #[must_use]
    pub fn is_numeric(self) -> bool {
        self.is_integer() || self.is_float() || matches!(self, Self::Decimal { .. })
    }

    /// Integers.
    #[must_use]
    pub fn is_integer(self) -> bool {
        self.is_unsigned() || matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64)
    }

    /// Unsigned integers.
    #[must_use]
    pub fn is_unsigned(self) -> bool {
        matches!(self, Self::UInt8 | Self::UInt16 | Self::UInt32 | Self::UInt64)
    }

    /// Floats, whose sums depend on the order of the rows.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float32 | Self::Float64)
    }

    /// Text.
    #[must_use]
    pub fn is_text(self) -> bool {
        matches!(self, Self::Utf8 | Self::LargeUtf8)
    }

    /// Bytes.
    #[must_use]
    pub fn is_binary(self) -> bool {
        matches!(self, Self::Binary | Self::LargeBinary)
    }

    /// Does the oracle know what `+`, `-` and `*` make of it?
    #[must_use]
    pub fn has_arithmetic(self) -> bool {
        matches!(self, Self::Int32 | Self::Int64 | Self::Float64 | Self::Decimal { .. })
    }

    /// The digits behind the second of a timestamp.
    #[must_use]
    pub fn second_digits(self) -> Option<u32> {
        match self {
            Self::TimestampSecond => Some(0),
            Self::TimestampMillisecond => Some(3),
            Self::Timestamp => Some(6),
            Self::TimestampNanosecond => Some(9),
            _ => None,
        }
    }
}

/// A 64-bit float that is equal, ordered and hashed by its bits (IEEE 754 `totalOrder`).
#[derive(Debug, Clone, Copy)]
pub struct Float(pub f64);

impl PartialEq for Float {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Eq for Float {}

impl PartialOrd for Float {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Float {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl Hash for Float {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

/// A decimal number, `unscaled / 10^scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Decimal {
    /// The digits. As text in JSON, whose numbers end at 64 bits.
    #[serde(with = "as_text")]
    pub unscaled: i128,
    /// Digits behind the point.
    pub scale: i8,
}

impl Decimal {
    /// The unscaled digits at another scale; `None` when digits would be lost or the number does not fit.
    #[must_use]
    pub fn at_scale(self, scale: i8) -> Option<i128> {
        let shift = u32::try_from(i16::from(scale) - i16::from(self.scale)).ok()?;
        self.unscaled.checked_mul(10_i128.checked_pow(shift)?)
    }

    /// The order of the numbers, whatever their scales.
    #[must_use]
    pub fn number_cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        match (self.at_scale(scale), other.at_scale(scale)) {
            (Some(left), Some(right)) => left.cmp(&right),
            // A number that leaves 128 bits at the common scale is the larger one in magnitude.
            (None, _) => self.unscaled.signum().cmp(&0),
            (_, None) => 0.cmp(&other.unscaled.signum()),
        }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        self.number_cmp(other).then(self.scale.cmp(&other.scale))
    }
}

/// One value. Equality is exact: by type, by scale, and by bits for floats. NULL orders first.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Value {
    /// SQL NULL, of any type; in a predicate: unknown.
    Null,
    /// `Boolean`.
    Boolean(bool),
    /// `Int32`.
    Int32(i32),
    /// `Int64`, and all narrower integers but `Int32`.
    Int64(i64),
    /// `UInt64`.
    UInt64(u64),
    /// `Float64` and `Float32`.
    Float64(#[serde(with = "float_text")] Float),
    /// `Decimal128`.
    Decimal(Decimal),
    /// `Utf8` and `LargeUtf8`.
    Utf8(String),
    /// `Binary` and `LargeBinary`.
    Binary(Vec<u8>),
    /// `Date32`: days since 1970-01-01.
    Date(i32),
    /// A timestamp: units of its type since 1970-01-01.
    Timestamp(i64),
}

impl Value {
    /// Is it NULL?
    #[must_use]
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The value of an integer of any width.
    #[must_use]
    pub fn as_integer(&self) -> Option<i128> {
        match self {
            Self::Int32(value) => Some(i128::from(*value)),
            Self::Int64(value) => Some(i128::from(*value)),
            Self::UInt64(value) => Some(i128::from(*value)),
            _ => None,
        }
    }

    /// May a column of this type hold the value? NULL fits every type.
    #[must_use]
    pub fn fits(&self, data_type: Type) -> bool {
        match (self, data_type) {
            (Self::Null, _)
            | (Self::Boolean(_), Type::Boolean)
            | (Self::Int32(_), Type::Int32)
            | (Self::Int64(_), Type::Int64)
            | (Self::UInt64(_), Type::UInt64)
            | (Self::Float64(_), Type::Float64)
            | (Self::Date(_), Type::Date) => true,
            (Self::Int64(value), Type::Int8) => i8::try_from(*value).is_ok(),
            (Self::Int64(value), Type::Int16) => i16::try_from(*value).is_ok(),
            (Self::Int64(value), Type::UInt8) => u8::try_from(*value).is_ok(),
            (Self::Int64(value), Type::UInt16) => u16::try_from(*value).is_ok(),
            (Self::Int64(value), Type::UInt32) => u32::try_from(*value).is_ok(),
            (Self::Float64(value), Type::Float32) => f64::from(value.0 as f32).to_bits() == value.0.to_bits(),
            (Self::Utf8(_), data_type) => data_type.is_text(),
            (Self::Binary(_), data_type) => data_type.is_binary(),
            (Self::Timestamp(_), data_type) => data_type.second_digits().is_some(),
            (Self::Decimal(value), Type::Decimal { scale, .. }) => value.scale == scale,
            _ => false,
        }
    }
}

/// One row, a value for each column.
pub type Row = Vec<Value>;

/// JSON has no NaN and no infinity, so floats are text; a NaN keeps its bits.
mod float_text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    use super::Float;

    const NAN: &str = "nan:";

    pub(super) fn serialize<S: Serializer>(value: &Float, serializer: S) -> Result<S::Ok, S::Error> {
        if value.0.is_nan() {
            serializer.serialize_str(&format!("{NAN}{:016x}", value.0.to_bits()))
        } else {
            serializer.serialize_str(&format!("{:?}", value.0))
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Float, D::Error> {
        let text = String::deserialize(deserializer)?;
        match text.strip_prefix(NAN) {
            Some(bits) => u64::from_str_radix(bits, 16).map(f64::from_bits).map_err(D::Error::custom),
            None => text.parse().map_err(D::Error::custom),
        }
        .map(Float)
    }
}

mod as_text {
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &i128, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&value.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<i128, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}
