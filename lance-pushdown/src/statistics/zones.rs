//! The zones of one fragment, folded into facts about it.

use arrow_schema::DataType;
use datafusion::common::ScalarValue;

use super::Undecided;
use super::facts::{ColumnStatistics, Fact, orders_as_sql};
use crate::report::LiteralSource;

/// One zone as a zone map records it.
#[derive(Debug, Clone)]
pub(super) struct Zone {
    /// Offset of its first row in the fragment.
    pub(super) start: u64,
    /// Offsets from its first to its last row: not a number of rows, since rows deleted before the zone map was built
    /// leave gaps.
    pub(super) length: u64,
    pub(super) null_count: u64,
    /// NULL if no value is recorded.
    pub(super) min: ScalarValue,
    /// NULL if no value is recorded.
    pub(super) max: ScalarValue,
}

impl Zone {
    /// True if every row of the zone's span was there when it was built, and was NULL.
    fn is_all_null(&self) -> bool {
        self.null_count == self.length && self.min.is_null() && self.max.is_null()
    }
}

/// What the fold needs to know besides the zones.
#[derive(Debug, Clone, Copy)]
pub(super) struct Context<'a> {
    pub(super) data_type: &'a DataType,
    pub(super) physical_rows: u64,
    /// Rows are deleted now. Without, none were when the zones were built: deletions are never undone.
    pub(super) has_deletions: bool,
    /// The zone map lists the rows that are NULL. Without the list, a remapped zone's count of NULLs may be a mere
    /// sign that there are some.
    pub(super) lists_nulls: bool,
}

/// The facts that the zones prove.
///
/// # Errors
/// [`Undecided::ZoneSpan`] unless the zones cover every row of the fragment, each once. Zones of data that was
/// rewritten in place stay in a zone map beside the new ones, and show as rows covered twice.
pub(super) fn fold(mut zones: Vec<Zone>, context: Context<'_>) -> Result<ColumnStatistics, Undecided> {
    zones.sort_by_key(|zone| zone.start);
    let mut end = 0_u64;
    for zone in &zones {
        if zone.start != end || zone.length == 0 || zone.null_count > zone.length {
            return Err(Undecided::ZoneSpan);
        }
        end = end.checked_add(zone.length).ok_or(Undecided::ZoneSpan)?;
    }
    if end != context.physical_rows {
        return Err(Undecided::ZoneSpan);
    }
    Ok(ColumnStatistics {
        extrema: extrema(&zones, context),
        null_count: null_count(&zones, context),
        source: LiteralSource::Statistics,
    })
}

fn null_count(zones: &[Zone], context: Context<'_>) -> Result<Fact<u64>, Undecided> {
    let total: u64 = zones.iter().map(|zone| zone.null_count).sum();
    let is_all_or_nothing = total == 0 || zones.iter().all(Zone::is_all_null);
    match (is_all_or_nothing, context.lists_nulls) {
        (true, _) => Ok(Fact::Exact(total)),
        (false, false) => Err(Undecided::NullCount),
        // Values and an equal number of NULLs and rows contradict each other.
        (false, true) if total == context.physical_rows => Err(Undecided::NullCount),
        (false, true) if context.has_deletions => Ok(Fact::BoundOnly(total)),
        (false, true) => Ok(Fact::Exact(total)),
    }
}

fn extrema(zones: &[Zone], context: Context<'_>) -> Result<(Fact<ScalarValue>, Fact<ScalarValue>), Undecided> {
    if !orders_as_sql(context.data_type) {
        return Err(match context.data_type.is_floating() {
            true => Undecided::Float,
            false => Undecided::ColumnType,
        });
    }
    let mut extrema: Option<(&ScalarValue, &ScalarValue)> = None;
    for zone in zones.iter().filter(|zone| !zone.is_all_null()) {
        // Types that a zone map of an older format kept no extrema for.
        if zone.min.is_null() || zone.max.is_null() || zone.min > zone.max {
            return Err(Undecided::MissingExtrema);
        }
        let (min, max) = extrema.unwrap_or((&zone.min, &zone.max));
        extrema = Some((if zone.min < *min { &zone.min } else { min }, if zone.max > *max { &zone.max } else { max }));
    }
    let (min, max) = extrema.ok_or(Undecided::AllNull)?;
    let fact = |value: &ScalarValue| match context.has_deletions {
        true => Fact::BoundOnly(value.clone()),
        false => Fact::Exact(value.clone()),
    };
    Ok((fact(min), fact(max)))
}
