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
/// | Min, Max | themselves | NULL | skipped | none: the total order of values is associative |
/// | Avg | from its sum and count, see [`derive()`](crate::derive()) | | | |
///
/// # Errors
/// [`Refusal::ApproximateCount`], [`Refusal::Average`], [`Refusal::Rate`], [`Refusal::DistinctAggregate`] or
/// [`Refusal::OpaqueAggregate`].
pub fn combinator(intent: &AggIntent) -> Result<Combinator, Refusal> {
    match intent {
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

/// What combining this measure requires: a sum of floats depends in its last bits on the order of its terms.
pub(crate) fn requirement(intent: &AggIntent, input: &Schema) -> Requires {
    let float_sum = matches!(intent, AggIntent::Sum { .. } | AggIntent::Sum0 { .. })
        && intent.data_type(input).is_ok_and(|data_type| data_type.is_floating());
    if float_sum { Requires::Reassociate } else { Requires::Nothing }
}
