//! The bucket of each fragment, from the manifest and preloaded metadata alone.

use std::collections::BTreeSet;
use std::sync::Arc;

use lance::Dataset;
use lance_index::scalar::SargableQuery;
use lance_index::scalar::expression::{ScalarIndexExpr, ScalarIndexSearch};
use lance_table::format::Fragment;
use roaring::RoaringBitmap;

use super::filter::{BITMAP, FilterPlan, UsedIndex, check_row_domain};
use super::measures::{CountedColumn, Measure};
use super::scan;
use crate::count_from_mask::{CountSource, FragmentPushdownPlan, IndexBinding, IndexKind};
use crate::options::PushdownOptions;
use crate::reasons::ScanReason;
use crate::registry::DatasetFacts;
use crate::report::{Bucket, FragmentReport};

/// Everything that decides.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) fragments: &'a [Fragment],
    pub(super) measures: &'a [Measure],
    pub(super) filter: &'a FilterPlan,
    pub(super) facts: Option<&'a DatasetFacts>,
    pub(super) options: PushdownOptions,
}

/// The fragments by bucket; each is in exactly one.
#[derive(Debug, Default)]
pub(super) struct Classification {
    /// One entry per fragment, in scan order.
    pub(super) fragments: Vec<FragmentReport>,
    /// Bucket (a).
    pub(super) index: Vec<FragmentPushdownPlan>,
    /// Number of fragments in bucket (b).
    pub(super) literal_fragments: usize,
    /// The counts of bucket (b), one per aggregate.
    pub(super) literals: Vec<u64>,
    /// Bucket (c).
    pub(super) scan: Vec<Fragment>,
    /// `column IS NULL` queries of bucket (a).
    pub(super) nulls: Vec<ScalarIndexExpr>,
}

impl Classification {
    /// True if every fragment is left to the scan.
    pub(super) fn answers_nothing(&self) -> bool {
        self.index.is_empty() && self.literal_fragments == 0
    }
}

/// Judges every fragment.
pub(super) fn classify(input: Input<'_>) -> Classification {
    let columns = NullIndexes::resolve(input);
    let mut result = Classification { literals: vec![0; input.measures.len()], ..Classification::default() };
    for fragment in input.fragments {
        let verdict = judge(input, &columns, fragment);
        let mut report = FragmentReport {
            fragment_id: fragment.id,
            bucket: Bucket::Literal,
            live_rows: scan::live_rows(fragment),
            deleted_rows: scan::deleted_rows(fragment),
            bindings: Vec::new(),
        };
        match verdict {
            Ok(Verdict::Literal(counts)) => {
                result.literal_fragments += 1;
                for (total, count) in result.literals.iter_mut().zip(counts) {
                    *total = total.saturating_add(count);
                }
            }
            Ok(Verdict::Index(plan)) => {
                report.bucket = Bucket::Index;
                report.bindings.clone_from(&plan.index_bindings);
                result.index.push(plan);
            }
            Err(reason) => {
                report.bucket = Bucket::Scan(reason);
                result.scan.push(fragment.clone());
            }
        }
        result.fragments.push(report);
    }
    result.nulls = keep_used(columns.queries(), &mut result.index);
    result
}

/// The queries that some fragment counts by; their positions in `plans` follow.
fn keep_used(queries: Vec<ScalarIndexExpr>, plans: &mut [FragmentPushdownPlan]) -> Vec<ScalarIndexExpr> {
    let counts = plans.iter().flat_map(|plan| &plan.counts);
    let used: BTreeSet<usize> = counts.filter_map(CountSource::null_query).collect();
    for count in plans.iter_mut().flat_map(|plan| &mut plan.counts) {
        if let CountSource::NonNull(query) = count {
            *query = used.range(..*query).count();
        }
    }
    let queries = queries.into_iter().enumerate();
    queries.filter(|(position, _)| used.contains(position)).map(|(_, query)| query).collect()
}

enum Verdict {
    Literal(Vec<u64>),
    Index(FragmentPushdownPlan),
}

fn judge(input: Input<'_>, columns: &NullIndexes, fragment: &Fragment) -> Result<Verdict, ScanReason> {
    let physical =
        fragment.physical_rows.and_then(|rows| u64::try_from(rows).ok()).ok_or(ScanReason::PhysicalRowsUnknown)?;
    if scan::deleted_rows(fragment).is_some_and(|deleted| deleted > physical) {
        return Err(ScanReason::DeletionCountCorrupt);
    }
    let id = u32::try_from(fragment.id).map_err(|_| ScanReason::PhysicalRowsUnknown)?;
    let counts = count_sources(input, columns, fragment, id)?;
    let no_index = match input.filter {
        FilterPlan::Scan(reason) => return Err(*reason),
        FilterPlan::None => !counts.iter().any(|c| matches!(c, CountSource::NonNull(_))),
        FilterPlan::Index(_) => counts.iter().all(|c| *c == CountSource::Zero),
    };
    match no_index {
        true => literal(input.options, fragment, &counts).map(Verdict::Literal),
        false => indexed(input, columns, fragment, id, physical, counts).map(Verdict::Index),
    }
}

fn literal(options: PushdownOptions, fragment: &Fragment, counts: &[CountSource]) -> Result<Vec<u64>, ScanReason> {
    if !options.literal_counts {
        return Err(ScanReason::LiteralCountsOff);
    }
    let live = scan::live_rows(fragment).ok_or(ScanReason::DeletionCountUnknown)?;
    Ok(counts
        .iter()
        .map(|count| match count {
            CountSource::Rows => live,
            CountSource::NonNull(_) | CountSource::Zero => 0,
        })
        .collect())
}

