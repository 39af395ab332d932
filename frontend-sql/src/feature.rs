//! The SQL that the workload IR does not hold.

use std::fmt;

/// A construct that is refused. `Display` is a phrase for messages, [`Feature::name`] a stable identifier.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Feature {
    /// Anything but a query: DDL, DML, EXPLAIN, SET, COPY.
    NotAQuery,
    /// Several tables in FROM, or JOIN.
    Join,
    /// UNION, INTERSECT, EXCEPT.
    SetOperation,
    /// OVER, WINDOW, QUALIFY.
    WindowFunction,
    /// A subquery in an expression: scalar, EXISTS, IN, ANY, ALL.
    SubqueryExpression,
    /// GROUPING SETS, ROLLUP, CUBE.
    GroupingSets,
    /// VALUES.
    Values,
    /// A SELECT without FROM.
    NoTable,
    /// UNNEST.
    Unnest,
    /// LATERAL.
    Lateral,
    /// A function in FROM.
    TableFunction,
    /// PIVOT, MATCH_RECOGNIZE and other ways to make a table, or TABLESAMPLE.
    TableFactor,
    /// WITH RECURSIVE.
    RecursiveCte,
    /// DISTINCT ON.
    DistinctOn,
    /// `aggregate(DISTINCT …)`.
    DistinctAggregate,
    /// ORDER BY or another clause inside the parentheses of an aggregate.
    AggregateClause,
    /// WITHIN GROUP.
    WithinGroup,
    /// FILTER on a function that is no aggregate.
    FilterClause,
    /// IGNORE NULLS, RESPECT NULLS.
    NullTreatment,
    /// An aggregate function that the IR knows nothing about.
    Aggregate(String),
    /// An operator that the IR does not hold.
    Operator(String),
    /// Another kind of scalar expression.
    Expression(&'static str),
    /// A constant of a nested type.
    LiteralType(String),
    /// A parameter, `$1` or `?`.
    Parameter,
    /// LIMIT or OFFSET with anything but a constant.
    LimitExpression,
    /// A volatile operand that the lowering would evaluate twice.
    VolatileBetween,
    /// A BETWEEN whose operand is so large that it is not written twice.
    LargeBetween,
    /// A key such as `CAST(x AS …)` over a sub-select in which `x` is a key: DataFusion 54.1 takes the two for equal,
    /// and groups by what depends on `x` as well.
    ConvertedKey,
    /// Another relational operator.
    Relation(&'static str),
}

impl Feature {
    /// A stable identifier, for reports and tests.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::NotAQuery => "not-a-query",
            Self::Join => "join",
            Self::SetOperation => "set-operation",
            Self::WindowFunction => "window-function",
            Self::SubqueryExpression => "subquery-expression",
            Self::GroupingSets => "grouping-sets",
            Self::Values => "values",
            Self::NoTable => "no-table",
            Self::Unnest => "unnest",
            Self::Lateral => "lateral",
            Self::TableFunction => "table-function",
            Self::TableFactor => "table-factor",
            Self::RecursiveCte => "recursive-cte",
            Self::DistinctOn => "distinct-on",
            Self::DistinctAggregate => "distinct-aggregate",
            Self::AggregateClause => "aggregate-clause",
            Self::WithinGroup => "within-group",
            Self::FilterClause => "filter-clause",
            Self::NullTreatment => "null-treatment",
            Self::Aggregate(_) => "aggregate",
            Self::Operator(_) => "operator",
            Self::Expression(_) => "expression",
            Self::LiteralType(_) => "literal-type",
            Self::Parameter => "parameter",
            Self::LimitExpression => "limit-expression",
            Self::VolatileBetween => "volatile-between",
            Self::LargeBetween => "large-between",
            Self::ConvertedKey => "converted-key",
            Self::Relation(_) => "relation",
        }
    }

    /// What to do about it.
    #[must_use]
    pub fn hint(&self) -> String {
        let text = match self {
            Self::NotAQuery => "keep only SELECT statements in a workload",
            Self::Join => "query one table at a time, or a table that holds the join's result",
            Self::SetOperation => "write each branch as a statement of its own",
            Self::DistinctOn => "use min, max or GROUP BY, which say which row is kept",
            Self::GroupingSets => "write one statement per grouping: they will share their reads",
            Self::LimitExpression => "write LIMIT and OFFSET as numbers",
            Self::Parameter => "put the value into the text",
            Self::VolatileBetween | Self::LargeBetween => {
                "compute the operand in a sub-select, then compare its column"
            }
            Self::FilterClause => "filter an aggregate, or use CASE",
            Self::SubqueryExpression => "move the sub-select into FROM, or put its value into the text",
            Self::NoTable => "select from a table",
            Self::ConvertedKey => "convert the key in the sub-select already",
            _ => "run the statement by itself, without asap's planner",
        };
        text.to_owned()
    }
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::NotAQuery => "a statement that is not a query",
            Self::Join => "a join",
            Self::SetOperation => "a set operation (UNION, INTERSECT, EXCEPT)",
            Self::WindowFunction => "a window function",
            Self::SubqueryExpression => "a subquery in an expression",
            Self::GroupingSets => "GROUPING SETS, ROLLUP or CUBE",
            Self::Values => "VALUES",
            Self::NoTable => "a SELECT without a table",
            Self::Unnest => "UNNEST",
            Self::Lateral => "LATERAL",
            Self::TableFunction => "a table function",
            Self::TableFactor => "this kind of table expression",
            Self::RecursiveCte => "a recursive CTE",
            Self::DistinctOn => "DISTINCT ON",
            Self::DistinctAggregate => "a DISTINCT aggregate",
            Self::AggregateClause => "a clause inside an aggregate's parentheses",
            Self::WithinGroup => "WITHIN GROUP",
            Self::FilterClause => "FILTER on a function that is not an aggregate",
            Self::NullTreatment => "IGNORE NULLS or RESPECT NULLS",
            Self::Aggregate(name) => return write!(f, "the aggregate function '{name}'"),
            Self::Operator(operator) => return write!(f, "the operator {operator}"),
            Self::LiteralType(data_type) => return write!(f, "a constant of type {data_type}"),
            Self::Parameter => "a parameter",
            Self::LimitExpression => "a computed LIMIT or OFFSET",
            Self::VolatileBetween => "BETWEEN over a volatile expression",
            Self::LargeBetween => "BETWEEN over a large expression",
            Self::ConvertedKey => "a converted key of a sub-select's aggregate",
            Self::Expression(kind) | Self::Relation(kind) => kind,
        };
        f.write_str(text)
    }
}
