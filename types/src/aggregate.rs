//! Aggregation: what is computed for each group, over which rows.

use serde::{Deserialize, Serialize};

use crate::facts::{AggregateFacts, Volatility};
use crate::{ColumnId, Expr, F64Bits, Predicate};

/// How exact an answer has to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum AccuracyTarget {
    /// The exact value.
    #[default]
    Exact,
    /// Within a relative error.
    Epsilon {
        /// The relative error, as a fraction.
        epsilon: F64Bits,
    },
    /// Within a relative error, but for a probability of failure.
    EpsilonDelta {
        /// The relative error, as a fraction.
        epsilon: F64Bits,
        /// The probability of failure.
        delta: F64Bits,
    },
}

/// One measure of an aggregate.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum AggIntent<C = ColumnId> {
    /// The number of rows. `COUNT(x)` is this with the measure's filter `x IS NOT NULL`.
    Count {
        /// How exact the count has to be.
        accuracy: AccuracyTarget,
    },
    /// The sum of the non-NULL values; NULL over none.
    Sum {
        /// The summed expression.
        arg: Expr<C>,
    },
    /// The sum of the non-NULL values; 0 over none, never NULL. What a count rolls up to.
    Sum0 {
        /// The summed expression.
        arg: Expr<C>,
    },
    /// The least non-NULL value; NULL over none.
    Min {
        /// The compared expression.
        arg: Expr<C>,
    },
    /// The greatest non-NULL value; NULL over none.
    Max {
        /// The compared expression.
        arg: Expr<C>,
    },
    /// The mean of the non-NULL values; NULL over none.
    Avg {
        /// The averaged expression.
        arg: Expr<C>,
    },
    /// The per-second rate of increase of a counter.
    Rate {
        /// The counter.
        arg: Expr<C>,
    },
    /// An aggregate that is known by name only.
    Named {
        /// The function's name in the session that planned it.
        name: String,
        /// The arguments.
        args: Vec<Expr<C>>,
        /// Whether equal arguments count once.
        distinct: bool,
        /// What the front end recorded about this call.
        facts: AggregateFacts,
    },
}

impl<C> AggIntent<C> {
    /// An exact count of rows.
    #[must_use]
    pub fn count() -> Self {
        Self::Count { accuracy: AccuracyTarget::Exact }
    }

    /// The argument expressions.
    #[must_use]
    pub fn args(&self) -> &[Expr<C>] {
        match self {
            Self::Count { .. } => &[],
            Self::Sum { arg }
            | Self::Sum0 { arg }
            | Self::Min { arg }
            | Self::Max { arg }
            | Self::Avg { arg }
            | Self::Rate { arg } => std::slice::from_ref(arg),
            Self::Named { args, .. } => args,
        }
    }

    /// The same measure with each argument replaced.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map_args<D, E>(&self, map: &mut dyn FnMut(&Expr<C>) -> Result<Expr<D>, E>) -> Result<AggIntent<D>, E> {
        Ok(match self {
            Self::Count { accuracy } => AggIntent::Count { accuracy: *accuracy },
            Self::Sum { arg } => AggIntent::Sum { arg: map(arg)? },
            Self::Sum0 { arg } => AggIntent::Sum0 { arg: map(arg)? },
            Self::Min { arg } => AggIntent::Min { arg: map(arg)? },
            Self::Max { arg } => AggIntent::Max { arg: map(arg)? },
            Self::Avg { arg } => AggIntent::Avg { arg: map(arg)? },
            Self::Rate { arg } => AggIntent::Rate { arg: map(arg)? },
            Self::Named { name, args, distinct, facts } => AggIntent::Named {
                name: name.clone(),
                args: args.iter().map(map).collect::<Result<_, E>>()?,
                distinct: *distinct,
                facts: facts.clone(),
            },
        })
    }

    /// Whether evaluating the measure twice over the same rows may give two values.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        matches!(self, Self::Named { facts, .. } if facts.volatility == Volatility::Volatile)
            || self.args().iter().any(Expr::is_volatile)
    }

    /// Whether the aggregate itself, not its arguments, can raise an error.
    #[must_use]
    pub fn can_fail(&self) -> bool {
        matches!(self, Self::Named { facts, .. } if facts.can_fail)
    }

    /// Whether the order in which rows arrive can change the result.
    #[must_use]
    pub fn order_matters(&self) -> bool {
        matches!(self, Self::Named { facts, .. } if facts.order_matters)
    }

    /// The lower-case name of the function.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Count { .. } => "count",
            Self::Sum { .. } => "sum",
            Self::Sum0 { .. } => "sum0",
            Self::Min { .. } => "min",
            Self::Max { .. } => "max",
            Self::Avg { .. } => "avg",
            Self::Rate { .. } => "rate",
            Self::Named { name, .. } => name,
        }
    }
}

/// How rows form groups.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum Reduction<C = ColumnId> {
    /// One group for each distinct combination of keys; no key is one group, also over no rows.
    Reduce {
        /// The grouping expressions.
        by: Vec<Expr<C>>,
        /// Label columns to leave out of the grouping, where a language groups by all others. If there are any, the
        /// grouping is not relational: which columns are labels is not known here.
        #[serde(default = "Vec::new", skip_serializing_if = "Vec::is_empty")]
        without: Vec<Expr<C>>,
    },
    /// One group for each entity (time series) of the input.
    PerEntity,
}

