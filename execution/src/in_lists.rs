//! `x IN (…)` twice in one expression, in words that DataFusion does not merge.
//!
//! DataFusion 54.1 simplifies `x NOT IN (1) OR x NOT IN (2)` to `x NOT IN ()`, which is TRUE also where `x` is NULL, and
//! `x IN (1) AND x IN (2)` to FALSE (defect 14 of the oracle). Comparisons it leaves as they are.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::error::DataFusionError;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::utils::{conjunction, disjunction};
use datafusion::logical_expr::{Expr, lit};

/// The expression, with each list that shares its tested value with another one as comparisons.
///
/// ```text
/// x IN (a, b)      =>  x = a OR x = b
/// x NOT IN (a, b)  =>  x <> a AND x <> b
/// ```
pub(crate) fn keep_apart(expr: Expr) -> Result<Expr, DataFusionError> {
    let mut tested: Vec<Expr> = Vec::new();
    expr.apply(|part| {
        if let Expr::InList(list) = part {
            tested.push((*list.expr).clone());
        }
        Ok(TreeNodeRecursion::Continue)
    })?;
    let is_shared = |value: &Expr| tested.iter().filter(|other| *other == value).count() > 1;
    if !tested.iter().any(is_shared) {
        return Ok(expr);
    }
    let apart = expr.transform_up(|part| {
        Ok(match part {
            Expr::InList(list) if is_shared(&list.expr) => Transformed::yes(comparisons(list)),
            other => Transformed::no(other),
        })
    })?;
    Ok(apart.data)
}

fn comparisons(InList { expr, list, negated }: InList) -> Expr {
    let of = |value| if negated { (*expr).clone().not_eq(value) } else { (*expr).clone().eq(value) };
    let all = list.into_iter().map(of).collect::<Vec<_>>();
    let joined = if negated { conjunction(all) } else { disjunction(all) };
    joined.unwrap_or_else(|| lit(negated))
}
