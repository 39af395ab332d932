//! What is simpler than a value or an expression, of the same type.

use crate::query::{Aggregate, Column, Comparison, Expr, Function, Literal};
use crate::value::{Decimal, Float, Type, Value};

/// How far a value is from the simplest one: zero, then one, then NULL, then by size.
pub(super) fn value_weight(value: &Value) -> u64 {
    const PLAIN: u64 = 3;
    let bits =
        |number: i128| PLAIN + 2 * u64::from(128 - number.unsigned_abs().leading_zeros()) + u64::from(number < 0);
    let number = |number: i128| match number {
        0 => 0,
        1 => 1,
        other => bits(other),
    };
    match value {
        Value::Null => 2,
        Value::Boolean(value) => u64::from(*value),
        Value::Int32(value) | Value::Date(value) => number(i128::from(*value)),
        Value::Int64(value) | Value::Timestamp(value) => number(i128::from(*value)),
        Value::UInt64(value) => number(i128::from(*value)),
        Value::Decimal(value) => number(value.unscaled),
        Value::Float64(Float(value)) if value.to_bits() == 0 => 0,
        Value::Float64(Float(value)) if value.to_bits() == 1.0_f64.to_bits() => 1,
        Value::Float64(Float(value)) if value.is_finite() && value.abs() < 1e15 => {
            let fraction = if value.fract() == 0.0 { 0 } else { 16 };
            #[expect(clippy::cast_possible_truncation, reason = "below 2^53")]
            let whole = value.trunc() as i128;
            bits(whole) + fraction + u64::from(value.is_sign_negative())
        }
        Value::Float64(_) => 200,
        Value::Utf8(text) => text.chars().map(|c| if c.is_ascii_lowercase() { 3 } else { 4 }).sum(),
        Value::Binary(bytes) => bytes.iter().map(|byte| 3 + u64::from(*byte > 0)).sum(),
    }
}

/// Values to try instead, the simplest first.
pub(super) fn simpler_values(value: &Value, data_type: Type) -> Vec<Value> {
    let mut values = match value {
        Value::Null => small(data_type),
        Value::Int32(number) => with(small(data_type), [number / 2, number.wrapping_neg()].map(Value::Int32)),
        Value::Int64(number) => with(small(data_type), [number / 2, number.wrapping_neg()].map(Value::Int64)),
        Value::UInt64(number) => with(small(data_type), [Value::UInt64(number / 2)]),
        Value::Date(days) => with(small(data_type), [Value::Date(days / 2)]),
        Value::Timestamp(time) => with(small(data_type), [Value::Timestamp(time / 2)]),
        Value::Decimal(Decimal { unscaled, scale }) => {
            let halved = [unscaled / 2, -unscaled].map(|unscaled| Value::Decimal(Decimal { unscaled, scale: *scale }));
            with(small(data_type), halved)
        }
        Value::Float64(Float(number)) => {
            with(small(data_type), [(number / 2.0).trunc(), -number, number.trunc()].map(|n| Value::Float64(Float(n))))
        }
        Value::Utf8(text) => {
            let half = text.chars().count() / 2;
            let (first, second) = (text.chars().take(half).collect(), text.chars().skip(half).collect());
            with(small(data_type), [first, second].map(Value::Utf8))
        }
        Value::Binary(bytes) => {
            let (first, second) = bytes.split_at(bytes.len() / 2);
            with(small(data_type), [first, second].map(|half| Value::Binary(half.to_vec())))
        }
        Value::Boolean(_) => small(data_type),
    };
    values.retain(|simpler| value_weight(simpler) < value_weight(value));
    values
}

fn with<const N: usize>(mut values: Vec<Value>, more: [Value; N]) -> Vec<Value> {
    values.extend(more);
    values
}

/// Zero, one and NULL.
fn small(data_type: Type) -> Vec<Value> {
    let decimal = |unscaled, scale| Value::Decimal(Decimal { unscaled, scale });
    let (zero, one) = match data_type {
        Type::Boolean => (Value::Boolean(false), Value::Boolean(true)),
        Type::Int32 => (Value::Int32(0), Value::Int32(1)),
        Type::Int8 | Type::Int16 | Type::Int64 | Type::UInt8 | Type::UInt16 | Type::UInt32 => {
            (Value::Int64(0), Value::Int64(1))
        }
        Type::UInt64 => (Value::UInt64(0), Value::UInt64(1)),
        Type::Float32 | Type::Float64 => (Value::Float64(Float(0.0)), Value::Float64(Float(1.0))),
        Type::Decimal { scale, .. } => (decimal(0, scale), decimal(1, scale)),
        Type::Binary | Type::LargeBinary => (Value::Binary(Vec::new()), Value::Binary(vec![0])),
        Type::Utf8 | Type::LargeUtf8 | Type::Utf8View | Type::Dictionary => {
            (Value::Utf8(String::new()), Value::Utf8("a".to_owned()))
        }
        Type::Date => (Value::Date(0), Value::Date(1)),
        Type::TimestampSecond
        | Type::TimestampMillisecond
        | Type::Timestamp
        | Type::TimestampNanosecond
        | Type::TimestampUtc => (Value::Timestamp(0), Value::Timestamp(1)),
    };
    vec![zero, one, Value::Null]
}

