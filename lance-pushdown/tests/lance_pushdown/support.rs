//! Real datasets in temporary folders, and a model of their rows.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int32Array, Int64Array, RecordBatch, RecordBatchIterator, StringArray};
use arrow::datatypes::{Int32Type, Int64Type};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::datasource::MemTable;
use datafusion::execution::session_state::SessionState;
use datafusion::physical_plan::{ExecutionPlan, collect, displayable};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::TryStreamExt;
use lance::Dataset;
use lance::datafusion::LanceTableProvider;
use lance::dataset::optimize::{CompactionOptions, compact_files};
use lance::dataset::{
    MergeInsertBuilder, MergeInsertWriteMode, UpdateBuilder, WhenMatched, WhenNotMatched, WriteMode, WriteParams,
};
use lance::index::DatasetIndexExt;
use lance_index::IndexType;
use lance_index::optimize::OptimizeOptions;
use lance_index::scalar::zonemap::ZoneMapIndexBuilderParams;
use lance_index::scalar::{BuiltinIndexType, ScalarIndexParams};
use lance_pushdown::{Bucket, LancePushdown, LiteralSource, PushdownReport};
use tempfile::TempDir;

/// One row; `id` never is NULL, the others may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) id: i64,
    pub(crate) x: Option<i32>,
    pub(crate) y: Option<String>,
    pub(crate) z: Option<i32>,
}

/// Rows `from..to`: x takes 0..5 and NULL, y takes three words and NULL, z takes 0..11 and NULL.
pub(crate) fn rows(from: i64, to: i64) -> Vec<Row> {
    (from..to)
        .map(|id| Row {
            id,
            x: (id % 7 != 6).then_some((id % 7 % 5) as i32),
            y: (id % 5 != 4).then(|| ["red", "green", "blue"][(id % 3) as usize].to_string()),
            z: (id % 4 != 3).then_some((id % 11) as i32),
        })
        .collect()
}

pub(crate) fn schema() -> SchemaRef {
    Arc::new(Schema::new(vec![
        Field::new("id", DataType::Int64, false),
        Field::new("x", DataType::Int32, true),
        Field::new("y", DataType::Utf8, true),
        Field::new("z", DataType::Int32, true),
    ]))
}

/// The rows as a batch with these columns.
pub(crate) fn batch(rows: &[Row], columns: &[&str]) -> RecordBatch {
    let column = |name: &str| -> ArrayRef {
        match name {
            "id" => Arc::new(rows.iter().map(|row| row.id).collect::<Int64Array>()),
            "x" => Arc::new(rows.iter().map(|row| row.x).collect::<Int32Array>()),
            "y" => Arc::new(rows.iter().map(|row| row.y.clone()).collect::<StringArray>()),
            _ => Arc::new(rows.iter().map(|row| row.z).collect::<Int32Array>()),
        }
    };
    let fields: Vec<_> = columns.iter().map(|name| schema().field_with_name(name).unwrap().clone()).collect();
    let arrays = columns.iter().map(|name| column(name)).collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
}

const ALL: [&str; 4] = ["id", "x", "y", "z"];

/// A dataset that lives as long as this value.
pub(crate) struct Table {
    _folder: TempDir,
    pub(crate) dataset: Dataset,
}

#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Layout {
    pub(crate) rows_per_fragment: i64,
    pub(crate) fragments: i64,
    pub(crate) stable_row_ids: bool,
}

/// `fragments` fragments of 20 rows.
pub(crate) fn fragments(fragments: i64) -> Layout {
    Layout { rows_per_fragment: 20, fragments, stable_row_ids: false }
}

impl Table {
    pub(crate) async fn create(layout: Layout) -> Self {
        let data = batch(&rows(0, layout.rows_per_fragment * layout.fragments), &ALL);
        Self::from_batch(data, layout).await
    }

    pub(crate) async fn from_batch(data: RecordBatch, layout: Layout) -> Self {
        let folder = TempDir::new().unwrap();
        let params = WriteParams {
            max_rows_per_file: layout.rows_per_fragment.max(1) as usize,
            enable_stable_row_ids: layout.stable_row_ids,
            ..WriteParams::default()
        };
        let schema = data.schema();
        let reader = RecordBatchIterator::new(vec![Ok(data)], schema);
        let dataset = Dataset::write(reader, folder.path().to_str().unwrap(), Some(params)).await.unwrap();
        Self { _folder: folder, dataset }
    }

