//! Arithmetic, comparison and three-valued logic on single values.

use std::cmp::Ordering;

use super::ModelError;
use crate::query::{Arithmetic, Comparison};
use crate::value::{Decimal, Float, Value};

/// Three-valued logic: `None` is unknown.
pub(super) type Truth = Option<bool>;

/// A predicate's value as a truth value.
pub(super) fn truth(value: &Value) -> Result<Truth, ModelError> {
    match value {
        Value::Null => Ok(None),
        Value::Boolean(value) => Ok(Some(*value)),
        other => Err(ModelError::Types(format!("{other:?} as a predicate"))),
    }
}

/// The truth value as a value.
pub(super) fn from_truth(truth: Truth) -> Value {
    truth.map_or(Value::Null, Value::Boolean)
}

/// FALSE if any is FALSE; else unknown if any is; else TRUE.
pub(super) fn all(operands: impl Iterator<Item = Result<Truth, ModelError>>) -> Result<Truth, ModelError> {
    let mut result = Some(true);
    for operand in operands {
        match operand? {
            Some(false) => return Ok(Some(false)),
            Some(true) => {}
            None => result = None,
        }
    }
    Ok(result)
}

/// TRUE if any is TRUE; else unknown if any is; else FALSE.
pub(super) fn any(operands: impl Iterator<Item = Result<Truth, ModelError>>) -> Result<Truth, ModelError> {
    all(operands.map(|operand| operand.map(not))).map(not)
}

/// Unknown stays unknown.
pub(super) fn not(truth: Truth) -> Truth {
    truth.map(|truth| !truth)
}

/// How two values that are not NULL compare; `None` if either is. Floats are in total order, as in arrow's kernels.
fn order(left: &Value, right: &Value) -> Result<Option<Ordering>, ModelError> {
    Ok(Some(match (left, right) {
        (Value::Null, _) | (_, Value::Null) => return Ok(None),
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Float64(left), Value::Float64(right)) => left.cmp(right),
        (Value::Decimal(left), Value::Decimal(right)) => left.number_cmp(right),
        (Value::Utf8(left), Value::Utf8(right)) => left.cmp(right),
        (Value::Binary(left), Value::Binary(right)) => left.cmp(right),
        (Value::Date(left), Value::Date(right)) => left.cmp(right),
        (Value::Timestamp(left), Value::Timestamp(right)) => left.cmp(right),
        _ => match (left.as_integer(), right.as_integer()) {
            (Some(left), Some(right)) => left.cmp(&right),
            _ => return Err(ModelError::Types(format!("{left:?} compared with {right:?}"))),
        },
    }))
}

/// `left operator right`.
pub(super) fn compare(operator: Comparison, left: &Value, right: &Value) -> Result<Truth, ModelError> {
    Ok(order(left, right)?.map(|order| match operator {
        Comparison::Equal => order.is_eq(),
        Comparison::NotEqual => order.is_ne(),
        Comparison::Less => order.is_lt(),
        Comparison::LessOrEqual => order.is_le(),
        Comparison::Greater => order.is_gt(),
        Comparison::GreaterOrEqual => order.is_ge(),
    }))
}

fn integer(value: &Value) -> Option<i64> {
    match value {
        Value::Int32(value) => Some(i64::from(*value)),
        Value::Int64(value) => Some(*value),
        _ => None,
    }
}

/// `left operator right`; NULL if either is. Integers wrap.
pub(super) fn arithmetic(operator: Arithmetic, left: &Value, right: &Value) -> Result<Value, ModelError> {
    match (left, right) {
        (Value::Null, _) | (_, Value::Null) => Ok(Value::Null),
        (Value::Int32(left), Value::Int32(right)) => Ok(Value::Int32(match operator {
            Arithmetic::Add => left.wrapping_add(*right),
            Arithmetic::Subtract => left.wrapping_sub(*right),
            Arithmetic::Multiply => left.wrapping_mul(*right),
            Arithmetic::Modulo if *right == 0 => return Err(ModelError::DivideByZero),
            Arithmetic::Modulo => left.wrapping_rem(*right),
        })),
        (Value::Float64(left), Value::Float64(right)) => float_arithmetic(operator, left.0, right.0),
        (Value::Decimal(left), Value::Decimal(right)) => decimal_arithmetic(operator, *left, *right),
        _ => match (integer(left), integer(right)) {
            (Some(left), Some(right)) => Ok(Value::Int64(match operator {
                Arithmetic::Add => left.wrapping_add(right),
                Arithmetic::Subtract => left.wrapping_sub(right),
                Arithmetic::Multiply => left.wrapping_mul(right),
                Arithmetic::Modulo if right == 0 => return Err(ModelError::DivideByZero),
                Arithmetic::Modulo => left.wrapping_rem(right),
            })),
            _ => Err(ModelError::Types(format!("{left:?} {operator} {right:?}"))),
        },
    }
}

fn float_arithmetic(operator: Arithmetic, left: f64, right: f64) -> Result<Value, ModelError> {
    Ok(Value::Float64(Float(match operator {
        Arithmetic::Add => left + right,
        Arithmetic::Subtract => left - right,
        Arithmetic::Multiply => left * right,
        Arithmetic::Modulo => return Err(ModelError::Types(format!("{left} % {right}"))),
    })))
}

fn decimal_arithmetic(operator: Arithmetic, left: Decimal, right: Decimal) -> Result<Value, ModelError> {
    let overflow = || ModelError::DecimalOverflow(format!("{left} {operator} {right}"));
    let scale = left.scale.max(right.scale);
    let aligned = || Some((left.at_scale(scale)?, right.at_scale(scale)?));
    let (unscaled, scale) = match operator {
        Arithmetic::Add => (aligned().and_then(|(left, right)| left.checked_add(right)), scale),
        Arithmetic::Subtract => (aligned().and_then(|(left, right)| left.checked_sub(right)), scale),
        Arithmetic::Multiply => (left.unscaled.checked_mul(right.unscaled), left.scale + right.scale),
        Arithmetic::Modulo => return Err(ModelError::Types(format!("{left} % {right}"))),
    };
    Ok(Value::Decimal(Decimal { unscaled: unscaled.ok_or_else(overflow)?, scale }))
}
