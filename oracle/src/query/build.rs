//! Shorthand for building expressions.

use super::{Aggregate, Arithmetic, Comparison, Expr, Function, Literal};
use crate::value::{Type, Value};

impl Expr {
    /// A column.
    #[must_use]
    pub fn column(name: impl Into<String>) -> Self {
        Self::Column(name.into())
    }

    /// A constant.
    #[must_use]
    pub fn literal(value: Value, data_type: Type) -> Self {
        Self::Literal(Literal { value, data_type })
    }

    /// `left operator right`.
    #[must_use]
    pub fn compare(operator: Comparison, left: Self, right: Self) -> Self {
        Self::Compare { operator, left: Box::new(left), right: Box::new(right) }
    }

    /// `left operator right`.
    #[must_use]
    pub fn arithmetic(operator: Arithmetic, left: Self, right: Self) -> Self {
        Self::Arithmetic { operator, left: Box::new(left), right: Box::new(right) }
    }

    /// `CASE WHEN when THEN then [ELSE otherwise] END`.
    #[must_use]
    pub fn case(when: Self, then: Self, otherwise: Option<Self>) -> Self {
        Self::Case { when: Box::new(when), then: Box::new(then), otherwise: otherwise.map(Box::new) }
    }

    /// `count(*)`.
    #[must_use]
    pub fn count_all(filter: Option<Self>) -> Self {
        Self::Aggregate(Box::new(Aggregate { function: Function::Count, argument: None, distinct: false, filter }))
    }

    /// `function(argument)`.
    #[must_use]
    pub fn aggregate(function: Function, argument: Self, filter: Option<Self>) -> Self {
        Self::Aggregate(Box::new(Aggregate { function, argument: Some(argument), distinct: false, filter }))
    }

    /// `function(DISTINCT argument)`.
    #[must_use]
    pub fn distinct_aggregate(function: Function, argument: Self, filter: Option<Self>) -> Self {
        Self::Aggregate(Box::new(Aggregate { function, argument: Some(argument), distinct: true, filter }))
    }
}
