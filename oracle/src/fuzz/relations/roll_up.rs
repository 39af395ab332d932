//! The counts and exact sums of all groups add up to those of the grand total.

use super::Relation;
use super::partition::add;
use crate::answer::Answer;
use crate::query::{Column, Expr, Function, Output, Query};
use crate::value::Value;

pub(super) fn relation(query: &Query, columns: &[Column]) -> Option<Relation> {
    query.group_by.as_ref().filter(|keys| !keys.is_empty())?;
    let adds = |column: &&Column| column.data_type.is_numeric() && !column.data_type.is_float();
    let mut outputs = vec![Output::new(Expr::count_all(None), "rows")];
    if let Some(column) = columns.iter().find(adds) {
        outputs.push(Output::new(Expr::aggregate(Function::Sum, Expr::column(&column.name), None), "sum"));
    }
    let fine = Query { outputs, having: None, grouping: None, ..query.unordered() };
    let total = Query { group_by: Some(Vec::new()), ..fine.clone() };
    Some(Relation { parts: vec![fine, total], holds })
}

fn holds(answers: &[Answer]) -> Result<(), String> {
    let [fine, total] = answers else { return Ok(()) };
    let [total_row] = total.rows.as_slice() else {
        return Err(format!("{} rows in a grand total", total.rows.len()));
    };
    for (position, column) in fine.columns.iter().enumerate() {
        let values = fine.rows.iter().map(|row| row[position].clone()).filter(|value| !value.is_null());
        let nothing = if position == 0 { Value::Int64(0) } else { Value::Null };
        let sum = values.reduce(|left, right| add(&left, &right)).unwrap_or(nothing);
        if sum != total_row[position] {
            return Err(format!("{}: {sum:?} over the groups, {:?} in all", column.name, total_row[position]));
        }
    }
    Ok(())
}
