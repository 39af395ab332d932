//! A Lance table that tells the rule what it needs to know.

use std::sync::Arc;

use arrow_schema::SchemaRef;
use datafusion::catalog::{Session, TableProvider};
use datafusion::error::Result;
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown, TableType};
use datafusion::physical_plan::ExecutionPlan;
use futures::FutureExt;
use futures::future::BoxFuture;
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

/// `scan` is written out, not by `async_trait`: a future that holds an `Expr` costs the compiler ten seconds, as it follows
/// all types of sqlparser, round and round, to know that it is `Send`.
impl TableProvider for PushdownTable {
    fn schema(&self) -> SchemaRef {
        self.inner.schema()
    }

    fn table_type(&self) -> TableType {
        self.inner.table_type()
    }

    fn scan<'a, 'b, 'c, 'd, 'scan>(
        &'a self,
        state: &'b dyn Session,
        projection: Option<&'c Vec<usize>>,
        filters: &'d [Expr],
        limit: Option<usize>,
    ) -> BoxFuture<'scan, Result<Arc<dyn ExecutionPlan>>>
    where
        Self: 'scan,
        'a: 'scan,
        'b: 'scan,
        'c: 'scan,
        'd: 'scan,
    {
        let scan = self.inner.scan(state, projection, filters, limit);
        async move {
            if let Err(error) = self.shared.preload(&self.dataset).await {
                // The scan reports what it cannot do without; the rule can do with less.
                tracing::warn!(%error, dataset = self.dataset.uri(), "no index metadata for aggregate pushdown");
            }
            scan.await
        }
        .boxed()
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        self.inner.supports_filters_pushdown(filters)
    }
}
