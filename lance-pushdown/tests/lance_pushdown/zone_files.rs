//! Zone maps that no writer of this version leaves behind, written by hand.

use std::sync::Arc;

use arrow::array::{Array, ArrayRef, AsArray, Int64Array, RecordBatch, UInt32Array, UInt64Array};
use arrow::compute::{concat_batches, kernels::nullif::nullif};
use arrow::datatypes::{Int32Type, UInt32Type, UInt64Type};
use arrow_schema::{DataType, Field, Schema};
use lance::Dataset;
use lance::dataset::CommitBuilder;
use lance::dataset::index::LanceIndexStoreExt;
use lance::dataset::transaction::{Operation, Transaction};
use lance::index::DatasetIndexExt;
use lance_index::scalar::IndexStore;
use lance_index::scalar::lance_format::LanceIndexStore;
use lance_pushdown::{LancePushdown, PushdownReport, Undecided};
use lance_table::format::IndexMetadata;
use roaring::RoaringBitmap;
use rstest::rstest;

use crate::support::{Table, assert_opened, buckets, opened, plan};
use crate::verdicts::zoned;

const LESS: &str = "SELECT count(*) FROM t WHERE v < 20";
const NULLS: &str = "SELECT count(*) FROM t WHERE v IS NULL";
const VALUES: &str = "SELECT count(v) FROM t";

/// How the zone map of `v` is changed.
struct Change {
    zones: fn(RecordBatch) -> RecordBatch,
    /// Keeps the list of rows that are NULL, as every writer of this version does.
    keep_null_list: bool,
    metadata: fn(&mut IndexMetadata),
}

const UNCHANGED: Change = Change { zones: |zones| zones, keep_null_list: true, metadata: |_| {} };

async fn rewritten(change: Change) -> Table {
    let mut table = zoned().await;
    let dataset = &table.dataset;
    let indices = dataset.load_indices().await.unwrap();
    let old = indices.iter().find(|index| index.name == "v_zones").unwrap().clone();
    let mut new = old.clone();
    // The recorded sizes are those of the file that is replaced.
    new.files = None;
    (change.metadata)(&mut new);
    write_zones(dataset, &old, &change).await;
    let operation = Operation::CreateIndex { new_indices: vec![new], removed_indices: vec![old] };
    let transaction = Transaction::new(dataset.manifest.version, operation, None);
    let committed = CommitBuilder::new(Arc::new(dataset.clone())).execute(transaction).await.unwrap();
    // A dataset opened anew holds nothing of the replaced file in its caches.
    table.dataset = Dataset::open(committed.uri()).await.unwrap();
    table
}

async fn write_zones(dataset: &Dataset, index: &IndexMetadata, change: &Change) {
    let store = LanceIndexStore::from_dataset_for_existing(dataset, index).await.unwrap();
    let file = store.open_index_file("zonemap.lance").await.unwrap();
    let zones = (change.zones)(file.read_range(0..file.num_rows(), None).await.unwrap());
    let list = file.schema().metadata["null_bitmap"].parse().unwrap();
    let list = file.read_global_buffer(list).await.unwrap();
    let store = LanceIndexStore::from_dataset_for_new(dataset, &index.uuid).unwrap();
    let mut writer = store.new_index_file("zonemap.lance", zones.schema()).await.unwrap();
    writer.write_record_batch(zones).await.unwrap();
    let mut metadata = std::collections::HashMap::new();
    if change.keep_null_list {
        let place = writer.add_global_buffer(list).await.unwrap();
        metadata.insert("null_bitmap".to_string(), place.to_string());
    }
    writer.finish_with_metadata(metadata).await.unwrap();
}

fn replaced(zones: &RecordBatch, name: &str, column: ArrayRef) -> RecordBatch {
    let at = zones.schema().index_of(name).unwrap();
    let mut fields: Vec<Field> = zones.schema().fields().iter().map(|field| field.as_ref().clone()).collect();
    fields[at] = Field::new(name, column.data_type().clone(), fields[at].is_nullable());
    let mut columns = zones.columns().to_vec();
    columns[at] = column;
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns).unwrap()
}

/// The column's values with the first one changed.
fn first<T>(zones: &RecordBatch, name: &str, change: fn(T::Native) -> T::Native) -> ArrayRef
where
    T: arrow::array::ArrowPrimitiveType,
{
    let values = zones.column_by_name(name).unwrap().as_primitive::<T>();
    let mut changed: Vec<Option<T::Native>> = values.iter().collect();
    changed[0] = changed[0].map(change);
    Arc::new(changed.into_iter().collect::<arrow::array::PrimitiveArray<T>>())
}

async fn report(table: &Table, sql: &str) -> PushdownReport {
    let pushdown = LancePushdown::new();
    let context = opened(&pushdown, table.shared(), 1).await;
    plan(&context, sql).await;
    pushdown.take_reports().pop().expect("a report")
}