/// How much one node is, without those below it.
pub(super) fn expression_weight(expr: &Expr) -> u64 {
    match expr {
        // TRUE is the neutral condition.
        Expr::Literal(Literal { value: Value::Boolean(true), .. }) => 1,
        Expr::Literal(literal) => 2 + value_weight(&literal.value).min(400),
        Expr::Column(_) => 500,
        Expr::Compare { operator: Comparison::Equal, .. } => 600,
        Expr::Compare { .. } => 601,
        Expr::IsNull { negated, .. } => 600 + u64::from(*negated),
        Expr::IsTruth { negated, .. } | Expr::Like { negated, .. } => 610 + u64::from(*negated),
        Expr::InList { negated, .. } => 650 + u64::from(*negated),
        Expr::Between { negated, .. } => 1300 + u64::from(*negated),
        Expr::Aggregate(call) => 700 + 10 * u64::from(call.function != Function::Count),
        _ => 650,
    }
}

/// Expressions of the same type to try instead, the boldest first.
pub(super) fn simpler_expressions(expr: &Expr, columns: &[Column]) -> Vec<Expr> {
    let Ok(data_type) = expr.data_type(columns) else { return Vec::new() };
    let mut simpler = Vec::new();
    if data_type == Type::Boolean && !matches!(expr, Expr::Literal(_)) {
        simpler.extend([true, false].map(|truth| Expr::literal(Value::Boolean(truth), Type::Boolean)));
    }
    simpler.extend(expr.clone().operands_mut().into_iter().map(|operand| operand.clone()));
    match expr {
        Expr::Literal(literal) => {
            let values = simpler_values(&literal.value, literal.data_type);
            simpler.extend(values.into_iter().map(|value| Expr::literal(value, literal.data_type)));
        }
        Expr::Column(_) | Expr::Arithmetic { .. } | Expr::Case { .. } => {
            simpler.extend(small(data_type).into_iter().map(|value| Expr::literal(value, data_type)));
            simpler.extend(without_otherwise(expr));
        }
        Expr::And(operands) => simpler.extend(shorter(operands).map(Expr::And)),
        Expr::Or(operands) => simpler.extend(shorter(operands).map(Expr::Or)),
        Expr::Aggregate(call) => simpler.extend(simpler_aggregates(call)),
        _ => simpler.extend(simpler_tests(expr)),
    }
    simpler.retain(|simpler| simpler != expr && simpler.data_type(columns).is_ok_and(|found| found == data_type));
    simpler
}

fn without_otherwise(expr: &Expr) -> Option<Expr> {
    match expr {
        Expr::Case { when, then, otherwise: Some(_) } => Some(Expr::case(*when.clone(), *then.clone(), None)),
        _ => None,
    }
}

/// With one less; never empty, as the only operand stands for itself.
fn shorter(items: &[Expr]) -> impl Iterator<Item = Vec<Expr>> {
    let shorter = |left_out: usize| {
        let kept = items.iter().enumerate().filter(move |(position, _)| *position != left_out);
        kept.map(|(_, item)| item.clone()).collect()
    };
    (0..items.len()).filter(|_| items.len() > 1).map(shorter)
}

fn simpler_aggregates(call: &Aggregate) -> Vec<Expr> {
    let with = |change: &dyn Fn(&mut Aggregate)| {
        let mut call = call.clone();
        change(&mut call);
        Expr::Aggregate(Box::new(call))
    };
    vec![
        Expr::count_all(None),
        with(&|call| call.filter = None),
        Expr::count_all(call.filter.clone()),
        with(&|call| call.function = Function::Count),
    ]
}

/// The same test without NOT, as a comparison, or of fewer values.
fn simpler_tests(expr: &Expr) -> Vec<Expr> {
    let compare = |operator, left: &Expr, right: &Expr| Expr::compare(operator, left.clone(), right.clone());
    match expr {
        Expr::Compare { left, right, .. } => vec![compare(Comparison::Equal, left, right)],
        Expr::IsNull { operand, .. } => vec![Expr::IsNull { operand: operand.clone(), negated: false }],
        Expr::IsTruth { operand, truth, .. } => {
            vec![Expr::IsTruth { operand: operand.clone(), truth: *truth, negated: false }]
        }
        Expr::Like { operand, pattern, .. } => {
            vec![Expr::Like { operand: operand.clone(), pattern: pattern.clone(), negated: false }]
        }
        Expr::Between { operand, low, high, negated } => {
            let between =
                |negated| Expr::Between { operand: operand.clone(), low: low.clone(), high: high.clone(), negated };
            let bounds = [
                compare(if *negated { Comparison::Less } else { Comparison::GreaterOrEqual }, operand, low),
                compare(if *negated { Comparison::Greater } else { Comparison::LessOrEqual }, operand, high),
            ];
            bounds.into_iter().chain([between(false)]).collect()
        }
        Expr::InList { operand, list, negated } => {
            let operator = if *negated { Comparison::NotEqual } else { Comparison::Equal };
            let list_of = |list, negated| Expr::InList { operand: operand.clone(), list, negated };
            let equal = list.iter().map(|item| compare(operator, operand, item));
            equal
                .chain(shorter(list).map(|list| list_of(list, *negated)))
                .chain([list_of(list.clone(), false)])
                .collect()
        }
        _ => Vec::new(),
    }
}
