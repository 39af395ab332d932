//! Queries without aggregation.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::columns::ColumnPlan;
use super::{TABLE, predicate, shape};
use crate::query::{Arithmetic, Expr, Output, Query};

/// One to three expressions of each row that a predicate keeps.
pub(super) fn generate(columns: &[ColumnPlan], rng: &mut impl Rng) -> Query {
    let mut outputs = Vec::new();
    for position in 0..rng.random_range(1..=3) {
        if let Some(plan) = columns.choose(rng) {
            outputs.push(Output::new(expr(plan, columns, rng), format!("x{position}")));
        }
    }
    let filter = rng.random_bool(0.6).then(|| predicate::generate(columns, 2, rng));
    let mut query = Query { filter, ..Query::of_table(TABLE, outputs) };
    shape::decorate(&mut query, columns, rng);
    query
}

fn expr(plan: &ColumnPlan, columns: &[ColumnPlan], rng: &mut impl Rng) -> Expr {
    match rng.random_range(0..10) {
        0 => predicate::generate(columns, 1, rng),
        1 => Expr::case(predicate::generate(columns, 1, rng), plan.expr(), None),
        2 if plan.adds() && plan.data_type().has_arithmetic() => {
            Expr::arithmetic(Arithmetic::Add, plan.expr(), predicate::constant(plan, rng))
        }
        3 => predicate::truncated(plan, rng).unwrap_or_else(|| plan.expr()),
        _ => plan.expr(),
    }
}