    pub(crate) async fn index(&mut self, column: &str, kind: BuiltinIndexType, name: &str) {
        self.dataset
            .create_index(
                &[column],
                IndexType::Scalar,
                Some(name.to_string()),
                &ScalarIndexParams::for_builtin(kind),
                true,
            )
            .await
            .unwrap();
    }

    pub(crate) async fn bitmap(&mut self, column: &str) {
        self.index(column, BuiltinIndexType::Bitmap, &format!("{column}_idx")).await;
    }

    /// A zone map with zones of `rows` rows, named `{column}_zones`.
    pub(crate) async fn zone_map(&mut self, column: &str, rows: u64) {
        self.named_zone_map(column, rows, &format!("{column}_zones")).await;
    }

    pub(crate) async fn named_zone_map(&mut self, column: &str, rows: u64, name: &str) {
        let params = ScalarIndexParams::for_builtin(BuiltinIndexType::ZoneMap)
            .with_params(&ZoneMapIndexBuilderParams::new(rows));
        self.dataset.create_index(&[column], IndexType::Scalar, Some(name.to_string()), &params, true).await.unwrap();
    }

    pub(crate) async fn append_batch(&mut self, data: RecordBatch) {
        let schema = data.schema();
        let params = WriteParams { mode: WriteMode::Append, ..WriteParams::default() };
        self.dataset.append(RecordBatchIterator::new(vec![Ok(data)], schema), Some(params)).await.unwrap();
    }

    pub(crate) async fn append(&mut self, rows: &[Row]) {
        self.append_columns(rows, &ALL).await;
    }

    /// Appends rows without the other columns, which are then NULL.
    pub(crate) async fn append_columns(&mut self, rows: &[Row], columns: &[&str]) {
        self.append_batch(batch(rows, columns)).await;
    }

    pub(crate) async fn delete(&mut self, predicate: &str) {
        self.dataset.delete(predicate).await.unwrap();
    }

    /// Moves the rows into new fragments.
    pub(crate) async fn update(&mut self, predicate: &str, column: &str, value: &str) {
        let job = UpdateBuilder::new(Arc::new(self.dataset.clone()))
            .update_where(predicate)
            .unwrap()
            .set(column, value)
            .unwrap()
            .build()
            .unwrap();
        let updated = job.execute().await.unwrap().new_dataset;
        self.dataset = updated.as_ref().clone();
    }

    /// Replaces column `x` of the given rows within their fragments.
    pub(crate) async fn rewrite_x(&mut self, rows: &[Row]) {
        let mut builder = MergeInsertBuilder::try_new(Arc::new(self.dataset.clone()), vec!["id".to_string()]).unwrap();
        let job = builder
            .when_matched(WhenMatched::UpdateAll)
            .when_not_matched(WhenNotMatched::DoNothing)
            .write_mode(MergeInsertWriteMode::RewriteColumns)
            .try_build()
            .unwrap();
        let data = batch(rows, &["id", "x"]);
        let schema = data.schema();
        let reader = RecordBatchIterator::new(vec![Ok(data)], schema);
        let (dataset, _) =
            job.execute_reader(Box::new(reader) as Box<dyn arrow::array::RecordBatchReader + Send>).await.unwrap();
        self.dataset = dataset.as_ref().clone();
    }

    pub(crate) async fn optimize(&mut self, options: OptimizeOptions) {
        self.dataset.optimize_indices(&options).await.unwrap();
    }

    pub(crate) async fn compact(&mut self, defer_index_remap: bool) {
        let options =
            CompactionOptions { target_rows_per_fragment: 1000, defer_index_remap, ..CompactionOptions::default() };
        compact_files(&mut self.dataset, options, None).await.unwrap();
    }

    pub(crate) fn shared(&self) -> Arc<Dataset> {
        Arc::new(self.dataset.clone())
    }

    /// Every live row, by a scan without filter or index.
    pub(crate) async fn rows(&self) -> Vec<Row> {
        let mut scan = self.dataset.scan();
        scan.project(&ALL).unwrap();
        scan.use_scalar_index(false);
        let batches: Vec<RecordBatch> = scan.try_into_stream().await.unwrap().try_collect().await.unwrap();
        batches.iter().flat_map(rows_of).collect()
    }

    pub(crate) async fn count(&self, predicate: impl Fn(&Row) -> bool) -> i64 {
        let rows = self.rows().await;
        rows.iter().filter(|row| predicate(row)).count() as i64
    }
}

