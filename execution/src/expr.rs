//! IR expressions as DataFusion expressions.

use asap_types::{ArithmeticOp, CompareOp, Expr, LogicalOp, UnaryOp};
use datafusion::common::{Column, DFSchema};
use datafusion::execution::FunctionRegistry;
use datafusion::logical_expr::expr::{Case, Cast, InList, Like, ScalarFunction, TryCast};
use datafusion::logical_expr::{BinaryExpr, Expr as DfExpr, Operator as DfOperator};

use crate::ExecutionError;
use crate::average::AverageFromParts;
use crate::in_lists;
use crate::literal::to_scalar;
use crate::truth_test;

/// Translates expressions over the columns of one input.
pub(crate) struct ExprTranslator<'a> {
    /// The input's columns, by position.
    columns: Vec<Column>,
    schema: &'a DFSchema,
    /// Where functions that are known by name come from.
    pub(crate) functions: &'a dyn FunctionRegistry,
}

impl<'a> ExprTranslator<'a> {
    pub(crate) fn new(input: &'a DFSchema, functions: &'a dyn FunctionRegistry) -> Self {
        Self { columns: input.columns(), schema: input, functions }
    }

    /// A value: a key, an argument, an output column, or the filter of a measure.
    pub(crate) fn expr(&self, expr: &Expr) -> Result<DfExpr, ExecutionError> {
        Ok(truth_test::spell_out(in_lists::guard_value(self.verbatim(expr)?, self.schema)?)?)
    }

    /// A row predicate, with truth tests in the form that table providers know.
    pub(crate) fn predicate(&self, expr: &Expr) -> Result<DfExpr, ExecutionError> {
        Ok(in_lists::guard_conjuncts(self.verbatim(expr)?, self.schema)?)
    }

    /// Word for word, with nothing that DataFusion has to be kept from.
    fn verbatim(&self, expr: &Expr) -> Result<DfExpr, ExecutionError> {
        let boxed = |expr: &Expr| self.verbatim(expr).map(Box::new);
        Ok(match expr {
            Expr::Column(id) => {
                let columns = self.columns.len();
                let column = self.columns.get(id.index()).cloned();
                DfExpr::Column(column.ok_or(asap_types::TypesError::ColumnOutOfRange { column: id.index(), columns })?)
            }
            Expr::Literal(literal) => DfExpr::Literal(to_scalar(literal)?, None),
            Expr::Logical { op, left, right } => {
                let op = if *op == LogicalOp::And { DfOperator::And } else { DfOperator::Or };
                DfExpr::BinaryExpr(BinaryExpr::new(boxed(left)?, op, boxed(right)?))
            }
            Expr::Compare { op, left, right } => {
                DfExpr::BinaryExpr(BinaryExpr::new(boxed(left)?, compare_operator(*op), boxed(right)?))
            }
            Expr::Arithmetic { op, left, right, .. } => {
                DfExpr::BinaryExpr(BinaryExpr::new(boxed(left)?, arithmetic_operator(*op), boxed(right)?))
            }
            Expr::Unary { op, arg } => unary(*op, boxed(arg)?),
            Expr::Cast { arg, to, null_on_failure: false } => DfExpr::Cast(Cast::new(boxed(arg)?, to.clone())),
            Expr::Cast { arg, to, null_on_failure: true } => DfExpr::TryCast(TryCast::new(boxed(arg)?, to.clone())),
            Expr::InList { arg, list, negated } => DfExpr::InList(InList::new(boxed(arg)?, self.all(list)?, *negated)),
            Expr::Like { arg, pattern, escape, case_insensitive, negated } => {
                DfExpr::Like(Like::new(*negated, boxed(arg)?, boxed(pattern)?, *escape, *case_insensitive))
            }
            Expr::Case { operand, branches, otherwise } => DfExpr::Case(Case::new(
                operand.as_deref().map(boxed).transpose()?,
                branches
                    .iter()
                    .map(|(when, then)| Ok((boxed(when)?, boxed(then)?)))
                    .collect::<Result<_, ExecutionError>>()?,
                otherwise.as_deref().map(boxed).transpose()?,
            )),
            Expr::Function { name, args, .. } => {
                let udf = self.functions.udf(name).map_err(|_| ExecutionError::UnknownFunction(name.clone()))?;
                DfExpr::ScalarFunction(ScalarFunction::new_udf(udf, self.all(args)?))
            }
            Expr::AverageFromParts { sum, count, data_type } => {
                let udf = AverageFromParts::udf(data_type.clone());
                DfExpr::ScalarFunction(ScalarFunction::new_udf(udf, vec![self.verbatim(sum)?, self.verbatim(count)?]))
            }
        })
    }

    fn all(&self, exprs: &[Expr]) -> Result<Vec<DfExpr>, ExecutionError> {
        exprs.iter().map(|expr| self.verbatim(expr)).collect()
    }

    pub(crate) fn exprs(&self, exprs: &[Expr]) -> Result<Vec<DfExpr>, ExecutionError> {
        exprs.iter().map(|expr| self.expr(expr)).collect()
    }
}

fn unary(op: UnaryOp, arg: Box<DfExpr>) -> DfExpr {
    match op {
        UnaryOp::Not => DfExpr::Not(arg),
        UnaryOp::Negative => DfExpr::Negative(arg),
        UnaryOp::IsNull => DfExpr::IsNull(arg),
        UnaryOp::IsNotNull => DfExpr::IsNotNull(arg),
        UnaryOp::IsTrue => DfExpr::IsTrue(arg),
        UnaryOp::IsNotTrue => DfExpr::IsNotTrue(arg),
        UnaryOp::IsFalse => DfExpr::IsFalse(arg),
        UnaryOp::IsNotFalse => DfExpr::IsNotFalse(arg),
        UnaryOp::IsUnknown => DfExpr::IsUnknown(arg),
        UnaryOp::IsNotUnknown => DfExpr::IsNotUnknown(arg),
    }
}

fn compare_operator(op: CompareOp) -> DfOperator {
    match op {
        CompareOp::Eq => DfOperator::Eq,
        CompareOp::NotEq => DfOperator::NotEq,
        CompareOp::Lt => DfOperator::Lt,
        CompareOp::LtEq => DfOperator::LtEq,
        CompareOp::Gt => DfOperator::Gt,
        CompareOp::GtEq => DfOperator::GtEq,
        CompareOp::IsDistinctFrom => DfOperator::IsDistinctFrom,
        CompareOp::IsNotDistinctFrom => DfOperator::IsNotDistinctFrom,
    }
}

fn arithmetic_operator(op: ArithmeticOp) -> DfOperator {
    match op {
        ArithmeticOp::Add => DfOperator::Plus,
        ArithmeticOp::Subtract => DfOperator::Minus,
        ArithmeticOp::Multiply => DfOperator::Multiply,
        ArithmeticOp::Divide => DfOperator::Divide,
        ArithmeticOp::Modulo => DfOperator::Modulo,
    }
}
