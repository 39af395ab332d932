//! Scalar expressions.

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use crate::facts::{FunctionFacts, Volatility};
use crate::{ColumnId, Literal};

/// A scalar expression over the columns `C` of one input row.
///
/// Types are explicit: a front end has inserted every cast, so that operands of a comparison have one type, and records
/// the result type of arithmetic.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Expr<C = ColumnId> {
    /// A column of the input.
    Column(C),
    /// A constant.
    Literal(Literal),
    /// AND / OR in three-valued logic.
    Logical {
        /// AND or OR.
        op: LogicalOp,
        /// Left operand.
        left: Box<Expr<C>>,
        /// Right operand.
        right: Box<Expr<C>>,
    },
    /// A comparison; NULL operands give NULL, except under IS \[NOT\] DISTINCT FROM.
    Compare {
        /// The comparison.
        op: CompareOp,
        /// Left operand.
        left: Box<Expr<C>>,
        /// Right operand.
        right: Box<Expr<C>>,
    },
    /// Arithmetic with the result type that the front end recorded.
    Arithmetic {
        /// The operation.
        op: ArithmeticOp,
        /// Left operand.
        left: Box<Expr<C>>,
        /// Right operand.
        right: Box<Expr<C>>,
        /// The type of the result.
        data_type: DataType,
    },
    /// A one-operand operator.
    Unary {
        /// The operator.
        op: UnaryOp,
        /// The operand.
        arg: Box<Expr<C>>,
    },
    /// `CAST(arg AS to)`, or `TRY_CAST` when `null_on_failure`.
    Cast {
        /// The operand.
        arg: Box<Expr<C>>,
        /// The target type.
        to: DataType,
        /// Whether a value that cannot be converted gives NULL instead of an error.
        null_on_failure: bool,
    },
    /// `arg [NOT] IN (list)`.
    InList {
        /// The operand.
        arg: Box<Expr<C>>,
        /// The listed expressions.
        list: Vec<Expr<C>>,
        /// Whether it is NOT IN.
        negated: bool,
    },
    /// `arg [NOT] LIKE pattern` or ILIKE.
    Like {
        /// The operand.
        arg: Box<Expr<C>>,
        /// The pattern.
        pattern: Box<Expr<C>>,
        /// The escape character, if one was written.
        escape: Option<char>,
        /// Whether case is ignored (ILIKE).
        case_insensitive: bool,
        /// Whether it is NOT LIKE.
        negated: bool,
    },
    /// `CASE [operand] WHEN … THEN … [ELSE …] END`.
    Case {
        /// The compared operand of a simple CASE.
        operand: Option<Box<Expr<C>>>,
        /// `(when, then)` pairs in order.
        branches: Vec<(Expr<C>, Expr<C>)>,
        /// The ELSE expression; absent means NULL.
        otherwise: Option<Box<Expr<C>>>,
    },
    /// A function that is known by name only.
    Function {
        /// The function's name in the session that planned it.
        name: String,
        /// The arguments.
        args: Vec<Expr<C>>,
        /// What the front end recorded about this call.
        facts: FunctionFacts,
    },
    /// The value of an average from its sum and its count of non-NULL values: NULL for a count of 0, otherwise exactly
    /// what AVG computes from those two as its final state (type `data_type`).
    AverageFromParts {
        /// The sum, of the type that the average accumulates.
        sum: Box<Expr<C>>,
        /// The count of non-NULL values (`Int64`).
        count: Box<Expr<C>>,
        /// The type of the average.
        data_type: DataType,
    },
}

/// AND / OR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LogicalOp {
    /// Conjunction.
    And,
    /// Disjunction.
    Or,
}

/// Comparison operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CompareOp {
    /// `=`
    Eq,
    /// `<>`
    NotEq,
    /// `<`
    Lt,
    /// `<=`
    LtEq,
    /// `>`
    Gt,
    /// `>=`
    GtEq,
    /// `IS DISTINCT FROM`
    IsDistinctFrom,
    /// `IS NOT DISTINCT FROM`
    IsNotDistinctFrom,
}

impl CompareOp {
    /// The operator that compares the swapped operands alike.
    #[must_use]
    pub fn swapped(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::LtEq => Self::GtEq,
            Self::Gt => Self::Lt,
            Self::GtEq => Self::LtEq,
            symmetric => symmetric,
        }
    }
}

/// Arithmetic operators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ArithmeticOp {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `/`
    Divide,
    /// `%`
    Modulo,
}

/// One-operand operators. The `Is…` tests never give NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum UnaryOp {
    /// NOT in three-valued logic.
    Not,
    /// Arithmetic negation.
    Negative,
    /// `IS NULL`
    IsNull,
    /// `IS NOT NULL`
    IsNotNull,
    /// `IS TRUE`
    IsTrue,
    /// `IS NOT TRUE`
    IsNotTrue,
    /// `IS FALSE`
    IsFalse,
    /// `IS NOT FALSE`
    IsNotFalse,
    /// `IS UNKNOWN`
    IsUnknown,
    /// `IS NOT UNKNOWN`
    IsNotUnknown,
}

