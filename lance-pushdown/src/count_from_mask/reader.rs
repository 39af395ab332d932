//! The only way to index and deletion files.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use datafusion::physical_plan::metrics::{Count, ExecutionPlanMetricsSet, MetricBuilder};
use futures::{StreamExt, TryStreamExt};
use lance::Dataset;
use lance::dataset::rowids::load_row_id_sequence;
use lance_core::utils::deletion::DeletionVector;
use lance_index::metrics::MetricsCollector;
use lance_index::scalar::expression::ScalarIndexExpr;
use lance_select::{IndexExprResult, RowAddrTreeMap};
use roaring::RoaringBitmap;

use super::{FragmentPushdownPlan, LiveRows, leaf};
use crate::error::{PushdownError, Result};
use crate::registry::{PerManifest, lock};

/// Reads of index and deletion files, by an [`IndexedAggregateExec`](crate::IndexedAggregateExec) while it runs.
///
/// Planning holds one and never calls it.
#[async_trait]
pub trait IndexReader: fmt::Debug + Send + Sync {
    /// Evaluates an index expression; the result is used for rows of `fragments` only.
    async fn evaluate(
        &self,
        dataset: &Arc<Dataset>,
        query: &ScalarIndexExpr,
        fragments: &RoaringBitmap,
        metrics: &IndexReadMetrics,
    ) -> Result<IndexExprResult>;

    /// The live rows of each fragment, in the order given.
    async fn live_rows(&self, dataset: &Arc<Dataset>, fragments: &[FragmentPushdownPlan]) -> Result<Vec<LiveRows>>;
}

/// Counters of index reads, shown by EXPLAIN ANALYZE.
#[derive(Debug, Clone)]
pub struct IndexReadMetrics {
    index_loads: Count,
    parts_loaded: Count,
    comparisons: Count,
}

impl IndexReadMetrics {
    /// Registers the counters with an operator's metrics.
    pub fn new(metrics: &ExecutionPlanMetricsSet, partition: usize) -> Self {
        Self {
            index_loads: MetricBuilder::new(metrics).counter("index_loads", partition),
            parts_loaded: MetricBuilder::new(metrics).counter("index_parts_loaded", partition),
            comparisons: MetricBuilder::new(metrics).counter("index_comparisons", partition),
        }
    }
}

impl MetricsCollector for IndexReadMetrics {
    fn record_parts_loaded(&self, num_parts: usize) {
        self.parts_loaded.add(num_parts);
    }

    fn record_index_loads(&self, num_indexes: usize) {
        self.index_loads.add(num_indexes);
    }

    fn record_comparisons(&self, num_comparisons: usize) {
        self.comparisons.add(num_comparisons);
    }
}

type FragmentCache = Mutex<HashMap<u32, LiveRows>>;

/// Reads through Lance, whose session caches postings; live rows are kept per dataset version.
#[derive(Debug, Default)]
pub struct LanceIndexReader {
    live_rows: PerManifest<FragmentCache>,
}

impl LanceIndexReader {
    /// A reader with an empty cache.
    pub fn new() -> Self {
        Self::default()
    }
}

#[async_trait]
impl IndexReader for LanceIndexReader {
    async fn evaluate(
        &self,
        dataset: &Arc<Dataset>,
        query: &ScalarIndexExpr,
        fragments: &RoaringBitmap,
        metrics: &IndexReadMetrics,
    ) -> Result<IndexExprResult> {
        let scope = leaf::Scope { dataset: dataset.as_ref(), fragments, metrics };
        Ok(leaf::evaluate(scope, query, false).await?.drop_nulls())
    }

    async fn live_rows(&self, dataset: &Arc<Dataset>, fragments: &[FragmentPushdownPlan]) -> Result<Vec<LiveRows>> {
        let cache = self.live_rows.get_or_insert_with(&dataset.manifest, FragmentCache::default);
        let unknown: Vec<FragmentPushdownPlan> = {
            let known = lock(&cache);
            let is_unknown = |plan: &&FragmentPushdownPlan| !known.contains_key(&plan.fragment_id);
            fragments.iter().filter(is_unknown).cloned().collect()
        };
        let parallelism = dataset.object_store(None).await?.io_parallelism();
        let loaded: Vec<LiveRows> = futures::stream::iter(unknown)
            .map(|plan| load_live_rows(Arc::clone(dataset), plan))
            .buffered(parallelism)
            .try_collect()
            .await?;
        let mut known = lock(&cache);
        known.extend(loaded.into_iter().map(|rows| (rows.fragment(), rows)));
        fragments
            .iter()
            .map(|plan| {
                let rows = known.get(&plan.fragment_id).cloned();
                rows.ok_or(PushdownError::UnknownFragment(plan.fragment_id))
            })
            .collect()
    }
}

async fn load_live_rows(dataset: Arc<Dataset>, fragment: FragmentPushdownPlan) -> Result<LiveRows> {
    let id = fragment.fragment_id;
    let by_row_id = dataset.manifest.uses_stable_row_ids();
    #[cfg(feature = "faults")]
    let by_row_id = asap_faults::inject(asap_faults::Fault::RowIdsTakenForAddresses, by_row_id, |_| false);
    if !by_row_id && fragment.deletion_vector.is_none() {
        return Ok(LiveRows::Addresses { fragment: id, physical_rows: fragment.physical_rows, deleted: None });
    }
    let file_fragment = dataset.get_fragment(id as usize).ok_or(PushdownError::UnknownFragment(id))?;
    let deleted = file_fragment.get_deletion_vector().await?;
    if by_row_id {
        let mut ids = load_row_id_sequence(&dataset, file_fragment.metadata()).await?.as_ref().clone();
        #[cfg(feature = "faults")]
        let deleted = deleted.filter(|_| !asap_faults::is_planted(asap_faults::Fault::DeletedRowIdsKept));
        if let Some(deleted) = deleted {
            ids.mask(deleted.to_sorted_iter())?;
        }
        return Ok(LiveRows::RowIds { fragment: id, ids: Arc::new(RowAddrTreeMap::from(&ids)) });
    }
    Ok(LiveRows::Addresses {
        fragment: id,
        physical_rows: fragment.physical_rows,
        deleted: deleted.as_deref().map(offsets),
    })
}

fn offsets(deleted: &DeletionVector) -> Arc<RoaringBitmap> {
    Arc::new(RoaringBitmap::from(deleted))
}
