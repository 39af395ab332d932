//! `CASE WHEN p THEN x END` as an argument: the measure over `x` with filter `p`.
//!
//! ```text
//! sum(CASE WHEN p THEN x END)             sum(x) FILTER (WHERE p)
//! sum(CAST(CASE WHEN p THEN x END AS t))  sum(CAST(x AS t)) FILTER (WHERE p)
//! ```
//!
//! Sound for aggregates that skip NULLs: where `p` is FALSE or NULL, the CASE is NULL, and the filter rejects the row.
//! Only if `x` cannot fail, because the filtered form may evaluate it for rows that `p` rejects (a numbered upstream
//! issue: apache/datafusion#24443); if nothing is volatile; and, when the measure has a filter already, if `p` cannot
//! fail for rows that this one rejects.
//!
//! `ELSE 0`, a simple `CASE p WHEN …` and several WHENs have other values than this and stay as they are.

use asap_types::{ColumnRef, Expr};

use super::input::Input;

/// An argument that counts only where a predicate is TRUE.
pub(super) struct Guarded {
    pub(super) predicate: Expr<ColumnRef>,
    pub(super) value: Expr<ColumnRef>,
}

/// Splits an argument, if the two forms have the same value and type and fail for the same rows.
pub(super) fn split(arg: &Expr<ColumnRef>, is_filtered: bool, input: &Input<'_>) -> Option<Guarded> {
    let guarded = peel(arg)?;
    let is_sound = !arg.is_volatile()
        && input.cannot_fail(&guarded.value)
        && (!is_filtered || input.cannot_fail(&guarded.predicate))
        && input.data_type(arg) == input.data_type(&guarded.value);
    is_sound.then_some(guarded)
}

/// The cast of a CASE without ELSE is the CASE of the cast: the cast of NULL is NULL.
fn peel(arg: &Expr<ColumnRef>) -> Option<Guarded> {
    match arg {
        Expr::Case { operand: None, branches, otherwise: None } => match branches.as_slice() {
            [(when, then)] => Some(Guarded { predicate: when.clone(), value: then.clone() }),
            _ => None,
        },
        Expr::Cast { arg, to, null_on_failure } => {
            let Guarded { predicate, value } = peel(arg)?;
            let value = Expr::Cast { arg: Box::new(value), to: to.clone(), null_on_failure: *null_on_failure };
            Some(Guarded { predicate, value })
        }
        _ => None,
    }
}
