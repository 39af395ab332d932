//! The crate's error type.

use datafusion::error::DataFusionError;

use crate::schema_invariant::SchemaMismatch;

/// What can go wrong while a pushdown is built or run.
///
/// A query that is merely not eligible is no error: it keeps its plan and leaves a
/// [`Refusal`](crate::Refusal) in its report.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PushdownError {
    /// A branch would feed the final aggregate states of another shape.
    #[error("branch `{branch}` does not emit the partial state: {mismatch}")]
    Schema {
        /// The branch that was being built.
        branch: &'static str,
        /// The first difference found.
        mismatch: SchemaMismatch,
    },
    /// An operator was built without fragments: an empty branch is dropped, never emitted.
    #[error("an indexed aggregate needs at least one fragment")]
    NoFragments,
    /// The same fragment was given twice and would be counted twice.
    #[error("fragment {0} is listed more than once")]
    DuplicateFragment(u32),
    /// A fragment that is not part of the pinned dataset version.
    #[error("fragment {0} is not part of the dataset version that the plan reads")]
    UnknownFragment(u32),
    /// A fragment plan says other things about the fragment than the manifest.
    #[error("fragment {0}: rows or deletion file differ from the manifest's")]
    FragmentFacts(u32),
    /// A fragment plan has another number of counts than the output has columns.
    #[error("fragment {fragment} answers {found} counts, the output has {expected}")]
    CountArity {
        /// Fragment id.
        fragment: u32,
        /// Number of output columns.
        expected: usize,
        /// Number of counts in the fragment plan.
        found: usize,
    },
    /// A fragment plan names a null query that was not given.
    #[error("fragment {fragment} refers to null query {query}, which does not exist")]
    UnknownNullQuery {
        /// Fragment id.
        fragment: u32,
        /// Position in [`MaskQueries::nulls`](crate::MaskQueries::nulls).
        query: usize,
    },
    /// The operator has one partition.
    #[error("an indexed aggregate has one partition, {0} was asked for")]
    Partition(usize),
    /// The index answered with bounds where only an exact set of rows can be counted.
    #[error("index `{index}` on `{column}` answered inexactly")]
    InexactIndex {
        /// Index name.
        index: String,
        /// Indexed column.
        column: String,
    },
    /// The expression as a whole came back inexact.
    #[error("the index expression `{0}` was answered inexactly")]
    InexactExpression(String),
    /// The index that was opened is not of the kind that the plan was made for.
    #[error("index `{index}` on `{column}` is not a bitmap index over row ids")]
    IndexKind {
        /// Index name.
        index: String,
        /// Indexed column.
        column: String,
    },
    /// No segment of the index covers one of the fragments.
    #[error("index `{index}` on `{column}` has no segment for some of the planned fragments")]
    MissingIndex {
        /// Index name.
        index: String,
        /// Indexed column.
        column: String,
    },
    /// Several segments cannot be combined: coverage is unknown or overlaps, or stable row ids make old entries indistinguishable.
    #[error("the segments of index `{index}` on `{column}` cannot be combined")]
    Segments {
        /// Index name.
        index: String,
        /// Indexed column.
        column: String,
    },
    /// An index or a deletion file names more rows than the fragment holds.
    #[error("fragment {0}: more rows are masked than the fragment holds")]
    MaskExceedsFragment(u32),
    /// A count does not fit SQL's 64-bit signed integer.
    #[error("a count exceeds the range of a 64-bit integer")]
    CountOverflow,
    /// A zone map's file does not have the columns of one.
    #[error("zone map `{index}` lacks a usable column `{missing}`")]
    ZoneMap {
        /// Index name.
        index: String,
        /// Column of the zone map's file.
        missing: &'static str,
    },
    /// Reading the dataset or one of its indexes failed.
    #[error(transparent)]
    Lance(#[from] lance::Error),
    /// Building or running a DataFusion operator failed.
    #[error(transparent)]
    DataFusion(#[from] DataFusionError),
}

/// Result with [`PushdownError`].
pub type Result<T, E = PushdownError> = std::result::Result<T, E>;

impl From<PushdownError> for DataFusionError {
    fn from(error: PushdownError) -> Self {
        match error {
            PushdownError::DataFusion(inner) => inner,
            other => Self::External(Box::new(other)),
        }
    }
}