fn rows_of(batch: &RecordBatch) -> Vec<Row> {
    let id = batch.column(0).as_primitive::<Int64Type>();
    let x = batch.column(1).as_primitive::<Int32Type>();
    let y = batch.column(2).as_string::<i32>();
    let z = batch.column(3).as_primitive::<Int32Type>();
    (0..batch.num_rows())
        .map(|at| Row {
            id: id.value(at),
            x: x.is_valid(at).then(|| x.value(at)),
            y: y.is_valid(at).then(|| y.value(at).to_string()),
            z: z.is_valid(at).then(|| z.value(at)),
        })
        .collect()
}

fn config(partitions: usize) -> SessionConfig {
    SessionConfig::new().with_target_partitions(partitions)
}

pub(crate) fn session(pushdown: &LancePushdown, partitions: usize) -> SessionState {
    pushdown.session_state(config(partitions))
}

/// A session in which `t` is the dataset and the rule is on.
pub(crate) fn context(pushdown: &LancePushdown, dataset: Arc<Dataset>) -> SessionContext {
    let context = SessionContext::new_with_state(session(pushdown, 1));
    context.register_table("t", pushdown.table(dataset)).unwrap();
    context
}

pub(crate) async fn plan(context: &SessionContext, sql: &str) -> Arc<dyn ExecutionPlan> {
    context.sql(sql).await.unwrap().create_physical_plan().await.unwrap()
}

pub(crate) fn text(plan: &Arc<dyn ExecutionPlan>) -> String {
    displayable(plan.as_ref()).indent(false).to_string()
}

pub(crate) async fn answer(context: &SessionContext, plan: Arc<dyn ExecutionPlan>) -> Vec<i64> {
    let batches = collect(plan, context.task_ctx()).await.unwrap();
    counts(&batches)
}

pub(crate) fn counts(batches: &[RecordBatch]) -> Vec<i64> {
    let row: Vec<&RecordBatch> = batches.iter().filter(|batch| batch.num_rows() > 0).collect();
    assert_eq!(row.len(), 1, "one batch with one row");
    assert_eq!(row[0].num_rows(), 1, "one row");
    row[0].columns().iter().map(|column| column.as_primitive::<Int64Type>().value(0)).collect()
}

/// The answer of a stock session.
pub(crate) async fn plain(dataset: Arc<Dataset>, sql: &str, partitions: usize) -> Vec<i64> {
    let context = SessionContext::new_with_config(config(partitions));
    context.register_table("t", Arc::new(LanceTableProvider::new(dataset, false, false))).unwrap();
    let plan = plan(&context, sql).await;
    answer(&context, plan).await
}

/// The answer of a session with the rule, and its report.
pub(crate) async fn pushed(dataset: Arc<Dataset>, sql: &str, partitions: usize) -> (Vec<i64>, PushdownReport) {
    let pushdown = LancePushdown::new();
    let context = SessionContext::new_with_state(session(&pushdown, partitions));
    context.register_table("t", pushdown.table(dataset)).unwrap();
    let plan = plan(&context, sql).await;
    let report = pushdown.take_reports().pop().expect("a report");
    (answer(&context, plan).await, report)
}

/// The answer of a session with the rule over a stock table, and its report.
pub(crate) async fn pushed_stock(dataset: Arc<Dataset>, sql: &str) -> (Vec<i64>, PushdownReport) {
    let pushdown = LancePushdown::new();
    let context = SessionContext::new_with_state(session(&pushdown, 1));
    context.register_table("t", Arc::new(LanceTableProvider::new(dataset, false, false))).unwrap();
    let plan = plan(&context, sql).await;
    let report = pushdown.take_reports().pop().expect("a report");
    (answer(&context, plan).await, report)
}

/// The answer over the dataset's rows in memory, read without filter or index.
pub(crate) async fn truth(table: &Table, sql: &str) -> Vec<i64> {
    let mut scan = table.dataset.scan();
    scan.use_scalar_index(false);
    let schema: SchemaRef = Arc::new(Schema::from(table.dataset.schema()));
    let batches: Vec<RecordBatch> = scan.try_into_stream().await.unwrap().try_collect().await.unwrap();
    let context = SessionContext::new_with_config(config(1));
    context.register_table("t", Arc::new(MemTable::try_new(schema, vec![batches]).unwrap())).unwrap();
    let plan = plan(&context, sql).await;
    answer(&context, plan).await
}

