//! The measures: each coarse measure is combined from what the fine groups hold.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{AggIntent, Aggregate, Expr, QueryExpr};

use super::{Keys, Requires};
use crate::Refusal;
use crate::combinator::{combinator, is_float_extremum, requirement};

/// How a coarse measure is computed over the fine output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeasureDerivation {
    /// The fine column as it is: each fine row is a coarse row.
    Reuse {
        /// The fine output column.
        column: usize,
    },
    /// A measure over fine rows.
    Combine(Combined),
    /// An average, from the combined sum and the combined count.
    Average {
        /// The sum.
        sum: Combined,
        /// The count of non-NULL values.
        count: Combined,
        /// The type of the average.
        data_type: DataType,
    },
}

/// A measure over fine rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Combined {
    /// The measure.
    pub intent: AggIntent,
    /// Which fine rows update it.
    pub filter: Option<Expr>,
}

pub(super) struct MeasuresProof {
    pub(super) measures: Vec<MeasureDerivation>,
    pub(super) requires: Requires,
}

pub(super) fn prove(
    coarse: &Aggregate<Arc<QueryExpr>>,
    fine: &Aggregate<Arc<QueryExpr>>,
    keys: &Keys<'_>,
    regroups: bool,
) -> Result<MeasuresProof, Refusal> {
    let source = Source { fine, keys };
    let mut proof = MeasuresProof { measures: Vec::new(), requires: Requires::Nothing };
    for (index, intent) in coarse.measures.iter().enumerate() {
        let filter = conjuncts(coarse.filters.get(index).map(|filter| &filter.0));
        if regroups && is_float_extremum(intent, fine.input.schema()) {
            return Err(Refusal::FloatExtremum);
        }
        let (measure, requires) = if regroups {
            source.combine(intent, &filter)?
        } else {
            (source.reuse(intent, &filter)?, Requires::Nothing)
        };
        proof.measures.push(measure);
        proof.requires = proof.requires.max(requires);
    }
    Ok(proof)
}

fn conjuncts(filter: Option<&Expr>) -> Vec<Expr> {
    filter.cloned().map(Expr::conjuncts).unwrap_or_default()
}

struct Source<'a> {
    fine: &'a Aggregate<Arc<QueryExpr>>,
    keys: &'a Keys<'a>,
}

