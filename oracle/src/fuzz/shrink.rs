//! Makes a failing recipe small: leaves things out as long as it fails in the same way.

use std::time::{Duration, Instant};

use super::check::check_recipe;
use super::failure::FailureClass;
use crate::recipe::{Operation, Recipe, Settings};

/// The smallest recipe with a failure of the class that was found in this time.
pub(crate) async fn shrink(recipe: &Recipe, class: FailureClass, time: Duration) -> Recipe {
    let end = Instant::now() + time;
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
            // The queries go on reading after the same operation.
            if let Some(read) = candidate.table.read_after.as_mut().filter(|read| operation < **read) {
                *read -= 1;
            }
        });
    }
    for (operation, rows) in
        recipe.table.history.iter().enumerate().filter_map(|(at, operation)| Some((at, operation.rows()?.len())))
    {
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
    with(&|candidate| candidate.settings = Settings::default());
    with(&|candidate| candidate.settings.stock_provider = false);
    with(&|candidate| candidate.settings.exact_floats = false);
    with(&|candidate| candidate.settings.price_seed = None);
    with(&|candidate| candidate.table.read_after = None);
    with(&|candidate| candidate.table.stable_row_ids = false);
    with(&|candidate| candidate.table.storage_version = None);
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

fn keep_rows(recipe: &mut Recipe, operation: usize, keep: impl Iterator<Item = usize>) {
    if let Some(rows) = recipe.table.history.get_mut(operation).and_then(Operation::rows_mut) {
        *rows = keep.filter_map(|row| rows.get(row).cloned()).collect();
    }
}
