//! Scalar expressions.

use asap_types::{ArithmeticOp, ColumnRef, CompareOp, Expr as IrExpr, LogicalOp, UnaryOp};
use datafusion_expr::expr::{InList, Like};
use datafusion_expr::{Between, BinaryExpr, Case, Expr, ExprSchemable, Operator};

use super::Lowering;
use super::constant::fold;
use super::literal::literal;
use super::scope::Scope;
use crate::{Feature, FrontendError};

/// Nodes of an operand that is written twice.
const MAX_BETWEEN_OPERAND: usize = 256;

type Lowered = Result<IrExpr<ColumnRef>, FrontendError>;

impl Lowering<'_> {
    /// Lowers an expression over the columns in scope. A constant expression becomes the constant, if the
    /// IR can hold it.
    pub(super) fn expr(&self, expr: &Expr, scope: Scope<'_>) -> Lowered {
        if let Some(constant) = fold(expr).as_ref().and_then(literal) {
            return Ok(IrExpr::Literal(constant));
        }
        let unary = |op: UnaryOp, arg: &Expr| Ok(self.expr(arg, scope)?.unary(op));
        match expr {
            Expr::Alias(alias) => self.expr(&alias.expr, scope),
            Expr::Column(column) => self.planned(scope.column(column)).map(IrExpr::Column),
            Expr::Literal(value, _) => literal(value)
                .map(IrExpr::Literal)
                .ok_or_else(|| self.refuse(Feature::LiteralType(value.data_type().to_string()))),
            Expr::BinaryExpr(binary) => self.binary(binary, expr, scope),
            Expr::Like(like) => self.like(like, scope),
            Expr::Not(arg) => unary(UnaryOp::Not, arg),
            Expr::Negative(arg) => unary(UnaryOp::Negative, arg),
            Expr::IsNull(arg) => unary(UnaryOp::IsNull, arg),
            Expr::IsNotNull(arg) => unary(UnaryOp::IsNotNull, arg),
            Expr::IsTrue(arg) => unary(UnaryOp::IsTrue, arg),
            Expr::IsNotTrue(arg) => unary(UnaryOp::IsNotTrue, arg),
            Expr::IsFalse(arg) => unary(UnaryOp::IsFalse, arg),
            Expr::IsNotFalse(arg) => unary(UnaryOp::IsNotFalse, arg),
            Expr::IsUnknown(arg) => unary(UnaryOp::IsUnknown, arg),
            Expr::IsNotUnknown(arg) => unary(UnaryOp::IsNotUnknown, arg),
            Expr::Between(between) => self.between(between, scope),
            Expr::Case(case) => self.case(case, scope),
            Expr::Cast(cast) => self.cast(&cast.expr, cast.field.data_type(), false, scope),
            Expr::TryCast(cast) => self.cast(&cast.expr, cast.field.data_type(), true, scope),
            Expr::InList(list) => self.in_list(list, scope),
            Expr::ScalarFunction(call) => self.function(call, expr, scope),
            other => Err(self.refuse_expr(expression_feature(other), other)),
        }
    }

    fn boxed(&self, expr: &Expr, scope: Scope<'_>) -> Result<Box<IrExpr<ColumnRef>>, FrontendError> {
        self.expr(expr, scope).map(Box::new)
    }

    fn binary(&self, binary: &BinaryExpr, whole: &Expr, scope: Scope<'_>) -> Lowered {
        let Some(operator) = binary_operator(binary.op) else {
            return Err(self.refuse_expr(Feature::Operator(binary.op.to_string()), whole));
        };
        let (left, right) = (self.boxed(&binary.left, scope)?, self.boxed(&binary.right, scope)?);
        Ok(match operator {
            Binary::Logical(op) => IrExpr::Logical { op, left, right },
            Binary::Compare(op) => IrExpr::Compare { op, left, right },
            Binary::Arithmetic(op) => {
                let data_type = self.planned(whole.get_type(scope.planned))?;
                IrExpr::Arithmetic { op, left, right, data_type }
            }
        })
    }

    fn like(&self, like: &Like, scope: Scope<'_>) -> Lowered {
        Ok(IrExpr::Like {
            arg: self.boxed(&like.expr, scope)?,
            pattern: self.boxed(&like.pattern, scope)?,
            escape: like.escape_char,
            case_insensitive: like.case_insensitive,
            negated: like.negated,
        })
    }

    /// `x BETWEEN a AND b` is `x >= a AND x <= b`; its negation `x < a OR x > b`.
    fn between(&self, between: &Between, scope: Scope<'_>) -> Lowered {
        let arg = self.expr(&between.expr, scope)?;
        if arg.is_volatile() {
            return Err(self.refuse_expr(Feature::VolatileBetween, &between.expr));
        }
        // Operands of operands would double with each level.
        if arg.node_count() > MAX_BETWEEN_OPERAND {
            return Err(self.refuse_expr(Feature::LargeBetween, &between.expr));
        }
        let (low, high) = (self.expr(&between.low, scope)?, self.expr(&between.high, scope)?);
        let (op, above, below) = if between.negated {
            (LogicalOp::Or, CompareOp::Lt, CompareOp::Gt)
        } else {
            (LogicalOp::And, CompareOp::GtEq, CompareOp::LtEq)
        };
        #[cfg(feature = "faults")]
        let op = asap_faults::inject(asap_faults::Fault::NotBetweenReadAsAnd, op, |_| LogicalOp::And);
        let (left, right) = (arg.clone().compare(above, low), arg.compare(below, high));
        Ok(IrExpr::Logical { op, left: Box::new(left), right: Box::new(right) })
    }

    /// `ELSE NULL` is the same as no ELSE.
    fn case(&self, case: &Case, scope: Scope<'_>) -> Lowered {
        let operand = case.expr.as_deref().map(|operand| self.boxed(operand, scope)).transpose()?;
        let branches = case
            .when_then_expr
            .iter()
            .map(|(when, then)| Ok((self.expr(when, scope)?, self.expr(then, scope)?)))
            .collect::<Result<_, FrontendError>>()?;
        let otherwise = case.else_expr.as_deref().map(|otherwise| self.boxed(otherwise, scope)).transpose()?;
        let otherwise = otherwise.filter(|expr| !matches!(&**expr, IrExpr::Literal(literal) if literal.is_null()));
        #[cfg(feature = "faults")]
        let otherwise = asap_faults::inject(asap_faults::Fault::ElseZeroIgnored, otherwise, |right| {
            right.filter(|expr| !matches!(&**expr, IrExpr::Literal(literal) if literal.to_string() == "0"))
        });
        Ok(IrExpr::Case { operand, branches, otherwise })
    }

    fn cast(&self, arg: &Expr, to: &arrow_schema::DataType, null_on_failure: bool, scope: Scope<'_>) -> Lowered {
        Ok(IrExpr::Cast { arg: self.boxed(arg, scope)?, to: to.clone(), null_on_failure })
    }

    fn in_list(&self, list: &InList, scope: Scope<'_>) -> Lowered {
        Ok(IrExpr::InList {
            arg: self.boxed(&list.expr, scope)?,
            list: list.list.iter().map(|item| self.expr(item, scope)).collect::<Result<_, _>>()?,
            negated: list.negated,
        })
    }
}

