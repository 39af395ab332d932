//! The oracle's own query language: apart from DataFusion's and from asap-types, so that a mistake in either cannot hide in it.

mod features;
mod render;
mod rewrite;
mod shape;
mod source;
mod typing;

pub(crate) use features::visit;
pub use shape::{DateUnit, Grouping, Spelling};
pub use source::{JoinKind, Nesting, Source};

use serde::{Deserialize, Serialize};

use crate::recipe::is_default;
use crate::value::{Type, Value};

/// A named, typed column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The type.
    pub data_type: Type,
    /// May it hold NULL?
    pub nullable: bool,
}

/// An expression over the columns of a source, and (in the outputs and HAVING of an aggregate query) over its aggregates.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Expr {
    /// A column of the source.
    Column(String),
    /// A typed constant.
    Literal(Literal),
    /// `left + right` and the like; integers wrap.
    Arithmetic {
        /// Which one.
        operator: Arithmetic,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// `left < right` and the like; unknown when either is NULL.
    Compare {
        /// Which one.
        operator: Comparison,
        /// The left operand.
        left: Box<Expr>,
        /// The right operand.
        right: Box<Expr>,
    },
    /// All of them, in three-valued logic.
    And(Vec<Expr>),
    /// Any of them, in three-valued logic.
    Or(Vec<Expr>),
    /// `NOT x`; unknown stays unknown.
    Not(Box<Expr>),
    /// `x IS [NOT] NULL`.
    IsNull {
        /// The tested expression.
        operand: Box<Expr>,
        /// `IS NOT NULL`.
        negated: bool,
    },
    /// `x IS [NOT] TRUE`, `FALSE` or `UNKNOWN`: never unknown itself.
    IsTruth {
        /// The tested predicate.
        operand: Box<Expr>,
        /// The truth value that is asked for; absent: unknown.
        truth: Option<bool>,
        /// `IS NOT`.
        negated: bool,
    },
    /// `x [NOT] IN (…)`.
    InList {
        /// The tested expression.
        operand: Box<Expr>,
        /// The candidates.
        list: Vec<Expr>,
        /// `NOT IN`.
        negated: bool,
    },
    /// `x [NOT] IN (SELECT …)`, in WHERE.
    InQuery {
        /// The tested expression.
        operand: Box<Expr>,
        /// A query of one column.
        query: Box<Query>,
        /// `NOT IN`.
        negated: bool,
    },
    /// `[NOT] EXISTS (SELECT …)`, in WHERE.
    Exists {
        /// The query.
        query: Box<Query>,
        /// `NOT EXISTS`.
        negated: bool,
    },
    /// `(SELECT …)` of at most one row, in WHERE; NULL over none.
    Scalar {
        /// A query of one column.
        query: Box<Query>,
        /// Its type.
        data_type: Type,
    },
    /// `x [NOT] BETWEEN low AND high`.
    Between {
        /// The tested expression.
        operand: Box<Expr>,
        /// The lower bound, included.
        low: Box<Expr>,
        /// The upper bound, included.
        high: Box<Expr>,
        /// `NOT BETWEEN`.
        negated: bool,
    },
    /// `x [NOT] LIKE 'pattern'`: `%` is any text, `_` any one character.
    Like {
        /// The tested expression.
        operand: Box<Expr>,
        /// The pattern.
        pattern: String,
        /// `NOT LIKE`.
        negated: bool,
    },
    /// `CASE WHEN when THEN then [ELSE otherwise] END`.
    Case {
        /// The condition; unknown counts as false.
        when: Box<Expr>,
        /// The value where the condition is TRUE.
        then: Box<Expr>,
        /// The value elsewhere; NULL if absent.
        otherwise: Option<Box<Expr>>,
    },
    /// `date_trunc('unit', x)` of a timestamp.
    DateTrunc {
        /// What is kept.
        unit: DateUnit,
        /// The timestamp.
        operand: Box<Expr>,
    },
    /// An aggregate over the rows of the group.
    Aggregate(Box<Aggregate>),
}

