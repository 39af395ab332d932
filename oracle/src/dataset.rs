//! Follows a recipe's history twice: as a Lance dataset in memory, and as the model's rows.

mod apply;
mod memory;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow::datatypes::SchemaRef;
use asap_execution::catch_panic;
use datafusion::catalog::{Session, TableProvider};
use datafusion::logical_expr::{Expr, TableType};
use datafusion::physical_plan::{ExecutionPlan, collect};
use datafusion::prelude::SessionContext;
use futures::future::BoxFuture;
use lance::Dataset;
use lance::datafusion::LanceTableProvider;

pub use memory::memory_session;

use crate::answer::Answer;
use crate::model::Table;
use crate::query::Query;
use crate::recipe::{Operation, Settings, TableRecipe};
use crate::{OracleError, Result};

/// A recipe's dataset, in memory, and the rows that it must hold.
#[derive(Debug)]
pub struct TestDataset {
    /// The version that the queries read.
    pub dataset: Arc<Dataset>,
    /// The model's table at that version.
    pub table: Table,
}

impl TestDataset {
    /// Follows the recipe's history.
    ///
    /// # Errors
    /// The recipe is not valid, or an operation fails.
    pub async fn build(recipe: &TableRecipe) -> Result<Self> {
        static DATASETS: AtomicU64 = AtomicU64::new(0);
        let uri = format!("memory://oracle-{}", DATASETS.fetch_add(1, Ordering::Relaxed));
        let Some((Operation::Create { rows }, later)) = recipe.history.split_first() else {
            return Err(OracleError::Recipe("its history does not start with `create`".to_owned()));
        };
        let mut table = Table::new(&recipe.name, recipe.columns.clone());
        table.append(rows);
        let mut dataset = apply::create(recipe, rows, &uri).await?;
        let mut read = (dataset.version().version, table.clone());
        for (position, operation) in later.iter().enumerate() {
            dataset = apply::apply(operation, recipe, &table.columns, dataset)
                .await
                .map_err(|error| OracleError::Operation { name: operation.name(), source: Box::new(error) })?;
            table.apply(operation)?;
            if position + 1 < recipe.read_after() {
                read = (dataset.version().version, table.clone());
            }
        }
        let (version, table) = read;
        if version != dataset.version().version {
            dataset = dataset.checkout_version(version).await?;
        }
        Ok(Self { dataset: Arc::new(dataset), table })
    }

    /// A stock DataFusion session that knows the dataset by the table's name.
    ///
    /// # Errors
    /// DataFusion refuses the table.
    pub fn plain_session(&self, settings: &Settings) -> Result<SessionContext> {
        self.session(settings, Arc::new(self.stock_table()))
    }

    /// [`Self::plain_session`] without the use of any index: Lance hands on all rows, and DataFusion filters them.
    ///
    /// # Errors
    /// DataFusion refuses the table.
    pub fn unindexed_session(&self, settings: &Settings) -> Result<SessionContext> {
        self.session(settings, Arc::new(Unindexed(self.stock_table())))
    }

    fn stock_table(&self) -> LanceTableProvider {
        LanceTableProvider::new(Arc::clone(&self.dataset), false, false)
    }

    fn session(&self, settings: &Settings, table: Arc<dyn TableProvider>) -> Result<SessionContext> {
        let session = SessionContext::new_with_config(settings.session_config());
        session.register_table(self.table.name.as_str(), table)?;
        Ok(session)
    }
}

/// Takes no filter.
#[derive(Debug)]
struct Unindexed(LanceTableProvider);

impl TableProvider for Unindexed {
    fn schema(&self) -> SchemaRef {
        self.0.schema()
    }

    fn table_type(&self) -> TableType {
        self.0.table_type()
    }

    fn scan<'a, 'b, 'c, 'd, 'scan>(
        &'a self,
        state: &'b dyn Session,
        projection: Option<&'c Vec<usize>>,
        _filters: &'d [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'scan, datafusion::error::Result<Arc<dyn ExecutionPlan>>>
    where
        Self: 'scan,
        'a: 'scan,
        'b: 'scan,
        'c: 'scan,
        'd: 'scan,
    {
        self.0.scan(state, projection, &[], limit)
    }
}

/// The answer of `ctx.sql` for the query's text, and the schema of its physical plan.
///
/// # Errors
/// DataFusion refuses the query or fails on it. A panic is an error, too.
pub async fn plain_answer(session: &SessionContext, query: &Query) -> Result<(Answer, SchemaRef)> {
    let answer = catch_panic(async {
        let plan = session.sql(&query.to_string()).await?.create_physical_plan().await?;
        let schema = plan.schema();
        Ok::<_, OracleError>((schema, collect(plan, session.task_ctx()).await?))
    });
    let (schema, batches) = answer.await??;
    Ok((Answer::from_batches(&schema, &batches, query.sort_columns())?, schema))
}