enum Binary {
    Logical(LogicalOp),
    Compare(CompareOp),
    Arithmetic(ArithmeticOp),
}

fn binary_operator(operator: Operator) -> Option<Binary> {
    Some(match operator {
        Operator::And => Binary::Logical(LogicalOp::And),
        Operator::Or => Binary::Logical(LogicalOp::Or),
        Operator::Eq => Binary::Compare(CompareOp::Eq),
        Operator::NotEq => Binary::Compare(CompareOp::NotEq),
        Operator::Lt => Binary::Compare(CompareOp::Lt),
        Operator::LtEq => Binary::Compare(CompareOp::LtEq),
        Operator::Gt => Binary::Compare(CompareOp::Gt),
        Operator::GtEq => Binary::Compare(CompareOp::GtEq),
        Operator::IsDistinctFrom => Binary::Compare(CompareOp::IsDistinctFrom),
        Operator::IsNotDistinctFrom => Binary::Compare(CompareOp::IsNotDistinctFrom),
        Operator::Plus => Binary::Arithmetic(ArithmeticOp::Add),
        Operator::Minus => Binary::Arithmetic(ArithmeticOp::Subtract),
        Operator::Multiply => Binary::Arithmetic(ArithmeticOp::Multiply),
        Operator::Divide => Binary::Arithmetic(ArithmeticOp::Divide),
        Operator::Modulo => Binary::Arithmetic(ArithmeticOp::Modulo),
        _ => return None,
    })
}

fn expression_feature(expr: &Expr) -> Feature {
    match expr {
        Expr::WindowFunction(_) => Feature::WindowFunction,
        Expr::Exists(_) | Expr::InSubquery(_) | Expr::SetComparison(_) | Expr::ScalarSubquery(_) => {
            Feature::SubqueryExpression
        }
        Expr::GroupingSet(_) => Feature::GroupingSets,
        Expr::Placeholder(_) => Feature::Parameter,
        Expr::Unnest(_) => Feature::Unnest,
        Expr::SimilarTo(_) => Feature::Operator("SIMILAR TO".to_owned()),
        Expr::ScalarVariable(..) => Feature::Expression("a session variable"),
        Expr::AggregateFunction(_) => Feature::Expression("an aggregate outside of SELECT, HAVING and ORDER BY"),
        Expr::HigherOrderFunction(_) | Expr::Lambda(_) | Expr::LambdaVariable(_) => {
            Feature::Expression("a lambda function")
        }
        _ => Feature::Expression("this kind of expression"),
    }
}