/// A session in which `t` is the dataset with its zone maps.
pub(crate) async fn opened(pushdown: &LancePushdown, dataset: Arc<Dataset>, partitions: usize) -> SessionContext {
    let context = SessionContext::new_with_state(session(pushdown, partitions));
    context.register_table("t", pushdown.open_table(dataset).await.unwrap()).unwrap();
    context
}

/// Asserts that `sql` yields the truth over the dataset with its zone maps, by the rule and by the stock provider, with
/// one partition and with four; returns the rule's report.
pub(crate) async fn assert_opened(table: &Table, sql: &str) -> PushdownReport {
    let expected = truth(table, sql).await;
    let mut last = None;
    for partitions in [1, 4] {
        let stock = plain(table.shared(), sql, partitions).await;
        assert_eq!(stock, expected, "stock, {partitions} partitions: {sql}");
        let pushdown = LancePushdown::new();
        let context = opened(&pushdown, table.shared(), partitions).await;
        let plan = plan(&context, sql).await;
        let report = pushdown.take_reports().pop().expect("a report");
        assert_eq!(answer(&context, plan).await, expected, "{partitions} partitions: {sql}\n{report}");
        last = Some(report);
    }
    last.expect("a report")
}

/// A letter per fragment: `m` a literal from the manifest, `s` one from statistics, `i` the index, `.` the scan.
pub(crate) fn buckets(report: &PushdownReport) -> String {
    let letter = |fragment: &lance_pushdown::FragmentReport| match (fragment.bucket, fragment.literal_source) {
        _ if !report.is_rewritten() => '.',
        (Bucket::Literal, Some(LiteralSource::Manifest)) => 'm',
        (Bucket::Literal, Some(LiteralSource::Statistics)) => 's',
        (Bucket::Index, None) => 'i',
        (Bucket::Scan(_), None) => '.',
        other => panic!("{other:?}"),
    };
    report.fragments.iter().map(letter).collect()
}

/// Asserts that every way to run `sql` yields `expected`, and returns the report of the one with our table.
pub(crate) async fn assert_counts(table: &Table, sql: &str, expected: &[i64]) -> PushdownReport {
    for partitions in [1, 4] {
        let plain = plain(table.shared(), sql, partitions).await;
        assert_eq!(plain, expected, "plain, {partitions} partitions: {sql}");
    }
    assert_pushed(table, sql, expected).await
}

/// [`assert_counts`] where the plain plan is known to be wrong.
pub(crate) async fn assert_pushed(table: &Table, sql: &str, expected: &[i64]) -> PushdownReport {
    let (stock, stock_report) = pushed_stock(table.shared(), sql).await;
    assert_eq!(stock, expected, "stock table: {sql}\n{stock_report}");
    let mut last = None;
    for partitions in [1, 4] {
        let (counts, report) = pushed(table.shared(), sql, partitions).await;
        assert_eq!(counts, expected, "{partitions} partitions: {sql}\n{report}");
        last = Some(report);
    }
    last.expect("a report")
}

/// Fragments per bucket: index, literal, scan.
pub(crate) fn sizes(report: &PushdownReport) -> (usize, usize, usize) {
    let sizes = report.bucket_sizes();
    (sizes.index, sizes.literal, sizes.scan)
}

/// The nodes of a plan, top to bottom, left to right.
pub(crate) fn nodes(plan: &Arc<dyn ExecutionPlan>) -> Vec<Arc<dyn ExecutionPlan>> {
    let mut all = vec![Arc::clone(plan)];
    for child in plan.children() {
        all.extend(nodes(child));
    }
    all
}

/// The operator that the rule puts into the plan of `sql`, taken out and rebuilt.
pub(crate) async fn indexed_exec(table: &Table, sql: &str) -> Arc<lance_pushdown::IndexedAggregateExec> {
    let pushdown = LancePushdown::new();
    let context = context(&pushdown, table.shared());
    let plan = plan(&context, sql).await;
    let node = nodes(&plan)
        .into_iter()
        .find_map(|node| {
            let exec = node.downcast_ref::<lance_pushdown::IndexedAggregateExec>()?;
            let rebuilt = lance_pushdown::IndexedAggregateExec::try_new(
                Arc::clone(exec.dataset()),
                Arc::new(lance_pushdown::LanceIndexReader::new()),
                exec.queries().clone(),
                exec.fragments().to_vec(),
                exec.schema(),
            );
            Some(rebuilt.unwrap())
        })
        .expect("an IndexedAggregateExec");
    Arc::new(node)
}
