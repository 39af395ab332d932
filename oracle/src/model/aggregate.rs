//! Aggregates over the rows of a group. NULL arguments are skipped; over nothing `count` is 0 and all others are NULL.

use super::ModelError;
use super::evaluate::Scope;
use crate::query::{Aggregate, Column, Function};
use crate::value::{Decimal, Float, Row, Type, Value};

pub(super) fn evaluate(call: &Aggregate, columns: &[Column], rows: &[&Row]) -> Result<Value, ModelError> {
    let result = call.data_type(columns)?;
    let Some(arguments) = arguments(call, columns, rows)? else {
        return Ok(Value::Int64(taken(call, columns, rows)?.len() as i64));
    };
    match call.function {
        Function::Count => Ok(Value::Int64(arguments.len() as i64)),
        Function::Min => Ok(arguments.into_iter().min().unwrap_or(Value::Null)),
        Function::Max => Ok(arguments.into_iter().max().unwrap_or(Value::Null)),
        Function::Sum | Function::Avg if arguments.is_empty() => Ok(Value::Null),
        Function::Sum => sum(call, &arguments, result),
        Function::Avg => average(call, &arguments, result),
    }
}

/// The rows for which the call's FILTER is TRUE. It is evaluated before the argument.
fn taken<'a>(call: &Aggregate, columns: &[Column], rows: &[&'a Row]) -> Result<Vec<&'a Row>, ModelError> {
    let Some(filter) = &call.filter else { return Ok(rows.to_vec()) };
    let mut taken = Vec::new();
    for &row in rows {
        if (Scope::Row { columns, row }).is_true(filter)? {
            taken.push(row);
        }
    }
    Ok(taken)
}

/// The argument's values that are not NULL, each once if DISTINCT; `None` for `count(*)`.
fn arguments(call: &Aggregate, columns: &[Column], rows: &[&Row]) -> Result<Option<Vec<Value>>, ModelError> {
    let Some(argument) = &call.argument else { return Ok(None) };
    let mut values = Vec::new();
    for row in taken(call, columns, rows)? {
        let value = Scope::Row { columns, row }.value(argument)?;
        if !value.is_null() {
            values.push(value);
        }
    }
    if call.distinct {
        values.sort_unstable();
        values.dedup();
    }
    Ok(Some(values))
}

fn mistyped(call: &Aggregate) -> ModelError {
    ModelError::Types(call.to_string())
}

/// Integers and the digits of decimals wrap; floats are added in row order.
fn sum(call: &Aggregate, arguments: &[Value], result: Type) -> Result<Value, ModelError> {
    match result {
        Type::Int64 => {
            let sum = arguments.iter().try_fold(0_i64, |sum, value| match value {
                Value::Int32(value) => Ok(sum.wrapping_add(i64::from(*value))),
                Value::Int64(value) => Ok(sum.wrapping_add(*value)),
                _ => Err(mistyped(call)),
            });
            sum.map(Value::Int64)
        }
        Type::UInt64 => {
            let sum = arguments.iter().try_fold(0_u64, |sum, value| {
                let value = value.as_integer().and_then(|value| u64::try_from(value).ok());
                Ok(sum.wrapping_add(value.ok_or_else(|| mistyped(call))?))
            });
            sum.map(Value::UInt64)
        }
        Type::Float64 => Ok(Value::Float64(Float(float_sum(call, arguments)?))),
        Type::Decimal { scale, .. } => Ok(Value::Decimal(Decimal { unscaled: decimal_sum(call, arguments)?, scale })),
        _ => Err(mistyped(call)),
    }
}

/// Floats and integers: a float sum over the count. Decimals: the sum at the result's scale over the count, cut towards
/// zero. Source: DataFusion 54.1 `AvgAccumulator`, `DecimalAverager::avg`.
fn average(call: &Aggregate, arguments: &[Value], result: Type) -> Result<Value, ModelError> {
    match (result, &arguments[0]) {
        (Type::Float64, _) => Ok(Value::Float64(Float(float_sum(call, arguments)? / arguments.len() as f64))),
        (Type::Decimal { precision, scale }, Value::Decimal(first)) => {
            let overflow = || ModelError::DecimalOverflow(call.to_string());
            let sum = Decimal { unscaled: decimal_sum(call, arguments)?, scale: first.scale };
            let unscaled = sum.at_scale(scale).ok_or_else(overflow)? / arguments.len() as i128;
            let limit = 10_u128.checked_pow(u32::from(precision)).ok_or_else(overflow)?;
            if unscaled.unsigned_abs() >= limit {
                return Err(overflow());
            }
            Ok(Value::Decimal(Decimal { unscaled, scale }))
        }
        _ => Err(mistyped(call)),
    }
}

fn float_sum(call: &Aggregate, arguments: &[Value]) -> Result<f64, ModelError> {
    arguments.iter().try_fold(0.0, |sum, value| match value {
        Value::Int32(value) => Ok(sum + f64::from(*value)),
        Value::Int64(value) => Ok(sum + *value as f64),
        Value::UInt64(value) => Ok(sum + *value as f64),
        Value::Float64(value) => Ok(sum + value.0),
        _ => Err(mistyped(call)),
    })
}

fn decimal_sum(call: &Aggregate, arguments: &[Value]) -> Result<i128, ModelError> {
    arguments.iter().try_fold(0_i128, |sum, value| match value {
        Value::Decimal(value) => Ok(sum.wrapping_add(value.unscaled)),
        _ => Err(mistyped(call)),
    })
}
