//! What stands around a query's expressions: DISTINCT, grouping sets, ORDER BY, LIMIT and OFFSET, and spellings.

use rand::Rng;
use rand::seq::{IndexedRandom, IteratorRandom};

use super::columns::ColumnPlan;
use crate::query::{Expr, Function, Grouping, Query, SortKey, Spelling};

/// Draws all of them.
pub(super) fn decorate(query: &mut Query, columns: &[ColumnPlan], rng: &mut impl Rng) {
    let keys = query.group_by.as_ref().map_or(0, Vec::len);
    // DataFusion takes a computed key that folds to a constant for one in every grouping (defect 10).
    let are_columns = query.group_by.iter().flatten().all(|key| matches!(key, Expr::Column(_)));
    // An extremum that depends on the order of rows must not choose among them.
    let chooses = !query.outputs.iter().any(|output| is_special_extremum(&output.expr, columns));
    if keys > 0 && are_columns && rng.random_bool(0.12) {
        query.grouping = Some(grouping(keys, rng));
    } else if keys > 0 && rng.random_bool(0.2) {
        query.key_spelling = other_spelling(rng);
    }
    query.distinct = chooses && rng.random_bool(if query.group_by.is_some() { 0.06 } else { 0.4 });
    order(query, chooses, rng);
}

fn grouping(keys: usize, rng: &mut impl Rng) -> Grouping {
    match rng.random_range(0..3) {
        0 => Grouping::Rollup,
        1 => Grouping::Cube,
        _ => {
            let all = Grouping::Cube.sets(keys);
            let count = rng.random_range(1..=all.len());
            let sets = Grouping::Sets(all.into_iter().choose_multiple(rng, count));
            if sets.fits(keys) { sets } else { Grouping::Sets((0..keys).map(|key| vec![key]).collect()) }
        }
    }
}

fn other_spelling(rng: &mut impl Rng) -> Spelling {
    [Spelling::Position, Spelling::Other].choose(rng).copied().unwrap_or_default()
}

/// ORDER BY some outputs, or all of them and then maybe LIMIT and OFFSET.
fn order(query: &mut Query, chooses: bool, rng: &mut impl Rng) {
    if rng.random_bool(0.6) {
        return;
    }
    let total = rng.random();
    let keys = if total { query.outputs.len() } else { 1 };
    let spelling = match rng.random_range(0..10) {
        0 | 1 => Spelling::Position,
        // DataFusion refuses expressions there.
        2 if !query.distinct => Spelling::Other,
        _ => Spelling::Usual,
    };
    query.order_by = (0..query.outputs.len())
        .choose_multiple(rng, keys)
        .into_iter()
        .map(|output| SortKey {
            output,
            descending: rng.random(),
            nulls_first: if rng.random() { Some(rng.random()) } else { None },
            spelling,
        })
        .collect();
    if total && chooses {
        query.limit = rng.random_bool(0.5).then(|| rng.random_range(0..=5));
        query.offset = rng.random_bool(0.25).then(|| rng.random_range(0..=3));
    }
}

/// A MIN or MAX of floats that are no numbers: it depends on the order of rows.
pub(super) fn is_special_extremum(expr: &Expr, columns: &[ColumnPlan]) -> bool {
    let special = columns.iter().any(ColumnPlan::has_special_floats);
    special && matches!(expr, Expr::Aggregate(call) if matches!(call.function, Function::Min | Function::Max))
}