impl Source<'_> {
    /// The same measure under the same filter.
    fn reuse(&self, intent: &AggIntent, filter: &[Expr]) -> Result<MeasureDerivation, Refusal> {
        let position = (0..self.fine.measures.len()).find(|&position| {
            let is_same = same_set(&self.fine_filter(position), filter);
            #[cfg(feature = "faults")]
            let is_same = asap_faults::inject(asap_faults::Fault::ReuseIgnoresFilter, is_same, |_| true);
            self.fine.measures.get(position) == Some(intent) && is_same
        });
        match position {
            Some(position) => Ok(MeasureDerivation::Reuse { column: self.output(position) }),
            None => Err(Refusal::IntentMismatch),
        }
    }

    fn combine(&self, intent: &AggIntent, filter: &[Expr]) -> Result<(MeasureDerivation, Requires), Refusal> {
        if let AggIntent::Avg { arg } = intent {
            #[cfg(feature = "faults")]
            if let Some(position) = self.fine.measures.iter().position(|measure| measure == intent)
                && asap_faults::is_planted(asap_faults::Fault::AveragesAveraged)
            {
                let intent = AggIntent::Avg { arg: Expr::column(self.output(position)) };
                return Ok((MeasureDerivation::Combine(Combined { intent, filter: None }), Requires::Reassociate));
            }
            return self.average(arg, filter);
        }
        let combined = self.combined(intent, filter).or_else(|reason| match reason {
            Refusal::IntentMismatch => self.extremum_of_key(intent, filter).ok_or(reason),
            other => Err(other),
        })?;
        Ok((MeasureDerivation::Combine(combined), requirement(intent, self.fine.input.schema())))
    }

    /// A measure that the fine aggregate holds, under its filter or a refinement of it by the keys.
    fn combined(&self, intent: &AggIntent, filter: &[Expr]) -> Result<Combined, Refusal> {
        let combinator = combinator(intent)?;
        let mut reason = Refusal::IntentMismatch;
        for position in 0..self.fine.measures.len() {
            if self.fine.measures.get(position) != Some(intent) {
                continue;
            }
            match self.refinement(filter, &self.fine_filter(position)) {
                Ok(filter) => return Ok(Combined { intent: combinator.over(self.output(position)), filter }),
                Err(refusal) => reason = refusal,
            }
        }
        Err(reason)
    }

    /// MIN and MAX of a fine key: every value of the key is a group.
    fn extremum_of_key(&self, intent: &AggIntent, filter: &[Expr]) -> Option<Combined> {
        let arg = match intent {
            AggIntent::Min { arg } | AggIntent::Max { arg } => self.keys.express(arg).ok()?,
            _ => return None,
        };
        let filter = self.refinement(filter, &[]).ok()?;
        let intent = match intent {
            AggIntent::Min { .. } => AggIntent::Min { arg },
            _ => AggIntent::Max { arg },
        };
        Some(Combined { intent, filter })
    }

    /// The condition on fine rows that turns the fine filter into the coarse one.
    fn refinement(&self, coarse: &[Expr], fine: &[Expr]) -> Result<Option<Expr>, Refusal> {
        let is_wider = fine.iter().all(|conjunct| coarse.contains(conjunct));
        #[cfg(feature = "faults")]
        let is_wider = asap_faults::inject(asap_faults::Fault::NarrowerMeasureTaken, is_wider, |_| true);
        if !is_wider {
            return Err(Refusal::MeasureFilter);
        }
        #[cfg(feature = "faults")]
        if !same_set(coarse, fine) && asap_faults::is_planted(asap_faults::Fault::RefinementLost) {
            return Ok(None);
        }
        let input = self.fine.input.schema();
        let extra = coarse.iter().filter(|conjunct| !fine.contains(conjunct)).map(|conjunct| {
            if !conjunct.cannot_fail(input) {
                return Err(Refusal::MeasureFilter);
            }
            self.keys.express(conjunct).map_err(|reason| match reason {
                Refusal::FloatKey => reason,
                _ => Refusal::MeasureFilter,
            })
        });
        extra.collect::<Result<Vec<Expr>, Refusal>>().map(Expr::conjunction)
    }

    /// AVG accumulates the sum and the count of the non-NULL values of its argument, so a fine sum of the same argument
    /// and a fine count of its non-NULL values give it. Only types whose sum AVG accumulates in the same representation:
    /// floats as `Float64`, decimals as their unscaled 128-bit value.
    fn average(&self, arg: &Expr, filter: &[Expr]) -> Result<(MeasureDerivation, Requires), Refusal> {
        let input = self.fine.input.schema();
        let arg_type = arg.data_type(input).map_err(|_| Refusal::AverageParts)?;
        if !matches!(arg_type, DataType::Float64 | DataType::Decimal128(..)) {
            return Err(Refusal::AverageParts);
        }
        let data_type = asap_types::average_type(&arg_type).map_err(|_| Refusal::AverageParts)?;
        let parts = |_| Refusal::AverageParts;
        let sum_intent = AggIntent::Sum { arg: arg.clone() };
        let sum = self.combined(&sum_intent, filter).map_err(parts)?;
        let count = self.count_of(arg, filter).ok_or(Refusal::AverageParts)?;
        Ok((MeasureDerivation::Average { sum, count, data_type }, requirement(&sum_intent, input)))
    }

    /// The count of rows for which the argument is not NULL.
    fn count_of(&self, arg: &Expr, filter: &[Expr]) -> Option<Combined> {
        let input = self.fine.input.schema();
        let is_never_null = arg.nullable(input) == Ok(false);
        if let Ok(count) = self.combined(&AggIntent::count(), filter) {
            #[cfg(feature = "faults")]
            let is_never_null = asap_faults::inject(asap_faults::Fault::AverageOverAllRows, is_never_null, |_| true);
            if is_never_null {
                return Some(count);
            }
        }
        null_equivalents(arg, self.fine).into_iter().find_map(|counted| {
            let not_null = counted.is_not_null();
            let mut filter = filter.to_vec();
            if !filter.contains(&not_null) {
                filter.push(not_null);
            }
            self.combined(&AggIntent::count(), &filter).ok()
        })
    }

    fn fine_filter(&self, position: usize) -> Vec<Expr> {
        conjuncts(self.fine.filters.get(position).map(|filter| &filter.0))
    }

    /// The output column of the fine measure at a position.
    fn output(&self, position: usize) -> usize {
        self.fine.keys().len() + position
    }
}

/// Expressions that are NULL for exactly the rows for which an argument is: itself, and below casts that never fail.
fn null_equivalents(arg: &Expr, fine: &Aggregate<Arc<QueryExpr>>) -> Vec<Expr> {
    let mut equivalents = vec![arg.clone()];
    let mut current = arg;
    while let Expr::Cast { arg, null_on_failure: false, .. } = current {
        if !current.cannot_fail(fine.input.schema()) {
            break;
        }
        equivalents.push((**arg).clone());
        current = arg;
    }
    equivalents
}

fn same_set(left: &[Expr], right: &[Expr]) -> bool {
    left.iter().all(|conjunct| right.contains(conjunct)) && right.iter().all(|conjunct| left.contains(conjunct))
}
