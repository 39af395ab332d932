//! HAVING: tests of measures and keys, in three-valued logic.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::columns::ColumnPlan;
use super::predicate::{comparison, constant};
use crate::query::{Column, Comparison, Expr, Function};
use crate::value::{Decimal, Float, Type, Value};

/// A predicate over these measures and keys, of up to two nested connectives.
pub(super) fn generate(measures: &[Expr], keys: &[Expr], columns: &[ColumnPlan], rng: &mut impl Rng) -> Expr {
    connected(measures, keys, columns, 2, rng)
}

fn connected(measures: &[Expr], keys: &[Expr], columns: &[ColumnPlan], depth: usize, rng: &mut impl Rng) -> Expr {
    let below = |rng: &mut _| connected(measures, keys, columns, depth.saturating_sub(1), rng);
    if rng.random_bool(0.05) {
        return contradiction(measures.choose(rng), columns, rng);
    }
    match rng.random_range(0..10) {
        0 if depth > 0 => Expr::And(vec![below(rng), below(rng)]),
        1 if depth > 0 => Expr::Or(vec![below(rng), below(rng)]),
        2 if depth > 0 => Expr::Not(Box::new(below(rng))),
        3 => match keys.choose(rng) {
            Some(key) => test(key, columns, rng),
            None => test(&Expr::count_all(None), columns, rng),
        },
        _ => match measures.choose(rng) {
            // What depends on the order of rows must not choose groups.
            Some(measure) if !super::shape::is_special_extremum(measure, columns) => test(measure, columns, rng),
            _ => test(&Expr::count_all(None), columns, rng),
        },
    }
}

/// What is TRUE for no group, as optimizers see: `x = 1 AND x = 2`, or FALSE.
fn contradiction(measure: Option<&Expr>, columns: &[ColumnPlan], rng: &mut impl Rng) -> Expr {
    let never = Expr::literal(Value::Boolean(false), Type::Boolean);
    let measure =
        measure.filter(|measure| rng.random_bool(0.7) && !super::shape::is_special_extremum(measure, columns));
    let Some(measure) = measure else { return never };
    let mut equal = || Some(Expr::compare(Comparison::Equal, measure.clone(), bound(measure, columns, rng)?));
    match (equal(), equal()) {
        (Some(one), Some(other)) if one != other => Expr::And(vec![one, other]),
        _ => never,
    }
}

/// `x IS [NOT] NULL`, or a comparison with a constant that has its type.
fn test(expr: &Expr, columns: &[ColumnPlan], rng: &mut impl Rng) -> Expr {
    let is_null = |rng: &mut _| Expr::IsNull { operand: Box::new(expr.clone()), negated: Rng::random(rng) };
    if rng.random_bool(0.2) {
        return is_null(rng);
    }
    match bound(expr, columns, rng) {
        Some(bound) => Expr::compare(comparison(rng), expr.clone(), bound),
        None => is_null(rng),
    }
}

/// A constant that the expression may well be equal to.
fn bound(expr: &Expr, columns: &[ColumnPlan], rng: &mut impl Rng) -> Option<Expr> {
    if let Some(plan) = columns.iter().find(|plan| plan.expr() == *source(expr)) {
        return Some(constant(plan, rng));
    }
    let schema: Vec<Column> = columns.iter().map(|plan| plan.column.clone()).collect();
    let data_type = expr.data_type(&schema).ok()?;
    let value = match data_type {
        Type::Int64 => Value::Int64(rng.random_range(0..=3)),
        Type::UInt64 => Value::UInt64(rng.random_range(0..=40)),
        Type::Float64 => Value::Float64(Float(f64::from(rng.random_range(-40_i32..=40)) / 4.0)),
        Type::Decimal { scale, .. } => Value::Decimal(Decimal { unscaled: rng.random_range(-9999..=9999), scale }),
        Type::Boolean => Value::Boolean(rng.random()),
        _ => return None,
    };
    Some(Expr::literal(value, data_type))
}

/// The expression that the values of a key, or of an extremum, come from.
fn source(expr: &Expr) -> &Expr {
    match expr {
        Expr::Aggregate(call) if matches!(call.function, Function::Min | Function::Max) => {
            call.argument.as_ref().unwrap_or(expr)
        }
        _ => expr,
    }
}
