//! `x IS TRUE` and `x IS FALSE`, which Lance 14.0.2 reads as `x = true` and `x = false`.
//!
//! The readings differ where `x` is NULL: the tests are FALSE there, the comparisons unknown. That matters below NOT:
//! `NOT (x IS TRUE)` selects the NULL rows, and a plain Lance scan over an index on `x` loses them.

use datafusion::common::tree_node::{Transformed, TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::Expr;

/// Whether the filter holds a test that Lance misreads.
pub(super) fn has_truth_test(filter: &Expr) -> bool {
    let mut found = false;
    let visited = filter.apply(|expr| {
        found |= matches!(expr, Expr::IsTrue(_) | Expr::IsFalse(_));
        Ok(if found { TreeNodeRecursion::Stop } else { TreeNodeRecursion::Continue })
    });
    found || visited.is_err()
}

/// The filter with these tests spelled so that an index evaluates them exactly.
///
/// ```text
/// x IS TRUE    =>  x AND x IS NOT NULL
/// x IS FALSE   =>  NOT x AND x IS NOT NULL
/// ```
pub(super) fn spell_out(filter: Expr) -> Expr {
    let unchanged = filter.clone();
    let spelled = filter.transform_up(|expr| {
        Ok(match expr {
            Expr::IsTrue(inner) => Transformed::yes((*inner).clone().and(inner.is_not_null())),
            Expr::IsFalse(inner) => Transformed::yes(Expr::Not(inner.clone()).and(inner.is_not_null())),
            other => Transformed::no(other),
        })
    });
    spelled.map_or(unchanged, |spelled| spelled.data)
}
