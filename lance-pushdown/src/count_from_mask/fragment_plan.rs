//! What is to be counted, fragment by fragment.

use std::fmt;
use std::sync::Arc;

use lance_index::scalar::expression::ScalarIndexExpr;
use lance_table::format::DeletionFile;

/// The kinds of index that answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum IndexKind {
    /// One set of rows per distinct value.
    Bitmap,
}

impl fmt::Display for IndexKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bitmap => f.write_str("Bitmap"),
        }
    }
}

/// An index that answers for a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexBinding {
    /// Index name.
    pub index_name: Arc<str>,
    /// Indexed column.
    pub column: Arc<str>,
    /// Kind of index.
    pub kind: IndexKind,
    /// UUID of the segment that holds the fragment; `None` where the index metadata was not preloaded.
    pub segment: Option<Arc<str>>,
}

impl fmt::Display for IndexBinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}({})", self.column, self.index_name, self.kind)
    }
}

/// How one aggregate is counted in one fragment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CountSource {
    /// Every live row that the filter selects.
    Rows,
    /// Every live row that the filter selects and that this query, a position in [`MaskQueries::nulls`], does not.
    NonNull(usize),
    /// None: the column is NULL throughout the fragment.
    Zero,
}

impl CountSource {
    /// The null query that it needs, as a position in [`MaskQueries::nulls`].
    pub(crate) fn null_query(&self) -> Option<usize> {
        match *self {
            Self::NonNull(query) => Some(query),
            Self::Rows | Self::Zero => None,
        }
    }
}

/// The index queries whose masks are counted.
#[derive(Debug, Clone, Default)]
pub struct MaskQueries {
    /// The filter; `None` selects every row.
    pub filter: Option<ScalarIndexExpr>,
    /// `column IS NULL` for each column whose NULLs are taken off.
    pub nulls: Vec<ScalarIndexExpr>,
}

/// One fragment of an [`IndexedAggregateExec`](crate::IndexedAggregateExec), as the manifest describes it.
///
/// It is a descriptor: nothing that it names has been opened.
#[derive(Debug, Clone)]
pub struct FragmentPushdownPlan {
    /// Fragment id.
    pub fragment_id: u32,
    /// Rows in the fragment's data files, deleted ones included.
    pub physical_rows: u64,
    /// Indexes that answer for the fragment.
    pub index_bindings: Vec<IndexBinding>,
    /// The deletion file to be taken off while executing.
    pub deletion_vector: Option<DeletionFile>,
    /// One per aggregate.
    pub counts: Vec<CountSource>,
}
