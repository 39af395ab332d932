//! Gate: planning reads nothing, and asks nothing of an index.

use std::sync::Arc;

use async_trait::async_trait;
use datafusion::prelude::SessionContext;
use lance::Dataset;
use lance::datafusion::LanceTableProvider;
use lance_index::scalar::expression::ScalarIndexExpr;
use lance_pushdown::{FragmentPushdownPlan, IndexReadMetrics, IndexReader, LancePushdown, LiveRows, Result};
use lance_select::IndexExprResult;
use mockall::mock;
use roaring::RoaringBitmap;
use rstest::rstest;

use crate::support::{Table, fragments, plan, rows, session};

mock! {
    #[derive(Debug)]
    pub(crate) Reader {}

    #[async_trait]
    impl IndexReader for Reader {
        async fn evaluate(
            &self,
            dataset: &Arc<Dataset>,
            query: &ScalarIndexExpr,
            fragments: &RoaringBitmap,
            metrics: &IndexReadMetrics,
        ) -> Result<IndexExprResult>;

        async fn live_rows(
            &self,
            dataset: &Arc<Dataset>,
            fragments: &[FragmentPushdownPlan],
        ) -> Result<Vec<LiveRows>>;
    }
}

async fn three_bucket_table() -> Table {
    let mut table = without_deletions().await;
    table.delete("id % 7 = 0").await;
    table
}

async fn without_deletions() -> Table {
    let mut table = Table::create(fragments(2)).await;
    table.bitmap("x").await;
    table.bitmap("y").await;
    table.append_columns(&rows(40, 60), &["id", "x"]).await;
    table.append(&rows(60, 80)).await;
    table
}

const QUERIES: [&str; 7] = [
    "SELECT count(*) FROM t",
    "SELECT count(y) FROM t",
    "SELECT count(*) FROM t WHERE x = 1",
    "SELECT count(y), count(*) FROM t WHERE x <> 1 OR y = 'red'",
    "SELECT count(*) FROM t WHERE z = 3",
    "SELECT x, count(*) FROM t GROUP BY x",
    "SELECT max(z), count(DISTINCT x) FROM t WHERE y IS NOT NULL",
];

/// A mock without expectations panics on any call.
#[tokio::test]
async fn planning_never_calls_the_index_reader() {
    let table = three_bucket_table().await;
    let pushdown = LancePushdown::with_reader(Arc::new(MockReader::new()));
    let context = SessionContext::new_with_state(session(&pushdown, 4));
    context.register_table("t", pushdown.table(table.shared())).unwrap();
    for sql in QUERIES {
        plan(&context, sql).await;
    }
    let reports = pushdown.take_reports();
    assert!(reports.iter().any(|report| report.bucket_sizes().index > 0));
}

/// The same plan, executed, does call it: the mock above is in the plan's way.
#[tokio::test]
#[should_panic(expected = "MockReader")]
async fn executing_calls_the_index_reader() {
    let table = three_bucket_table().await;
    let pushdown = LancePushdown::with_reader(Arc::new(MockReader::new()));
    let context = SessionContext::new_with_state(session(&pushdown, 1));
    context.register_table("t", pushdown.table(table.shared())).unwrap();
    let plan = plan(&context, "SELECT count(*) FROM t WHERE x = 1").await;
    crate::support::answer(&context, plan).await;
}

async fn read_iops(dataset: &Dataset) -> u64 {
    let store = dataset.object_store(None).await.unwrap();
    store.io_stats_incremental().read_iops
}

/// Counted by the object store itself; the first scan of the version may load the manifest's index section.
#[rstest]
#[tokio::test]
async fn the_object_store_sees_no_read(#[values(true, false)] is_our_table: bool) {
    let table = three_bucket_table().await;
    let dataset = table.shared();
    let pushdown = LancePushdown::new();
    let context = SessionContext::new_with_state(session(&pushdown, 4));
    let provider = match is_our_table {
        true => pushdown.table(Arc::clone(&dataset)),
        false => Arc::new(LanceTableProvider::new(Arc::clone(&dataset), false, false)),
    };
    context.register_table("t", provider).unwrap();
    plan(&context, "SELECT count(*) FROM t").await;
    read_iops(&dataset).await;
    for sql in QUERIES {
        plan(&context, sql).await;
        assert_eq!(read_iops(&dataset).await, 0, "{sql}");
    }
}

