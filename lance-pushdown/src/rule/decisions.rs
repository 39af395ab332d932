//! What is proven about each fragment before an index is asked.

use std::sync::Arc;

use super::classify::Input;
use super::measures::{CountedColumn, Measure};
use crate::report::LiteralSource;
use crate::statistics::{DecidableFilter, FragmentStatistics, NullFact, Undecided, Verdict, verdicts};

/// The facts about one fragment that decide its bucket.
pub(super) struct Decision {
    pub(super) physical_rows: Option<u64>,
    /// On the filter; without one every row matches.
    pub(super) verdict: Verdict,
    verdict_source: LiteralSource,
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
        self.verdict == Verdict::NotMatching || self.counts_only_nulls()
    }

    fn counts_only_nulls(&self) -> bool {
        self.nulls.iter().all(|nulls| nulls.as_ref().is_some_and(|nulls| nulls.fact == NullFact::All))
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
    let mut verdicts = verdicts_on(input, &known).into_iter();
    statistics
        .iter()
        .map(|statistics| match statistics {
            None => Decision {
                physical_rows: None,
                verdict: Verdict::Unknown(Undecided::NoStatistics),
                verdict_source: LiteralSource::Manifest,
                nulls: Vec::new(),
            },
            Some(statistics) => {
                let unknown = (Verdict::Unknown(Undecided::Evaluation), LiteralSource::Manifest);
                let (verdict, verdict_source) = verdicts.next().unwrap_or(unknown);
                Decision {
                    physical_rows: Some(statistics.physical_rows()),
                    verdict,
                    verdict_source,
                    nulls: input.measures.iter().map(|measure| counted_nulls(measure, statistics)).collect(),
                }
            }
        })
        .collect()
}

fn verdicts_on(input: Input<'_>, fragments: &[FragmentStatistics<'_>]) -> Vec<(Verdict, LiteralSource)> {
    let all = |verdict| vec![(verdict, LiteralSource::Manifest); fragments.len()];
    let Some(filter) = &input.filter.logical else {
        return all(Verdict::FullyMatching);
    };
    if !input.options.statistics {
        return all(Verdict::Unknown(Undecided::Off));
    }
    match DecidableFilter::try_new(filter, input.dataset.schema()) {
        Ok(filter) => verdicts(&filter, fragments),
        Err(reason) => all(Verdict::Unknown(reason)),
    }
}

fn counted_nulls(measure: &Measure, statistics: &FragmentStatistics<'_>) -> Option<CountedNulls> {
    let Measure::Column(CountedColumn { field, .. }) = measure else {
        return None;
    };
    let (fact, source) = statistics.nulls(field);
    Some(CountedNulls { fact, source, is_missing: !field.nullable && statistics.is_absent(field) })
}