/// The way to tamper is sound: what is written unchanged decides as before.
#[tokio::test]
async fn a_zone_map_written_unchanged() {
    let table = rewritten(UNCHANGED).await;
    assert_eq!(buckets(&assert_opened(&table, LESS).await), "sssss");
    assert_eq!(buckets(&assert_opened(&table, NULLS).await), "s.sss");
    assert_eq!(buckets(&assert_opened(&table, VALUES).await), "sssss");
}

/// Zones of fragment 0 that do not cover its rows exactly once.
#[rstest]
#[case::twice(|zones: RecordBatch| concat_batches(&zones.schema(), &[zones.clone(), zones.slice(0, 1)]).unwrap())]
#[case::first_missing(|zones: RecordBatch| zones.slice(1, zones.num_rows() - 1))]
#[case::overlap(|zones: RecordBatch| {
    let length = first::<UInt64Type>(&zones, "zone_length", |length| length + 1);
    replaced(&zones, "zone_length", length)
})]
#[case::gap(|zones: RecordBatch| {
    let length = first::<UInt64Type>(&zones, "zone_length", |length| length - 1);
    replaced(&zones, "zone_length", length)
})]
#[case::empty(|zones: RecordBatch| {
    let length = first::<UInt64Type>(&zones, "zone_length", |_| 0);
    replaced(&zones, "zone_length", length)
})]
#[case::endless(|zones: RecordBatch| {
    let length = first::<UInt64Type>(&zones, "zone_length", |_| u64::MAX);
    replaced(&zones, "zone_length", length)
})]
#[case::more_nulls_than_rows(|zones: RecordBatch| {
    let nulls = first::<UInt32Type>(&zones, "null_count", |_| 5);
    replaced(&zones, "null_count", nulls)
})]
#[tokio::test]
async fn zones_that_do_not_span(#[case] zones: fn(RecordBatch) -> RecordBatch) {
    let table = rewritten(Change { zones, ..UNCHANGED }).await;
    for sql in [LESS, NULLS, VALUES] {
        let report = report(&table, sql).await;
        assert_eq!(&buckets(&report)[0..1], ".", "{report}");
        assert_eq!(report.fragments[0].undecided, Some(Undecided::ZoneSpan), "{report}");
        assert_eq!(&buckets(&report)[2..], "sss", "{report}");
    }
}

/// Zone maps of decimals from older writers: values, and no extrema.
#[rstest]
#[case::minimum("min")]
#[case::maximum("max")]
#[tokio::test]
async fn a_zone_without_extrema(#[case] name: &str) {
    let zones: fn(RecordBatch) -> RecordBatch = match name {
        "min" => |zones| without_first(&zones, "min"),
        _ => |zones| without_first(&zones, "max"),
    };
    let table = rewritten(Change { zones, ..UNCHANGED }).await;
    let less = assert_opened(&table, LESS).await;
    assert_eq!(buckets(&less), ".ssss");
    assert_eq!(less.fragments[0].undecided, Some(Undecided::MissingExtrema));
    assert_eq!(buckets(&assert_opened(&table, NULLS).await), "s.sss", "NULLs need no extrema");
    assert_eq!(buckets(&assert_opened(&table, VALUES).await), "sssss");
}

fn without_first(zones: &RecordBatch, name: &str) -> RecordBatch {
    let is_first: arrow::array::BooleanArray = (0..zones.num_rows()).map(|row| Some(row == 0)).collect();
    let column = nullif(zones.column_by_name(name).unwrap(), &is_first).unwrap();
    replaced(zones, name, column)
}

#[tokio::test]
async fn a_minimum_above_the_maximum() {
    let zones = |zones: RecordBatch| {
        let min = first::<Int32Type>(&zones, "min", |_| 1000);
        replaced(&zones, "min", min)
    };
    let table = rewritten(Change { zones, ..UNCHANGED }).await;
    let less = report(&table, LESS).await;
    assert_eq!(less.fragments[0].undecided, Some(Undecided::MissingExtrema), "{less}");
}

/// Extrema of another type, as after a change of a decimal's scale or a timestamp's unit.
#[tokio::test]
async fn extrema_of_another_type() {
    let zones = |zones: RecordBatch| {
        let widened = |name| -> ArrayRef {
            let values = zones.column_by_name(name).unwrap().as_primitive::<Int32Type>();
            Arc::new(values.iter().map(|value| value.map(i64::from)).collect::<Int64Array>())
        };
        replaced(&replaced(&zones, "min", widened("min")), "max", widened("max"))
    };
    let table = rewritten(Change { zones, ..UNCHANGED }).await;
    for sql in [LESS, NULLS, VALUES] {
        let report = report(&table, sql).await;
        assert_eq!(buckets(&report), ".....", "{report}");
        assert_eq!(report.fragments[0].undecided, Some(Undecided::ZoneType));
    }
}

