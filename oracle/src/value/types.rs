//! The types.

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
    /// `Utf8View`, which only tables in memory have: Lance stores it as `Utf8`.
    Utf8View,
    /// `Dictionary(Int32, Utf8)`.
    Dictionary,
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
    /// `Timestamp(Microsecond, "UTC")`.
    TimestampUtc,
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
            Self::Utf8View => "Utf8View",
            Self::Dictionary => "Dictionary",
            Self::Binary => "Binary",
            Self::LargeBinary => "LargeBinary",
            Self::Date => "Date32",
            Self::TimestampSecond => "Timestamp(s)",
            Self::TimestampMillisecond => "Timestamp(ms)",
            Self::Timestamp => "Timestamp(µs)",
            Self::TimestampNanosecond => "Timestamp(ns)",
            Self::TimestampUtc => "Timestamp(µs, UTC)",
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
        matches!(self, Self::Utf8 | Self::LargeUtf8 | Self::Utf8View | Self::Dictionary)
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
            Self::Timestamp | Self::TimestampUtc => Some(6),
            Self::TimestampNanosecond => Some(9),
            _ => None,
        }
    }
}