fn indexed(
    input: Input<'_>,
    columns: &NullIndexes,
    fragment: &Fragment,
    id: u32,
    physical_rows: u64,
    counts: Vec<CountSource>,
) -> Result<FragmentPushdownPlan, ScanReason> {
    if !input.options.index_counts {
        return Err(ScanReason::IndexCountsOff);
    }
    let mut index_bindings: Vec<IndexBinding> = Vec::new();
    if let FilterPlan::Index(filter) = input.filter {
        if !filter.coverage.contains(id) {
            return Err(ScanReason::Uncovered);
        }
        index_bindings.extend(filter.indexes.iter().map(|used| bind(used, input, id)));
    }
    for count in &counts {
        if let CountSource::NonNull(query) = count
            && let Some(used) = columns.used.get(*query)
        {
            let binding = bind(used, input, id);
            if !index_bindings.contains(&binding) {
                index_bindings.push(binding);
            }
        }
    }
    Ok(FragmentPushdownPlan {
        fragment_id: id,
        physical_rows,
        index_bindings,
        deletion_vector: fragment.deletion_file.clone(),
        counts,
    })
}

fn bind(used: &UsedIndex, input: Input<'_>, fragment: u32) -> IndexBinding {
    let segment = input
        .facts
        .and_then(|facts| facts.index(&used.name))
        .and_then(|index| index.segment(fragment))
        .map(|segment| Arc::clone(&segment.id));
    IndexBinding {
        index_name: Arc::clone(&used.name),
        column: Arc::clone(&used.column),
        kind: IndexKind::Bitmap,
        segment,
    }
}

fn count_sources(
    input: Input<'_>,
    columns: &NullIndexes,
    fragment: &Fragment,
    id: u32,
) -> Result<Vec<CountSource>, ScanReason> {
    input
        .measures
        .iter()
        .map(|measure| match measure {
            Measure::Rows => Ok(CountSource::Rows),
            Measure::Column(_) if !input.options.count_column => Err(ScanReason::CountColumnOff),
            Measure::Column(column) => column_source(columns, column, fragment, id),
        })
        .collect()
}

/// Where the NULLs of a column are known from.
fn column_source(
    columns: &NullIndexes,
    column: &CountedColumn,
    fragment: &Fragment,
    id: u32,
) -> Result<CountSource, ScanReason> {
    let is_absent = column.leaf_field.is_some_and(|field| {
        let mut files = fragment.files.iter();
        !files.any(|file| file.fields.contains(&field))
    });
    match (is_absent, column.nullable) {
        (true, true) => Ok(CountSource::Zero),
        (true, false) => Err(ScanReason::ColumnMissing),
        (false, false) => Ok(CountSource::Rows),
        (false, true) => columns.source(&column.name, id),
    }
}

/// The index that knows the NULLs of each counted column.
struct NullIndexes {
    used: Vec<UsedIndex>,
    refused: Vec<(String, ScanReason)>,
}

impl NullIndexes {
    fn resolve(input: Input<'_>) -> Self {
        let mut indexes = Self { used: Vec::new(), refused: Vec::new() };
        for measure in input.measures {
            let Measure::Column(column) = measure else {
                continue;
            };
            if !column.nullable || indexes.knows(&column.name) {
                continue;
            }
            match null_index(input, &column.name) {
                Ok(used) => indexes.used.push(used),
                Err(reason) => indexes.refused.push((column.name.clone(), reason)),
            }
        }
        indexes
    }

    fn knows(&self, column: &str) -> bool {
        self.used.iter().any(|used| *used.column == *column) || self.refused.iter().any(|(name, _)| name == column)
    }

    fn source(&self, column: &str, fragment: u32) -> Result<CountSource, ScanReason> {
        if let Some((_, reason)) = self.refused.iter().find(|(name, _)| name == column) {
            return Err(*reason);
        }
        let at = self.used.iter().position(|used| *used.column == *column);
        let at = at.ok_or(ScanReason::ColumnNotIndexed)?;
        match self.used[at].coverage.contains(fragment) {
            true => Ok(CountSource::NonNull(at)),
            false => Err(ScanReason::ColumnUncovered),
        }
    }

    fn queries(&self) -> Vec<ScalarIndexExpr> {
        self.used.iter().map(is_null).collect()
    }
}

fn is_null(used: &UsedIndex) -> ScalarIndexExpr {
    ScalarIndexExpr::Query(ScalarIndexSearch {
        column: used.column.to_string(),
        index_name: used.name.to_string(),
        index_type: BITMAP.to_string(),
        query: Arc::new(SargableQuery::IsNull()),
        needs_recheck: false,
        fragment_bitmap: Some(used.coverage.clone()),
    })
}

/// The preloaded index on the column, or else one that the filter uses on it.
fn null_index(input: Input<'_>, column: &str) -> Result<UsedIndex, ScanReason> {
    let used = match input.facts {
        Some(facts) => facts.widest_index_on(column).map(|index| UsedIndex {
            name: Arc::clone(&index.name),
            column: Arc::clone(&index.column),
            coverage: index.coverage(),
        }),
        None => filter_index(input.filter, column),
    };
    let used = used.ok_or(ScanReason::ColumnNotIndexed)?;
    check_row_domain(&used.name, input.dataset, input.facts)?;
    Ok(UsedIndex { coverage: used.coverage & input.dataset.fragment_bitmap().as_ref() as &RoaringBitmap, ..used })
}

fn filter_index(filter: &FilterPlan, column: &str) -> Option<UsedIndex> {
    match filter {
        FilterPlan::Index(filter) => filter.indexes.iter().find(|used| *used.column == *column).cloned(),
        FilterPlan::None | FilterPlan::Scan(_) => None,
    }
}