/// A row predicate: a row passes only when the expression is TRUE, not when it is FALSE or NULL.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Predicate<C = ColumnId>(pub Expr<C>);

impl Expr<ColumnId> {
    /// The column at a zero-based position.
    #[must_use]
    pub fn column(index: usize) -> Self {
        Self::Column(ColumnId(index))
    }
}

impl<C> Expr<C> {
    /// `left AND right`.
    #[must_use]
    pub fn and(self, right: Self) -> Self {
        Self::Logical { op: LogicalOp::And, left: Box::new(self), right: Box::new(right) }
    }

    /// A comparison.
    #[must_use]
    pub fn compare(self, op: CompareOp, right: Self) -> Self {
        Self::Compare { op, left: Box::new(self), right: Box::new(right) }
    }

    /// `self = right`.
    #[must_use]
    pub fn eq(self, right: Self) -> Self {
        self.compare(CompareOp::Eq, right)
    }

    /// A one-operand operator applied to this expression.
    #[must_use]
    pub fn unary(self, op: UnaryOp) -> Self {
        Self::Unary { op, arg: Box::new(self) }
    }

    /// `self IS NOT NULL`.
    #[must_use]
    pub fn is_not_null(self) -> Self {
        self.unary(UnaryOp::IsNotNull)
    }

    /// The direct operands, in the order in which they are written.
    #[must_use]
    pub fn children(&self) -> Vec<&Expr<C>> {
        match self {
            Self::Column(_) | Self::Literal(_) => vec![],
            Self::Logical { left, right, .. }
            | Self::Compare { left, right, .. }
            | Self::Arithmetic { left, right, .. } => vec![left, right],
            Self::Unary { arg, .. } | Self::Cast { arg, .. } => vec![arg],
            Self::InList { arg, list, .. } => std::iter::once(&**arg).chain(list).collect(),
            Self::Like { arg, pattern, .. } => vec![arg, pattern],
            Self::Case { operand, branches, otherwise } => operand
                .as_deref()
                .into_iter()
                .chain(branches.iter().flat_map(|(when, then)| [when, then]))
                .chain(otherwise.as_deref())
                .collect(),
            Self::Function { args, .. } => args.iter().collect(),
            Self::AverageFromParts { sum, count, .. } => vec![sum, count],
        }
    }

    /// The same expression with each direct operand replaced; columns and literals have none.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map_children<E>(&self, map: &mut dyn FnMut(&Expr<C>) -> Result<Expr<C>, E>) -> Result<Expr<C>, E>
    where
        C: Clone,
    {
        let mut boxed = |expr: &Expr<C>| map(expr).map(Box::new);
        Ok(match self {
            Self::Column(_) | Self::Literal(_) => self.clone(),
            Self::Logical { op, left, right } => Self::Logical { op: *op, left: boxed(left)?, right: boxed(right)? },
            Self::Compare { op, left, right } => Self::Compare { op: *op, left: boxed(left)?, right: boxed(right)? },
            Self::Arithmetic { op, left, right, data_type } => {
                Self::Arithmetic { op: *op, left: boxed(left)?, right: boxed(right)?, data_type: data_type.clone() }
            }
            Self::Unary { op, arg } => Self::Unary { op: *op, arg: boxed(arg)? },
            Self::Cast { arg, to, null_on_failure } => {
                Self::Cast { arg: boxed(arg)?, to: to.clone(), null_on_failure: *null_on_failure }
            }
            Self::InList { arg, list, negated } => Self::InList {
                arg: boxed(arg)?,
                list: list.iter().map(&mut *map).collect::<Result<_, E>>()?,
                negated: *negated,
            },
            Self::Like { arg, pattern, escape, case_insensitive, negated } => Self::Like {
                arg: boxed(arg)?,
                pattern: boxed(pattern)?,
                escape: *escape,
                case_insensitive: *case_insensitive,
                negated: *negated,
            },
            Self::Case { operand, branches, otherwise } => Self::Case {
                operand: operand.as_deref().map(&mut boxed).transpose()?,
                otherwise: otherwise.as_deref().map(&mut boxed).transpose()?,
                branches: branches.iter().map(|(when, then)| Ok((map(when)?, map(then)?))).collect::<Result<_, E>>()?,
            },
            Self::Function { name, args, facts } => Self::Function {
                name: name.clone(),
                args: args.iter().map(&mut *map).collect::<Result<_, E>>()?,
                facts: facts.clone(),
            },
            Self::AverageFromParts { sum, count, data_type } => {
                Self::AverageFromParts { sum: boxed(sum)?, count: boxed(count)?, data_type: data_type.clone() }
            }
        })
    }

