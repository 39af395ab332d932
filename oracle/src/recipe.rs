//! A case as JSON: the table's history with every row in it, the workload and the settings.
//! It replays without a random number generator and shrinks by leaving things out.

use std::collections::BTreeMap;

use asap_aware_mapping::FloatPolicy;
use datafusion::prelude::SessionConfig;
use serde::{Deserialize, Serialize};

use crate::query::{Column, Expr, Query};
use crate::value::Row;
use crate::{OracleError, Result};

/// The version of the recipes that this build writes, and the only one that it reads.
pub const RECIPE_VERSION: u32 = 1;

/// Where a generated case comes from, and what it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// The run's seed.
    pub seed: u64,
    /// The case's number in the run; a case depends on no other.
    pub index: u64,
    /// The case.
    pub recipe: Recipe,
}

/// A table, a workload over it, and how to run it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// [`RECIPE_VERSION`] of the writer.
    pub version: u32,
    /// The table.
    pub table: TableRecipe,
    /// The queries, answered together.
    pub workload: Vec<Query>,
    /// The session.
    pub settings: Settings,
}

/// How a Lance dataset came to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRecipe {
    /// Its name in queries.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Rows per data file, so per fragment, at most.
    pub rows_per_file: usize,
    /// What was done to it; the first operation is its only [`Operation::Create`].
    pub history: Vec<Operation>,
}

/// One step of a dataset's history. Each makes at most one new version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Writes the dataset.
    Create {
        /// Its first rows.
        rows: Vec<Row>,
    },
    /// Adds rows in new fragments.
    Append {
        /// The rows.
        rows: Vec<Row>,
    },
    /// Deletes the rows for which the predicate is TRUE.
    Delete {
        /// The predicate.
        predicate: Expr,
    },
    /// Builds an index over the fragments that are there.
    CreateIndex {
        /// The indexed column.
        column: String,
        /// The kind.
        kind: IndexKind,
    },
    /// Indexes the fragments that no index covers yet.
    OptimizeIndices,
    /// Rewrites small fragments, and those with deletions, into larger ones.
    Compact {
        /// Rows per new fragment.
        target_rows: usize,
    },
}

/// A kind of scalar index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexKind {
    /// One posting list for each value.
    Bitmap,
    /// Sorted pages.
    BTree,
    /// Extrema of each zone of rows.
    ZoneMap,
}

/// How the queries run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// DataFusion's `target_partitions`.
    pub target_partitions: usize,
    /// DataFusion's `batch_size`.
    pub batch_size: usize,
    /// The pushdown's switches by name, as in `SET lance_pushdown.name = value`; the others keep their defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub pushdown: BTreeMap<String, String>,
    /// The pushdown session reads through Lance's own table provider instead of ours.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stock_provider: bool,
    /// Floats must not be added in another order than the plain plan's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exact_floats: bool,
    /// Prices the workload plan; without a seed, nothing is known of any price.
    #[serde(default, skip_serializing_if = "is_default")]
    pub price_seed: Option<u64>,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            target_partitions: 1,
            batch_size: 8192,
            pushdown: BTreeMap::new(),
            stock_provider: false,
            exact_floats: false,
            price_seed: None,
        }
    }
}

impl Settings {
    /// DataFusion's side of the settings.
    #[must_use]
    pub fn session_config(&self) -> SessionConfig {
        SessionConfig::new().with_target_partitions(self.target_partitions).with_batch_size(self.batch_size)
    }

    /// Whether floats may be added in another order.
    #[must_use]
    pub fn float_policy(&self) -> FloatPolicy {
        if self.exact_floats { FloatPolicy::Exact } else { FloatPolicy::Reassociate }
    }
}

impl Recipe {
    /// The recipe as JSON.
    ///
    /// # Errors
    /// Never for a recipe that [`Recipe::from_json`] read.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)?)
    }

    /// Reads a recipe and checks it.
    ///
    /// # Errors
    /// Not a recipe, one of another version, or one that [`Recipe::validate`] refuses.
    pub fn from_json(text: &str) -> Result<Self> {
        let recipe: Self = serde_json::from_str(text)?;
        recipe.validate()?;
        Ok(recipe)
    }

    /// Is this a recipe that can be followed?
    ///
    /// # Errors
    /// The version is another one, the history does not start with its only `Create`, a row does not fit the columns, or
    /// a query's types do not fit.
    pub fn validate(&self) -> Result<()> {
        if self.version != RECIPE_VERSION {
            return Err(OracleError::Recipe(format!("its version is {}, not {RECIPE_VERSION}", self.version)));
        }
        self.table.validate()?;
        for query in &self.workload {
            query.output_columns(&self.table.columns)?;
        }
        Ok(())
    }
}

impl Operation {
    /// A name for coverage.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Append { .. } => "append",
            Self::Delete { .. } => "delete",
            Self::CreateIndex { kind: IndexKind::Bitmap, .. } => "bitmap index",
            Self::CreateIndex { kind: IndexKind::BTree, .. } => "b-tree index",
            Self::CreateIndex { kind: IndexKind::ZoneMap, .. } => "zone map index",
            Self::OptimizeIndices => "optimize indices",
            Self::Compact { .. } => "compact",
        }
    }
}

impl TableRecipe {
    fn validate(&self) -> Result<()> {
        let creates = |operation: &Operation| matches!(operation, Operation::Create { .. });
        let created = self.history.first().is_some_and(creates) && !self.history.iter().skip(1).any(creates);
        if !created {
            return Err(OracleError::Recipe("its history does not start with its only `create`".to_owned()));
        }
        for operation in &self.history {
            if let Operation::Create { rows } | Operation::Append { rows } = operation {
                rows.iter().try_for_each(|row| self.validate_row(row))?;
            }
        }
        Ok(())
    }

    fn validate_row(&self, row: &Row) -> Result<()> {
        let fits = row.len() == self.columns.len()
            && row
                .iter()
                .zip(&self.columns)
                .all(|(value, column)| value.fits(column.data_type) && (column.nullable || !value.is_null()));
        if fits { Ok(()) } else { Err(OracleError::Recipe(format!("{row:?} does not fit the columns"))) }
    }
}
