//! Where rows come from.

use serde::{Deserialize, Serialize};

use super::{Column, Query};
use crate::model::ModelError;

/// How a nested query is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Nesting {
    /// `FROM (SELECT …) AS name`
    SubSelect,
    /// `WITH name AS (SELECT …) SELECT … FROM name`
    CommonTable,
}

/// Which rows a join keeps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JoinKind {
    /// Pairs only.
    Inner,
    /// Pairs, and each row of the left that is in none, with NULL on the right.
    Left,
}

/// Where the rows of a query come from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// The recipe's table.
    Table(String),
    /// The rows of another query.
    Nested {
        /// The name that it gets.
        name: String,
        /// The spelling.
        nesting: Nesting,
        /// The query.
        query: Box<Query>,
    },
    /// Pairs of rows for which `left_key = right_key` is TRUE. No column of the left has the name of one of the right.
    Join {
        /// Which rows stay.
        kind: JoinKind,
        /// The left.
        left: Box<Source>,
        /// A column of the left.
        left_key: String,
        /// The right.
        right: Box<Source>,
        /// A column of the right.
        right_key: String,
    },
}

impl Source {
    /// [`Query::is_deterministic`] of its rows.
    #[must_use]
    pub fn is_deterministic(&self) -> bool {
        self.queries().into_iter().all(Query::is_deterministic)
    }

    /// The queries that it reads directly.
    #[must_use]
    pub fn queries(&self) -> Vec<&Query> {
        match self {
            Self::Table(_) => Vec::new(),
            Self::Nested { query, .. } => vec![query],
            Self::Join { left, right, .. } => left.queries().into_iter().chain(right.queries()).collect(),
        }
    }

    /// Its columns, over the recipe's table.
    ///
    /// # Errors
    /// As [`super::Expr::data_type`].
    pub fn columns(&self, table: &[Column]) -> Result<Vec<Column>, ModelError> {
        match self {
            Self::Table(_) => Ok(table.to_vec()),
            Self::Nested { query, .. } => query.output_columns(table),
            Self::Join { left, right, .. } => {
                let (mut columns, right) = (left.columns(table)?, right.columns(table)?);
                columns.extend(right);
                Ok(columns)
            }
        }
    }
}
