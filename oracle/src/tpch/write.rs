//! Writes the dataset beside its target and moves it there when it is whole.

use std::fmt::{self, Display, Formatter};
use std::path::Path;

use arrow::array::RecordBatchIterator;
use lance::Dataset;
use lance::dataset::{WriteMode, WriteParams};
use lance::index::DatasetIndexExt;
use lance_index::IndexType;
use lance_index::scalar::{BuiltinIndexType, ScalarIndexParams};

use super::batches::{Batches, first_order_key, schema};
use crate::{OracleError, Result};

/// Parts that lose rows, and which.
const DELETIONS: [(i32, &str); 2] = [(2, "l_linenumber = 3"), (3, "l_suppkey % 10 = 3")];
const INDEXED: [&str; 3] = ["l_returnflag", "l_linestatus", "l_shipmode"];
/// Ten suppliers, as many as the deletions tell apart; `tpchgen` divides by their number, so it must not be zero.
const SMALLEST_SCALE: f64 = 0.001;
/// 600 million rows.
const LARGEST_SCALE: f64 = 100.0;
const ORDERS_AT_SCALE_1: f64 = 1_500_000.0;
/// So many orders that each deletion finds rows.
const FEWEST_ORDERS_PER_PART: f64 = 100.0;
/// More than a part has at any scale: a part is one fragment. Lance splits at 2^20 rows otherwise.
const MAX_ROWS_PER_FRAGMENT: usize = 1 << 30;

/// What to write.
#[derive(Debug, Clone, PartialEq)]
pub struct LineitemOptions {
    /// TPC-H's scale factor, 0.001 to 100; 1 is six million rows.
    pub scale: f64,
    /// Writes before the indexes are built; each makes one fragment. One more is appended after.
    pub indexed_parts: i32,
}

impl Default for LineitemOptions {
    fn default() -> Self {
        Self { scale: 0.1, indexed_parts: 8 }
    }
}

impl LineitemOptions {
    fn parts(&self) -> i32 {
        self.indexed_parts.saturating_add(1)
    }

    fn validate(&self) -> Result<()> {
        let deleted = DELETIONS.iter().map(|(part, _)| *part).max().unwrap_or(0);
        if !(SMALLEST_SCALE..=LARGEST_SCALE).contains(&self.scale) {
            return Err(OracleError::Options(format!(
                "the scale must be from {SMALLEST_SCALE} to {LARGEST_SCALE}, not {}",
                self.scale
            )));
        }
        if self.indexed_parts <= deleted {
            return Err(OracleError::Options(format!("there must be more than {deleted} indexed parts")));
        }
        let parts = self.parts();
        if self.scale * ORDERS_AT_SCALE_1 < FEWEST_ORDERS_PER_PART * f64::from(parts) {
            return Err(OracleError::Options(format!("scale {} has too few orders for {parts} parts", self.scale)));
        }
        Ok(())
    }
}

/// A step that [`write_lineitem`] has taken. Its text is one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LineitemProgress {
    /// A part is written.
    Part {
        /// Its number, from 1.
        part: i32,
        /// How many there are.
        parts: i32,
        /// Rows so far.
        rows: u64,
    },
    /// An index is built.
    Index {
        /// The column.
        column: &'static str,
    },
    /// Rows are deleted.
    Deleted {
        /// How many.
        rows: u64,
        /// From which part.
        part: i32,
    },
}

impl Display for LineitemProgress {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Part { part, parts, rows } => write!(f, "lineitem: part {part} of {parts} written, {rows} rows"),
            Self::Index { column } => write!(f, "lineitem: bitmap index on {column} built"),
            Self::Deleted { rows, part } => write!(f, "lineitem: {rows} rows of part {part} deleted"),
        }
    }
}

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LineitemSummary {
    /// Live rows.
    pub rows: u64,
    /// Rows that were written and then deleted.
    pub deleted_rows: u64,
    /// Fragments in all.
    pub fragments: usize,
    /// Fragments that the indexes do not cover.
    pub unindexed_fragments: usize,
    /// Fragments with deletions.
    pub fragments_with_deletions: usize,
}

impl Display for LineitemSummary {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "lineitem: {} rows in {} fragments; bitmap indexes on {} leave {} uncovered; {} rows deleted in {} fragments",
            self.rows,
            self.fragments,
            INDEXED.join(", "),
            self.unindexed_fragments,
            self.deleted_rows,
            self.fragments_with_deletions,
        )
    }
}

