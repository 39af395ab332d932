//! Non-optimizing reference engine construction (Rigger and Su, ESEC/FSE 2020): the rows that WHERE keeps are as many as
//! those for which the predicate, computed as a value for each row, is TRUE.

use super::Relation;
use crate::answer::Answer;
use crate::query::{Column, Expr, Function, Output, Query};
use crate::value::{Type, Value};

/// No index and no statistics answers the second and the third query: neither has a WHERE.
pub(super) fn relation(query: &Query, _columns: &[Column]) -> Option<Relation> {
    let predicate = query.filter.as_ref()?;
    // A sub-query is no value in SELECT.
    if !query.source.is_deterministic() || !query.subqueries().is_empty() {
        return None;
    }
    let of_source = |filter, group_by, expr| Query {
        source: query.source.clone(),
        filter,
        group_by,
        ..Query::of_table("", vec![Output::new(expr, "x")])
    };
    let one = |value| Expr::literal(Value::Int64(value), Type::Int64);
    let sum = Expr::aggregate(Function::Sum, Expr::case(predicate.clone(), one(1), Some(one(0))), None);
    let total = || Some(Vec::new());
    let parts = vec![
        of_source(Some(predicate.clone()), total(), Expr::count_all(None)),
        of_source(None, total(), sum),
        of_source(None, None, predicate.clone()),
    ];
    Some(Relation { parts, holds })
}

fn holds(answers: &[Answer]) -> Result<(), String> {
    let [counted, summed, projected] = answers else { return Ok(()) };
    let number = |answer: &Answer| match answer.rows.as_slice() {
        [row] => match row.first() {
            Some(Value::Int64(number)) => Ok(*number),
            // The sum over no row.
            Some(Value::Null) => Ok(0),
            other => Err(format!("{other:?} is no count")),
        },
        rows => Err(format!("{} rows in a grand total", rows.len())),
    };
    let (counted, summed) = (number(counted)?, number(summed)?);
    let is_true = |row: &&Vec<Value>| matches!(row.as_slice(), [Value::Boolean(true)]);
    let projected = projected.rows.iter().filter(is_true).count();
    if counted == summed && usize::try_from(counted) == Ok(projected) {
        Ok(())
    } else {
        Err(format!(
            "WHERE keeps {counted} rows, the predicate is TRUE for {summed} in a sum, for {projected} as a value"
        ))
    }
}
