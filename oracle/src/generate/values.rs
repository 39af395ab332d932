//! Single values of each type.

use rand::Rng;
use rand::seq::IndexedRandom;

use crate::value::{Decimal, Float, Type, Value};

/// A small value: floats are multiples of 1/4, so that their sums and products are exact.
pub(super) fn small(data_type: Type, rng: &mut impl Rng) -> Value {
    match data_type {
        Type::Boolean => Value::Boolean(rng.random()),
        Type::Int32 => Value::Int32(rng.random_range(-20..=20)),
        Type::Int64 => Value::Int64(rng.random_range(-1000..=1000)),
        Type::Int8 | Type::Int16 => Value::Int64(rng.random_range(-20..=20)),
        Type::UInt8 | Type::UInt16 | Type::UInt32 => Value::Int64(rng.random_range(0..=40)),
        Type::UInt64 => Value::UInt64(rng.random_range(0..=1000)),
        Type::Float32 | Type::Float64 => Value::Float64(Float(f64::from(rng.random_range(-400_i32..=400)) / 4.0)),
        Type::Decimal { scale, .. } => {
            Value::Decimal(Decimal { unscaled: i128::from(rng.random_range(-99_999_i64..=99_999)), scale })
        }
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View | Type::Dictionary => Value::Utf8(text(rng)),
        Type::Binary | Type::LargeBinary => Value::Binary(bytes(rng)),
        Type::Date => Value::Date(rng.random_range(-1000..=20_000)),
        Type::TimestampSecond
        | Type::TimestampMillisecond
        | Type::Timestamp
        | Type::TimestampNanosecond
        | Type::TimestampUtc => {
            let per_second = 10_i64.pow(data_type.second_digits().unwrap_or(0));
            let day = [0, 0, 1, 31, 366, -1, -365, 15_000].choose(rng).copied().unwrap_or(0);
            let hour = day * 24 + rng.random_range(-10_i64..=10);
            Value::Timestamp(hour * 3600 * per_second + rng.random_range(0..3))
        }
    }
}

/// The ends of a type's range, and floats that are no numbers; dates and timestamps as far as their literals go.
pub(super) fn extreme(data_type: Type, rng: &mut impl Rng) -> Option<Value> {
    let near = rng.random_range(0..2);
    let high = rng.random::<bool>();
    let of =
        |low: i64, largest: i64| Value::Int64(if high { largest - i64::from(near) } else { low + i64::from(near) });
    Some(match data_type {
        Type::Int8 => of(i8::MIN.into(), i8::MAX.into()),
        Type::Int16 => of(i16::MIN.into(), i16::MAX.into()),
        Type::Int32 => Value::Int32(if high { i32::MAX - near } else { i32::MIN + near }),
        Type::Int64 => of(i64::MIN, i64::MAX),
        Type::UInt8 => of(0, u8::MAX.into()),
        Type::UInt16 => of(0, u16::MAX.into()),
        Type::UInt32 => of(0, u32::MAX.into()),
        Type::UInt64 => Value::UInt64(if high { u64::MAX - u64::from(near == 1) } else { u64::from(near == 1) }),
        Type::Float32 => Value::Float64(Float(f64::from(SINGLES.choose(rng).copied().unwrap_or(f32::NAN)))),
        Type::Float64 => Value::Float64(Float(DOUBLES.choose(rng).copied().unwrap_or(f64::NAN))),
        Type::Decimal { precision, scale } => {
            let largest = 10_i128.pow(u32::from(precision)) - 1 - i128::from(near);
            Value::Decimal(Decimal { unscaled: if high { largest } else { -largest }, scale })
        }
        Type::Date => Value::Date(if high { 2_932_896 - near } else { -719_162 + near }),
        Type::TimestampSecond
        | Type::TimestampMillisecond
        | Type::Timestamp
        | Type::TimestampNanosecond
        | Type::TimestampUtc => {
            // DataFusion reads a timestamp's text as nanoseconds.
            let digits = data_type.second_digits().unwrap_or(9);
            let largest = i64::MAX / 10_i64.pow(9 - digits) - i64::from(near);
            Value::Timestamp(if high { largest } else { -largest })
        }
        Type::Boolean | Type::Binary | Type::LargeBinary => return None,
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View | Type::Dictionary => return None,
    })
}

const DOUBLES: [f64; 8] =
    [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE];
const SINGLES: [f32; 8] =
    [f32::NAN, -f32::NAN, 0.0, -0.0, f32::INFINITY, f32::NEG_INFINITY, f32::MAX, f32::MIN_POSITIVE];

fn text(rng: &mut impl Rng) -> String {
    const WORDS: [&str; 12] = ["", " ", "a", "A", "ab", "abc", "b", "it's", "ä", "äb", "日本", "🦀"];
    let word = WORDS.choose(rng).copied().unwrap_or("");
    if rng.random_bool(0.3) { format!("{word}{}", rng.random_range(0..100)) } else { word.to_owned() }
}

fn bytes(rng: &mut impl Rng) -> Vec<u8> {
    const WORDS: [&[u8]; 6] = [b"", b"\0", b"a", b"ab", b"\xff", b"\xc3\x28"];
    let mut bytes = WORDS.choose(rng).copied().unwrap_or_default().to_vec();
    if rng.random_bool(0.3) {
        bytes.push(rng.random());
    }
    bytes
}
