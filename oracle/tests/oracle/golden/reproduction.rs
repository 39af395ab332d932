//! Needs arrow, datafusion, lance, lance-index and tokio. If it passes, neither Lance nor DataFusion is wrong.

use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchIterator, RecordBatchReader};
use arrow::compute::{cast, concat_batches};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};
use lance::Dataset;
use lance::dataset::{WriteMode, WriteParams};

fn schema(fields: &[(&str, DataType, bool)]) -> SchemaRef {
    let field = |(name, data_type, nullable): &(&str, DataType, bool)| Field::new(*name, data_type.clone(), *nullable);
    Arc::new(Schema::new(fields.iter().map(field).collect::<Vec<_>>()))
}

/// The rows of a query, with exactly these fields. No query, no row.
async fn batch(schema: SchemaRef, sql: &str) -> RecordBatch {
    if sql.is_empty() {
        return RecordBatch::new_empty(schema);
    }
    let found = SessionContext::new().sql(sql).await.unwrap().collect().await.unwrap();
    let found = concat_batches(&found[0].schema(), &found).unwrap();
    let columns = found.columns().iter().zip(schema.fields());
    let columns = columns.map(|(column, field)| cast(column, field.data_type()).unwrap()).collect();
    RecordBatch::try_new(schema, columns).unwrap()
}

fn reader(batch: RecordBatch) -> Box<dyn RecordBatchReader + Send> {
    let schema = batch.schema();
    Box::new(RecordBatchIterator::new([Ok(batch)], schema))
}

