//! Constant expressions: `DATE '1998-12-01' - INTERVAL '90' DAY` is a date.

use std::sync::Arc;

use datafusion_common::{DFSchema, ScalarValue};
use datafusion_expr::simplify::SimplifyContext;
use datafusion_expr::{Expr, ExprSchemable, Volatility};
use datafusion_optimizer::simplify_expressions::ExprSimplifier;

use crate::functions::Functions;

/// The value of an expression that reads no column and calls only immutable functions, evaluated by DataFusion's own
/// constant folding, as its optimizer does. `None` for a literal, and for an expression whose evaluation fails: that is
/// an error of the rows that reach it, not of the plan.
pub(super) fn fold(expr: &Expr) -> Option<ScalarValue> {
    if matches!(expr, Expr::Literal(..) | Expr::Alias(_)) || !is_constant(expr) {
        return None;
    }
    let context = SimplifyContext::builder().with_config_options(Arc::clone(&Functions::get().options)).build();
    let expected = expr.get_type(&DFSchema::empty()).ok()?;
    match ExprSimplifier::new(context).simplify(expr.clone()).ok()? {
        Expr::Literal(value, _) if value.data_type() == expected => Some(value),
        _ => None,
    }
}

fn is_constant(expr: &Expr) -> bool {
    use datafusion_common::tree_node::{TreeNode, TreeNodeRecursion};
    let mut constant = true;
    let visited = expr.apply(|node| {
        constant &= match node {
            Expr::Literal(..)
            | Expr::Alias(_)
            | Expr::BinaryExpr(_)
            | Expr::Like(_)
            | Expr::Not(_)
            | Expr::Negative(_)
            | Expr::IsNull(_)
            | Expr::IsNotNull(_)
            | Expr::IsTrue(_)
            | Expr::IsNotTrue(_)
            | Expr::IsFalse(_)
            | Expr::IsNotFalse(_)
            | Expr::IsUnknown(_)
            | Expr::IsNotUnknown(_)
            | Expr::Between(_)
            | Expr::Case(_)
            | Expr::Cast(_)
            | Expr::TryCast(_)
            | Expr::InList(_) => true,
            Expr::ScalarFunction(call) => call.func.signature().volatility == Volatility::Immutable,
            _ => false,
        };
        Ok(if constant { TreeNodeRecursion::Continue } else { TreeNodeRecursion::Stop })
    });
    visited.is_ok() && constant
}
