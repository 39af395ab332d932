//! What the rule costs a query that it does not touch: planning with and without it, over a table of 100 fragments.
//!
//! Compare `planning/stock` with `planning/pushdown` of one run; `rule` is the rule's own share.
#![expect(clippy::unwrap_used, reason = "a benchmark fails by panicking")]

use std::hint::black_box;
use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch, RecordBatchIterator};
use criterion::{Criterion, criterion_group, criterion_main};
use datafusion::config::ConfigOptions;
use datafusion::prelude::{SessionConfig, SessionContext};
use lance::Dataset;
use lance::datafusion::LanceTableProvider;
use lance::dataset::WriteParams;
use lance_pushdown::LancePushdown;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const FRAGMENTS: usize = 100;
const QUERY: &str = "SELECT x, x % 7 AS k FROM t WHERE x > 10 ORDER BY x DESC LIMIT 5";

async fn dataset(folder: &TempDir) -> Arc<Dataset> {
    let x = Int64Array::from_iter_values(0..FRAGMENTS as i64);
    let batch = RecordBatch::try_from_iter([("x", Arc::new(x) as _)]).unwrap();
    let schema = batch.schema();
    let params = WriteParams { max_rows_per_file: 1, ..WriteParams::default() };
    let rows = RecordBatchIterator::new([Ok(batch)], schema);
    Arc::new(Dataset::write(rows, folder.path().to_str().unwrap(), Some(params)).await.unwrap())
}

fn planning(criterion: &mut Criterion) {
    let runtime = Runtime::new().unwrap();
    let folder = TempDir::new().unwrap();
    let dataset = runtime.block_on(dataset(&folder));
    let pushdown = LancePushdown::new();
    let stock = SessionContext::new();
    stock.register_table("t", Arc::new(LanceTableProvider::new(Arc::clone(&dataset), false, false))).unwrap();
    let with_rule = SessionContext::new_with_state(pushdown.session_state(SessionConfig::new()));
    with_rule.register_table("t", runtime.block_on(pushdown.open_table(dataset)).unwrap()).unwrap();

    let mut group = criterion.benchmark_group("planning");
    for (name, context) in [("stock", &stock), ("pushdown", &with_rule)] {
        group.bench_function(name, |bencher| {
            bencher.to_async(&runtime).iter(|| async {
                let frame = context.sql(QUERY).await.unwrap();
                black_box(frame.create_physical_plan().await.unwrap())
            });
        });
    }
    group.finish();

    let plan = runtime.block_on(async { with_rule.sql(QUERY).await.unwrap().create_physical_plan().await.unwrap() });
    let (rule, config) = (pushdown.rule(), ConfigOptions::new());
    criterion.bench_function("rule", |bencher| {
        bencher.iter(|| black_box(rule.optimize(Arc::clone(&plan), &config).unwrap()));
    });
}

criterion_group!(benches, planning);
criterion_main!(benches);
