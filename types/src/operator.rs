//! Relational operators.

use std::ops::ControlFlow;

use serde::{Deserialize, Serialize};

use crate::{Aggregate, ColumnId, Expr, Predicate, Schema, TableRef};

/// A relational operator, generic over the reference to its input `N` and over its column references `C`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(
    serialize = "N: Serialize, C: Serialize + Clone",
    deserialize = "N: Deserialize<'de>, C: Deserialize<'de>"
))]
pub enum Operator<N, C = ColumnId> {
    /// Reads a table's rows for which every predicate is TRUE. Canonical home of the conjuncts directly above a table.
    Scan {
        /// The table's name in the catalog.
        table: TableRef,
        /// The table's columns; predicates and output refer to it.
        schema: Schema,
        /// Conjuncts over the table's columns, in the order of evaluation.
        #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
        predicates: Vec<Predicate<C>>,
    },
    /// Keeps the rows for which the predicate is TRUE.
    Filter {
        /// The predicate.
        predicate: Predicate<C>,
        /// The input.
        input: N,
    },
    /// Computes one output column per expression.
    Project {
        /// The output columns.
        columns: Vec<NamedExpr<C>>,
        /// The input.
        input: N,
    },
    /// Groups and aggregates.
    Aggregate(Aggregate<N, C>),
    /// Removes duplicate rows; NULLs are duplicates of each other.
    Distinct {
        /// The input.
        input: N,
    },
    /// Sorts.
    Sort {
        /// The sort keys, most significant first.
        keys: Vec<SortKey<C>>,
        /// The input.
        input: N,
    },
    /// Skips rows, then keeps at most `fetch`.
    Limit {
        /// Rows to skip.
        skip: u64,
        /// Rows to keep; all when absent.
        fetch: Option<u64>,
        /// The input.
        input: N,
    },
}

/// An expression with the name of the column that it makes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamedExpr<C = ColumnId> {
    /// The expression.
    pub expr: Expr<C>,
    /// The output column's name.
    pub name: String,
}

/// One key of a sort.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SortKey<C = ColumnId> {
    /// The sorted expression.
    pub expr: Expr<C>,
    /// Whether larger values come first.
    pub descending: bool,
    /// Whether NULLs come before all values.
    pub nulls_first: bool,
}

impl<N, C> Operator<N, C> {
    /// The input, if the operator has one.
    #[must_use]
    pub fn input(&self) -> Option<&N> {
        match self {
            Self::Scan { .. } => None,
            Self::Filter { input, .. }
            | Self::Project { input, .. }
            | Self::Distinct { input }
            | Self::Sort { input, .. }
            | Self::Limit { input, .. }
            | Self::Aggregate(Aggregate { input, .. }) => Some(input),
        }
    }

    /// The same operator over another reference to its input.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map_input<M, E>(&self, map: &mut dyn FnMut(&N) -> Result<M, E>) -> Result<Operator<M, C>, E>
    where
        C: Clone,
    {
        Ok(match self {
            Self::Scan { table, schema, predicates } => {
                Operator::Scan { table: table.clone(), schema: schema.clone(), predicates: predicates.clone() }
            }
            Self::Filter { predicate, input } => Operator::Filter { predicate: predicate.clone(), input: map(input)? },
            Self::Project { columns, input } => Operator::Project { columns: columns.clone(), input: map(input)? },
            Self::Aggregate(aggregate) => Operator::Aggregate(aggregate.with_input(map(&aggregate.input)?)),
            Self::Distinct { input } => Operator::Distinct { input: map(input)? },
            Self::Sort { keys, input } => Operator::Sort { keys: keys.clone(), input: map(input)? },
            Self::Limit { skip, fetch, input } => Operator::Limit { skip: *skip, fetch: *fetch, input: map(input)? },
        })
    }

    /// Visits every expression of the operator until `visit` breaks.
    pub fn try_for_each_expr<'a, B>(&'a self, visit: &mut dyn FnMut(&'a Expr<C>) -> ControlFlow<B>) -> ControlFlow<B> {
        match self {
            Self::Scan { predicates, .. } => predicates.iter().try_for_each(|p| visit(&p.0)),
            Self::Filter { predicate, .. } => visit(&predicate.0),
            Self::Project { columns, .. } => columns.iter().try_for_each(|column| visit(&column.expr)),
            Self::Aggregate(aggregate) => {
                aggregate.input_exprs().try_for_each(&mut *visit)?;
                aggregate.having.iter().try_for_each(|having| visit(&having.0))
            }
            Self::Sort { keys, .. } => keys.iter().try_for_each(|key| visit(&key.expr)),
            Self::Distinct { .. } | Self::Limit { .. } => ControlFlow::Continue(()),
        }
    }

    /// Whether two evaluations of this operator over the same input may differ.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        let measures = matches!(self, Self::Aggregate(a) if a.measures.iter().any(crate::AggIntent::is_volatile));
        measures
            || self
                .try_for_each_expr(&mut |expr| {
                    if expr.is_volatile() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                })
                .is_break()
    }
}

impl<N, C: Clone> Aggregate<N, C> {
    /// The same aggregate over another input.
    pub fn with_input<M>(&self, input: M) -> Aggregate<M, C> {
        Aggregate {
            reduction: self.reduction.clone(),
            measures: self.measures.clone(),
            filters: self.filters.clone(),
            output_names: self.output_names.clone(),
            having: self.having.clone(),
            input,
        }
    }
}