/// Without the list, a number of NULLs that is neither none nor all may be a mere sign.
#[tokio::test]
async fn without_the_list_of_nulls() {
    let table = rewritten(Change { keep_null_list: false, ..UNCHANGED }).await;
    assert_eq!(buckets(&assert_opened(&table, LESS).await), "sssss");
    assert_eq!(buckets(&assert_opened(&table, NULLS).await), "s.sss");
    let values = assert_opened(&table, VALUES).await;
    assert_eq!(buckets(&values), "s.sss");
    assert_eq!(values.fragments[1].undecided, Some(Undecided::NullCount));
}

/// As many NULLs as rows, and values besides: a remapped zone of one row.
#[tokio::test]
async fn all_null_and_not() {
    let zones = |zones: RecordBatch| {
        let lengths = zones.column_by_name("zone_length").unwrap().as_primitive::<UInt64Type>();
        let all: UInt32Array = lengths.iter().map(|length| length.map(|length| length as u32)).collect();
        replaced(&zones, "null_count", Arc::new(all))
    };
    let table = rewritten(Change { zones, ..UNCHANGED }).await;
    let values = report(&table, VALUES).await;
    assert_eq!(buckets(&values), "..s..", "{values}");
    assert_eq!(values.fragments[0].undecided, Some(Undecided::NullCount));
}

/// Coverage is what the metadata says, not what the file holds.
#[rstest]
#[case::narrower(|index: &mut IndexMetadata| {
    index.fragment_bitmap = Some(RoaringBitmap::from_iter([0, 2, 3, 4]));
}, "s.sss", Some(Undecided::Uncovered))]
#[case::dead_fragments(|index: &mut IndexMetadata| {
    index.fragment_bitmap = Some(RoaringBitmap::from_iter([0, 1, 2, 3, 4, 9, 17]));
}, "sssss", None)]
#[tokio::test]
async fn coverage(
    #[case] metadata: fn(&mut IndexMetadata),
    #[case] expected: &str,
    #[case] undecided: Option<Undecided>,
) {
    let table = rewritten(Change { metadata, ..UNCHANGED }).await;
    let less = report(&table, LESS).await;
    assert_eq!(buckets(&less), expected, "{less}");
    assert_eq!(less.fragments[1].undecided, undecided, "{less}");
}

/// A fragment that the metadata claims and the file does not know.
#[tokio::test]
async fn coverage_without_zones() {
    let zones = |zones: RecordBatch| {
        let fragments = zones.column_by_name("fragment_id").unwrap().as_primitive::<UInt64Type>();
        let last = fragments.iter().filter(|id| *id == Some(4)).count();
        zones.slice(0, zones.num_rows() - last)
    };
    let table = rewritten(Change { zones, ..UNCHANGED }).await;
    // Lance itself believes such metadata, and misses the fragment's rows.
    let less = report(&table, LESS).await;
    assert_eq!(buckets(&less), "ssss.");
    assert_eq!(less.fragments[4].undecided, Some(Undecided::ZoneSpan));
}

#[rstest]
#[case::missing(|zones: RecordBatch| {
    let columns: Vec<usize> = (0..zones.num_columns()).filter(|at| zones.schema().field(*at).name() != "zone_start").collect();
    zones.project(&columns).unwrap()
}, "zone_start")]
#[case::foreign_type(|zones: RecordBatch| {
    let ids = zones.column_by_name("null_count").unwrap().as_primitive::<UInt32Type>();
    let wide: UInt64Array = ids.iter().map(|id| id.map(u64::from)).collect();
    replaced(&zones, "null_count", Arc::new(wide))
}, "null_count")]
#[tokio::test]
async fn a_file_that_is_no_zone_map(#[case] zones: fn(RecordBatch) -> RecordBatch, #[case] missing: &str) {
    let table = rewritten(Change { zones, ..UNCHANGED }).await;
    let error = LancePushdown::new().open_table(table.shared()).await.unwrap_err();
    let expected = format!("zone map `v_zones` lacks a usable column `{missing}`");
    assert_eq!(error.to_string(), expected);
}

/// The tests above widen and drop columns of these types.
#[tokio::test]
async fn the_file_is_as_described() {
    let table = zoned().await;
    let indices = table.dataset.load_indices().await.unwrap();
    let index = indices.iter().find(|index| index.name == "v_zones").unwrap();
    let store = LanceIndexStore::from_dataset_for_existing(&table.dataset, index).await.unwrap();
    let file = store.open_index_file("zonemap.lance").await.unwrap();
    let zones = file.read_range(0..file.num_rows(), None).await.unwrap();
    assert_eq!(zones.num_rows(), 15);
    assert_eq!(zones.column_by_name("min").unwrap().data_type(), &DataType::Int32);
    assert_eq!(zones.column_by_name("null_count").unwrap().data_type(), &DataType::UInt32);
}
