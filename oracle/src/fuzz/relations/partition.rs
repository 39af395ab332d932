//! Ternary logic partitioning (Rigger and Su, OOPSLA 2020): a predicate is TRUE, FALSE or unknown for each row, so the
//! aggregates over the three parts combine to those over all rows.

use super::Relation;
use crate::answer::Answer;
use crate::query::{Column, Expr, Function, Output, Query, Source};
use crate::value::{Decimal, Type, Value};

pub(super) fn relation(query: &Query, columns: &[Column]) -> Option<Relation> {
    let (Source::Table(table), Some(predicate)) = (&query.source, &query.filter) else { return None };
    let all = Query { group_by: Some(Vec::new()), ..Query::of_table(table, aggregates(columns)) };
    let part = |filter| Query { filter: Some(filter), ..all.clone() };
    let is_unknown = Expr::IsNull { operand: Box::new(predicate.clone()), negated: false };
    let parts = [predicate.clone(), Expr::Not(Box::new(predicate.clone())), is_unknown].map(part);
    Some(Relation { parts: std::iter::once(all.clone()).chain(parts).collect(), holds })
}

/// The rows, and of up to two columns the values, their sum if it is exact in any order, and their extrema.
fn aggregates(columns: &[Column]) -> Vec<Output> {
    let mut calls = vec![("rows", Expr::count_all(None))];
    for column in columns.iter().filter(|column| column.data_type != Type::Float64).take(2) {
        let of = |function| Expr::aggregate(function, Expr::column(&column.name), None);
        calls.extend([("count", of(Function::Count)), ("min", of(Function::Min)), ("max", of(Function::Max))]);
        if matches!(column.data_type, Type::Int32 | Type::Int64 | Type::Decimal { .. }) {
            calls.push(("sum", of(Function::Sum)));
        }
    }
    let named = calls.into_iter().enumerate();
    named.map(|(position, (name, call))| Output::new(call, format!("{name}_{position}"))).collect()
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
        let values = parts.iter().map(|row| row[position].clone()).filter(|value| !value.is_null());
        let combined = match column.name.split('_').next() {
            Some("min") => values.min(),
            Some("max") => values.max(),
            _ => values.reduce(|left, right| add(&left, &right)),
        };
        let combined = combined.unwrap_or(Value::Null);
        if combined != expected[position] {
            return Err(format!(
                "{}: {:?} over all rows, {combined:?} from the parts",
                column.name, expected[position]
            ));
        }
    }
    Ok(())
}

/// Sums wrap. What is no number here is no sum.
pub(super) fn add(left: &Value, right: &Value) -> Value {
    match (left, right) {
        (Value::Int64(left), Value::Int64(right)) => Value::Int64(left.wrapping_add(*right)),
        (Value::Decimal(left), Value::Decimal(right)) => {
            Value::Decimal(Decimal { unscaled: left.unscaled.wrapping_add(right.unscaled), scale: left.scale })
        }
        _ => Value::Null,
    }
}
