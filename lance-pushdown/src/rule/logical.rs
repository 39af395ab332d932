//! A physical predicate turned back into a logical one.

use std::sync::Arc;

use datafusion::common::Column as LogicalColumn;
use datafusion::logical_expr::expr::InList;
use datafusion::logical_expr::{Expr, Operator, binary_expr};
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{
    BinaryExpr, Column, InListExpr, IsNotNullExpr, IsNullExpr, Literal, NotExpr,
};

/// The logical form of comparisons, membership and NULL tests under AND, OR and NOT; `None` for anything else.
///
/// `name` gives a column its name in the table.
pub(super) fn try_logical(expr: &Arc<dyn PhysicalExpr>, name: &dyn Fn(&Column) -> Option<String>) -> Option<Expr> {
    if let Some(column) = expr.downcast_ref::<Column>() {
        return Some(Expr::Column(LogicalColumn::new_unqualified(name(column)?)));
    }
    if let Some(literal) = expr.downcast_ref::<Literal>() {
        return Some(Expr::Literal(literal.value().clone(), None));
    }
    if let Some(binary) = expr.downcast_ref::<BinaryExpr>() {
        let left = try_logical(binary.left(), name)?;
        let right = try_logical(binary.right(), name)?;
        return is_predicate(*binary.op()).then(|| binary_expr(left, *binary.op(), right));
    }
    if let Some(not) = expr.downcast_ref::<NotExpr>() {
        return Some(Expr::Not(Box::new(try_logical(not.arg(), name)?)));
    }
    if let Some(is_null) = expr.downcast_ref::<IsNullExpr>() {
        return Some(Expr::IsNull(Box::new(try_logical(is_null.arg(), name)?)));
    }
    if let Some(is_not_null) = expr.downcast_ref::<IsNotNullExpr>() {
        let inner = try_logical(is_not_null.arg(), name)?;
        return Some(Expr::IsNotNull(Box::new(inner)));
    }
    let in_list = expr.downcast_ref::<InListExpr>()?;
    let list = in_list.list().iter().map(|item| try_logical(item, name)).collect::<Option<Vec<_>>>()?;
    Some(Expr::InList(InList::new(Box::new(try_logical(in_list.expr(), name)?), list, in_list.negated())))
}

fn is_predicate(op: Operator) -> bool {
    matches!(
        op,
        Operator::And
            | Operator::Or
            | Operator::Eq
            | Operator::NotEq
            | Operator::Lt
            | Operator::LtEq
            | Operator::Gt
            | Operator::GtEq
    )
}
