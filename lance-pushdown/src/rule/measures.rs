//! The aggregates that are counts of rows or of a column's values.

use datafusion::functions_aggregate::count::count_udaf;
use datafusion::physical_expr::aggregate::AggregateFunctionExpr;
use datafusion::physical_expr::expressions::{Column, Literal};
use lance_core::datatypes::Field;

use super::pattern::Pattern;
use crate::reasons::Refusal;

/// What one aggregate counts.
#[derive(Debug, Clone)]
pub(super) enum Measure {
    /// `COUNT(*)`, or of a literal that is not NULL.
    Rows,
    /// `COUNT(column)`.
    Column(CountedColumn),
}

/// A top-level column of the dataset.
#[derive(Debug, Clone)]
pub(super) struct CountedColumn {
    pub(super) field: Field,
}

/// Reads every aggregate as a count.
pub(super) fn try_counts(pattern: &Pattern<'_>) -> Result<Vec<Measure>, Refusal> {
    let partial = pattern.partial;
    let is_filtered = partial.filter_expr().iter().any(Option::is_some);
    #[cfg(feature = "faults")]
    let is_filtered = asap_faults::inject(asap_faults::Fault::MeasureFilterIgnored, is_filtered, |_| false);
    if is_filtered {
        return Err(Refusal::MeasureFilter);
    }
    partial.aggr_expr().iter().map(|aggregate| try_count(pattern, aggregate)).collect()
}

fn try_count(pattern: &Pattern<'_>, aggregate: &AggregateFunctionExpr) -> Result<Measure, Refusal> {
    if *aggregate.fun() != *count_udaf() {
        return Err(Refusal::UnsupportedAggregate);
    }
    if aggregate.is_distinct() {
        return Err(Refusal::Distinct);
    }
    if aggregate.ignore_nulls() || !aggregate.order_bys().is_empty() {
        return Err(Refusal::OrderedAggregate);
    }
    let arguments = aggregate.expressions();
    let [argument] = arguments.as_slice() else {
        return Err(Refusal::UnsupportedArgument);
    };
    if let Some(literal) = argument.downcast_ref::<Literal>() {
        return match literal.value().is_null() {
            true => Err(Refusal::NullArgument),
            false => Ok(Measure::Rows),
        };
    }
    #[cfg(feature = "faults")]
    if asap_faults::is_planted(asap_faults::Fault::CountColumnReadAsRows) {
        return Ok(Measure::Rows);
    }
    let column = argument.downcast_ref::<Column>().ok_or(Refusal::UnsupportedArgument)?;
    let name = pattern.source_column(0, column).ok_or(Refusal::UnsupportedArgument)?;
    let fields = &pattern.dataset().schema().fields;
    let field = fields.iter().find(|field| field.name == name).ok_or(Refusal::SystemColumn)?;
    counted_column(field).map(Measure::Column)
}

fn counted_column(field: &Field) -> Result<CountedColumn, Refusal> {
    if field.is_blob() {
        return Err(Refusal::BlobColumn);
    }
    Ok(CountedColumn { field: field.clone() })
}
