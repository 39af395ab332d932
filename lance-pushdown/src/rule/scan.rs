//! The fragments that a scan reads, and the scan options under which they stand for its rows.

use std::sync::Arc;

use lance::Dataset;
use lance::io::exec::filtered_read::FilteredReadExec;
use lance_table::format::Fragment;
use roaring::RoaringBitmap;

use crate::reasons::Refusal;

/// The fragments of the scan, as listed.
pub(super) fn fragments(scan: &FilteredReadExec) -> Arc<Vec<Fragment>> {
    let listed = scan.options().fragments.as_ref();
    Arc::clone(listed.unwrap_or_else(|| scan.dataset().fragments()))
}

/// Rows that are not deleted, if the manifest records both counts and they agree.
pub(super) fn live_rows(fragment: &Fragment) -> Option<u64> {
    let physical = u64::try_from(fragment.physical_rows?).ok()?;
    let deleted = deleted_rows(fragment)?;
    #[cfg(feature = "faults")]
    let deleted = asap_faults::inject(asap_faults::Fault::PhysicalRowsTakenForLive, deleted, |_| 0);
    physical.checked_sub(deleted)
}

/// Deleted rows, if the manifest records them.
pub(super) fn deleted_rows(fragment: &Fragment) -> Option<u64> {
    match &fragment.deletion_file {
        None => Some(0),
        Some(file) => u64::try_from(file.num_deleted_rows?).ok(),
    }
}

/// Proves that the scan reads exactly the live rows of its fragments that pass its filter.
pub(super) fn try_fragments(scan: &FilteredReadExec) -> Result<Arc<Vec<Fragment>>, Refusal> {
    check_options(scan)?;
    let dataset = scan.dataset();
    if dataset.manifest.writer_version.is_none() {
        return Err(Refusal::WriterVersion);
    }
    let fragments = fragments(scan);
    check_fragments(dataset, &fragments)?;
    Ok(fragments)
}

fn check_options(scan: &FilteredReadExec) -> Result<(), Refusal> {
    let options = scan.options();
    if scan.row_stream_input().is_some() {
        return Err(Refusal::RowStream);
    }
    if options.scan_range_before_filter.is_some() || options.scan_range_after_filter.is_some() {
        return Err(Refusal::Limit);
    }
    if options.with_deleted_rows {
        return Err(Refusal::DeletedRows);
    }
    if options.only_indexed_fragments {
        return Err(Refusal::OnlyIndexedFragments);
    }
    if options.overlay_block.is_some() {
        return Err(Refusal::Overlays);
    }
    // The field is private to Lance; its setter refuses exactly when the field is set, the other causes being
    // excluded above.
    if options.clone().with_scan_range_before_filter(0..0).is_err() {
        return Err(Refusal::PhysicalSelection);
    }
    Ok(())
}

fn check_fragments(dataset: &Dataset, fragments: &[Fragment]) -> Result<(), Refusal> {
    let current = dataset.fragments();
    let mut seen = RoaringBitmap::new();
    for fragment in fragments {
        let id = u32::try_from(fragment.id).map_err(|_| Refusal::FragmentIdRange)?;
        if !seen.insert(id) {
            return Err(Refusal::DuplicateFragments);
        }
        if !fragment.overlays.is_empty() {
            return Err(Refusal::Overlays);
        }
        // Fragments are in the manifest in the order of their ids.
        let at = current.binary_search_by_key(&fragment.id, |known| known.id);
        let known = at.ok().and_then(|at| current.get(at));
        if known != Some(fragment) {
            return Err(Refusal::StaleFragments);
        }
    }
    Ok(())
}
