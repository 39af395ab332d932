//! Scalar expressions.

use asap_types::{ArithmeticOp, ColumnRef, CompareOp, Expr as IrExpr, LogicalOp, UnaryOp};
use datafusion_common::DFSchema;
use datafusion_expr::expr::{InList, Like};
use datafusion_expr::{Between, BinaryExpr, Case, Expr, ExprSchemable, Operator};

use super::Lowering;
use super::constant::fold;
use super::literal::literal;
use crate::{Feature, FrontendError};

type Lowered = Result<IrExpr<ColumnRef>, FrontendError>;

impl Lowering<'_> {
    /// Lowers an expression over the columns of a schema. A constant expression becomes the constant.
    pub(super) fn expr(&self, expr: &Expr, schema: &DFSchema) -> Lowered {
        if let Some(constant) = fold(expr) {
            return self.expr(&Expr::Literal(constant, None), schema);
        }
        let unary = |op: UnaryOp, arg: &Expr| Ok(self.expr(arg, schema)?.unary(op));
        match expr {
            Expr::Alias(alias) => self.expr(&alias.expr, schema),
            Expr::Column(column) => self.column(column, schema),
            Expr::Literal(value, _) => literal(value)
                .map(IrExpr::Literal)
                .ok_or_else(|| self.refuse(Feature::LiteralType(value.data_type().to_string()))),
            Expr::BinaryExpr(binary) => self.binary(binary, expr, schema),
            Expr::Like(like) => self.like(like, schema),
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
            Expr::Between(between) => self.between(between, schema),
            Expr::Case(case) => self.case(case, schema),
            Expr::Cast(cast) => self.cast(&cast.expr, cast.field.data_type(), false, schema),
            Expr::TryCast(cast) => self.cast(&cast.expr, cast.field.data_type(), true, schema),
            Expr::InList(list) => self.in_list(list, schema),
            Expr::ScalarFunction(call) => self.function(call, expr, schema),
            other => Err(self.refuse_expr(expression_feature(other), other)),
        }
    }

    fn boxed(&self, expr: &Expr, schema: &DFSchema) -> Result<Box<IrExpr<ColumnRef>>, FrontendError> {
        self.expr(expr, schema).map(Box::new)
    }

    fn binary(&self, binary: &BinaryExpr, whole: &Expr, schema: &DFSchema) -> Lowered {
        let Some(operator) = binary_operator(binary.op) else {
            return Err(self.refuse_expr(Feature::Operator(binary.op.to_string()), whole));
        };
        let (left, right) = (self.boxed(&binary.left, schema)?, self.boxed(&binary.right, schema)?);
        Ok(match operator {
            Binary::Logical(op) => IrExpr::Logical { op, left, right },
            Binary::Compare(op) => IrExpr::Compare { op, left, right },
            Binary::Arithmetic(op) => {
                let data_type = self.planned(whole.get_type(schema))?;
                IrExpr::Arithmetic { op, left, right, data_type }
            }
        })
    }

    fn like(&self, like: &Like, schema: &DFSchema) -> Lowered {
        Ok(IrExpr::Like {
            arg: self.boxed(&like.expr, schema)?,
            pattern: self.boxed(&like.pattern, schema)?,
            escape: like.escape_char,
            case_insensitive: like.case_insensitive,
            negated: like.negated,
        })
    }

    /// `x BETWEEN a AND b` is `x >= a AND x <= b`; its negation `x < a OR x > b`.
    fn between(&self, between: &Between, schema: &DFSchema) -> Lowered {
        let arg = self.expr(&between.expr, schema)?;
        if arg.is_volatile() {
            return Err(self.refuse_expr(Feature::VolatileBetween, &between.expr));
        }
        let (low, high) = (self.expr(&between.low, schema)?, self.expr(&between.high, schema)?);
        let (op, above, below) = if between.negated {
            (LogicalOp::Or, CompareOp::Lt, CompareOp::Gt)
        } else {
            (LogicalOp::And, CompareOp::GtEq, CompareOp::LtEq)
        };
        let (left, right) = (arg.clone().compare(above, low), arg.compare(below, high));
        Ok(IrExpr::Logical { op, left: Box::new(left), right: Box::new(right) })
    }

    /// `ELSE NULL` is the same as no ELSE.
    fn case(&self, case: &Case, schema: &DFSchema) -> Lowered {
        let operand = case.expr.as_deref().map(|operand| self.boxed(operand, schema)).transpose()?;
        let branches = case
            .when_then_expr
            .iter()
            .map(|(when, then)| Ok((self.expr(when, schema)?, self.expr(then, schema)?)))
            .collect::<Result<_, FrontendError>>()?;
        let otherwise = case.else_expr.as_deref().map(|otherwise| self.boxed(otherwise, schema)).transpose()?;
        let otherwise = otherwise.filter(|expr| !matches!(&**expr, IrExpr::Literal(literal) if literal.is_null()));
        Ok(IrExpr::Case { operand, branches, otherwise })
    }

    fn cast(&self, arg: &Expr, to: &arrow_schema::DataType, null_on_failure: bool, schema: &DFSchema) -> Lowered {
        Ok(IrExpr::Cast { arg: self.boxed(arg, schema)?, to: to.clone(), null_on_failure })
    }

    fn in_list(&self, list: &InList, schema: &DFSchema) -> Lowered {
        Ok(IrExpr::InList {
            arg: self.boxed(&list.expr, schema)?,
            list: list.list.iter().map(|item| self.expr(item, schema)).collect::<Result<_, _>>()?,
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
