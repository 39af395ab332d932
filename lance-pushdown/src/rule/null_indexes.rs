//! The indexes that know the NULLs of counted columns.

use std::sync::Arc;

use lance_index::scalar::SargableQuery;
use lance_index::scalar::expression::{ScalarIndexExpr, ScalarIndexSearch};
use roaring::RoaringBitmap;

use super::classify::Input;
use super::filter::{BITMAP, FilterPlan, UsedIndex, check_row_domain};
use super::measures::Measure;
use crate::count_from_mask::{CountSource, FragmentPushdownPlan};
use crate::reasons::ScanReason;

/// The index that knows the NULLs of each counted column.
pub(super) struct NullIndexes {
    used: Vec<UsedIndex>,
    refused: Vec<(String, ScanReason)>,
}

impl NullIndexes {
    /// Looks one up for each column that may be NULL.
    pub(super) fn resolve(input: Input<'_>) -> Self {
        let mut indexes = Self { used: Vec::new(), refused: Vec::new() };
        for measure in input.measures {
            let Measure::Column(column) = measure else {
                continue;
            };
            if !column.field.nullable || indexes.knows(&column.field.name) {
                continue;
            }
            match null_index(input, &column.field.name) {
                Ok(used) => indexes.used.push(used),
                Err(reason) => indexes.refused.push((column.field.name.clone(), reason)),
            }
        }
        indexes
    }

    fn knows(&self, column: &str) -> bool {
        self.used.iter().any(|used| *used.column == *column) || self.refused.iter().any(|(name, _)| name == column)
    }

    /// The query that counts the column's values in a fragment.
    pub(super) fn source(&self, column: &str, fragment: u32) -> Result<CountSource, ScanReason> {
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

    /// The index of a query that [`NullIndexes::source`] named.
    pub(super) fn index(&self, query: usize) -> Option<&UsedIndex> {
        self.used.get(query)
    }

    /// The queries that the fragments ask for, to which their counts then refer. A query that none asks for might find
    /// no segment to answer it.
    pub(super) fn queries_of(&self, fragments: &mut [FragmentPushdownPlan]) -> Vec<ScalarIndexExpr> {
        let mut asked: Vec<usize> = Vec::new();
        for count in fragments.iter_mut().flat_map(|plan| plan.counts.iter_mut()) {
            if let CountSource::NonNull(query) = count {
                let known = asked.iter().position(|other| other == query);
                let place = known.unwrap_or(asked.len());
                if known.is_none() {
                    asked.push(*query);
                }
                *query = place;
            }
        }
        asked.into_iter().filter_map(|query| self.used.get(query)).map(is_null).collect()
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
        None => filter_index(&input.filter.plan, column),
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
