//! What the rule did to a query, per fragment.

use std::fmt;
use std::sync::Arc;

use crate::count_from_mask::IndexBinding;
use crate::reasons::{Refusal, ScanReason};
use crate::statistics::Undecided;

/// Where a fragment's answer comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bucket {
    /// From indexes, while the plan runs.
    Index,
    /// From facts in memory, while the plan is made.
    Literal,
    /// From the scan.
    Scan(ScanReason),
}

impl fmt::Display for Bucket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index => f.write_str("index"),
            Self::Literal => f.write_str("literal"),
            Self::Scan(reason) => write!(f, "scan: {reason}"),
        }
    }
}

/// The facts that a literal follows from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LiteralSource {
    /// The manifest alone.
    Manifest,
    /// Zone maps read when the table was registered, with the manifest.
    Statistics,
}

impl LiteralSource {
    /// The source of what follows from facts of both.
    pub(crate) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Manifest, Self::Manifest) => Self::Manifest,
            (Self::Statistics, _) | (_, Self::Statistics) => Self::Statistics,
        }
    }
}

impl fmt::Display for LiteralSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Manifest => "the manifest",
            Self::Statistics => "statistics",
        })
    }
}

/// One fragment of the scan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct FragmentReport {
    /// Fragment id.
    pub fragment_id: u64,
    /// Where its answer comes from. Under a [`PushdownReport::refusal`], where it would have.
    pub bucket: Bucket,
    /// Rows that are not deleted, if the manifest records them.
    pub live_rows: Option<u64>,
    /// Deleted rows that the manifest records.
    pub deleted_rows: Option<u64>,
    /// Indexes that answer for the fragment; empty outside [`Bucket::Index`].
    pub bindings: Vec<IndexBinding>,
    /// The facts that decided; only in [`Bucket::Literal`].
    pub literal_source: Option<LiteralSource>,
    /// Why facts in memory did not decide; `None` if they did, or if something else stood in the way.
    pub undecided: Option<Undecided>,
}

/// The rule's verdict on one aggregate over one Lance scan.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct PushdownReport {
    /// Dataset URI.
    pub dataset: String,
    /// Dataset version that the scan is pinned to.
    pub version: u64,
    /// The aggregates, as DataFusion names them.
    pub aggregates: Vec<String>,
    /// The filter below the aggregate.
    pub filter: Option<String>,
    /// The scan's fragments in scan order.
    pub fragments: Vec<FragmentReport>,
    /// Set if the plan was left as it was.
    pub refusal: Option<Refusal>,
}

impl PushdownReport {
    /// True if the plan was rewritten.
    pub fn is_rewritten(&self) -> bool {
        self.refusal.is_none()
    }

    /// Number of rows in the fragments that are left to the scan, before any filter; `None` if the manifest does
    /// not record them.
    pub fn rows_to_scan(&self) -> Option<u64> {
        self.fragments
            .iter()
            .filter(|fragment| !self.is_rewritten() || matches!(fragment.bucket, Bucket::Scan(_)))
            .map(|fragment| fragment.live_rows)
            .try_fold(0_u64, |sum, rows| sum.checked_add(rows?))
    }

    /// How many fragments are answered from an index, from the manifest, and by the scan.
    pub fn bucket_sizes(&self) -> BucketSizes {
        let mut sizes = BucketSizes::default();
        for fragment in &self.fragments {
            match fragment.bucket {
                _ if !self.is_rewritten() => sizes.scan += 1,
                Bucket::Index => sizes.index += 1,
                Bucket::Literal => sizes.literal += 1,
                Bucket::Scan(_) => sizes.scan += 1,
            }
        }
        sizes
    }
}

impl fmt::Display for PushdownReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.aggregates.join(", "))?;
        if let Some(filter) = &self.filter {
            write!(f, " WHERE {filter}")?;
        }
        write!(f, " over {} version {}", self.dataset, self.version)?;
        if let Some(refusal) = self.refusal {
            write!(f, "\n  not pushed down: {refusal}")?;
        }
        for run in self.fragments.chunk_by(is_answered_alike) {
            write_run(f, run)?;
        }
        Ok(())
    }
}

fn is_answered_alike(left: &FragmentReport, right: &FragmentReport) -> bool {
    let names = |report: &FragmentReport| -> Vec<_> {
        report.bindings.iter().map(|binding| Arc::clone(&binding.index_name)).collect()
    };
    left.bucket == right.bucket
        && left.literal_source == right.literal_source
        && left.undecided == right.undecided
        && names(left) == names(right)
}

/// One line for fragments that are answered alike.
fn write_run(f: &mut fmt::Formatter<'_>, run: &[FragmentReport]) -> fmt::Result {
    let (Some(first), Some(last)) = (run.first(), run.last()) else {
        return Ok(());
    };
    match run.len() {
        1 => write!(f, "\n  fragment {}: {}", first.fragment_id, first.bucket)?,
        count => {
            write!(f, "\n  fragments {} to {} ({count}): {}", first.fragment_id, last.fragment_id, first.bucket)?;
        }
    }
    if let Some(source) = first.literal_source {
        write!(f, " from {source}")?;
    }
    let deleted: u64 = run.iter().filter_map(|fragment| fragment.deleted_rows).sum();
    if first.bucket == Bucket::Literal && deleted > 0 {
        write!(f, " ({deleted} deleted rows, recorded in the manifest)")?;
    }
    // Without zone maps there is nothing to say about them.
    let undecided = first.undecided.filter(|reason| *reason != Undecided::NotRead);
    if let (Bucket::Scan(_), Some(undecided)) = (first.bucket, undecided) {
        write!(f, "; {undecided}")?;
    }
    for binding in &first.bindings {
        write!(f, " {binding}")?;
    }
    Ok(())
}

/// Fragments per bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct BucketSizes {
    /// Bucket (a).
    pub index: usize,
    /// Bucket (b).
    pub literal: usize,
    /// Bucket (c).
    pub scan: usize,
}