impl<C> Reduction<C> {
    /// Grouping by keys.
    #[must_use]
    pub fn by(by: Vec<Expr<C>>) -> Self {
        Self::Reduce { by, without: Vec::new() }
    }

    /// The grouping keys; none for [`Reduction::PerEntity`].
    #[must_use]
    pub fn keys(&self) -> &[Expr<C>] {
        match self {
            Self::Reduce { by, .. } => by,
            Self::PerEntity => &[],
        }
    }

    /// The labels that are left out of the grouping.
    #[must_use]
    pub fn without(&self) -> &[Expr<C>] {
        match self {
            Self::Reduce { without, .. } => without,
            Self::PerEntity => &[],
        }
    }

    /// Whether the keys alone tell the groups apart. Otherwise a group is known by labels or an entity that the relation
    /// does not name: such an aggregate can be held and sent, but has no provable key.
    #[must_use]
    pub fn is_relational(&self) -> bool {
        matches!(self, Self::Reduce { without, .. } if without.is_empty())
    }

    /// The same grouping with each expression replaced.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map<D, E>(&self, map: &mut dyn FnMut(&Expr<C>) -> Result<Expr<D>, E>) -> Result<Reduction<D>, E> {
        Ok(match self {
            Self::Reduce { by, without } => Reduction::Reduce {
                by: by.iter().map(&mut *map).collect::<Result<_, E>>()?,
                without: without.iter().map(map).collect::<Result<_, E>>()?,
            },
            Self::PerEntity => Reduction::PerEntity,
        })
    }
}

/// A predicate for each measure, parallel to an aggregate's measures, with the semantics of SQL's `FILTER (WHERE …)`:
/// only rows for which it is TRUE update the measure, while groups are formed from all rows.
///
/// "Nothing is filtered" has one form, the empty vector, so that it compares and hashes alike however it was spelled.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(from = "Vec<Option<Predicate<C>>>", into = "Vec<Option<Predicate<C>>>")]
#[serde(bound(serialize = "C: Serialize + Clone", deserialize = "C: Deserialize<'de>"))]
pub struct MeasureFilters<C = ColumnId>(Vec<Option<Predicate<C>>>);

impl<C> Default for MeasureFilters<C> {
    fn default() -> Self {
        Self::none()
    }
}

impl<C> From<Vec<Option<Predicate<C>>>> for MeasureFilters<C> {
    fn from(filters: Vec<Option<Predicate<C>>>) -> Self {
        Self(if filters.iter().all(Option::is_none) { Vec::new() } else { filters })
    }
}

impl<C> From<MeasureFilters<C>> for Vec<Option<Predicate<C>>> {
    fn from(filters: MeasureFilters<C>) -> Self {
        filters.0
    }
}

impl<C> FromIterator<Option<Predicate<C>>> for MeasureFilters<C> {
    fn from_iter<I: IntoIterator<Item = Option<Predicate<C>>>>(filters: I) -> Self {
        filters.into_iter().collect::<Vec<_>>().into()
    }
}

impl<C> MeasureFilters<C> {
    /// No measure is filtered.
    #[must_use]
    pub fn none() -> Self {
        Self(Vec::new())
    }

    /// Whether no measure is filtered.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// The predicate of the measure at a position, if it has one.
    #[must_use]
    pub fn get(&self, measure: usize) -> Option<&Predicate<C>> {
        self.0.get(measure).and_then(Option::as_ref)
    }

    /// Whether the filters fit that many measures: none at all, or one entry for each.
    #[must_use]
    pub fn fits(&self, measures: usize) -> bool {
        self.0.is_empty() || self.0.len() == measures
    }

    /// The number of entries: 0 when nothing is filtered.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The predicates that exist, in measure order.
    pub fn predicates(&self) -> impl Iterator<Item = &Predicate<C>> {
        self.0.iter().flatten()
    }

    /// The same filters with each predicate's expression replaced.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map<D, E>(&self, map: &mut dyn FnMut(&Expr<C>) -> Result<Expr<D>, E>) -> Result<MeasureFilters<D>, E> {
        self.0.iter().map(|filter| filter.as_ref().map(|filter| map(&filter.0).map(Predicate)).transpose()).collect()
    }
}

/// Groups rows and computes measures over each group. The output is the keys, then the measures.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[serde(bound(
    serialize = "N: Serialize, C: Serialize + Clone",
    deserialize = "N: Deserialize<'de>, C: Deserialize<'de>"
))]
pub struct Aggregate<N, C = ColumnId> {
    /// How rows form groups.
    pub reduction: Reduction<C>,
    /// What is computed for each group.
    pub measures: Vec<AggIntent<C>>,
    /// A predicate for each measure.
    #[serde(default, skip_serializing_if = "MeasureFilters::is_none")]
    pub filters: MeasureFilters<C>,
    /// The names of the output columns: keys, then measures.
    pub output_names: Vec<String>,
    /// Which groups are kept, over the output columns.
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    pub having: Option<Predicate<C>>,
    /// The input.
    pub input: N,
}

impl<N, C> Aggregate<N, C> {
    /// The grouping keys.
    #[must_use]
    pub fn keys(&self) -> &[Expr<C>] {
        self.reduction.keys()
    }

    /// Every expression over the input: keys, arguments, filters.
    pub fn input_exprs(&self) -> impl Iterator<Item = &Expr<C>> {
        self.keys()
            .iter()
            .chain(self.reduction.without())
            .chain(self.measures.iter().flat_map(AggIntent::args))
            .chain(self.filters.predicates().map(|filter| &filter.0))
    }
}
