//! How a measure of fine groups becomes the measure of coarse groups: one table.

use asap_types::{AccuracyTarget, AggIntent, Expr, Schema};

use crate::{Refusal, Requires};

/// What combines the values of fine groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Combinator {
    /// The sum of non-NULL values, NULL over none.
    Sum,
    /// The sum of non-NULL values, 0 over none.
    Sum0,
    /// The least non-NULL value.
    Min,
    /// The greatest non-NULL value.
    Max,
}

impl Combinator {
    /// The combining measure over a column of fine values.
    #[must_use]
    pub fn over(self, column: usize) -> AggIntent {
        let arg = Expr::column(column);
        #[cfg(feature = "faults")]
        if self == Self::Sum0 && asap_faults::is_planted(asap_faults::Fault::CountsCounted) {
            return AggIntent::count();
        }
        match self {
            Self::Sum => AggIntent::Sum { arg },
            Self::Sum0 => AggIntent::Sum0 { arg },
            Self::Min => AggIntent::Min { arg },
            Self::Max => AggIntent::Max { arg },
        }
    }
}

/// The combinator of a measure, or why there is none.
///
/// | measure | combinator | over no groups | NULL of a group | overflow, order |
/// | --- | --- | --- | --- | --- |
/// | exact count | Sum0 | 0, as a count over no rows | never NULL | `Int64`, cannot overflow for counts of real rows |
/// | Sum | Sum | NULL, as over no rows | skipped: the group had no value | integers wrap in any order alike |
/// | Sum0 | Sum0 | 0 | never NULL | as Sum |
/// | Min, Max | themselves | NULL | skipped | none, but for floats: see below |
/// | Avg | from its sum and count, see [`derive()`](crate::derive()) | | | |
///
/// Extrema of floats do not combine ([`Refusal::FloatExtremum`]): DataFusion 54.1 takes the extremum of a group in the
/// order of arrival as soon as there is a NaN, and that of a grand total by a total order. `MAX` of a group with NaN,
/// then 1 is 1; with 1, then NaN it is NaN. Whether there is a NaN is not known here.
///
/// # Errors
/// [`Refusal::ApproximateCount`], [`Refusal::Average`], [`Refusal::Rate`], [`Refusal::DistinctAggregate`] or
/// [`Refusal::OpaqueAggregate`].
pub fn combinator(intent: &AggIntent) -> Result<Combinator, Refusal> {
    match intent {
        #[cfg(feature = "faults")]
        AggIntent::Count { .. } if asap_faults::is_planted(asap_faults::Fault::EmptyCountIsNull) => Ok(Combinator::Sum),
        #[cfg(feature = "faults")]
        AggIntent::Sum { .. } if asap_faults::is_planted(asap_faults::Fault::EmptySumIsZero) => Ok(Combinator::Sum0),
        #[cfg(feature = "faults")]
        AggIntent::Min { .. } if asap_faults::is_planted(asap_faults::Fault::MinimaMaximized) => Ok(Combinator::Max),
        AggIntent::Count { accuracy: AccuracyTarget::Exact } => Ok(Combinator::Sum0),
        AggIntent::Count { .. } => Err(Refusal::ApproximateCount),
        AggIntent::Sum { .. } => Ok(Combinator::Sum),
        AggIntent::Sum0 { .. } => Ok(Combinator::Sum0),
        AggIntent::Min { .. } => Ok(Combinator::Min),
        AggIntent::Max { .. } => Ok(Combinator::Max),
        AggIntent::Avg { .. } => Err(Refusal::Average),
        AggIntent::Rate { .. } => Err(Refusal::Rate),
        AggIntent::Named { distinct: true, .. } => Err(Refusal::DistinctAggregate),
        AggIntent::Named { .. } => Err(Refusal::OpaqueAggregate),
    }
}

/// What combining this measure requires: a sum of floats depends on the order of its terms.
pub(crate) fn requirement(intent: &AggIntent, input: &Schema) -> Requires {
    let float_sum = matches!(intent, AggIntent::Sum { .. } | AggIntent::Sum0 { .. })
        && intent.data_type(input).is_ok_and(|data_type| data_type.is_floating());
    if float_sum { Requires::Reassociate } else { Requires::Nothing }
}

/// Whether this is the least or greatest of floats.
pub(crate) fn is_float_extremum(intent: &AggIntent, input: &Schema) -> bool {
    matches!(intent, AggIntent::Min { .. } | AggIntent::Max { .. })
        && intent.data_type(input).map_or(true, |data_type| data_type.is_floating() || data_type.is_nested())
}
