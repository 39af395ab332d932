//! What is known about a dataset version before the rule runs.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use lance::Dataset;
use lance::index::{DatasetIndexExt, DatasetIndexInternalExt, ScalarIndexInfo};
use lance_core::datatypes::format_field_path;
use lance_index::frag_reuse::FRAG_REUSE_INDEX_NAME;
use lance_table::format::{IndexMetadata, Manifest};
use roaring::RoaringBitmap;

/// Values that live as long as a manifest, found by its identity.
///
/// A `Dataset` and the scans planned over it share one `Arc<Manifest>`; a dead entry keeps its
/// allocation, so an address is never mistaken for another version's.
#[derive(Debug)]
pub(crate) struct PerManifest<T> {
    entries: Mutex<Vec<(Weak<Manifest>, Arc<T>)>>,
}

impl<T> Default for PerManifest<T> {
    fn default() -> Self {
        Self { entries: Mutex::new(Vec::new()) }
    }
}

impl<T> PerManifest<T> {
    /// The value for this manifest.
    pub(crate) fn get(&self, manifest: &Arc<Manifest>) -> Option<Arc<T>> {
        find(&lock(&self.entries), manifest)
    }

    /// The value for this manifest, made by `create` unless it is there; drops those of dropped manifests.
    pub(crate) fn get_or_insert_with(&self, manifest: &Arc<Manifest>, create: impl FnOnce() -> T) -> Arc<T> {
        let mut entries = lock(&self.entries);
        entries.retain(|(key, _)| key.strong_count() > 0);
        if let Some(found) = find(&entries, manifest) {
            return found;
        }
        let value = Arc::new(create());
        entries.push((Arc::downgrade(manifest), Arc::clone(&value)));
        value
    }
}

fn find<T>(entries: &[(Weak<Manifest>, Arc<T>)], manifest: &Arc<Manifest>) -> Option<Arc<T>> {
    entries
        .iter()
        .find(|(key, _)| std::ptr::eq(key.as_ptr(), Arc::as_ptr(manifest)))
        .map(|(_, value)| Arc::clone(value))
}

/// The guarded values are replaced whole, so a panic elsewhere leaves them usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// One physical part of a bitmap index.
#[derive(Debug)]
pub(crate) struct Segment {
    /// The segment's UUID.
    pub(crate) id: Arc<str>,
    /// Fragments whose rows it holds.
    pub(crate) fragments: RoaringBitmap,
}

/// A bitmap index on a top-level column, whose segments cover disjoint fragments.
#[derive(Debug)]
pub(crate) struct BitmapIndex {
    pub(crate) name: Arc<str>,
    pub(crate) column: Arc<str>,
    pub(crate) segments: Vec<Segment>,
}

impl BitmapIndex {
    /// Fragments that any segment covers.
    pub(crate) fn coverage(&self) -> RoaringBitmap {
        self.segments.iter().fold(RoaringBitmap::new(), |all, segment| all | &segment.fragments)
    }

    /// The segment that holds the fragment's rows.
    pub(crate) fn segment(&self, fragment: u32) -> Option<&Segment> {
        self.segments.iter().find(|segment| segment.fragments.contains(fragment))
    }
}

/// Index metadata of one dataset version.
#[derive(Debug)]
pub(crate) struct DatasetFacts {
    /// In manifest order.
    pub(crate) bitmaps: Vec<BitmapIndex>,
    /// Lance's filter parsers for exactly these indexes.
    pub(crate) parsers: ScalarIndexInfo,
    /// A compaction has deferred the remapping of indexes.
    pub(crate) has_fragment_reuse: bool,
}

impl DatasetFacts {
    /// Reads the index metadata, which Lance caches per session.
    pub(crate) async fn load(dataset: &Dataset) -> lance::Result<Self> {
        let indices = dataset.load_indices().await?;
        let mut bitmaps = Vec::new();
        let mut admitted = Vec::new();
        for name in names_in_order(&indices) {
            let segments: Vec<&IndexMetadata> = indices.iter().filter(|index| index.name == name).collect();
            if let Some(index) = admit(dataset, name, &segments) {
                bitmaps.push(index);
                admitted.extend(segments.into_iter().cloned());
            }
        }
        Ok(Self {
            bitmaps,
            parsers: dataset.scalar_index_info_for_segments(&admitted).await?,
            has_fragment_reuse: indices.iter().any(|index| index.name == FRAG_REUSE_INDEX_NAME),
        })
    }

    /// The index of that name.
    pub(crate) fn index(&self, name: &str) -> Option<&BitmapIndex> {
        self.bitmaps.iter().find(|index| &*index.name == name)
    }

    /// The index on that column which covers most fragments.
    pub(crate) fn widest_index_on(&self, column: &str) -> Option<&BitmapIndex> {
        let mut widest: Option<(u64, &BitmapIndex)> = None;
        for index in self.bitmaps.iter().filter(|index| &*index.column == column) {
            let covered = index.coverage().len();
            if widest.is_none_or(|(most, _)| covered > most) {
                widest = Some((covered, index));
            }
        }
        widest.map(|(_, index)| index)
    }
}

fn names_in_order(indices: &[IndexMetadata]) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for index in indices {
        if !names.contains(&index.name.as_str()) {
            names.push(&index.name);
        }
    }
    names
}

/// Admits an index whose segments are all bitmaps on one top-level column and cover disjoint fragments.
fn admit(dataset: &Dataset, name: &str, segments: &[&IndexMetadata]) -> Option<BitmapIndex> {
    let field = segments.first()?.keyed_field()?;
    let column = dataset.schema().fields.iter().find(|candidate| candidate.id == field)?;
    // Lance names a column by its quoted path in some places and by its bare name in others.
    if format_field_path(&[&column.name]) != column.name {
        return None;
    }
    let mut covered = RoaringBitmap::new();
    let mut admitted = Vec::with_capacity(segments.len());
    for segment in segments {
        let fragments = segment.fragment_bitmap.as_ref()? & dataset.fragment_bitmap().as_ref();
        let is_bitmap = segment.index_details.as_ref()?.type_url.ends_with("BitmapIndexDetails");
        if !is_bitmap
            || segment.keyed_field() != Some(field)
            || !segment.covering_fields.is_empty()
            || covered.intersection_len(&fragments) > 0
        {
            return None;
        }
        covered |= &fragments;
        if fragments.is_empty() {
            continue;
        }
        admitted.push(Segment { id: segment.uuid.to_string().into(), fragments });
    }
    Some(BitmapIndex { name: name.into(), column: column.name.as_str().into(), segments: admitted })
}
