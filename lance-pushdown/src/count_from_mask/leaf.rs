//! Evaluation of an index expression, segment by segment.
//!
//! Lance unions the answers of an index's segments as they are. A segment that lost the coverage of a fragment,
//! because the column was rewritten in place, keeps its old entries; once a newer segment covers
//! the fragment, the union would readmit them. Here each segment answers only for the fragments that it covers.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::{BoxFuture, try_join, try_join_all};
use lance::Dataset;
use lance::index::DatasetIndexInternalExt;
use lance::index::scalar::load_named_scalar_segments;
use lance_index::IndexType;
use lance_index::scalar::expression::{ScalarIndexExpr, ScalarIndexSearch};
use lance_index::scalar::{ScalarIndex, SearchOptions, SearchResult};
use lance_select::{NullableIndexExprResult, NullableRowAddrMask, NullableRowAddrSet, RowAddrTreeMap};
use lance_table::format::IndexMetadata;
use roaring::RoaringBitmap;

use super::IndexReadMetrics;
use crate::error::{PushdownError, Result};

/// What an expression is evaluated against.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) dataset: &'a Dataset,
    /// Only these fragments' rows will be used.
    pub(super) fragments: &'a RoaringBitmap,
    pub(super) metrics: &'a IndexReadMetrics,
}

/// Evaluates with SQL's three-valued logic. NULL rows are tracked below NOT, where alone they matter.
pub(super) fn evaluate<'a>(
    scope: Scope<'a>,
    expr: &'a ScalarIndexExpr,
    track_nulls: bool,
) -> BoxFuture<'a, Result<NullableIndexExprResult>> {
    async move {
        match expr {
            ScalarIndexExpr::Not(inner) => Ok(!evaluate(scope, inner, true).await?),
            ScalarIndexExpr::And(left, right) => {
                let (left, right) = both(scope, left, right, track_nulls).await?;
                Ok(left & right)
            }
            ScalarIndexExpr::Or(left, right) => {
                let (left, right) = both(scope, left, right, track_nulls).await?;
                Ok(left | right)
            }
            ScalarIndexExpr::Query(search) => {
                let rows = search_segments(scope, search, track_nulls).await?;
                Ok(NullableIndexExprResult::exact(NullableRowAddrMask::AllowList(rows)))
            }
        }
    }
    .boxed()
}

async fn both<'a>(
    scope: Scope<'a>,
    left: &'a ScalarIndexExpr,
    right: &'a ScalarIndexExpr,
    track_nulls: bool,
) -> Result<(NullableIndexExprResult, NullableIndexExprResult)> {
    try_join(evaluate(scope, left, track_nulls), evaluate(scope, right, track_nulls)).await
}

async fn search_segments(
    scope: Scope<'_>,
    search: &ScalarIndexSearch,
    track_nulls: bool,
) -> Result<NullableRowAddrSet> {
    let mut segments = load_named_scalar_segments(scope.dataset, &search.column, &search.index_name).await?;
    segments.retain(|segment| covers_any(segment, scope.fragments));
    if !cover_all(&segments, scope.fragments) {
        return Err(PushdownError::MissingIndex { index: search.index_name.clone(), column: search.column.clone() });
    }
    match segments.as_slice() {
        [only] => search_segment(scope, search, only, track_nulls).await,
        // A stable row id says nothing about the segment that is right about it.
        several if scope.dataset.manifest.uses_stable_row_ids() || overlap(several) => Err(cannot_combine(search)),
        several => {
            let answers = try_join_all(several.iter().map(|segment| async move {
                let rows = search_segment(scope, search, segment, track_nulls).await?;
                restrict(rows, segment).ok_or_else(|| cannot_combine(search))
            }))
            .await?;
            Ok(NullableRowAddrSet::union_all(&answers))
        }
    }
}

fn covers_any(segment: &IndexMetadata, fragments: &RoaringBitmap) -> bool {
    segment.fragment_bitmap.as_ref().is_none_or(|covered| covered.intersection_len(fragments) > 0)
}

/// A segment without a recorded coverage covers every fragment.
fn cover_all(segments: &[IndexMetadata], fragments: &RoaringBitmap) -> bool {
    let covered: Option<Vec<&RoaringBitmap>> =
        segments.iter().map(|segment| segment.fragment_bitmap.as_ref()).collect();
    match covered {
        None => true,
        Some(covered) => covered.into_iter().fold(fragments.clone(), |left, covered| left - covered).is_empty(),
    }
}

/// Whether two segments answer for one fragment.
fn overlap(segments: &[IndexMetadata]) -> bool {
    let mut seen = RoaringBitmap::new();
    segments.iter().filter_map(|segment| segment.fragment_bitmap.as_ref()).any(|covered| {
        let again = !seen.is_disjoint(covered);
        seen |= covered;
        again
    })
}

fn cannot_combine(search: &ScalarIndexSearch) -> PushdownError {
    PushdownError::Segments { index: search.index_name.clone(), column: search.column.clone() }
}

async fn search_segment(
    scope: Scope<'_>,
    search: &ScalarIndexSearch,
    segment: &IndexMetadata,
    track_nulls: bool,
) -> Result<NullableRowAddrSet> {
    let index = scope.dataset.open_scalar_index(&search.column, &segment.uuid, scope.metrics).await?;
    if !is_bitmap_over_row_ids(&index) {
        return Err(PushdownError::IndexKind { index: search.index_name.clone(), column: search.column.clone() });
    }
    #[cfg(feature = "faults")]
    let track_nulls = asap_faults::inject(asap_faults::Fault::NullsLostBelowNot, track_nulls, |_| false);
    let options = SearchOptions::default().with_track_nulls(track_nulls);
    let answer = index.search_with_options(search.query.as_ref(), options, scope.metrics).await?;
    match answer {
        SearchResult::Exact(rows) => Ok(rows),
        SearchResult::AtMost(_) | SearchResult::AtLeast(_) => {
            Err(PushdownError::InexactIndex { index: search.index_name.clone(), column: search.column.clone() })
        }
    }
}

/// Without stable row ids an address is the row id, so this holds for every bitmap index.
fn is_bitmap_over_row_ids(index: &Arc<dyn ScalarIndex>) -> bool {
    index.index_type() == IndexType::Bitmap && !index.results_are_row_addresses()
}

fn restrict(rows: NullableRowAddrSet, segment: &IndexMetadata) -> Option<NullableRowAddrSet> {
    let covered = segment.fragment_bitmap.as_ref()?;
    let keep = |rows: &RowAddrTreeMap| {
        let mut kept = rows.clone();
        kept.retain_fragments(covered);
        kept
    };
    let restricted = NullableRowAddrSet::new(keep(rows.selected_rows()), keep(rows.null_rows()));
    #[cfg(feature = "faults")]
    let restricted = asap_faults::inject(asap_faults::Fault::SegmentsReadUnrestricted, restricted, |_| rows);
    Some(restricted)
}
