//! `x IS TRUE` and its kin as expressions whose nullability DataFusion agrees with itself about.
//!
//! DataFusion 54.1 plans a truth test as never NULL and executes it as `x IS NOT DISTINCT FROM true`, which its physical
//! planner takes for nullable. Where an expression of its own holds the test, as when two aggregates share a filter, the
//! query fails with an internal error (defect 4 of the oracle). `coalesce` is never NULL on both sides.

use datafusion::common::tree_node::{Transformed, TreeNode};
use datafusion::error::DataFusionError;
use datafusion::functions::expr_fn::coalesce;
use datafusion::logical_expr::{Expr, lit};

/// The expression without truth tests.
///
/// ```text
/// x IS TRUE       =>  coalesce(x, false)
/// x IS NOT TRUE   =>  NOT coalesce(x, false)
/// x IS FALSE      =>  NOT coalesce(x, true)
/// x IS NOT FALSE  =>  coalesce(x, true)
/// x IS UNKNOWN    =>  x IS NULL
/// ```
pub(crate) fn spell_out(expr: Expr) -> Result<Expr, DataFusionError> {
    let or = |test: Expr, value: bool| coalesce(vec![test, lit(value)]);
    let spelled = expr.transform_up(|expr| {
        Ok(match expr {
            Expr::IsTrue(test) => Transformed::yes(or(*test, false)),
            Expr::IsNotTrue(test) => Transformed::yes(Expr::Not(Box::new(or(*test, false)))),
            Expr::IsFalse(test) => Transformed::yes(Expr::Not(Box::new(or(*test, true)))),
            Expr::IsNotFalse(test) => Transformed::yes(or(*test, true)),
            Expr::IsUnknown(test) => Transformed::yes(Expr::IsNull(test)),
            Expr::IsNotUnknown(test) => Transformed::yes(Expr::IsNotNull(test)),
            other => Transformed::no(other),
        })
    })?;
    Ok(spelled.data)
}
