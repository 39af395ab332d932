//! The filter as an index expression.

use std::ops::Bound;
use std::sync::Arc;

use arrow_schema::DataType;
use datafusion::common::ScalarValue;
use datafusion::logical_expr::Expr;
use datafusion::logical_expr::utils::conjunction;
use lance::Dataset;
use lance::io::exec::scalar_index::ScalarIndexExec;
use lance_index::scalar::SargableQuery;
use lance_index::scalar::expression::{ScalarIndexExpr, ScalarIndexSearch, apply_scalar_indices};
use roaring::RoaringBitmap;

use super::logical::try_logical;
use super::pattern::Pattern;
use super::truth;
use crate::reasons::{Refusal, ScanReason};
use crate::registry::DatasetFacts;

/// How the filter below the aggregate can be answered.
#[derive(Debug, Clone)]
pub(super) enum FilterPlan {
    /// There is none.
    None,
    /// An index expression answers it for the covered fragments.
    Index(IndexFilter),
    /// No fragment's share of it can be answered.
    Scan(ScanReason),
}

/// A filter that bitmap indexes evaluate exactly.
#[derive(Debug, Clone)]
pub(super) struct IndexFilter {
    pub(super) expr: ScalarIndexExpr,
    /// Fragments that every index of the expression covers.
    pub(super) coverage: RoaringBitmap,
    /// The indexes of the expression, each once.
    pub(super) indexes: Vec<UsedIndex>,
}

/// All filters below the aggregate, together.
#[derive(Debug, Clone)]
pub(super) struct Filter {
    /// What they say, over the table's own column names.
    pub(super) logical: Option<Expr>,
    /// How indexes answer it.
    pub(super) plan: FilterPlan,
}

/// An index by name, with the fragments that it covers.
#[derive(Debug, Clone)]
pub(super) struct UsedIndex {
    pub(super) name: Arc<str>,
    pub(super) column: Arc<str>,
    pub(super) coverage: RoaringBitmap,
}

/// Combines the scan's own filter with those above it.
pub(super) fn plan_filter(pattern: &Pattern<'_>, facts: Option<&DatasetFacts>) -> Result<Filter, Refusal> {
    check_index_input(pattern)?;
    let mut logical: Vec<Expr> = pattern.scan.options().full_filter.iter().cloned().collect();
    let mut parts: Vec<Result<ScalarIndexExpr, ScanReason>> =
        logical.iter().map(|filter| pushed_filter(pattern, filter, facts)).collect();
    for (depth, filter) in pattern.filters() {
        let name = |column: &_| pattern.source_column(depth, column);
        let filter = try_logical(filter.predicate(), &name).ok_or(Refusal::FilterAboveScan)?;
        parts.push(match facts {
            Some(facts) => parse(filter.clone(), facts),
            None => Err(ScanReason::FilterNotIndexed),
        });
        logical.push(filter);
    }
    Ok(Filter { logical: conjunction(logical), plan: plan_parts(parts, pattern.dataset(), facts) })
}

fn plan_parts(
    parts: Vec<Result<ScalarIndexExpr, ScanReason>>,
    dataset: &Dataset,
    facts: Option<&DatasetFacts>,
) -> FilterPlan {
    let exprs = match parts.into_iter().collect::<Result<Vec<_>, _>>() {
        Ok(exprs) => exprs,
        Err(reason) => return FilterPlan::Scan(reason),
    };
    let all = exprs.into_iter().reduce(|left, right| ScalarIndexExpr::And(Box::new(left), Box::new(right)));
    match all {
        None => FilterPlan::None,
        Some(expr) => match index_filter(expr.optimize(), dataset, facts) {
            Ok(filter) => FilterPlan::Index(filter),
            Err(reason) => FilterPlan::Scan(reason),
        },
    }
}

/// Proves that the scan's row selection is its filter's, and not one of its own.
fn check_index_input(pattern: &Pattern<'_>) -> Result<(), Refusal> {
    match pattern.scan.index_input() {
        Some(input) if !input.is::<ScalarIndexExec>() => Err(Refusal::IndexInput),
        // A selection without a filter text could not be handed to the scan branch.
        Some(_) if pattern.scan.options().full_filter.is_none() => Err(Refusal::IndexInput),
        Some(_) | None => Ok(()),
    }
}

/// The filter that Lance pushed into the scan, over the preloaded bitmap indexes where they are known.
fn pushed_filter(
    pattern: &Pattern<'_>,
    filter: &Expr,
    facts: Option<&DatasetFacts>,
) -> Result<ScalarIndexExpr, ScanReason> {
    let leaf =
        pattern.scan.index_input().and_then(|input| input.downcast_ref::<ScalarIndexExec>()).map(ScalarIndexExec::expr);
    if let Some(facts) = facts {
        return parse(filter.clone(), facts).map_err(|reason| match leaf {
            Some(leaf) if !has_only_bitmaps(leaf) => ScanReason::IndexKind,
            _ => reason,
        });
    }
    let leaf = leaf.ok_or(ScanReason::FilterNotIndexed)?;
    if truth::has_truth_test(filter) {
        return Err(ScanReason::UnsupportedQuery);
    }
    match pattern.scan.options().refine_filter.is_some() {
        true => Err(ScanReason::FilterSplit),
        false => Ok(leaf.clone()),
    }
}