/// A typed constant; NULL has a type too.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Literal {
    /// The value.
    pub value: Value,
    /// Its type.
    pub data_type: Type,
}

/// Binary arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// `+`
    Add,
    /// `-`
    Subtract,
    /// `*`
    Multiply,
    /// `%`, of integers
    Modulo,
}

/// Binary comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `=`
    Equal,
    /// `<>`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// An aggregate function.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// `count`
    Count,
    /// `sum`
    Sum,
    /// `min`
    Min,
    /// `max`
    Max,
    /// `avg`
    Avg,
}

/// `function([DISTINCT] argument) [FILTER (WHERE filter)]`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Aggregate {
    /// The function.
    pub function: Function,
    /// The argument; absent only in `count(*)`.
    pub argument: Option<Expr>,
    /// Each value counts once.
    #[serde(default, skip_serializing_if = "is_default")]
    pub distinct: bool,
    /// Only rows where this is TRUE are taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
}

/// One output column.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Output {
    /// What it computes.
    pub expr: Expr,
    /// Its name in the answer.
    pub name: String,
}

impl Output {
    /// `expr AS name`.
    #[must_use]
    pub fn new(expr: Expr, name: impl Into<String>) -> Self {
        Self { expr, name: name.into() }
    }
}

/// One ORDER BY item.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SortKey {
    /// Position of the output column.
    pub output: usize,
    /// `DESC`.
    pub descending: bool,
    /// `NULLS FIRST` or `NULLS LAST` if written; otherwise NULL is the largest value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nulls_first: Option<bool>,
    /// How the output is named.
    #[serde(default, skip_serializing_if = "is_default")]
    pub spelling: Spelling,
}

/// A query over one source.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Query {
    /// FROM.
    pub source: Source,
    /// WHERE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub filter: Option<Expr>,
    /// GROUP BY. Absent: no aggregation. Empty: one group, the grand total.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_by: Option<Vec<Expr>>,
    /// How GROUP BY names keys that are outputs.
    #[serde(default, skip_serializing_if = "is_default")]
    pub key_spelling: Spelling,
    /// ROLLUP, CUBE or GROUPING SETS over the keys.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grouping: Option<Grouping>,
    /// SELECT DISTINCT.
    #[serde(default, skip_serializing_if = "is_default")]
    pub distinct: bool,
    /// SELECT.
    pub outputs: Vec<Output>,
    /// HAVING.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub having: Option<Expr>,
    /// ORDER BY.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub order_by: Vec<SortKey>,
    /// LIMIT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// OFFSET.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<usize>,
}

impl Query {
    /// `SELECT outputs FROM table`.
    #[must_use]
    pub fn of_table(table: impl Into<String>, outputs: Vec<Output>) -> Self {
        Self {
            source: Source::Table(table.into()),
            filter: None,
            group_by: None,
            key_spelling: Spelling::Usual,
            grouping: None,
            distinct: false,
            outputs,
            having: None,
            order_by: Vec::new(),
            limit: None,
            offset: None,
        }
    }

    /// The same groups, in any order and all of them: without DISTINCT, ORDER BY, LIMIT and OFFSET.
    #[must_use]
    pub fn unordered(&self) -> Self {
        Self { distinct: false, order_by: Vec::new(), limit: None, offset: None, ..self.clone() }
    }

    /// Is the set of rows in the answer the same whatever order rows with equal sort keys come in?
    /// True without LIMIT and OFFSET, and with one when every output column is a sort key.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        let ordered = (0..self.outputs.len()).all(|output| self.order_by.iter().any(|key| key.output == output));
        self.source.is_deterministic() && (self.limit.is_none() && self.offset.is_none() || ordered)
    }
}

/// Shorthand for building expressions.
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