/// The rows as a multiset.
async fn check(session: &SessionContext, sql: &str, expected: RecordBatch) {
    let frame = session.sql(sql).await.unwrap();
    let schema = Arc::new(frame.schema().as_arrow().clone());
    let found = concat_batches(&schema, &frame.collect().await.unwrap()).unwrap();
    let lines = |batch: RecordBatch| {
        let mut lines: Vec<String> =
            pretty_format_batches(&[batch]).unwrap().to_string().lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(lines(found), lines(expected), "{sql}");
}

fn parameters(mode: WriteMode) -> WriteParams {
    WriteParams {
        mode,
        max_rows_per_file: 16,
        enable_stable_row_ids: false,
        ..WriteParams::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reproduction_7_41() {
    let rows = batch(schema(&[("c0", DataType::Int64, true), ("c1", DataType::Utf8, true)]), "VALUES (1, 'it''s'), (-2, ''), (CAST(NULL AS BIGINT), 'a'), (7, CAST(NULL AS STRING)), (9, 'a')").await;
    let create = parameters(WriteMode::Create);
    let mut dataset = Dataset::write(reader(rows), "memory://reproduction", Some(create)).await.unwrap();
    {
        use lance::index::DatasetIndexExt as _;
        let kind = lance_index::scalar::BuiltinIndexType::Bitmap;
        let options = lance_index::scalar::ScalarIndexParams::for_builtin(kind);
        let (kind, name) = (lance_index::IndexType::Bitmap, Some("c1_bitmap".to_owned()));
        dataset.create_index(&["c1"], kind, name, &options, true).await.unwrap();
    }
    let rows = batch(schema(&[("c0", DataType::Int64, true), ("c1", DataType::Utf8, true)]), "VALUES (4, 'b')").await;
    dataset.append(reader(rows), Some(parameters(WriteMode::Append))).await.unwrap();
    {
        use lance::index::DatasetIndexExt as _;
        dataset.optimize_indices(&lance_index::optimize::OptimizeOptions::append()).await.unwrap();
    }
    dataset.delete("(c0 = 9)").await.unwrap();
    let update = lance::dataset::UpdateBuilder::new(Arc::new(dataset));
    let update = update.update_where("(c1 IS NULL)").unwrap();
    let update = update.set("c1", "'c'").unwrap();
    let updated = update.build().unwrap().execute().await.unwrap();
    dataset = updated.new_dataset.as_ref().clone();
    let rows = batch(schema(&[("c0", DataType::Int64, true), ("c1", DataType::Utf8, true)]), "VALUES (4, 'd')").await;
    let mut merge =
        lance::dataset::MergeInsertBuilder::try_new(Arc::new(dataset), vec!["c0".to_owned()]).unwrap();
    merge.when_matched(lance::dataset::WhenMatched::UpdateAll);
    merge.when_not_matched(lance::dataset::WhenNotMatched::InsertAll);
    merge.write_mode(lance::dataset::MergeInsertWriteMode::RewriteRows);
    let (merged, _) = merge.try_build().unwrap().execute_reader(reader(rows)).await.unwrap();
    dataset = merged.as_ref().clone();
    let column = lance::dataset::NewColumnTransform::AllNulls(schema(&[("c2", DataType::Int64, true)]));
    dataset.add_columns(column, None, None).await.unwrap();
    let rows = batch(schema(&[("c1", DataType::Utf8, true), ("c0", DataType::Int64, true)]), "VALUES ('d', 6)").await;
    let mut merge =
        lance::dataset::MergeInsertBuilder::try_new(Arc::new(dataset), vec!["c1".to_owned()]).unwrap();
    merge.when_matched(lance::dataset::WhenMatched::UpdateAll);
    merge.when_not_matched(lance::dataset::WhenNotMatched::DoNothing);
    merge.write_mode(lance::dataset::MergeInsertWriteMode::RewriteColumns);
    let (merged, _) = merge.try_build().unwrap().execute_reader(reader(rows)).await.unwrap();
    dataset = merged.as_ref().clone();
    let column = lance::dataset::NewColumnTransform::SqlExpressions(vec![("c3".to_owned(), "CAST(c0 AS BIGINT)".to_owned())]);
    dataset.add_columns(column, None, None).await.unwrap();
    dataset.drop_columns(&["c2"]).await.unwrap();
    {
        use lance::index::DatasetIndexExt as _;
        dataset.optimize_indices(&lance_index::optimize::OptimizeOptions::merge(usize::MAX)).await.unwrap();
    }
    {
        use lance::index::DatasetIndexExt as _;
        let kind = lance_index::scalar::BuiltinIndexType::ZoneMap;
        let options = lance_index::scalar::ScalarIndexParams::for_builtin(kind);
        let (kind, name) = (lance_index::IndexType::ZoneMap, Some("c1_zonemap".to_owned()));
        dataset.create_index(&["c1"], kind, name, &options, true).await.unwrap();
    }
    {
        use lance::index::DatasetIndexExt as _;
        _ = dataset.drop_index("c1_zonemap").await;
    }
    let options = lance::dataset::optimize::CompactionOptions {
        target_rows_per_fragment: 4,
        defer_index_remap: false,
        ..Default::default()
    };
    lance::dataset::optimize::compact_files(&mut dataset, options, None).await.unwrap();
    let config = SessionConfig::new().with_target_partitions(1).with_batch_size(8192);
    let session = SessionContext::new_with_config(config);
    let provider = lance::datafusion::LanceTableProvider::new(Arc::new(dataset), false, false);
    session.register_table("t", Arc::new(provider)).unwrap();
    let expected = batch(schema(&[("c1", DataType::Utf8, true), ("m0", DataType::Int64, true)]), "VALUES ('', -2), ('a', CAST(NULL AS BIGINT)), ('c', 7), ('d', 6), ('it''s', 1)").await;
    check(&session, "SELECT c1, sum(c0) AS m0 FROM t GROUP BY c1", expected).await;
    let expected = batch(schema(&[("c0", DataType::Int64, true)]), "VALUES (7), (6), (1)").await;
    check(&session, "SELECT c0 FROM t ORDER BY c0 DESC NULLS LAST LIMIT 3", expected).await;
}
