//! Columns: their types, how their values are spread, and what they are good for.

use rand::Rng;
use rand::seq::IndexedRandom;

use crate::query::{Column, Expr};
use crate::value::{Decimal, Float, Row, Type, Value};

/// A column, and the pool that its values are drawn from.
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

    fn draw(&self, rng: &mut impl Rng) -> Value {
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
const TYPES: [Type; 8] =
    [Type::Boolean, Type::Int32, Type::Int64, Type::Float64, DECIMAL, Type::Utf8, Type::Date, Type::Timestamp];

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

fn pick(types: &[Type], otherwise: Type, rng: &mut impl Rng) -> Type {
    types.choose(rng).copied().unwrap_or(otherwise)
}

fn plan(position: usize, data_type: Type, distinct: usize, rng: &mut impl Rng) -> ColumnPlan {
    let nullable = rng.random_bool(0.7);
    let extreme = matches!(data_type, Type::Int32 | Type::Int64) && rng.random_bool(0.15);
    let mut pool = Vec::new();
    for _ in 0..distinct {
        let value = if extreme { extreme_value(data_type, rng) } else { value(data_type, rng) };
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

fn extreme_value(data_type: Type, rng: &mut impl Rng) -> Value {
    let near = rng.random_range(0..2);
    match data_type {
        Type::Int32 if rng.random() => Value::Int32(i32::MAX - near),
        Type::Int32 => Value::Int32(i32::MIN + near),
        _ if rng.random() => Value::Int64(i64::MAX - i64::from(near)),
        _ => Value::Int64(i64::MIN + i64::from(near)),
    }
}

fn text(rng: &mut impl Rng) -> String {
    const WORDS: [&str; 12] = ["", " ", "a", "A", "ab", "abc", "b", "it's", "ä", "äb", "日本", "🦀"];
    let word = WORDS.choose(rng).copied().unwrap_or("");
    if rng.random_bool(0.3) { format!("{word}{}", rng.random_range(0..100)) } else { word.to_owned() }
}
