//! The bucket of each fragment, from the manifest and from what was read before.

use std::sync::Arc;

use lance::Dataset;
use lance_index::scalar::expression::ScalarIndexExpr;
use lance_table::format::Fragment;

use super::decisions::{self, CountedNulls, Decision};
use super::filter::{Filter, FilterPlan, UsedIndex};
use super::measures::Measure;
use super::null_indexes::NullIndexes;
use super::scan;
use crate::count_from_mask::{CountSource, FragmentPushdownPlan, IndexBinding, IndexKind};
use crate::options::PushdownOptions;
use crate::reasons::ScanReason;
use crate::registry::DatasetFacts;
use crate::report::{Bucket, FragmentReport, LiteralSource};
use crate::statistics::{NullFact, Undecided, Verdict, ZoneMaps};

/// Everything that decides.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) fragments: &'a [Fragment],
    pub(super) measures: &'a [Measure],
    pub(super) filter: &'a Filter,
    pub(super) facts: Option<&'a DatasetFacts>,
    pub(super) zone_maps: Option<&'a Arc<ZoneMaps>>,
    pub(super) options: PushdownOptions,
}

/// The fragments by bucket; each is in exactly one.
#[derive(Debug, Default)]
pub(super) struct Classification {
    /// One entry per fragment, in scan order.
    pub(super) fragments: Vec<FragmentReport>,
    /// Bucket (a).
    pub(super) index: Vec<FragmentPushdownPlan>,
    /// Number of fragments in bucket (b).
    pub(super) literal_fragments: usize,
    /// The counts of bucket (b), one per aggregate.
    pub(super) literals: Vec<u64>,
    /// Bucket (c).
    pub(super) scan: Vec<Fragment>,
    /// `column IS NULL` queries of bucket (a).
    pub(super) nulls: Vec<ScalarIndexExpr>,
}

impl Classification {
    /// True if every fragment is left to the scan.
    pub(super) fn answers_nothing(&self) -> bool {
        self.index.is_empty() && self.literal_fragments == 0
    }
}

/// Judges every fragment.
pub(super) fn classify(input: Input<'_>) -> Classification {
    let columns = NullIndexes::resolve(input);
    let mut result = Classification { literals: vec![0; input.measures.len()], ..Classification::default() };
    for (fragment, decision) in input.fragments.iter().zip(decisions::decide(input)) {
        let answer = judge(input, &columns, fragment, &decision);
        result.add(fragment, answer, decision.undecided());
    }
    result.nulls = columns.queries_of(&mut result.index);
    result
}

impl Classification {
    fn add(&mut self, fragment: &Fragment, answer: Result<Answer, ScanReason>, undecided: Option<Undecided>) {
        let mut report = FragmentReport {
            fragment_id: fragment.id,
            bucket: Bucket::Literal,
            live_rows: scan::live_rows(fragment),
            deleted_rows: scan::deleted_rows(fragment),
            bindings: Vec::new(),
            literal_source: None,
            undecided,
        };
        match answer {
            Ok(Answer::Literal(counts, source)) => {
                report.literal_source = Some(source);
                report.undecided = None;
                self.literal_fragments += 1;
                #[cfg(feature = "faults")]
                if asap_faults::is_planted(asap_faults::Fault::FragmentsInTwoBuckets) {
                    self.scan.push(fragment.clone());
                }
                for (total, count) in self.literals.iter_mut().zip(counts) {
                    *total = total.saturating_add(count);
                }
            }
            Ok(Answer::Index(plan)) => {
                report.bucket = Bucket::Index;
                report.bindings.clone_from(&plan.index_bindings);
                self.index.push(plan);
            }
            Err(reason) => {
                report.bucket = Bucket::Scan(reason);
                self.scan.push(fragment.clone());
            }
        }
        self.fragments.push(report);
    }
}

enum Answer {
    Literal(Vec<u64>, LiteralSource),
    Index(FragmentPushdownPlan),
}

fn judge(
    input: Input<'_>,
    columns: &NullIndexes,
    fragment: &Fragment,
    decision: &Decision,
) -> Result<Answer, ScanReason> {
    let physical_rows = decision.physical_rows.ok_or(ScanReason::PhysicalRowsUnknown)?;
    if scan::deleted_rows(fragment).is_some_and(|deleted| deleted > physical_rows) {
        return Err(ScanReason::DeletionCountCorrupt);
    }
    let id = u32::try_from(fragment.id).map_err(|_| ScanReason::PhysicalRowsUnknown)?;
    check_columns(input, decision)?;
    let refused = match literal(input.options, fragment, decision) {
        Some(Ok(answer)) => return Ok(answer),
        Some(Err(reason)) => Some(reason),
        None => None,
    };
    if let FilterPlan::Scan(reason) = &input.filter.plan {
        return Err(refused.unwrap_or(*reason));
    }
    let counts = count_sources(input, columns, decision, id)?;
    match refused {
        Some(reason) if needs_no_index(input, &counts) => Err(reason),
        Some(_) | None => indexed(input, columns, fragment, id, physical_rows, counts).map(Answer::Index),
    }
}

