//! Ternary logic partitioning of groups: HAVING is TRUE, FALSE or unknown for each, so that the three parts together are
//! all groups, each once.

use super::Relation;
use crate::answer::Answer;
use crate::query::{Column, Expr, Query};

pub(super) fn relation(query: &Query, _columns: &[Column]) -> Option<Relation> {
    let predicate = query.having.as_ref()?;
    let part = |having| Query { having, ..query.unordered() };
    let is_unknown = Expr::IsNull { operand: Box::new(predicate.clone()), negated: false };
    let parts = [predicate.clone(), Expr::Not(Box::new(predicate.clone())), is_unknown];
    Some(Relation { parts: std::iter::once(None).chain(parts.map(Some)).map(part).collect(), holds })
}

fn holds(answers: &[Answer]) -> Result<(), String> {
    let [all, parts @ ..] = answers else { return Ok(()) };
    let rows = parts.iter().flat_map(|part| part.rows.iter().cloned()).collect();
    let parts = Answer { rows, ..all.clone() };
    all.difference(&parts).map_or(Ok(()), |difference| Err(format!("all groups on the left: {difference}")))
}
