//! Proves that one aggregate follows from another: three independent proofs, of the rows, the keys and each measure.

mod keys;
mod measures;
mod rows;

use std::sync::Arc;

use asap_types::{AggIntent, Aggregate, Expr, Operator, QueryExpr, Reduction, Schema};

use crate::Refusal;
pub(crate) use keys::{Keys, key_columns};
pub use measures::{Combined, MeasureDerivation};
pub(crate) use rows::split_input;

/// What a derivation needs to be allowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Requires {
    /// Nothing: every value is the plain one, to the bit.
    #[default]
    Nothing,
    /// Floats may be added up in another order. Sums then differ in their last bits; in any bit, or by overflow, where
    /// large terms cancel.
    Reassociate,
}

/// How a coarse aggregate is computed from the rows of a fine one. All expressions are over the fine one's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Derivation {
    /// Conditions that a fine row must fulfil, because the coarse aggregate reads fewer rows.
    pub restriction: Vec<Expr>,
    /// The coarse keys.
    pub keys: Vec<Expr>,
    /// The coarse measures.
    pub measures: Vec<MeasureDerivation>,
    /// Whether fine groups are grouped again. If not, each fine row is a coarse row.
    pub regroups: bool,
    /// What the derivation needs to be allowed.
    pub requires: Requires,
}

/// Proves that `coarse` can be computed from the output of `fine`.
///
/// - *rows*: both read the same input, or `coarse` reads those rows of it for which more conditions hold, which `fine`'s
///   keys decide;
/// - *keys*: each key of `coarse` is a key of `fine` or a function of its keys;
/// - *measures*: each measure of `coarse` has a combinator and `fine` holds it, under the same filter or under one that
///   `fine`'s keys refine; an average needs the sum and the count of its argument, which for integers is their
///   conversion to floats; over equal keys only the average itself is reused.
///
/// # Errors
/// The first reason for which the proof fails.
pub fn derive(coarse: &QueryExpr, fine: &QueryExpr) -> Result<Derivation, Refusal> {
    let (coarse, coarse_by) = relational_aggregate(coarse)?;
    let (fine_node, (fine, fine_by)) = (fine, relational_aggregate(fine)?);
    has_unique_groups(fine_node.schema(), fine_by.len())?;
    let keys = Keys::new(fine_by, fine.input.schema());
    let restriction = rows::prove(coarse, fine, &keys)?;
    if keys.is_empty() && !restriction.is_empty() {
        // A grand total has a row over no rows, too; a condition on it would drop that row.
        return Err(Refusal::GrandTotalSource);
    }
    let derived_keys = keys::prove(coarse_by, &keys)?;
    let regroups = !keys.are_covered_by(&derived_keys);
    check_failures(coarse, fine, !restriction.is_empty())?;
    let proof = measures::prove(coarse, fine, &keys, regroups)?;
    Ok(Derivation { restriction, keys: derived_keys, measures: proof.measures, regroups, requires: proof.requires })
}

/// Whether it is provable that no two rows of an aggregate's output agree on its keys, which are its first columns.
///
/// # Errors
/// [`Refusal::NoUniqueKey`].
pub fn has_unique_groups(output: &Schema, keys: usize) -> Result<(), Refusal> {
    let keys: Vec<usize> = (0..keys).collect();
    if output.is_unique_key(&keys) { Ok(()) } else { Err(Refusal::NoUniqueKey) }
}

/// An aggregate over relational groups, with its keys.
pub(crate) fn relational_aggregate(node: &QueryExpr) -> Result<(&Aggregate<Arc<QueryExpr>>, &[Expr]), Refusal> {
    let Operator::Aggregate(aggregate) = node.operator() else { return Err(Refusal::NotAnAggregate) };
    let by = match &aggregate.reduction {
        Reduction::Reduce { by, without } if without.is_empty() => by,
        Reduction::Reduce { .. } => return Err(Refusal::Without),
        Reduction::PerEntity => return Err(Refusal::PerEntity),
    };
    if aggregate.having.is_some() {
        return Err(Refusal::Having);
    }
    if node.is_volatile() || aggregate.measures.iter().any(AggIntent::is_volatile) {
        return Err(Refusal::Volatile);
    }
    Ok((aggregate, by))
}

/// A query must not fail because of an expression that only another query evaluates, or evaluates for more rows: whatever
/// can fail in `fine` is evaluated by `coarse` for all rows, too, or for the rows of the same filter.
fn check_failures(
    coarse: &Aggregate<Arc<QueryExpr>>,
    fine: &Aggregate<Arc<QueryExpr>>,
    restricted: bool,
) -> Result<(), Refusal> {
    let input = fine.input.schema();
    let everywhere: Vec<&Expr> = for_all_rows(coarse).collect();
    let is_known = |expr: &Expr| expr.cannot_fail(input) || (!restricted && everywhere.contains(&expr));
    let is_same = |position: usize, other: usize| {
        coarse.measures.get(other) == fine.measures.get(position)
            && coarse.filters.get(other) == fine.filters.get(position)
    };
    let is_safe_measure = |(position, measure): (usize, &AggIntent)| {
        let cannot_fail = !measure.can_fail() && measure.args().iter().all(is_known);
        cannot_fail || (!restricted && (0..coarse.measures.len()).any(|other| is_same(position, other)))
    };
    let is_safe = for_all_rows(fine).all(is_known) && fine.measures.iter().enumerate().all(is_safe_measure);
    if is_safe { Ok(()) } else { Err(Refusal::SourceCanFail) }
}

/// The expressions that an aggregate evaluates for every row of its input: all but the arguments behind filters.
fn for_all_rows(aggregate: &Aggregate<Arc<QueryExpr>>) -> impl Iterator<Item = &Expr> {
    let filters = aggregate.filters.predicates().map(|filter| &filter.0);
    let unfiltered =
        aggregate.measures.iter().enumerate().filter(|(position, _)| aggregate.filters.get(*position).is_none());
    let args = unfiltered.flat_map(|(_, measure)| measure.args());
    aggregate.keys().iter().chain(filters).chain(args)
}