fn check_columns(input: Input<'_>, decision: &Decision) -> Result<(), ScanReason> {
    for nulls in decision.nulls.iter().flatten() {
        if !input.options.count_column {
            return Err(ScanReason::CountColumnOff);
        }
        if nulls.is_missing {
            return Err(ScanReason::ColumnMissing);
        }
    }
    Ok(())
}

fn needs_no_index(input: Input<'_>, counts: &[CountSource]) -> bool {
    matches!(input.filter.plan, FilterPlan::None)
        && !counts.iter().any(|count| matches!(count, CountSource::NonNull(_)))
}

/// The counts as literals, or why they are none although they are known; nothing if they are not known.
fn literal(options: PushdownOptions, fragment: &Fragment, decision: &Decision) -> Option<Result<Answer, ScanReason>> {
    let counts = match scan::live_rows(fragment) {
        Some(live) => known_counts(decision, live)?,
        None => return known_counts(decision, u64::MAX).map(|_| Err(ScanReason::DeletionCountUnknown)),
    };
    Some(match options.literal_counts {
        true => Ok(Answer::Literal(counts, decision.source())),
        false => Err(ScanReason::LiteralCountsOff),
    })
}

fn known_counts(decision: &Decision, live: u64) -> Option<Vec<u64>> {
    if decision.is_empty() {
        return Some(vec![0; decision.nulls.len()]);
    }
    if decision.verdict != Verdict::FullyMatching {
        return None;
    }
    let values = |nulls: &Option<CountedNulls>| match nulls.as_ref().map(|nulls| nulls.fact) {
        None | Some(NullFact::None) => Some(live),
        Some(NullFact::All) => Some(0),
        Some(NullFact::Exactly(count)) => live.checked_sub(count),
        Some(NullFact::Unknown(_)) => None,
    };
    decision.nulls.iter().map(values).collect()
}

fn indexed(
    input: Input<'_>,
    columns: &NullIndexes,
    fragment: &Fragment,
    id: u32,
    physical_rows: u64,
    counts: Vec<CountSource>,
) -> Result<FragmentPushdownPlan, ScanReason> {
    if !input.options.index_counts {
        return Err(ScanReason::IndexCountsOff);
    }
    let mut index_bindings: Vec<IndexBinding> = Vec::new();
    if let FilterPlan::Index(filter) = &input.filter.plan {
        if !filter.coverage.contains(id) {
            return Err(ScanReason::Uncovered);
        }
        index_bindings.extend(filter.indexes.iter().map(|used| bind(used, input, id)));
    }
    for count in &counts {
        if let CountSource::NonNull(query) = count
            && let Some(used) = columns.index(*query)
        {
            let binding = bind(used, input, id);
            if !index_bindings.contains(&binding) {
                index_bindings.push(binding);
            }
        }
    }
    Ok(FragmentPushdownPlan {
        fragment_id: id,
        physical_rows,
        index_bindings,
        deletion_vector: fragment.deletion_file.clone(),
        counts,
    })
}

fn bind(used: &UsedIndex, input: Input<'_>, fragment: u32) -> IndexBinding {
    let segment = input
        .facts
        .and_then(|facts| facts.index(&used.name))
        .and_then(|index| index.segment(fragment))
        .map(|segment| Arc::clone(&segment.id));
    IndexBinding {
        index_name: Arc::clone(&used.name),
        column: Arc::clone(&used.column),
        kind: IndexKind::Bitmap,
        segment,
    }
}

fn count_sources(
    input: Input<'_>,
    columns: &NullIndexes,
    decision: &Decision,
    id: u32,
) -> Result<Vec<CountSource>, ScanReason> {
    let source = |(measure, nulls): (&Measure, &Option<CountedNulls>)| match (measure, nulls) {
        (Measure::Rows, _) | (Measure::Column(_), None) => Ok(CountSource::Rows),
        (Measure::Column(column), Some(nulls)) => match nulls.fact {
            NullFact::None => Ok(CountSource::Rows),
            NullFact::All => Ok(CountSource::Zero),
            NullFact::Exactly(_) | NullFact::Unknown(_) => columns.source(&column.field.name, id),
        },
    };
    input.measures.iter().zip(&decision.nulls).map(source).collect()
}
