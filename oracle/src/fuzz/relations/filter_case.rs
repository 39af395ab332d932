//! `f(x) FILTER (WHERE p)` is `f(CASE WHEN p THEN x END)`, and `count(*) FILTER (WHERE p)` counts a constant.

use super::Relation;
use crate::answer::Answer;
use crate::query::{Aggregate, Column, Expr, Query};
use crate::value::{Type, Value};

pub(super) fn relation(query: &Query, _columns: &[Column]) -> Option<Relation> {
    let filtered = query.unordered();
    let mut cased = filtered.clone();
    let mut changed = false;
    for output in &mut cased.outputs {
        if let Expr::Aggregate(call) = &mut output.expr {
            changed |= by_case(call);
        }
    }
    changed.then(|| Relation { parts: vec![filtered, cased], holds })
}

fn by_case(call: &mut Aggregate) -> bool {
    let Some(filter) = call.filter.take() else { return false };
    let argument = call.argument.take().unwrap_or_else(|| Expr::literal(Value::Int64(1), Type::Int64));
    call.argument = Some(Expr::case(filter, argument, None));
    true
}

fn holds(answers: &[Answer]) -> Result<(), String> {
    let [filtered, cased] = answers else { return Ok(()) };
    filtered.difference(cased).map_or(Ok(()), |difference| Err(format!("FILTER on the left: {difference}")))
}
