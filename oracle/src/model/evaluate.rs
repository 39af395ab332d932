//! Expressions over one row, or over one group of rows.

use super::operators::{self, Truth, all, any, arithmetic, compare, from_truth, truth};
use super::{ModelError, aggregate, like};
use crate::calendar::truncate;
use crate::query::{Column, Comparison, Expr};
use crate::value::{Row, Value};

/// What an expression can see.
#[derive(Clone, Copy)]
pub(super) enum Scope<'a> {
    /// One row.
    Row { columns: &'a [Column], row: &'a Row },
    /// The rows of a group and the values of its keys.
    Group { columns: &'a [Column], keys: &'a [Expr], key: &'a Row, rows: &'a [&'a Row] },
}

impl Scope<'_> {
    /// The expression's value.
    pub(super) fn value(self, expr: &Expr) -> Result<Value, ModelError> {
        if let Self::Group { keys, key, .. } = self
            && let Some(position) = keys.iter().position(|candidate| candidate == expr)
        {
            return Ok(key[position].clone());
        }
        match expr {
            Expr::Column(name) => self.column(name),
            Expr::Literal(literal) => Ok(literal.value.clone()),
            Expr::Arithmetic { operator, left, right } => {
                arithmetic(*operator, &self.value(left)?, &self.value(right)?)
            }
            Expr::Case { when, then, otherwise } => {
                if self.is_true(when)? {
                    self.value(then)
                } else {
                    otherwise.as_ref().map_or(Ok(Value::Null), |otherwise| self.value(otherwise))
                }
            }
            Expr::DateTrunc { unit, operand } => match self.value(operand)? {
                Value::Null => Ok(Value::Null),
                Value::Timestamp(instant) => {
                    let digits = operand.data_type(self.columns())?.second_digits();
                    let digits = digits.ok_or_else(|| ModelError::Types(expr.to_string()))?;
                    Ok(Value::Timestamp(truncate(instant, digits, *unit)))
                }
                _ => Err(ModelError::Types(expr.to_string())),
            },
            Expr::Aggregate(call) => match self {
                Self::Group { columns, rows, .. } => aggregate::evaluate(call, columns, rows),
                Self::Row { .. } => Err(ModelError::MisplacedAggregate(call.to_string())),
            },
            _ => self.predicate(expr).map(from_truth),
        }
    }

    /// Is the predicate TRUE, neither FALSE nor unknown?
    pub(super) fn is_true(self, predicate: &Expr) -> Result<bool, ModelError> {
        Ok(truth(&self.value(predicate)?)? == Some(true))
    }

    fn columns(&self) -> &[Column] {
        match self {
            Self::Row { columns, .. } | Self::Group { columns, .. } => columns,
        }
    }

    fn column(self, name: &str) -> Result<Value, ModelError> {
        match self {
            Self::Row { columns, row } => columns
                .iter()
                .position(|column| column.name == name)
                .and_then(|position| row.get(position).cloned())
                .ok_or_else(|| ModelError::UnknownColumn(name.to_owned())),
            Self::Group { .. } => Err(ModelError::UnknownColumn(name.to_owned())),
        }
    }

    fn predicate(self, expr: &Expr) -> Result<Truth, ModelError> {
        let truth_of = |operand: &Expr| truth(&self.value(operand)?);
        match expr {
            Expr::Compare { operator, left, right } => compare(*operator, &self.value(left)?, &self.value(right)?),
            Expr::And(operands) => all(operands.iter().map(truth_of)),
            Expr::Or(operands) => any(operands.iter().map(truth_of)),
            Expr::Not(operand) => Ok(operators::not(truth_of(operand)?)),
            Expr::IsNull { operand, negated } => Ok(Some(self.value(operand)?.is_null() != *negated)),
            Expr::IsTruth { operand, truth, negated } => Ok(Some((truth_of(operand)? == *truth) != *negated)),
            Expr::InList { operand, list, negated } => {
                let value = self.value(operand)?;
                let equal = |item| compare(Comparison::Equal, &value, &self.value(item)?);
                Ok(negate_if(*negated, any(list.iter().map(equal))?))
            }
            Expr::Between { operand, low, high, negated } => {
                let value = self.value(operand)?;
                let above = compare(Comparison::GreaterOrEqual, &value, &self.value(low)?);
                let below = compare(Comparison::LessOrEqual, &value, &self.value(high)?);
                Ok(negate_if(*negated, all([above, below].into_iter())?))
            }
            Expr::Like { operand, pattern, negated } => match self.value(operand)? {
                Value::Null => Ok(None),
                Value::Utf8(text) => Ok(Some(like::matches(&text, pattern) != *negated)),
                _ => Err(ModelError::Types(expr.to_string())),
            },
            _ => Err(ModelError::Types(expr.to_string())),
        }
    }
}

fn negate_if(negated: bool, truth: Truth) -> Truth {
    if negated { operators::not(truth) } else { truth }
}
