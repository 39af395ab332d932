//! Zone maps, read when a table is registered.

use std::collections::{HashMap, HashSet};

use arrow::array::{Array, AsArray, RecordBatch};
use arrow::datatypes::{UInt32Type, UInt64Type};
use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, TryStreamExt};
use lance::Dataset;
use lance::dataset::index::LanceIndexStoreExt;
use lance::index::DatasetIndexExt;
use lance_core::datatypes::Field;
use lance_index::frag_reuse::FRAG_REUSE_INDEX_NAME;
use lance_index::scalar::IndexStore;
use lance_index::scalar::lance_format::LanceIndexStore;
use lance_table::format::{Fragment, IndexMetadata};
use roaring::RoaringBitmap;

use super::Undecided;
use super::facts::{ColumnStatistics, counts_nulls};
use super::zones::{Context, Zone, fold};
use crate::error::{PushdownError, Result};

/// The file of a zone map, and the key under which its schema metadata says that it lists the rows that are NULL.
const FILE: &str = "zonemap.lance";
const NULL_LIST: &str = "null_bitmap";

type Recorded = std::result::Result<ColumnStatistics, Undecided>;

/// The facts that the zone maps of one dataset version record, by field and fragment.
#[derive(Debug, Default)]
pub(crate) struct ZoneMaps {
    columns: HashMap<i32, HashMap<u64, Recorded>>,
    /// Set if no zone map of the dataset can be trusted.
    refused: Option<Undecided>,
}

impl ZoneMaps {
    /// Reads every zone map on a top-level column: one small file for each segment.
    pub(crate) async fn load(dataset: &Dataset) -> Result<Self> {
        let indices = dataset.load_indices().await?;
        if let Some(reason) = refuse_all(dataset, &indices) {
            return Ok(Self { refused: Some(reason), ..Self::default() });
        }
        let segments = admitted(dataset, &indices);
        let parallelism = dataset.object_store(None).await?.io_parallelism().max(1);
        // Made before they are streamed: a closure inside of the stream would keep the future of `open_table` from being
        // spawned (rust-lang/rust#102211).
        let reads: Vec<BoxFuture<'_, Result<SegmentFacts>>> =
            segments.into_iter().map(|segment| read(dataset, segment).boxed()).collect();
        let loaded: Vec<SegmentFacts> = futures::stream::iter(reads).buffered(parallelism).try_collect().await?;
        let mut maps = Self::default();
        for (field, facts) in loaded {
            let column = maps.columns.entry(field).or_default();
            for (fragment, recorded) in facts {
                // Several zone maps on a column are never combined for a fragment: one of them answers for it.
                match column.get(&fragment) {
                    Some(Ok(_)) => {}
                    Some(Err(_)) | None => {
                        column.insert(fragment, recorded);
                    }
                }
            }
        }
        Ok(maps)
    }

    /// What is recorded about a field in a fragment.
    pub(super) fn column(&self, field: i32, fragment: &Fragment) -> Recorded {
        match (self.refused, self.columns.get(&field)) {
            (Some(reason), _) => Err(reason),
            (None, None) => Err(Undecided::NoStatistics),
            (None, Some(fragments)) => fragments.get(&fragment.id).cloned().unwrap_or(Err(Undecided::Uncovered)),
        }
    }
}

/// Dataset states in which a zone map's addresses may not be those of the fragments.
fn refuse_all(dataset: &Dataset, indices: &[IndexMetadata]) -> Option<Undecided> {
    if indices.iter().any(|index| index.name == FRAG_REUSE_INDEX_NAME) {
        return Some(Undecided::FragmentReuse);
    }
    dataset.manifest.uses_stable_row_ids().then_some(Undecided::StableRowIds)
}

/// A segment of a zone map with the fragments that it answers for.
struct Segment<'a> {
    index: &'a IndexMetadata,
    field: &'a Field,
    fragments: RoaringBitmap,
}