    /// The same expression over other columns.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map_columns<D, E>(&self, map: &mut dyn FnMut(&C) -> Result<D, E>) -> Result<Expr<D>, E> {
        let column = |column: &C, map: &mut dyn FnMut(&C) -> Result<D, E>| map(column).map(Expr::Column);
        let mut boxed = |expr: &Expr<C>| expr.try_map_columns(map).map(Box::new);
        Ok(match self {
            Self::Column(id) => column(id, map)?,
            Self::Literal(literal) => Expr::Literal(literal.clone()),
            Self::Logical { op, left, right } => Expr::Logical { op: *op, left: boxed(left)?, right: boxed(right)? },
            Self::Compare { op, left, right } => Expr::Compare { op: *op, left: boxed(left)?, right: boxed(right)? },
            Self::Arithmetic { op, left, right, data_type } => {
                Expr::Arithmetic { op: *op, left: boxed(left)?, right: boxed(right)?, data_type: data_type.clone() }
            }
            Self::Unary { op, arg } => Expr::Unary { op: *op, arg: boxed(arg)? },
            Self::Cast { arg, to, null_on_failure } => {
                Expr::Cast { arg: boxed(arg)?, to: to.clone(), null_on_failure: *null_on_failure }
            }
            Self::InList { arg, list, negated } => Expr::InList {
                arg: boxed(arg)?,
                list: list.iter().map(|item| item.try_map_columns(map)).collect::<Result<_, E>>()?,
                negated: *negated,
            },
            Self::Like { arg, pattern, escape, case_insensitive, negated } => Expr::Like {
                arg: boxed(arg)?,
                pattern: boxed(pattern)?,
                escape: *escape,
                case_insensitive: *case_insensitive,
                negated: *negated,
            },
            Self::Case { operand, branches, otherwise } => Expr::Case {
                operand: operand.as_deref().map(&mut boxed).transpose()?,
                otherwise: otherwise.as_deref().map(&mut boxed).transpose()?,
                branches: branches
                    .iter()
                    .map(|(when, then)| Ok((when.try_map_columns(map)?, then.try_map_columns(map)?)))
                    .collect::<Result<_, E>>()?,
            },
            Self::Function { name, args, facts } => Expr::Function {
                name: name.clone(),
                args: args.iter().map(|arg| arg.try_map_columns(map)).collect::<Result<_, E>>()?,
                facts: facts.clone(),
            },
            Self::AverageFromParts { sum, count, data_type } => {
                Expr::AverageFromParts { sum: boxed(sum)?, count: boxed(count)?, data_type: data_type.clone() }
            }
        })
    }

    /// Whether a property holds for this expression or any of its operands.
    pub fn any(&self, test: &mut dyn FnMut(&Expr<C>) -> bool) -> bool {
        test(self) || self.children().into_iter().any(|child| child.any(test))
    }

    /// Whether evaluating the expression twice may give two values.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.any(&mut |expr| matches!(expr, Self::Function { facts, .. } if facts.volatility == Volatility::Volatile))
    }

    /// The number of nodes of the tree, this one included.
    #[must_use]
    pub fn node_count(&self) -> usize {
        1 + self.children().into_iter().map(Self::node_count).sum::<usize>()
    }

    /// Visits every column reference, in the order in which they are written.
    pub fn for_each_column(&self, visit: &mut dyn FnMut(&C)) {
        if let Self::Column(column) = self {
            visit(column);
        }
        for child in self.children() {
            child.for_each_column(visit);
        }
    }

    /// Splits an AND tree into its conjuncts, left to right.
    #[must_use]
    pub fn conjuncts(self) -> Vec<Self> {
        match self {
            Self::Logical { op: LogicalOp::And, left, right } => {
                let mut conjuncts = left.conjuncts();
                conjuncts.extend(right.conjuncts());
                conjuncts
            }
            other => vec![other],
        }
    }

    /// Joins conjuncts with AND, left to right; `None` for none.
    pub fn conjunction(conjuncts: impl IntoIterator<Item = Self>) -> Option<Self> {
        conjuncts.into_iter().reduce(Self::and)
    }
}

impl Expr<ColumnId> {
    /// The expression with every column replaced by the expression at its position, as when a projection below is
    /// merged into what reads it.
    #[must_use]
    pub fn substitute(&self, columns: &[Expr]) -> Expr {
        match self {
            Self::Column(id) => columns.get(id.index()).cloned().unwrap_or_else(|| self.clone()),
            other => {
                let substituted: Result<Expr, std::convert::Infallible> =
                    other.try_map_children(&mut |child| Ok(child.substitute(columns)));
                match substituted {
                    Ok(expr) => expr,
                }
            }
        }
    }
}
