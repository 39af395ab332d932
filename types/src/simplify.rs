//! Expression rewrites that hold for every row: they drop what is always true and give one spelling to what has several.

use std::convert::Infallible;

use arrow_schema::DataType;

use crate::{Expr, Literal, LogicalOp, Schema, UnaryOp};

/// The normal form of an expression over rows of a schema. Idempotent; value, type and failures stay the same, and
/// operands keep their order of evaluation.
///
/// - a constant or non-nullable operand decides `IS [NOT] NULL`;
/// - `TRUE AND p` is `p`, `FALSE OR p` is `p`, `NOT NOT p` is `p`;
/// - a constant stands on the right of a comparison.
#[must_use]
pub fn simplify(expr: &Expr, input: &Schema) -> Expr {
    let children: Result<Expr, Infallible> = expr.try_map_children(&mut |child| Ok(simplify(child, input)));
    let Ok(expr) = children;
    simplify_node(expr, input)
}

fn simplify_node(expr: Expr, input: &Schema) -> Expr {
    match expr {
        Expr::Unary { op: op @ (UnaryOp::IsNull | UnaryOp::IsNotNull), arg } => match is_null_constantly(&arg, input) {
            Some(is_null) => Expr::Literal(Literal::boolean(is_null == (op == UnaryOp::IsNull))),
            None => Expr::Unary { op, arg },
        },
        #[cfg(feature = "faults")]
        Expr::Unary { op: UnaryOp::IsNotTrue, arg }
            if asap_faults::is_planted(asap_faults::Fault::NotTrueReadAsNot) =>
        {
            arg.unary(UnaryOp::Not)
        }
        Expr::Unary { op: UnaryOp::Not, arg } => match *arg {
            Expr::Unary { op: UnaryOp::Not, arg } if is_boolean(&arg, input) => *arg,
            other => other.unary(UnaryOp::Not),
        },
        Expr::Logical { op, left, right } => simplify_logical(op, *left, *right, input),
        Expr::Compare { op, left, right }
            if matches!(*left, Expr::Literal(_)) && !matches!(*right, Expr::Literal(_)) =>
        {
            Expr::Compare { op: op.swapped(), left: right, right: left }
        }
        other => other,
    }
}

/// Whether the value is always NULL, never NULL, or undecided. An operand that may fail is left to be evaluated.
fn is_null_constantly(arg: &Expr, input: &Schema) -> Option<bool> {
    if let Expr::Literal(literal) = arg {
        return Some(literal.is_null());
    }
    let never = arg.nullable(input) == Ok(false) && arg.cannot_fail(input);
    #[cfg(feature = "faults")]
    let never = asap_faults::inject(asap_faults::Fault::NullableTakenForNonNull, never, |_| true);
    never.then_some(false)
}

/// An operand of a Boolean operator may be an untyped NULL, which is no value of the operator's type.
fn is_boolean(expr: &Expr, input: &Schema) -> bool {
    expr.data_type(input) == Ok(DataType::Boolean)
}

fn simplify_logical(op: LogicalOp, left: Expr, right: Expr, input: &Schema) -> Expr {
    let neutral = Expr::Literal(Literal::boolean(op == LogicalOp::And));
    if left == neutral && is_boolean(&right, input) {
        right
    } else if right == neutral && is_boolean(&left, input) {
        left
    } else {
        Expr::Logical { op, left: Box::new(left), right: Box::new(right) }
    }
}

/// The conjuncts of a row predicate in normal form: what is always TRUE is gone, `p IS TRUE` is `p`, duplicates are
/// gone, and neighbours that cannot fail are sorted. A conjunct that can fail keeps its place, so that none is moved
/// before one that guards it.
pub(crate) fn normal_conjuncts(conjuncts: impl IntoIterator<Item = Expr>, input: &Schema) -> Vec<Expr> {
    let flat: Vec<Expr> = conjuncts
        .into_iter()
        .flat_map(Expr::conjuncts)
        .map(|conjunct| strip_is_true(simplify(&conjunct, input)))
        .flat_map(Expr::conjuncts)
        .filter(|conjunct| !matches!(conjunct, Expr::Literal(literal) if literal.is_true()))
        .collect();
    #[cfg(feature = "faults")]
    let flat = asap_faults::inject(asap_faults::Fault::LastConjunctLost, flat, |mut right| {
        right.truncate(right.len().saturating_sub(1).max(1));
        right
    });
    let mut normal: Vec<Expr> = Vec::with_capacity(flat.len());
    for conjunct in flat {
        if conjunct.is_volatile() || !normal.contains(&conjunct) {
            normal.push(conjunct);
        }
    }
    for run in normal.chunk_by_mut(|left, right| may_swap(left, input) && may_swap(right, input)) {
        if run.iter().all(|conjunct| may_swap(conjunct, input)) {
            run.sort();
        }
    }
    normal
}

fn may_swap(conjunct: &Expr, input: &Schema) -> bool {
    conjunct.cannot_fail(input) && !conjunct.is_volatile()
}

fn strip_is_true(expr: Expr) -> Expr {
    match expr {
        Expr::Unary { op: UnaryOp::IsTrue, arg } => strip_is_true(*arg),
        other => other,
    }
}

/// The normal form of a row predicate as one expression; TRUE when every row passes.
pub(crate) fn normal_predicate(predicate: &Expr, input: &Schema) -> Expr {
    Expr::conjunction(normal_conjuncts([predicate.clone()], input))
        .unwrap_or_else(|| Expr::Literal(Literal::boolean(true)))
}
