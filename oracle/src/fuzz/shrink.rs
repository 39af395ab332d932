//! Makes a failing recipe small: leaves things out as long as it fails in the same way.

use std::time::{Duration, Instant};

use super::check::check_recipe;
use super::failure::FailureClass;
use crate::recipe::{Operation, Recipe};

/// How long shrinking one failure may take.
const TIME: Duration = Duration::from_secs(20);

/// The smallest recipe that was found with a failure of the class.
pub(super) async fn shrink(recipe: &Recipe, class: FailureClass) -> Recipe {
    let end = Instant::now() + TIME;
    let mut best = recipe.clone();
    'again: loop {
        for candidate in smaller(&best) {
            if Instant::now() > end {
                return best;
            }
            if candidate.validate().is_ok() && fails(&candidate, class).await {
                best = candidate;
                continue 'again;
            }
        }
        return best;
    }
}

async fn fails(recipe: &Recipe, class: FailureClass) -> bool {
    check_recipe(recipe).await.failures.iter().any(|failure| failure.class == class)
}

/// Recipes with one thing less, the boldest first.
fn smaller(recipe: &Recipe) -> Vec<Recipe> {
    let mut candidates = Vec::new();
    let mut with = |change: &dyn Fn(&mut Recipe)| {
        let mut candidate = recipe.clone();
        change(&mut candidate);
        if candidate != *recipe {
            candidates.push(candidate);
        }
    };
    for query in 0..recipe.workload.len() {
        with(&|candidate| {
            candidate.workload.remove(query);
        });
    }
    for operation in 1..recipe.table.history.len() {
        with(&|candidate| {
            candidate.table.history.remove(operation);
        });
    }
    for (operation, rows) in recipe.table.history.iter().enumerate().filter_map(|(at, op)| Some((at, rows_of(op)?))) {
        with(&|candidate| keep_rows(candidate, operation, 0..rows / 2));
        with(&|candidate| keep_rows(candidate, operation, rows / 2..rows));
        for row in 0..rows {
            with(&|candidate| keep_rows(candidate, operation, (0..row).chain(row + 1..rows)));
        }
    }
    for query in 0..recipe.workload.len() {
        smaller_query(recipe, query, &mut with);
    }
    with(&|candidate| candidate.settings.target_partitions = 1);
    with(&|candidate| candidate.settings.batch_size = 8192);
    with(&|candidate| candidate.settings.pushdown.clear());
    with(&|candidate| candidate.table.rows_per_file = 1_000_000);
    candidates
}

fn smaller_query(recipe: &Recipe, at: usize, with: &mut dyn FnMut(&dyn Fn(&mut Recipe))) {
    let Some(query) = recipe.workload.get(at) else { return };
    let edit = |candidate: &mut Recipe, change: &dyn Fn(&mut crate::query::Query)| {
        if let Some(query) = candidate.workload.get_mut(at) {
            change(query);
        }
    };
    with(&|candidate| {
        edit(candidate, &|query| {
            query.limit = None;
            query.order_by.clear();
        });
    });
    with(&|candidate| edit(candidate, &|query| query.having = None));
    with(&|candidate| edit(candidate, &|query| query.filter = None));
    for output in 0..query.outputs.len() {
        // Sort keys name outputs by position, so they go first.
        if query.order_by.is_empty() && query.outputs.len() > 1 {
            with(&|candidate| {
                edit(candidate, &|query| {
                    query.outputs.remove(output);
                });
            });
        }
    }
    for key in 0..query.group_by.as_ref().map_or(0, Vec::len) {
        with(&|candidate| {
            edit(candidate, &|query| {
                let Some(keys) = &mut query.group_by else { return };
                let key = keys.remove(key);
                if query.order_by.is_empty() {
                    query.outputs.retain(|output| output.expr != key);
                }
            });
        });
    }
}

fn rows_of(operation: &Operation) -> Option<usize> {
    match operation {
        Operation::Create { rows } | Operation::Append { rows } if !rows.is_empty() => Some(rows.len()),
        _ => None,
    }
}

fn keep_rows(recipe: &mut Recipe, operation: usize, keep: impl Iterator<Item = usize>) {
    if let Some(Operation::Create { rows } | Operation::Append { rows }) = recipe.table.history.get_mut(operation) {
        *rows = keep.filter_map(|row| rows.get(row).cloned()).collect();
    }
}
