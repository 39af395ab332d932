//! Expressions with parts of them replaced.

use super::Expr;

impl Expr {
    /// Replaces every part for which `replace` has something else, from the outside; what aggregates read stays.
    ///
    /// # Errors
    /// As `replace`.
    pub(crate) fn rewritten<E>(&self, replace: &mut dyn FnMut(&Self) -> Result<Option<Self>, E>) -> Result<Self, E> {
        if let Some(other) = replace(self)? {
            return Ok(other);
        }
        let mut of = |operand: &Self| operand.rewritten(replace);
        let mut boxed = |operand: &Self| of(operand).map(Box::new);
        Ok(match self {
            Self::Column(_) | Self::Literal(_) | Self::Aggregate(_) | Self::Exists { .. } | Self::Scalar { .. } => {
                self.clone()
            }
            Self::Arithmetic { operator, left, right } => {
                Self::Arithmetic { operator: *operator, left: boxed(left)?, right: boxed(right)? }
            }
            Self::Compare { operator, left, right } => {
                Self::Compare { operator: *operator, left: boxed(left)?, right: boxed(right)? }
            }
            Self::And(operands) => Self::And(operands.iter().map(of).collect::<Result<_, E>>()?),
            Self::Or(operands) => Self::Or(operands.iter().map(of).collect::<Result<_, E>>()?),
            Self::Not(operand) => Self::Not(boxed(operand)?),
            Self::IsNull { operand, negated } => Self::IsNull { operand: boxed(operand)?, negated: *negated },
            Self::IsTruth { operand, truth, negated } => {
                Self::IsTruth { operand: boxed(operand)?, truth: *truth, negated: *negated }
            }
            Self::InList { operand, list, negated } => Self::InList {
                operand: boxed(operand)?,
                list: list.iter().map(of).collect::<Result<_, E>>()?,
                negated: *negated,
            },
            Self::InQuery { operand, query, negated } => {
                Self::InQuery { operand: boxed(operand)?, query: query.clone(), negated: *negated }
            }
            Self::Between { operand, low, high, negated } => {
                Self::Between { operand: boxed(operand)?, low: boxed(low)?, high: boxed(high)?, negated: *negated }
            }
            Self::Like { operand, pattern, negated } => {
                Self::Like { operand: boxed(operand)?, pattern: pattern.clone(), negated: *negated }
            }
            Self::Case { when, then, otherwise } => Self::Case {
                when: boxed(when)?,
                then: boxed(then)?,
                otherwise: otherwise.as_ref().map(|otherwise| boxed(otherwise)).transpose()?,
            },
            Self::DateTrunc { unit, operand } => Self::DateTrunc { unit: *unit, operand: boxed(operand)? },
        })
    }
}
