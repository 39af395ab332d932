//! Verdicts on fragments, by DataFusion's [`PruningPredicate`] with one container per fragment.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use arrow::array::{ArrayRef, BooleanArray, UInt64Array};
use arrow_schema::{Field as ArrowField, Schema, SchemaRef};
use datafusion::common::pruning::PruningStatistics;
use datafusion::common::{Column, DFSchema, ScalarValue};
use datafusion::error::Result as DFResult;
use datafusion::execution::context::ExecutionProps;
use datafusion::logical_expr::Expr;
use datafusion::physical_expr::create_physical_expr;
use datafusion::physical_optimizer::pruning::PruningPredicate;

use super::facts::{ColumnStatistics, FragmentStatistics, NullFact};
use super::filter::{DecidableFilter, FilterColumn, Undecided, Verdict};
use crate::report::LiteralSource;

/// The verdict on each fragment, with where its facts come from.
pub(crate) fn verdicts(
    filter: &DecidableFilter,
    fragments: &[FragmentStatistics<'_>],
) -> Vec<(Verdict, LiteralSource)> {
    let facts: Vec<Vec<ColumnStatistics>> = fragments
        .iter()
        .map(|fragment| filter.columns.iter().map(|column| fragment.column(&column.field)).collect())
        .collect();
    let proofs = match Proofs::evaluate(filter, fragments, &facts) {
        Ok(proofs) => proofs,
        Err(error) => {
            tracing::debug!(%error, "statistics were not evaluated");
            return vec![(Verdict::Unknown(Undecided::Evaluation), LiteralSource::Manifest); fragments.len()];
        }
    };
    fragments
        .iter()
        .zip(&facts)
        .enumerate()
        .map(|(at, (fragment, columns))| (proofs.verdict(at, filter, fragment, columns), source(columns)))
        .collect()
}

fn source(columns: &[ColumnStatistics]) -> LiteralSource {
    match columns.iter().all(|column| column.source == LiteralSource::Manifest) {
        true => LiteralSource::Manifest,
        false => LiteralSource::Statistics,
    }
}

/// What may be, per fragment.
struct Proofs {
    may_hold: Vec<bool>,
    may_fail: Vec<bool>,
}

impl Proofs {
    fn evaluate(
        filter: &DecidableFilter,
        fragments: &[FragmentStatistics<'_>],
        facts: &[Vec<ColumnStatistics>],
    ) -> DFResult<Self> {
        let fields = filter.columns.iter().map(|column| {
            // The facts say what is NULL; the schema must not let DataFusion simplify a test for it away.
            ArrowField::new(&column.field.name, column.field.data_type(), true)
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let containers = Containers::try_new(filter, fragments, facts)?;
        let may = |expr: &Expr| predicate(expr, &schema)?.prune(&containers);
        Ok(Self { may_hold: may(&filter.holds)?, may_fail: may(&filter.fails)? })
    }

    fn verdict(
        &self,
        at: usize,
        filter: &DecidableFilter,
        fragment: &FragmentStatistics<'_>,
        columns: &[ColumnStatistics],
    ) -> Verdict {
        let may = |rows: &[bool]| rows.get(at).copied().unwrap_or(true);
        let (may_hold, may_fail) = (may(&self.may_hold), may(&self.may_fail));
        let mut compared = filter.columns.iter().zip(columns).filter(|(column, _)| column.is_compared);
        let is_never_null = compared.all(|(_, column)| fragment.null_fact(column) == NullFact::None);
        #[cfg(feature = "faults")]
        let may_hold = asap_faults::inject(asap_faults::Fault::UnknownTakenForNoMatch, may_hold, |_| !may_fail);
        match (may_hold, may_fail) {
            (false, true) => Verdict::NotMatching,
            // A row for which the filter is neither TRUE nor FALSE does not pass; if NULL is impossible, the facts
            // contradict each other.
            (false, false) if !is_never_null => Verdict::NotMatching,
            (true, false) if is_never_null => Verdict::FullyMatching,
            (true, false) => Verdict::Unknown(missing(filter, columns).unwrap_or(Undecided::NullsPossible)),
            (true, true) | (false, false) => {
                Verdict::Unknown(missing(filter, columns).unwrap_or(Undecided::Inconclusive))
            }
        }
    }
}

/// The first fact that the filter asks for and that is not there.
fn missing(filter: &DecidableFilter, columns: &[ColumnStatistics]) -> Option<Undecided> {
    let wanted = |(column, facts): (&FilterColumn, &ColumnStatistics)| match column.is_compared {
        true => facts.extrema.as_ref().err().copied().filter(|reason| *reason != Undecided::AllNull),
        false => facts.null_count.as_ref().err().copied(),
    };
    filter.columns.iter().zip(columns).find_map(wanted)
}

fn predicate(expr: &Expr, schema: &SchemaRef) -> DFResult<PruningPredicate> {
    let named = DFSchema::try_from(Arc::clone(schema))?;
    let physical = create_physical_expr(expr, &named, &ExecutionProps::new())?;
    PruningPredicate::try_new(physical, Arc::clone(schema))
}

/// The facts as arrays, one element per fragment; NULL where a fact is not known.
struct Containers {
    columns: HashMap<String, ColumnArrays>,
    rows: ArrayRef,
}

struct ColumnArrays {
    min: ArrayRef,
    max: ArrayRef,
    null_counts: ArrayRef,
}

impl Containers {
    fn try_new(
        filter: &DecidableFilter,
        fragments: &[FragmentStatistics<'_>],
        facts: &[Vec<ColumnStatistics>],
    ) -> DFResult<Self> {
        let mut columns = HashMap::new();
        for (at, column) in filter.columns.iter().enumerate() {
            let facts: Vec<&ColumnStatistics> = facts.iter().filter_map(|columns| columns.get(at)).collect();
            columns.insert(column.field.name.clone(), arrays(column, fragments, &facts)?);
        }
        let rows = fragments.iter().map(|fragment| fragment.physical_rows).collect::<UInt64Array>();
        Ok(Self { columns, rows: Arc::new(rows) })
    }
}

fn arrays(
    column: &FilterColumn,
    fragments: &[FragmentStatistics<'_>],
    facts: &[&ColumnStatistics],
) -> DFResult<ColumnArrays> {
    let unknown = ScalarValue::try_from(&column.field.data_type())?;
    let min = facts.iter().map(|facts| facts.extrema.as_ref().map_or(&unknown, |(min, _)| min.bound()).clone());
    let max = facts.iter().map(|facts| facts.extrema.as_ref().map_or(&unknown, |(_, max)| max.bound()).clone());
    let nulls = fragments.iter().zip(facts).map(|(fragment, facts)| match fragment.null_fact(facts) {
        NullFact::None => Some(0),
        NullFact::All => Some(fragment.physical_rows),
        NullFact::Exactly(count) => Some(count),
        NullFact::Unknown(_) => None,
    });
    Ok(ColumnArrays {
        min: ScalarValue::iter_to_array(min)?,
        max: ScalarValue::iter_to_array(max)?,
        null_counts: Arc::new(nulls.collect::<UInt64Array>()),
    })
}

impl PruningStatistics for Containers {
    fn min_values(&self, column: &Column) -> Option<ArrayRef> {
        self.columns.get(&column.name).map(|arrays| Arc::clone(&arrays.min))
    }

    fn max_values(&self, column: &Column) -> Option<ArrayRef> {
        self.columns.get(&column.name).map(|arrays| Arc::clone(&arrays.max))
    }

    fn num_containers(&self) -> usize {
        self.rows.len()
    }

    fn null_counts(&self, column: &Column) -> Option<ArrayRef> {
        self.columns.get(&column.name).map(|arrays| Arc::clone(&arrays.null_counts))
    }

    /// Physical rows, as NULLs are counted among them.
    fn row_counts(&self) -> Option<ArrayRef> {
        Some(Arc::clone(&self.rows))
    }

    fn contained(&self, _column: &Column, _values: &HashSet<ScalarValue>) -> Option<BooleanArray> {
        None
    }
}
