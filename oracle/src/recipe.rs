//! A case as JSON: the table's history with every row in it, the workload and the settings.
//! It replays without a random number generator and shrinks by leaving things out.

mod operation;

use std::collections::BTreeMap;

use asap_aware_mapping::FloatPolicy;
use datafusion::execution::SessionStateBuilder;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{SessionConfig, SessionContext};
use serde::{Deserialize, Serialize};

pub use operation::{Assignment, IndexKind, Operation};

use crate::query::{Column, Query};
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
    /// Rows keep their ids when they move.
    #[serde(default, skip_serializing_if = "is_default")]
    pub stable_row_ids: bool,
    /// Version of the data files, as `2.1`; Lance's own choice if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub storage_version: Option<String>,
    /// The queries read the version after this many operations, made while all later ones are there; the last if absent.
    #[serde(default, skip_serializing_if = "is_default")]
    pub read_after: Option<usize>,
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
    /// Our provider reads the zone maps when it is registered, so that statistics decide filters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub zone_maps_read: bool,
    /// Floats must not be added in another order than the plain plan's.
    #[serde(default, skip_serializing_if = "is_default")]
    pub exact_floats: bool,
    /// Prices the workload plan; without a seed, nothing is known of any price.
    #[serde(default, skip_serializing_if = "is_default")]
    pub price_seed: Option<u64>,
    /// The rows that the history leaves are in memory, without Lance: as many partitions as the session has, and batches of
    /// [`TableRecipe::rows_per_file`].
    #[serde(default, skip_serializing_if = "is_default")]
    pub in_memory: bool,
    /// In memory, columns of `Utf8` are `Utf8View`, as DataFusion reads them from Parquet.
    #[serde(default, skip_serializing_if = "is_default")]
    pub text_views: bool,
    /// Bytes that the workload plan's session may hold; without a limit if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_limit: Option<usize>,
}

/// Keeps what older recipes lack out of new ones.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            target_partitions: 1,
            batch_size: 8192,
            pushdown: BTreeMap::new(),
            stock_provider: false,
            zone_maps_read: false,
            exact_floats: false,
            price_seed: None,
            in_memory: false,
            text_views: false,
            memory_limit: None,
        }
    }
}

impl Settings {
    /// DataFusion's side of the settings.
    #[must_use]
    pub fn session_config(&self) -> SessionConfig {
        SessionConfig::new().with_target_partitions(self.target_partitions).with_batch_size(self.batch_size)
    }

    /// The session under the memory limit, or as it is without one. It knows the same tables and rules.
    ///
    /// # Errors
    /// DataFusion refuses the limit.
    pub fn limited(&self, session: &SessionContext) -> Result<SessionContext> {
        let Some(bytes) = self.memory_limit else { return Ok(session.clone()) };
        let runtime = RuntimeEnvBuilder::from_runtime_env(&session.runtime_env());
        // A sort may not set aside more than there is; partitions may not race for what there is; a new catalog would
        // replace the one that knows the tables.
        let config = session.copied_config().with_sort_spill_reservation_bytes(0).with_target_partitions(1);
        let config = config.with_create_default_catalog_and_schema(false);
        let state = SessionStateBuilder::new_from_existing(session.state());
        let runtime = runtime.with_memory_limit(bytes, 1.0).build_arc()?;
        Ok(SessionContext::new_with_state(state.with_config(config).with_runtime_env(runtime).build()))
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
        // First of all, as fields that are unknown here may be those of a newer version.
        let Version { version } = serde_json::from_str(text)?;
        check_version(version)?;
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
        check_version(self.version)?;
        self.table.validate()?;
        let columns = self.table.columns_read()?;
        for query in &self.workload {
            query.output_columns(&columns)?;
            let keys = query.group_by.as_ref().map_or(0, Vec::len);
            if query.grouping.as_ref().is_some_and(|grouping| !grouping.fits(keys)) {
                return Err(OracleError::Recipe(format!("its grouping sets are not over {keys} keys")));
            }
        }
        Ok(())
    }
}

/// What every version of a recipe has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

fn check_version(version: u32) -> Result<()> {
    if version == RECIPE_VERSION {
        Ok(())
    } else {
        Err(OracleError::Recipe(format!("its version is {version}, not {RECIPE_VERSION}")))
    }
}

impl TableRecipe {
    /// A table with this history, of whose storage nothing is special.
    #[must_use]
    pub fn new(name: impl Into<String>, columns: Vec<Column>, history: Vec<Operation>) -> Self {
        let name = name.into();
        let (stable_row_ids, storage_version, read_after) = (false, None, None);
        Self { name, columns, rows_per_file: 16, history, stable_row_ids, storage_version, read_after }
    }

    /// The columns that the queries see.
    ///
    /// # Errors
    /// As [`Recipe::validate`].
    pub fn columns_read(&self) -> Result<Vec<Column>> {
        let mut columns = self.columns.clone();
        for operation in self.history.iter().take(self.read_after()) {
            operation.validate(&mut columns)?;
        }
        Ok(columns)
    }

    /// After how many operations the queries read the table.
    #[must_use]
    pub fn read_after(&self) -> usize {
        self.read_after.unwrap_or(usize::MAX).clamp(1, self.history.len().max(1))
    }

    fn validate(&self) -> Result<()> {
        let creates = |operation: &Operation| matches!(operation, Operation::Create { .. });
        let created = self.history.first().is_some_and(creates) && !self.history.iter().skip(1).any(creates);
        if !created {
            return Err(OracleError::Recipe("its history does not start with its only `create`".to_owned()));
        }
        let mut columns = self.columns.clone();
        self.history.iter().try_for_each(|operation| operation.validate(&mut columns))
    }
}