/// Writes `lineitem` to `target`, which must not exist. The same options give the same rows in the same fragments.
/// The dataset appears at `target` whole or not at all.
///
/// # Errors
/// `target` exists or is not UTF-8, the options make no sense, or a write fails; nothing is left behind then.
pub async fn write_lineitem(
    target: &Path,
    options: &LineitemOptions,
    progress: impl Fn(&LineitemProgress),
) -> Result<LineitemSummary> {
    let io = |source| OracleError::Io { path: target.to_owned(), source };
    options.validate()?;
    if target.to_str().is_none() {
        return Err(OracleError::NotUtf8(target.to_owned()));
    }
    // A link that leads nowhere is in the way too.
    if target.is_symlink() || target.try_exists().map_err(io)? {
        return Err(OracleError::TargetExists(target.to_owned()));
    }
    let parent = target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    std::fs::create_dir_all(parent).map_err(io)?;
    let unfinished = tempfile::Builder::new().prefix(".lineitem-").tempdir_in(parent).map_err(io)?;
    let dataset = unfinished.path().join("dataset");
    let summary = write_dataset(&dataset, options, progress).await?;
    std::fs::rename(&dataset, target).map_err(io)?;
    Ok(summary)
}

async fn write_dataset(
    path: &Path,
    options: &LineitemOptions,
    progress: impl Fn(&LineitemProgress),
) -> Result<LineitemSummary> {
    let uri = path.to_string_lossy();
    let parts = options.parts();
    let mut dataset = write_part(&uri, options.scale, 1, parts).await?;
    progress(&LineitemProgress::Part { part: 1, parts, rows: dataset.count_rows(None).await? as u64 });
    for part in 2..=parts {
        if part == parts {
            build_indexes(&mut dataset, &progress).await?;
        }
        dataset = write_part(&uri, options.scale, part, parts).await?;
        progress(&LineitemProgress::Part { part, parts, rows: dataset.count_rows(None).await? as u64 });
    }
    let mut deleted_rows = 0;
    for (part, predicate) in DELETIONS {
        let predicate = part_predicate(options, part, predicate)?;
        let rows = dataset.delete(&predicate).await?.num_deleted_rows;
        progress(&LineitemProgress::Deleted { rows, part });
        deleted_rows += rows;
    }
    summarize(&dataset, deleted_rows).await
}

async fn write_part(uri: &str, scale: f64, part: i32, parts: i32) -> Result<Dataset> {
    let mode = if part == 1 { WriteMode::Create } else { WriteMode::Append };
    let batches = RecordBatchIterator::new(Batches::new(scale, part, parts), schema());
    let parameters = WriteParams { mode, max_rows_per_file: MAX_ROWS_PER_FRAGMENT, ..WriteParams::default() };
    Ok(Dataset::write(batches, uri, Some(parameters)).await?)
}

async fn build_indexes(dataset: &mut Dataset, progress: &impl Fn(&LineitemProgress)) -> Result<()> {
    let parameters = ScalarIndexParams::for_builtin(BuiltinIndexType::Bitmap);
    for column in INDEXED {
        dataset.create_index(&[column], IndexType::Bitmap, None, &parameters, false).await?;
        progress(&LineitemProgress::Index { column });
    }
    Ok(())
}

fn part_predicate(options: &LineitemOptions, part: i32, predicate: &str) -> Result<String> {
    let first = |part| {
        first_order_key(options.scale, part, options.parts())
            .ok_or_else(|| OracleError::Options(format!("part {part} has no rows")))
    };
    Ok(format!("l_orderkey >= {} AND l_orderkey < {} AND {predicate}", first(part)?, first(part + 1)?))
}

async fn summarize(dataset: &Dataset, deleted_rows: u64) -> Result<LineitemSummary> {
    let mut unindexed = std::collections::BTreeSet::new();
    for index in dataset.load_indices().await?.iter() {
        let covered = index.fragment_bitmap.clone().unwrap_or_default();
        unindexed.extend((dataset.fragment_bitmap().as_ref() - covered).iter());
    }
    Ok(LineitemSummary {
        rows: dataset.count_rows(None).await? as u64,
        deleted_rows,
        fragments: dataset.fragments().len(),
        unindexed_fragments: unindexed.len(),
        fragments_with_deletions: dataset.fragments().iter().filter(|f| f.deletion_file.is_some()).count(),
    })
}