/// Segments of zone maps on one top-level column each, in manifest order. An index whose segments claim the same
/// fragment twice, or do not say what they cover, is left out.
fn admitted<'a>(dataset: &'a Dataset, indices: &'a [IndexMetadata]) -> Vec<Segment<'a>> {
    let mut claimed: HashMap<&str, RoaringBitmap> = HashMap::new();
    let mut ambiguous: HashSet<&str> = HashSet::new();
    let mut segments = Vec::new();
    for index in indices {
        let claims = claimed.entry(&index.name).or_default();
        match admit(dataset, index) {
            Some(segment) if claims.is_disjoint(&segment.fragments) => {
                *claims |= &segment.fragments;
                segments.push(segment);
            }
            Some(_) | None => {
                ambiguous.insert(&index.name);
            }
        }
    }
    segments.retain(|segment| !ambiguous.contains(segment.index.name.as_str()));
    segments
}

fn admit<'a>(dataset: &'a Dataset, index: &'a IndexMetadata) -> Option<Segment<'a>> {
    let is_zone_map = index.index_details.as_ref()?.type_url.ends_with("ZoneMapIndexDetails");
    if !is_zone_map || !index.covering_fields.is_empty() {
        return None;
    }
    let id = index.keyed_field()?;
    let field = dataset.schema().fields.iter().find(|field| field.id == id).filter(|field| counts_nulls(field))?;
    let fragments = index.fragment_bitmap.as_ref()? & dataset.fragment_bitmap().as_ref();
    Some(Segment { index, field, fragments })
}

type SegmentFacts = (i32, Vec<(u64, Recorded)>);

async fn read(dataset: &Dataset, segment: Segment<'_>) -> Result<SegmentFacts> {
    let store = LanceIndexStore::from_dataset_for_existing(dataset, segment.index).await?;
    let file = store.open_index_file(FILE).await?;
    let batch = file.read_range(0..file.num_rows(), None).await?;
    let lists_nulls = file.schema().metadata.contains_key(NULL_LIST);
    let data_type = segment.field.data_type();
    let zones =
        match records_type(&batch, &data_type) {
            true => Ok(decode(&batch)
                .map_err(|missing| PushdownError::ZoneMap { index: segment.index.name.clone(), missing })?),
            false => Err(Undecided::ZoneType),
        };
    let facts = dataset
        .fragments()
        .iter()
        .filter(|fragment| u32::try_from(fragment.id).is_ok_and(|id| segment.fragments.contains(id)))
        .map(|fragment| {
            let zones = zones.as_ref().map(|zones| zones.get(&fragment.id).cloned().unwrap_or_default());
            let facts = zones.map_err(|reason| *reason);
            (fragment.id, facts.and_then(|zones| facts_of(fragment, zones, &data_type, lists_nulls)))
        })
        .collect();
    Ok((segment.field.id, facts))
}

fn facts_of(fragment: &Fragment, zones: Vec<Zone>, data_type: &DataType, lists_nulls: bool) -> Recorded {
    let physical_rows = fragment.physical_rows.and_then(|rows| u64::try_from(rows).ok()).ok_or(Undecided::ZoneSpan)?;
    fold(zones, Context { data_type, physical_rows, has_deletions: fragment.deletion_file.is_some(), lists_nulls })
}

/// True if the extrema have the column's own type: a bound of another scale or unit is none.
fn records_type(batch: &RecordBatch, data_type: &DataType) -> bool {
    ["min", "max"].iter().all(|name| batch.column_by_name(name).is_some_and(|array| array.data_type() == data_type))
}

type Zones = HashMap<u64, Vec<Zone>>;

/// The zones by fragment, or the name of the column that is missing or of a foreign type.
fn decode(batch: &RecordBatch) -> std::result::Result<Zones, &'static str> {
    let column = |name: &'static str| batch.column_by_name(name).ok_or(name);
    let unsigned = |name| column(name)?.as_primitive_opt::<UInt64Type>().ok_or(name);
    let (fragments, starts, lengths) = (unsigned("fragment_id")?, unsigned("zone_start")?, unsigned("zone_length")?);
    let null_counts = column("null_count")?.as_primitive_opt::<UInt32Type>().ok_or("null_count")?;
    let (minima, maxima) = (column("min")?, column("max")?);
    let mut zones = Zones::new();
    for row in 0..batch.num_rows() {
        zones.entry(fragments.value(row)).or_default().push(Zone {
            start: starts.value(row),
            length: lengths.value(row),
            null_count: u64::from(null_counts.value(row)),
            min: ScalarValue::try_from_array(minima, row).map_err(|_| "min")?,
            max: ScalarValue::try_from_array(maxima, row).map_err(|_| "max")?,
        });
    }
    Ok(zones)
}
