//! Predicates over the generated columns, in three-valued logic.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::columns::ColumnPlan;
use crate::query::{Comparison, DateUnit, Expr};
use crate::value::{Type, Value};

const COMPARISONS: [Comparison; 6] = [
    Comparison::Equal,
    Comparison::NotEqual,
    Comparison::Less,
    Comparison::LessOrEqual,
    Comparison::Greater,
    Comparison::GreaterOrEqual,
];

/// A predicate of at most `depth` nested connectives. There must be a column.
pub(super) fn generate(columns: &[ColumnPlan], depth: usize, rng: &mut impl Rng) -> Expr {
    connected(columns, depth, true, rng)
}

/// [`generate`] without what Lance itself gets wrong: its deletions and updates would change other rows than they say.
pub(super) fn for_lance(columns: &[ColumnPlan], depth: usize, rng: &mut impl Rng) -> Expr {
    let right: Vec<ColumnPlan> =
        columns.iter().filter(|plan| !plan.has_special_floats() && !plan.data_type().is_binary()).cloned().collect();
    connected(&right, depth, false, rng)
}

fn connected(columns: &[ColumnPlan], depth: usize, truth_tests: bool, rng: &mut impl Rng) -> Expr {
    if truth_tests && rng.random_bool(0.08) {
        let operand = Box::new(connected(columns, depth.saturating_sub(1), false, rng));
        let truth = [Some(true), Some(false), None].choose(rng).copied().flatten();
        let test = Expr::IsTruth { operand, truth, negated: rng.random() };
        return if rng.random_bool(0.3) { Expr::Not(Box::new(test)) } else { test };
    }
    if truth_tests
        && rng.random_bool(0.05)
        && let Some(test) = columns.choose(rng).and_then(|plan| truncated_test(plan, rng))
    {
        return test;
    }
    if truth_tests
        && rng.random_bool(0.05)
        && let Some(plan) = columns.choose(rng)
    {
        return lists(plan, rng);
    }
    if depth == 0 || rng.random_bool(0.55) {
        return columns.choose(rng).map_or(Expr::And(Vec::new()), |plan| leaf(plan, columns, rng));
    }
    let operands = |rng: &mut _| (0..2).map(|_| connected(columns, depth - 1, truth_tests, rng)).collect();
    match rng.random_range(0..3) {
        0 => Expr::And(operands(rng)),
        1 => Expr::Or(operands(rng)),
        _ => Expr::Not(Box::new(connected(columns, depth - 1, truth_tests, rng))),
    }
}

/// A test of one column, now and then against another one of its type.
pub(super) fn leaf(plan: &ColumnPlan, columns: &[ColumnPlan], rng: &mut impl Rng) -> Expr {
    let operand = || Box::new(plan.expr());
    let negated = rng.random_bool(0.3);
    match rng.random_range(0..100) {
        0..55 => Expr::compare(comparison(rng), plan.expr(), constant(plan, rng)),
        55..70 => Expr::IsNull { operand: operand(), negated: rng.random() },
        70..82 => {
            let list = (0..rng.random_range(1..=3)).map(|_| constant(plan, rng)).collect();
            Expr::InList { operand: operand(), list, negated }
        }
        82..90 => {
            let (low, high) = (Box::new(constant(plan, rng)), Box::new(constant(plan, rng)));
            Expr::Between { operand: operand(), low, high, negated }
        }
        90..95 if plan.data_type().is_text() => {
            let pattern = ["a%", "%b", "_", "%", "ä_", "%a%", ""].choose(rng).copied().unwrap_or("%");
            Expr::Like { operand: operand(), pattern: pattern.to_owned(), negated }
        }
        90..95 if plan.data_type() == Type::Boolean => plan.expr(),
        _ => {
            let alike = columns.iter().filter(|other| other.data_type() == plan.data_type()).collect::<Vec<_>>();
            let other = alike.choose(rng).map_or_else(|| constant(plan, rng), |other| other.expr());
            Expr::compare(comparison(rng), plan.expr(), other)
        }
    }
}

/// Several tests of one column against lists and single values: optimizers merge them.
fn lists(plan: &ColumnPlan, rng: &mut impl Rng) -> Expr {
    let tests = (0..rng.random_range(2..=3)).map(|_| membership(plan, rng)).collect();
    let all = if rng.random() { Expr::And(tests) } else { Expr::Or(tests) };
    if rng.random_bool(0.2) { Expr::Not(Box::new(all)) } else { all }
}

/// `x [NOT] IN (…)`, now and then with a NULL in the list, or `x = 1`, or `x <> 1`.
fn membership(plan: &ColumnPlan, rng: &mut impl Rng) -> Expr {
    if rng.random_bool(0.2) {
        let operator = if rng.random() { Comparison::Equal } else { Comparison::NotEqual };
        return Expr::compare(operator, plan.expr(), constant(plan, rng));
    }
    let mut list: Vec<Expr> = (0..rng.random_range(1..=2)).map(|_| constant(plan, rng)).collect();
    if rng.random_bool(0.15) {
        list.push(Expr::literal(Value::Null, plan.data_type()));
    }
    Expr::InList { operand: Box::new(plan.expr()), list, negated: rng.random() }
}

/// The start of a timestamp's year, month, … compared with a constant.
fn truncated_test(plan: &ColumnPlan, rng: &mut impl Rng) -> Option<Expr> {
    Some(Expr::compare(comparison(rng), truncated(plan, rng)?, constant(plan, rng)))
}

/// `date_trunc` of a timestamp; the first day of the first year is no timestamp.
pub(super) fn truncated(plan: &ColumnPlan, rng: &mut impl Rng) -> Option<Expr> {
    let fitting = plan.data_type().second_digits().is_some() && plan.is_small;
    let unit = DateUnit::ALL.choose(rng).copied().filter(|_| fitting)?;
    Some(Expr::DateTrunc { unit, operand: Box::new(plan.expr()) })
}

pub(super) fn comparison(rng: &mut impl Rng) -> Comparison {
    COMPARISONS.choose(rng).copied().unwrap_or(Comparison::Equal)
}

/// Mostly a value that the column holds; seldom NULL.
pub(super) fn constant(plan: &ColumnPlan, rng: &mut impl Rng) -> Expr {
    let value = if rng.random_bool(0.03) { None } else { plan.pool.choose(rng).cloned() };
    Expr::literal(value.filter(has_text).unwrap_or(Value::Null), plan.data_type())
}

/// A value that the column may hold.
pub(super) fn value(plan: &ColumnPlan, rng: &mut impl Rng) -> Expr {
    let value =
        Some(plan.draw(rng)).filter(has_text).or_else(|| plan.pool.iter().find(|value| has_text(value)).cloned());
    Expr::literal(value.unwrap_or(Value::Null), plan.data_type())
}

/// SQL has no text for the NaN with a sign.
fn has_text(value: &Value) -> bool {
    !matches!(value, Value::Float64(float) if float.0.is_nan() && float.0.is_sign_negative())
}
