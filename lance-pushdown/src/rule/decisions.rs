//! What is proven about each fragment before an index is asked.

use std::sync::Arc;

use super::classify::Input;
use super::filter::FilterPlan;
use super::measures::{CountedColumn, Measure};
use crate::report::LiteralSource;
use crate::statistics::{DecidableFilter, FragmentStatistics, NullFact, Undecided, Verdict, verdicts};

/// The facts about one fragment that decide its bucket.
pub(super) struct Decision {
    pub(super) physical_rows: Option<u64>,
    /// On the filter; without one every row matches.
    pub(super) verdict: Verdict,
    verdict_source: LiteralSource,
    /// The filter is one that an index or statistics evaluate: no row makes it fail.
    cannot_fail: bool,
    /// One per aggregate, for those that count a column.
    pub(super) nulls: Vec<Option<CountedNulls>>,
}

/// The NULLs of a counted column.
pub(super) struct CountedNulls {
    pub(super) fact: NullFact,
    source: LiteralSource,
    /// The column must not be NULL and no data file holds it.
    pub(super) is_missing: bool,
}

impl Decision {
    /// True if every count is zero: no row passes, or only columns are counted that are NULL throughout.
    pub(super) fn is_empty(&self) -> bool {
        self.verdict == Verdict::NotMatching || (self.cannot_fail && self.counts_only_nulls())
    }

    fn counts_only_nulls(&self) -> bool {
        let is_null = |nulls: &Option<CountedNulls>| nulls.as_ref().is_some_and(|nulls| nulls.fact == NullFact::All);
        let are_null = self.nulls.iter().all(is_null);
        #[cfg(feature = "faults")]
        let are_null = asap_faults::inject(asap_faults::Fault::OneNullColumnEmptiesAll, are_null, |_| {
            self.nulls.iter().any(is_null)
        });
        are_null
    }

    /// Where the facts come from that make the counts literals.
    pub(super) fn source(&self) -> LiteralSource {
        let nulls = || self.nulls.iter().flatten().map(|nulls| nulls.source);
        match self.verdict {
            Verdict::NotMatching => self.verdict_source,
            Verdict::FullyMatching => nulls().fold(self.verdict_source, LiteralSource::and),
            Verdict::Unknown(_) => nulls().fold(LiteralSource::Manifest, LiteralSource::and),
        }
    }

    /// Why the counts are not literals, as far as facts are missing.
    pub(super) fn undecided(&self) -> Option<Undecided> {
        match self.verdict {
            Verdict::Unknown(reason) => Some(reason),
            Verdict::NotMatching => None,
            Verdict::FullyMatching => self.nulls.iter().flatten().find_map(|nulls| match nulls.fact {
                NullFact::Unknown(reason) => Some(reason),
                NullFact::None | NullFact::All | NullFact::Exactly(_) => None,
            }),
        }
    }
}

/// The decision on each fragment, in their order.
pub(super) fn decide(input: Input<'_>) -> Vec<Decision> {
    let zone_maps = input.zone_maps.filter(|_| input.options.statistics);
    let statistics: Vec<Option<FragmentStatistics<'_>>> = input
        .fragments
        .iter()
        .map(|fragment| FragmentStatistics::try_new(fragment, zone_maps.map(Arc::clone)))
        .collect();
    let known: Vec<FragmentStatistics<'_>> = statistics.iter().flatten().cloned().collect();
    let filter = decidable(input);
    let mut verdicts = match &filter {
        Ok(None) => all(Verdict::FullyMatching, known.len()),
        Ok(Some(filter)) => verdicts(filter, &known),
        Err(reason) => all(Verdict::Unknown(*reason), known.len()),
    }
    .into_iter();
    let cannot_fail = filter.is_ok() || matches!(input.filter.plan, FilterPlan::Index(_));
    statistics
        .iter()
        .map(|statistics| {
            let verdict = statistics.as_ref().and_then(|_| verdicts.next());
            let unknown = (Verdict::Unknown(Undecided::NoStatistics), LiteralSource::Manifest);
            let (verdict, verdict_source) = verdict.unwrap_or(unknown);
            let nulls = |statistics| input.measures.iter().map(|measure| counted_nulls(measure, statistics)).collect();
            Decision {
                physical_rows: statistics.as_ref().map(FragmentStatistics::physical_rows),
                verdict,
                verdict_source,
                cannot_fail,
                nulls: statistics.as_ref().map(nulls).unwrap_or_default(),
            }
        })
        .collect()
}

fn all(verdict: Verdict, fragments: usize) -> Vec<(Verdict, LiteralSource)> {
    vec![(verdict, LiteralSource::Manifest); fragments]
}

/// The filter, if there is one, for statistics to decide.
fn decidable(input: Input<'_>) -> Result<Option<DecidableFilter>, Undecided> {
    match &input.filter.logical {
        None => Ok(None),
        Some(_) if !input.options.statistics => Err(Undecided::Off),
        Some(filter) => DecidableFilter::try_new(filter, input.dataset.schema()).map(Some),
    }
}

fn counted_nulls(measure: &Measure, statistics: &FragmentStatistics<'_>) -> Option<CountedNulls> {
    let Measure::Column(CountedColumn { field, .. }) = measure else {
        return None;
    };
    let (fact, source) = statistics.nulls(field);
    Some(CountedNulls { fact, source, is_missing: !field.nullable && statistics.is_absent(field) })
}
