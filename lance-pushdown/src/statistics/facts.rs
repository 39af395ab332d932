//! What is known about one column of one fragment.

use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use lance_core::datatypes::Field;
use lance_table::format::Fragment;

use super::{Undecided, ZoneMaps};
use crate::report::LiteralSource;

/// A fact about the live rows of a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Fact<T> {
    /// It is so.
    Exact(T),
    /// It is so, or narrower: rows have been deleted since it was recorded.
    BoundOnly(T),
}

impl<T> Fact<T> {
    /// The value as a bound, which it is in either case.
    pub(super) fn bound(&self) -> &T {
        match self {
            Self::Exact(value) | Self::BoundOnly(value) => value,
        }
    }
}

/// What is recorded about one column of one fragment.
#[derive(Debug, Clone)]
pub(super) struct ColumnStatistics {
    /// Least and greatest value that is not NULL, or why they are not known.
    pub(super) extrema: Result<(Fact<ScalarValue>, Fact<ScalarValue>), Undecided>,
    /// Number of NULLs, or why it is not known.
    pub(super) null_count: Result<Fact<u64>, Undecided>,
    /// Where the facts come from.
    pub(super) source: LiteralSource,
}

/// The NULLs of a column among a fragment's live rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NullFact {
    /// No row is NULL.
    None,
    /// Every row is NULL.
    All,
    /// So many are, and no row of the fragment is deleted.
    Exactly(u64),
    /// Not known exactly.
    Unknown(Undecided),
}

/// The facts about one fragment of a dataset version, from the manifest and, if they were read, from zone maps.
#[derive(Debug, Clone)]
pub(crate) struct FragmentStatistics<'a> {
    pub(super) fragment: &'a Fragment,
    /// Rows in the data files, deleted ones included: the basis of every count of NULLs.
    pub(super) physical_rows: u64,
    zone_maps: Option<Arc<ZoneMaps>>,
}

impl<'a> FragmentStatistics<'a> {
    /// The facts about a fragment; `None` if the manifest does not record its rows.
    pub(crate) fn try_new(fragment: &'a Fragment, zone_maps: Option<Arc<ZoneMaps>>) -> Option<Self> {
        let physical_rows = u64::try_from(fragment.physical_rows?).ok()?;
        Some(Self { fragment, physical_rows, zone_maps })
    }

    /// Rows in the data files, deleted ones included.
    pub(crate) fn physical_rows(&self) -> u64 {
        self.physical_rows
    }

    /// The NULLs of a column, with where that is known from.
    pub(crate) fn nulls(&self, field: &Field) -> (NullFact, LiteralSource) {
        let column = self.column(field);
        let source = if field.nullable { column.source } else { LiteralSource::Manifest };
        (self.null_fact(&column), source)
    }

    /// True if no data file of the fragment holds the column: its rows are NULL, or the manifest is broken.
    pub(crate) fn is_absent(&self, field: &Field) -> bool {
        let has_data = self.fragment.files.iter().any(|file| file.fields.contains(&field.id));
        #[cfg(feature = "faults")]
        let has_data = asap_faults::inject(asap_faults::Fault::FirstFileOnly, has_data, |_| {
            self.fragment.files.first().is_some_and(|file| file.fields.contains(&field.id))
        });
        field.children.is_empty() && !has_data
    }

    pub(super) fn null_fact(&self, column: &ColumnStatistics) -> NullFact {
        match &column.null_count {
            Err(reason) => NullFact::Unknown(*reason),
            Ok(Fact::Exact(0)) => NullFact::None,
            Ok(Fact::Exact(count)) if *count == self.physical_rows => NullFact::All,
            Ok(Fact::Exact(count)) => NullFact::Exactly(*count),
            Ok(Fact::BoundOnly(_)) => NullFact::Unknown(Undecided::Deletions),
        }
    }

    /// Whatever is known about a column. The manifest's facts win: they hold for the version by definition.
    pub(super) fn column(&self, field: &Field) -> ColumnStatistics {
        let recorded = self.recorded(field);
        let is_nullable = field.nullable;
        #[cfg(feature = "faults")]
        let is_nullable = asap_faults::inject(asap_faults::Fault::NullsAssumedAbsent, is_nullable, |_| false);
        match is_nullable {
            true => recorded,
            // Every writer keeps a schema without NULL, so that a zone map only adds the extrema.
            false => ColumnStatistics { null_count: Ok(Fact::Exact(0)), ..recorded },
        }
    }

    fn recorded(&self, field: &Field) -> ColumnStatistics {
        let unknown = |reason| ColumnStatistics {
            extrema: Err(reason),
            null_count: Err(reason),
            source: LiteralSource::Manifest,
        };
        // An overlay replaces values, also those of a column without a data file.
        if !self.fragment.overlays.is_empty() {
            return unknown(Undecided::Overlays);
        }
        if self.is_absent(field) {
            return ColumnStatistics { null_count: Ok(Fact::Exact(self.physical_rows)), ..unknown(Undecided::AllNull) };
        }
        match &self.zone_maps {
            None => unknown(Undecided::NotRead),
            Some(zone_maps) => zone_maps.column(field.id, self.fragment).unwrap_or_else(unknown),
        }
    }
}

/// True if zone maps count the NULLs of such a column as SQL does.
///
/// A nested value and its children have NULLs of their own; a dictionary may have NULL among its values.
pub(super) fn counts_nulls(field: &Field) -> bool {
    let data_type = field.data_type();
    field.children.is_empty()
        && !field.is_blob()
        && !data_type.is_nested()
        && !matches!(data_type, DataType::Dictionary(..) | DataType::RunEndEncoded(..) | DataType::Null)
}

/// True if recorded extrema of this type order values as SQL's comparisons do.
///
/// Floats do not: NaN lies outside the extrema, and the zeros are told apart.
pub(super) fn orders_as_sql(data_type: &DataType) -> bool {
    data_type.is_integer()
        || matches!(
            data_type,
            DataType::Date32
                | DataType::Date64
                | DataType::Time32(_)
                | DataType::Time64(_)
                | DataType::Timestamp(..)
                | DataType::Decimal128(..)
                | DataType::Utf8
                | DataType::LargeUtf8
        )
}
