//! Columns: their types, how their values are spread, and what they are good for.

use rand::Rng;
use rand::seq::IndexedRandom;

use crate::query::{Column, Expr};
use crate::value::{Decimal, Float, Row, Type, Value};

/// A column, and the pool that its values are drawn from.
#[derive(Clone)]
pub(super) struct ColumnPlan {
    pub(super) column: Column,
    /// Distinct values, none NULL.
    pub(super) pool: Vec<Value>,
    /// The first value of the pool is drawn this often beside its share.
    skew: f64,
    null_density: f64,
    /// Sums of its values fit 53 bits, so that float sums over them are exact in any order.
    pub(super) is_small: bool,
}

impl ColumnPlan {
    pub(super) fn expr(&self) -> Expr {
        Expr::column(&self.column.name)
    }

    pub(super) fn data_type(&self) -> Type {
        self.column.data_type
    }

    /// May it hold NaN, infinities and both zeros?
    pub(super) fn has_special_floats(&self) -> bool {
        self.data_type() == Type::Float64 && !self.is_small
    }

    /// One value, or NULL.
    pub(super) fn draw(&self, rng: &mut impl Rng) -> Value {
        if rng.random_bool(self.null_density) {
            return Value::Null;
        }
        match self.pool.first() {
            Some(first) if rng.random_bool(self.skew) => first.clone(),
            _ => self.pool.choose(rng).cloned().unwrap_or(Value::Null),
        }
    }
}

/// What one row holds.
pub(super) fn row(columns: &[ColumnPlan], rng: &mut impl Rng) -> Row {
    columns.iter().map(|column| column.draw(rng)).collect()
}

const DECIMAL: Type = Type::Decimal { precision: 9, scale: 2 };
const WIDE_DECIMAL: Type = Type::Decimal { precision: 38, scale: 6 };
const TYPES: [Type; 9] = [
    Type::Boolean,
    Type::Int32,
    Type::Int64,
    Type::Float64,
    DECIMAL,
    WIDE_DECIMAL,
    Type::Utf8,
    Type::Date,
    Type::Timestamp,
];

/// Two to six columns: at least one with few values, to group by, and one number, to add up.
pub(super) fn generate(rng: &mut impl Rng) -> Vec<ColumnPlan> {
    let numbers = [Type::Int32, Type::Int64, Type::Float64, DECIMAL];
    let count = rng.random_range(2..=6);
    (0..count)
        .map(|position| {
            let data_type = match position {
                1 => pick(&numbers, Type::Int64, rng),
                _ => pick(&TYPES, Type::Int64, rng),
            };
            let distinct = if position == 0 || rng.random_bool(0.5) { rng.random_range(1..=4) } else { 40 };
            plan(position, data_type, distinct, rng)
        })
        .collect()
}

/// One more column, of few values.
pub(super) fn one(position: usize, rng: &mut impl Rng) -> ColumnPlan {
    let (data_type, distinct) = (pick(&TYPES, Type::Int64, rng), rng.random_range(1..=4));
    plan(position, data_type, distinct, rng)
}

/// The given column, with values of its type.
pub(super) fn of(column: &Column, rng: &mut impl Rng) -> ColumnPlan {
    let distinct = if rng.random() { rng.random_range(1..=4) } else { 40 };
    ColumnPlan { column: column.clone(), ..plan(0, column.data_type, distinct, rng) }
}

fn pick(types: &[Type], otherwise: Type, rng: &mut impl Rng) -> Type {
    types.choose(rng).copied().unwrap_or(otherwise)
}

fn plan(position: usize, data_type: Type, distinct: usize, rng: &mut impl Rng) -> ColumnPlan {
    let nullable = rng.random_bool(0.7);
    let often = if data_type == Type::Float64 { 0.4 } else { 0.15 };
    let extreme = rng.random_bool(often) && extreme_value(data_type, rng).is_some();
    let mut pool = Vec::new();
    for _ in 0..distinct {
        // One extreme value may stand among small ones.
        let extreme = if extreme && rng.random_bool(0.7) { extreme_value(data_type, rng) } else { None };
        let value = extreme.unwrap_or_else(|| value(data_type, rng));
        if !pool.contains(&value) {
            pool.push(value);
        }
    }
    let densities = [0.0, 0.1, 0.5, 0.9, 1.0];
    ColumnPlan {
        column: Column { name: format!("c{position}"), data_type, nullable },
        pool,
        skew: if rng.random_bool(0.3) { 0.8 } else { 0.0 },
        null_density: if nullable { *densities.choose(rng).unwrap_or(&0.1) } else { 0.0 },
        is_small: !extreme,
    }
}

/// A small value: floats are multiples of 1/4, so that their sums and products are exact.
fn value(data_type: Type, rng: &mut impl Rng) -> Value {
    match data_type {
        Type::Boolean => Value::Boolean(rng.random()),
        Type::Int32 => Value::Int32(rng.random_range(-20..=20)),
        Type::Int64 => Value::Int64(rng.random_range(-1000..=1000)),
        Type::Float64 => Value::Float64(Float(f64::from(rng.random_range(-400_i32..=400)) / 4.0)),
        Type::Decimal { scale, .. } => {
            Value::Decimal(Decimal { unscaled: i128::from(rng.random_range(-99_999_i64..=99_999)), scale })
        }
        Type::Utf8 => Value::Utf8(text(rng)),
        Type::Date => Value::Date(rng.random_range(-1000..=20_000)),
        Type::Timestamp => Value::Timestamp(rng.random_range(-10_i64..=10) * 3_600_000_000 + rng.random_range(0..3)),
    }
}

/// The ends of a type's range, and floats that are no numbers; dates and timestamps as far as their literals go.
fn extreme_value(data_type: Type, rng: &mut impl Rng) -> Option<Value> {
    let near = rng.random_range(0..2);
    let high = rng.random::<bool>();
    Some(match data_type {
        Type::Int32 => Value::Int32(if high { i32::MAX - near } else { i32::MIN + near }),
        Type::Int64 => Value::Int64(if high { i64::MAX - i64::from(near) } else { i64::MIN + i64::from(near) }),
        Type::Float64 => Value::Float64(Float(FLOATS.choose(rng).copied().unwrap_or(f64::NAN))),
        Type::Decimal { precision, scale } => {
            let largest = 10_i128.pow(u32::from(precision)) - 1 - i128::from(near);
            Value::Decimal(Decimal { unscaled: if high { largest } else { -largest }, scale })
        }
        Type::Date => Value::Date(if high { 2_932_896 - near } else { -719_162 + near }),
        Type::Timestamp => {
            // DataFusion reads a timestamp's text as nanoseconds.
            let largest = i64::MAX / 1000 - i64::from(near);
            Value::Timestamp(if high { largest } else { -largest })
        }
        Type::Boolean | Type::Utf8 => return None,
    })
}

const FLOATS: [f64; 8] =
    [f64::NAN, -f64::NAN, 0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN_POSITIVE];

fn text(rng: &mut impl Rng) -> String {
    const WORDS: [&str; 12] = ["", " ", "a", "A", "ab", "abc", "b", "it's", "ä", "äb", "日本", "🦀"];
    let word = WORDS.choose(rng).copied().unwrap_or("");
    if rng.random_bool(0.3) { format!("{word}{}", rng.random_range(0..100)) } else { word.to_owned() }
}
