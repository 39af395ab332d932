//! Columns: their types, how their values are spread, and what they are good for.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::values;
use crate::query::{Column, Expr};
use crate::value::{Row, Type, Value};

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
    /// It was written anew after an index on it was built, and is worth more questions that an index answers.
    pub(super) outdated: bool,
    /// An outdated index on it was optimized: Lance may find rows under their old values (defect 7), and delete or change them.
    pub(super) misleads: bool,
}

impl ColumnPlan {
    pub(super) fn expr(&self) -> Expr {
        Expr::column(&self.column.name)
    }

    /// The same values in a nullable column of another name.
    pub(super) fn renamed(&self, name: String) -> Self {
        Self { column: Column { name, data_type: self.data_type(), nullable: true }, ..self.clone() }
    }

    pub(super) fn data_type(&self) -> Type {
        self.column.data_type
    }

    /// May it hold NaN, infinities and both zeros?
    pub(super) fn has_special_floats(&self) -> bool {
        self.data_type().is_float() && !self.is_small
    }

    /// Do its values add up to one sum in whatever order they come?
    pub(super) fn adds(&self) -> bool {
        self.data_type().is_numeric() && !self.has_special_floats()
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
/// The usual ones are drawn more often than those that differ from them in width or unit only.
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
const OTHER_TYPES: [Type; 15] = [
    Type::Int8,
    Type::Int16,
    Type::UInt8,
    Type::UInt16,
    Type::UInt32,
    Type::UInt64,
    Type::Float32,
    Type::LargeUtf8,
    Type::Binary,
    Type::LargeBinary,
    Type::TimestampSecond,
    Type::TimestampMillisecond,
    Type::TimestampNanosecond,
    Type::TimestampUtc,
    Type::Dictionary,
];
const NUMBERS: [Type; 4] = [Type::Int32, Type::Int64, Type::Float64, DECIMAL];

/// Two to six columns: at least one with few values, to group by, and one number, to add up.
pub(super) fn generate(rng: &mut impl Rng) -> Vec<ColumnPlan> {
    let count = rng.random_range(2..=6);
    (0..count)
        .map(|position| {
            let data_type = match position {
                1 => pick(&NUMBERS, Type::Int64, rng),
                _ => any_type(rng),
            };
            let distinct = if position == 0 || rng.random_bool(0.5) { rng.random_range(1..=4) } else { 40 };
            plan(position, data_type, distinct, rng)
        })
        .collect()
}

/// One more column, of few values.
pub(super) fn one(position: usize, rng: &mut impl Rng) -> ColumnPlan {
    let (data_type, distinct) = (any_type(rng), rng.random_range(1..=4));
    plan(position, data_type, distinct, rng)
}

/// The given column, with values of its type.
pub(super) fn of(column: &Column, rng: &mut impl Rng) -> ColumnPlan {
    let distinct = if rng.random() { rng.random_range(1..=4) } else { 40 };
    ColumnPlan { column: column.clone(), ..plan(0, column.data_type, distinct, rng) }
}

fn any_type(rng: &mut impl Rng) -> Type {
    if rng.random_bool(0.25) { pick(&OTHER_TYPES, Type::Int8, rng) } else { pick(&TYPES, Type::Int64, rng) }
}

fn pick(types: &[Type], otherwise: Type, rng: &mut impl Rng) -> Type {
    types.choose(rng).copied().unwrap_or(otherwise)
}

fn plan(position: usize, data_type: Type, distinct: usize, rng: &mut impl Rng) -> ColumnPlan {
    let nullable = rng.random_bool(0.7);
    let often = if data_type.is_float() { 0.4 } else { 0.15 };
    let extreme = rng.random_bool(often) && values::extreme(data_type, rng).is_some();
    let mut pool = Vec::new();
    for _ in 0..distinct {
        // One extreme value may stand among small ones.
        let extreme = if extreme && rng.random_bool(0.7) { values::extreme(data_type, rng) } else { None };
        let value = extreme.unwrap_or_else(|| values::small(data_type, rng));
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
        outdated: false,
        misleads: false,
    }
}
