//! Sizes of row sets, without building the set of all rows.

use std::sync::Arc;

use lance_select::{RowAddrMask, RowAddrSelection, RowAddrTreeMap};
use roaring::RoaringBitmap;

use crate::error::{PushdownError, Result};

/// The rows of one fragment that are not deleted, in the domain in which indexes name rows.
#[derive(Debug, Clone)]
pub enum LiveRows {
    /// Indexes name rows by address: fragment id and offset.
    Addresses {
        /// Fragment id.
        fragment: u32,
        /// Rows in the data files.
        physical_rows: u64,
        /// Offsets of deleted rows.
        deleted: Option<Arc<RoaringBitmap>>,
    },
    /// Indexes name rows by stable row id; old entries of moved rows stay in the index, so the ids are listed.
    RowIds {
        /// Fragment id.
        fragment: u32,
        /// Ids of the live rows.
        ids: Arc<RowAddrTreeMap>,
    },
}

impl LiveRows {
    /// The fragment.
    pub fn fragment(&self) -> u32 {
        match self {
            Self::Addresses { fragment, .. } | Self::RowIds { fragment, .. } => *fragment,
        }
    }

    /// Number of live rows.
    ///
    /// # Errors
    /// [`PushdownError::MaskExceedsFragment`] if more rows are deleted than exist.
    pub fn len(&self) -> Result<u64> {
        match self {
            Self::Addresses { physical_rows, deleted, .. } => {
                let deleted = deleted.as_ref().map_or(0, |rows| rows.len());
                self.minus(*physical_rows, deleted)
            }
            Self::RowIds { ids, .. } => Ok(listed_len(ids)),
        }
    }

    /// True if no row is live.
    ///
    /// # Errors
    /// As [`LiveRows::len`].
    pub fn is_empty(&self) -> Result<bool> {
        Ok(self.len()? == 0)
    }

    /// Number of live rows that the mask selects.
    ///
    /// # Errors
    /// [`PushdownError::MaskExceedsFragment`] if the mask blocks more rows than are live.
    pub fn count(&self, mask: &RowAddrMask) -> Result<u64> {
        match mask {
            RowAddrMask::AllowList(rows) => self.count_listed(rows),
            RowAddrMask::BlockList(rows) => {
                let blocked = self.count_listed(rows)?;
                let all = self.len()?;
                #[cfg(feature = "faults")]
                let all = asap_faults::inject(asap_faults::Fault::DeletedRowsNotBlocked, all, |live| match self {
                    Self::Addresses { physical_rows, .. } => *physical_rows,
                    Self::RowIds { .. } => live,
                });
                self.minus(all, blocked)
            }
        }
    }

    fn count_listed(&self, rows: &RowAddrTreeMap) -> Result<u64> {
        match self {
            Self::Addresses { fragment, deleted, .. } => match rows.get(fragment) {
                None => Ok(0),
                Some(RowAddrSelection::Full) => self.len(),
                Some(RowAddrSelection::Partial(offsets)) => {
                    let dead = deleted.as_ref().map_or(0, |deleted| deleted.intersection_len(offsets));
                    #[cfg(feature = "faults")]
                    let dead = asap_faults::inject(asap_faults::Fault::DeletedRowsCounted, dead, |_| 0);
                    Ok(offsets.len() - dead)
                }
            },
            Self::RowIds { ids, .. } => Ok(intersection_len(ids, rows)),
        }
    }

    fn minus(&self, from: u64, take: u64) -> Result<u64> {
        from.checked_sub(take).ok_or(PushdownError::MaskExceedsFragment(self.fragment()))
    }
}

/// Size of a set without whole-fragment entries; sets of row ids never have them.
fn listed_len(rows: &RowAddrTreeMap) -> u64 {
    rows.iter()
        .map(|(_, selection)| match selection {
            RowAddrSelection::Full => 0,
            RowAddrSelection::Partial(offsets) => offsets.len(),
        })
        .sum()
}

/// Size of the intersection of listed ids with any set.
fn intersection_len(ids: &RowAddrTreeMap, rows: &RowAddrTreeMap) -> u64 {
    ids.iter()
        .map(|(high, selection)| match (selection, rows.get(high)) {
            (RowAddrSelection::Partial(ids), Some(RowAddrSelection::Partial(rows))) => ids.intersection_len(rows),
            (RowAddrSelection::Partial(ids), Some(RowAddrSelection::Full)) => ids.len(),
            (RowAddrSelection::Full, _) | (_, None) => 0,
        })
        .sum()
}