/// The counter is not blind: running the plan reads.
#[tokio::test]
async fn the_object_store_sees_reads_of_the_execution() {
    let table = three_bucket_table().await;
    let uri = table.dataset.uri().to_string();
    let dataset = Arc::new(Dataset::open(&uri).await.unwrap());
    let pushdown = LancePushdown::new();
    let context = crate::support::context(&pushdown, Arc::clone(&dataset));
    let plan = plan(&context, "SELECT count(*) FROM t WHERE x = 1").await;
    read_iops(&dataset).await;
    crate::support::answer(&context, plan).await;
    assert!(read_iops(&dataset).await > 0);
}

/// The rule itself, over a plan made without it: not one read, even on a dataset that was just opened.
#[tokio::test]
async fn the_rule_reads_nothing() {
    let table = three_bucket_table().await;
    let uri = table.dataset.uri().to_string();
    let dataset = Arc::new(Dataset::open(&uri).await.unwrap());
    let pushdown = LancePushdown::with_reader(Arc::new(MockReader::new()));
    let context = SessionContext::new_with_state(
        datafusion::execution::SessionStateBuilder::new()
            .with_default_features()
            .with_physical_optimizer_rules(vec![])
            .build(),
    );
    context.register_table("t", pushdown.table(Arc::clone(&dataset))).unwrap();
    for sql in QUERIES {
        let unoptimized = plan(&context, sql).await;
        read_iops(&dataset).await;
        pushdown.rule().optimize(unoptimized, context.state().config_options()).unwrap();
        assert_eq!(read_iops(&dataset).await, 0, "{sql}");
    }
    let reports = pushdown.take_reports();
    assert_eq!(reports.len(), QUERIES.len());
    assert!(reports[3].bucket_sizes().index > 0, "{}", reports[3]);
}

/// Zone maps on every column besides.
async fn zoned_table() -> Table {
    let mut table = without_deletions().await;
    for column in ["id", "x", "y", "z"] {
        table.zone_map(column, 8).await;
    }
    table.delete("id % 7 = 0").await;
    table
}

const ZONE_QUERIES: [&str; 4] = [
    "SELECT count(*) FROM t WHERE id < 20",
    "SELECT count(z), count(*) FROM t WHERE id BETWEEN 20 AND 70",
    "SELECT count(*) FROM t WHERE z IS NULL OR x = 77",
    "SELECT count(y) FROM t WHERE y > 'zzz' AND x = 1",
];

/// Opening the table reads all that planning needs: not even the first plan of a version just opened reads.
#[tokio::test]
async fn an_opened_table_is_planned_without_a_read() {
    let table = zoned_table().await;
    let uri = table.dataset.uri().to_string();
    for sql in QUERIES.into_iter().chain(ZONE_QUERIES) {
        let dataset = Arc::new(Dataset::open(&uri).await.unwrap());
        let pushdown = LancePushdown::with_reader(Arc::new(MockReader::new()));
        read_iops(&dataset).await;
        let context = crate::support::opened(&pushdown, Arc::clone(&dataset), 4).await;
        assert!(read_iops(&dataset).await > 0, "zone maps are read when the table is opened");
        plan(&context, sql).await;
        assert_eq!(read_iops(&dataset).await, 0, "{sql}");
    }
}

/// The statistics are used: the filter above is decided for whole fragments.
#[tokio::test]
async fn an_opened_table_decides_by_statistics() {
    let table = zoned_table().await;
    let pushdown = LancePushdown::with_reader(Arc::new(MockReader::new()));
    let context = crate::support::opened(&pushdown, table.shared(), 4).await;
    plan(&context, ZONE_QUERIES[0]).await;
    let report = pushdown.take_reports().pop().unwrap();
    assert_eq!(report.bucket_sizes().literal, 4, "{report}");
}

/// A table that is not opened reads no zone map, neither when it is registered nor while it is planned.
#[tokio::test]
async fn a_table_reads_no_zone_map() {
    let table = zoned_table().await;
    let uri = table.dataset.uri().to_string();
    let dataset = Arc::new(Dataset::open(&uri).await.unwrap());
    let pushdown = LancePushdown::new();
    read_iops(&dataset).await;
    let context = crate::support::context(&pushdown, Arc::clone(&dataset));
    assert_eq!(read_iops(&dataset).await, 0);
    plan(&context, ZONE_QUERIES[0]).await;
    read_iops(&dataset).await;
    plan(&context, ZONE_QUERIES[1]).await;
    assert_eq!(read_iops(&dataset).await, 0);
}
