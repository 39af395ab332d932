//! The rows: the coarse aggregate reads the fine one's input, or a part of it that the fine keys decide.

use std::sync::Arc;

use asap_types::{Aggregate, Expr, Operator, QueryExpr, Schema};

use super::keys::Keys;
use crate::Refusal;

/// The conditions, over the fine output, that select the coarse input from the fine one.
pub(super) fn prove(
    coarse: &Aggregate<Arc<QueryExpr>>,
    fine: &Aggregate<Arc<QueryExpr>>,
    keys: &Keys<'_>,
) -> Result<Vec<Expr>, Refusal> {
    if is_same_computation(&coarse.input, &fine.input) {
        return Ok(Vec::new());
    }
    let (coarse_base, coarse_conjuncts) = split_input(&coarse.input);
    let (fine_base, fine_conjuncts) = split_input(&fine.input);
    if !is_same_computation(&coarse_base, &fine_base) {
        return Err(Refusal::DifferentInput);
    }
    let reads_more = fine_conjuncts.iter().all(|conjunct| coarse_conjuncts.contains(conjunct));
    #[cfg(feature = "faults")]
    let reads_more = asap_faults::inject(asap_faults::Fault::NarrowerSourceTaken, reads_more, |_| true);
    if !reads_more {
        return Err(Refusal::FewerRows);
    }
    let input = coarse_base.schema();
    if !is_guarded_alike(&coarse_conjuncts, &fine_conjuncts, input) {
        return Err(Refusal::SourceCanFail);
    }
    #[cfg(feature = "faults")]
    let coarse_conjuncts: Vec<Expr> = coarse_conjuncts
        .into_iter()
        .filter(|conjunct| fine_conjuncts.contains(conjunct) || !is_lost(conjunct, keys))
        .collect();
    coarse_conjuncts
        .iter()
        .filter(|conjunct| !fine_conjuncts.contains(conjunct))
        .map(|conjunct| match conjunct.cannot_fail(input) {
            true => keys.express(conjunct).map_err(|reason| match reason {
                Refusal::KeyNotDerivable => Refusal::RestrictionNotOnKeys,
                other => other,
            }),
            false => Err(Refusal::RestrictionCanFail),
        })
        .collect()
}

#[cfg(feature = "faults")]
fn is_lost(conjunct: &Expr, keys: &Keys<'_>) -> bool {
    match keys.express(conjunct) {
        Ok(_) => asap_faults::is_planted(asap_faults::Fault::RestrictionLost),
        Err(_) => asap_faults::is_planted(asap_faults::Fault::NonKeyConditionLost),
    }
}

/// Whether each condition of the fine input that can fail is evaluated there for no row for which the coarse input does not
/// evaluate it: whatever stands before it there stands before it here.
fn is_guarded_alike(coarse: &[Expr], fine: &[Expr], input: &Schema) -> bool {
    fine.iter().enumerate().filter(|(_, conjunct)| !conjunct.cannot_fail(input)).all(|(position, conjunct)| {
        let mut guards = coarse.iter().take_while(|guard| *guard != conjunct);
        guards.all(|guard| fine.iter().take(position).any(|known| known == guard))
    })
}

/// Pointers first, then structure, which includes schemas.
fn is_same_computation(left: &Arc<QueryExpr>, right: &Arc<QueryExpr>) -> bool {
    Arc::ptr_eq(left, right) || left == right
}

/// An input without the conditions directly above its source, and those conditions.
pub(crate) fn split_input(input: &Arc<QueryExpr>) -> (Arc<QueryExpr>, Vec<Expr>) {
    match input.operator() {
        Operator::Scan { table, schema, predicates } if !predicates.is_empty() => {
            let bare = Operator::Scan { table: table.clone(), schema: schema.clone(), predicates: Vec::new() };
            match QueryExpr::new(bare) {
                Ok(bare) => (bare, predicates.iter().map(|predicate| predicate.0.clone()).collect()),
                Err(_) => (Arc::clone(input), Vec::new()),
            }
        }
        Operator::Filter { predicate, input } => (Arc::clone(input), predicate.0.clone().conjuncts()),
        _ => (Arc::clone(input), Vec::new()),
    }
}