fn parse(filter: Expr, facts: &DatasetFacts) -> Result<ScalarIndexExpr, ScanReason> {
    let parsed =
        apply_scalar_indices(truth::spell_out(filter), &facts.parsers).map_err(|_| ScanReason::FilterNotIndexed)?;
    match (parsed.scalar_query, parsed.refine_expr) {
        (None, _) => Err(ScanReason::FilterNotIndexed),
        #[cfg(feature = "faults")]
        (Some(query), Some(_)) if asap_faults::is_planted(asap_faults::Fault::HalfFilterTaken) => Ok(query),
        (Some(_), Some(_)) => Err(ScanReason::FilterSplit),
        (Some(query), None) => Ok(query),
    }
}

fn has_only_bitmaps(expr: &ScalarIndexExpr) -> bool {
    let mut only = true;
    for_each_leaf(expr, &mut |leaf| only &= leaf.index_type == BITMAP);
    only
}

/// The name that Lance's bitmap plug-in gives to its leaves.
pub(super) const BITMAP: &str = "Bitmap";

fn for_each_leaf<'a>(expr: &'a ScalarIndexExpr, visit: &mut dyn FnMut(&'a ScalarIndexSearch)) {
    match expr {
        ScalarIndexExpr::Not(inner) => for_each_leaf(inner, visit),
        ScalarIndexExpr::And(left, right) | ScalarIndexExpr::Or(left, right) => {
            for_each_leaf(left, visit);
            for_each_leaf(right, visit);
        }
        ScalarIndexExpr::Query(search) => visit(search),
    }
}

fn index_filter(
    expr: ScalarIndexExpr,
    dataset: &Dataset,
    facts: Option<&DatasetFacts>,
) -> Result<IndexFilter, ScanReason> {
    let mut leaves = Vec::new();
    for_each_leaf(&expr, &mut |leaf| leaves.push(leaf));
    let mut coverage = dataset.fragment_bitmap().as_ref().clone();
    let mut indexes: Vec<UsedIndex> = Vec::new();
    for leaf in leaves {
        let covered = check_leaf(leaf, dataset, facts)?;
        // AND, OR and NOT alike need an answer from each of their leaves.
        coverage &= covered;
        if !indexes.iter().any(|used| *used.name == leaf.index_name) {
            indexes.push(UsedIndex {
                name: leaf.index_name.as_str().into(),
                column: leaf.column.as_str().into(),
                coverage: covered.clone(),
            });
        }
    }
    #[cfg(feature = "faults")]
    let coverage = asap_faults::inject(asap_faults::Fault::UncoveredFragmentsIndexed, coverage, |_| {
        dataset.fragment_bitmap().as_ref().clone()
    });
    Ok(IndexFilter { expr, coverage, indexes })
}

/// Proves that a leaf is answered exactly by a bitmap index, and yields the fragments that it covers.
fn check_leaf<'a>(
    leaf: &'a ScalarIndexSearch,
    dataset: &Dataset,
    facts: Option<&DatasetFacts>,
) -> Result<&'a RoaringBitmap, ScanReason> {
    if leaf.index_type != BITMAP {
        return Err(ScanReason::IndexKind);
    }
    if leaf.needs_recheck {
        return Err(ScanReason::InexactIndex);
    }
    let query = leaf.query.as_any().downcast_ref::<SargableQuery>().ok_or(ScanReason::UnsupportedQuery)?;
    let field = dataset
        .schema()
        .fields
        .iter()
        .find(|field| field.name == leaf.column && field.children.is_empty())
        .ok_or(ScanReason::NestedColumn)?;
    check_query(query, &field.data_type())?;
    check_row_domain(&leaf.index_name, dataset, facts)?;
    leaf.fragment_bitmap.as_ref().ok_or(ScanReason::CoverageUnknown)
}

fn check_query(query: &SargableQuery, column: &DataType) -> Result<(), ScanReason> {
    let literals: Vec<&ScalarValue> = match query {
        SargableQuery::IsNull() => return Ok(()),
        SargableQuery::Equals(value) => vec![value],
        SargableQuery::IsIn(values) => values.iter().collect(),
        SargableQuery::Range(low, high) => [low, high].into_iter().filter_map(bound).collect(),
        SargableQuery::FullTextSearch(_) | SargableQuery::LikePrefix(_) => {
            return Err(ScanReason::UnsupportedQuery);
        }
    };
    if literals.iter().any(|value| value.is_null()) {
        return Err(ScanReason::NullLiteral);
    }
    // An index orders floats totally: it tells the zeros apart and gives every NaN a place.
    if column.is_floating() { Err(ScanReason::FloatFilter) } else { Ok(()) }
}

fn bound(bound: &Bound<ScalarValue>) -> Option<&ScalarValue> {
    match bound {
        Bound::Included(value) | Bound::Excluded(value) => Some(value),
        Bound::Unbounded => None,
    }
}

/// Proves that the index's row set can be told from entries of rows that have moved.
///
/// Addresses of moved rows are never reused. Stable row ids are: with several segments, an old entry of one
/// is indistinguishable from the valid entry of another.
pub(super) fn check_row_domain(index: &str, dataset: &Dataset, facts: Option<&DatasetFacts>) -> Result<(), ScanReason> {
    if facts.is_some_and(|facts| facts.has_fragment_reuse) {
        return Err(ScanReason::FragmentReuse);
    }
    if !dataset.manifest.uses_stable_row_ids() {
        return Ok(());
    }
    let index = facts.and_then(|facts| facts.index(index)).ok_or(ScanReason::StableRowIds)?;
    match index.segments.len() {
        1 => Ok(()),
        _ => Err(ScanReason::StableRowIdSegments),
    }
}
