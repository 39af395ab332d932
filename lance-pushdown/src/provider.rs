//! A Lance table that tells the rule what it needs to know.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use lance::Dataset;
use lance::datafusion::LanceTableProvider;

use crate::handle::Shared;

/// A [`LanceTableProvider`] whose scan first loads index metadata, which the synchronous rule cannot.
#[derive(Debug)]
pub(crate) struct PushdownTable {
    inner: LanceTableProvider,
    dataset: Arc<Dataset>,
    shared: Arc<Shared>,
}

impl PushdownTable {
    pub(crate) fn new(dataset: Arc<Dataset>, shared: Arc<Shared>) -> Self {
        Self { inner: LanceTableProvider::new(Arc::clone(&dataset), false, false), dataset, shared }
    }
}

#[async_trait]
impl TableProvider for PushdownTable {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        if let Err(error) = self.shared.preload(&self.dataset).await {
            // The scan reports what it cannot do without; the rule can do with less.
            tracing::warn!(%error, dataset = self.dataset.uri(), "no index metadata for aggregate pushdown");
        }
        self.inner.scan(state, projection, filters, limit).await
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.inner.supports_filters_pushdown(filters)
    }
}
