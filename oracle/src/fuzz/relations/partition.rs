//! Ternary logic partitioning (Rigger and Su, OOPSLA 2020): a predicate is TRUE, FALSE or unknown for each row, so the
//! aggregates over the three parts combine to those over all rows.

use super::Relation;
use crate::answer::{Answer, AnswerColumn};
use crate::query::{Column, Expr, Function, Output, Query, Source};
use crate::value::{Decimal, Float, Row, Value};

pub(super) fn relation(query: &Query, columns: &[Column]) -> Option<Relation> {
    let (Source::Table(table), Some(predicate)) = (&query.source, &query.filter) else { return None };
    // DataFusion takes no test of a sub-query's test.
    if !query.subqueries().is_empty() {
        return None;
    }
    let all = Query { group_by: Some(Vec::new()), ..Query::of_table(table, aggregates(columns)) };
    let part = |filter| Query { filter: Some(filter), ..all.clone() };
    let is_unknown = Expr::IsNull { operand: Box::new(predicate.clone()), negated: false };
    let parts = [predicate.clone(), Expr::Not(Box::new(predicate.clone())), is_unknown].map(part);
    Some(Relation { parts: std::iter::once(all.clone()).chain(parts).collect(), holds })
}

/// The rows, and of up to two columns the values, their sum if it is exact in any order, their extrema, and of integers
/// the average. Names are `function_column`.
fn aggregates(columns: &[Column]) -> Vec<Output> {
    let mut outputs = vec![Output::new(Expr::count_all(None), "rows")];
    for column in columns.iter().filter(|column| !column.data_type.is_float()).take(2) {
        let of = |function| Expr::aggregate(function, Expr::column(&column.name), None);
        let mut calls = vec![("count", of(Function::Count)), ("min", of(Function::Min)), ("max", of(Function::Max))];
        if column.data_type.is_numeric() {
            calls.push(("sum", of(Function::Sum)));
        }
        if column.data_type.is_integer() {
            calls.push(("avg", of(Function::Avg)));
        }
        outputs.extend(calls.into_iter().map(|(name, call)| Output::new(call, format!("{name}_{}", column.name))));
    }
    outputs
}

fn holds(answers: &[Answer]) -> Result<(), String> {
    let [all, parts @ ..] = answers else { return Ok(()) };
    let rows = |answer: &Answer| match answer.rows.as_slice() {
        [row] => Ok(row.clone()),
        rows => Err(format!("{} rows in a grand total", rows.len())),
    };
    let expected = rows(all)?;
    let parts = parts.iter().map(rows).collect::<Result<Vec<_>, _>>()?;
    for (position, column) in all.columns.iter().enumerate() {
        let combined = combine(position, &all.columns, &parts).unwrap_or_else(|| expected[position].clone());
        if combined != expected[position] {
            return Err(format!(
                "{}: {:?} over all rows, {combined:?} from the parts",
                column.name, expected[position]
            ));
        }
    }
    Ok(())
}

/// The column's value from those of the parts; `None` for an average that rounding keeps from being exact.
fn combine(position: usize, columns: &[AnswerColumn], parts: &[Row]) -> Option<Value> {
    let (function, argument) = columns[position].name.split_once('_').unwrap_or(("count", ""));
    let values = || parts.iter().map(|row| row[position].clone()).filter(|value| !value.is_null());
    let combined = match function {
        "min" => values().min(),
        "max" => values().max(),
        "avg" => {
            let of = |name: &str| {
                let name = format!("{name}_{argument}");
                combine(columns.iter().position(|column| column.name == name)?, columns, parts)
            };
            return average([of("count")?, of("min")?, of("max")?, of("sum")?]);
        }
        _ => values().reduce(|left, right| add(&left, &right)),
    };
    Some(combined.unwrap_or(Value::Null))
}

/// The sum over the count, if no sum of any of the values leaves what a float holds exactly.
fn average([count, min, max, sum]: [Value; 4]) -> Option<Value> {
    const EXACT: i128 = 1 << 53;
    let (Some(min), Some(max), Some(sum)) = (min.as_integer(), max.as_integer(), sum.as_integer()) else {
        return Some(Value::Null);
    };
    let count = count.as_integer()?;
    let is_exact = min.abs().max(max.abs()).checked_mul(count)? < EXACT;
    is_exact.then(|| Value::Float64(Float(sum as f64 / count as f64)))
}

/// Sums wrap. What is no number here is no sum.
pub(super) fn add(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Int64(left), Value::Int64(right)) => Value::Int64(left.wrapping_add(*right)),
        (Value::UInt64(left), Value::UInt64(right)) => Value::UInt64(left.wrapping_add(*right)),
        (Value::Decimal(left), Value::Decimal(right)) => {
            Value::Decimal(Decimal { unscaled: left.unscaled.wrapping_add(right.unscaled), scale: left.scale })
        }
        _ => Value::Null,
    }
}
