//! An index reader that knows whether a plan is being made.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use async_trait::async_trait;
use lance::Dataset;
use lance_index::scalar::expression::ScalarIndexExpr;
use lance_pushdown::{FragmentPushdownPlan, IndexReadMetrics, IndexReader, LanceIndexReader, LiveRows, Result};
use lance_select::IndexExprResult;
use roaring::RoaringBitmap;

/// Reads through Lance and counts the calls that come while a plan is being made: there must be none.
#[derive(Debug, Default)]
pub(super) struct WatchedReader {
    inner: LanceIndexReader,
    planning: AtomicBool,
    reads: AtomicUsize,
}

impl WatchedReader {
    pub(super) fn set_planning(&self, planning: bool) {
        self.planning.store(planning, Ordering::SeqCst);
    }

    /// Calls while planning.
    pub(super) fn plan_time_reads(&self) -> usize {
        self.reads.load(Ordering::SeqCst)
    }

    fn note(&self) {
        if self.planning.load(Ordering::SeqCst) {
            self.reads.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[async_trait]
impl IndexReader for WatchedReader {
    async fn evaluate(
        &self,
        dataset: &Arc<Dataset>,
        query: &ScalarIndexExpr,
        fragments: &RoaringBitmap,
        metrics: &IndexReadMetrics,
    ) -> Result<IndexExprResult> {
        self.note();
        self.inner.evaluate(dataset, query, fragments, metrics).await
    }

    async fn live_rows(&self, dataset: &Arc<Dataset>, fragments: &[FragmentPushdownPlan]) -> Result<Vec<LiveRows>> {
        self.note();
        self.inner.live_rows(dataset, fragments).await
    }
}
