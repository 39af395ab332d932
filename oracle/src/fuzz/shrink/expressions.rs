//! Simpler expressions, one node at a time from the roots down.

use super::Edit;
use super::simple::simpler_expressions;
use super::walk::{Found, operations_mut, queries_mut};
use crate::query::Expr;
use crate::recipe::Recipe;

type Walk = fn(&mut Recipe, &mut Found<'_>);

/// In the queries.
pub(super) fn in_queries(recipe: &Recipe) -> Vec<Edit> {
    edits(recipe, queries_mut)
}

/// In the operations of the history.
pub(super) fn in_operations(recipe: &Recipe) -> Vec<Edit> {
    edits(recipe, operations_mut)
}

fn edits(recipe: &Recipe, walk: Walk) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    let mut position = 0;
    walk(&mut recipe.clone(), &mut |node, columns| {
        for simpler in simpler_expressions(node, columns) {
            edits.push(Box::new(move |recipe| replace(recipe, walk, position, &simpler)));
        }
        position += 1;
    });
    edits
}

/// Replaces the node at this position of the walk.
fn replace(recipe: &mut Recipe, walk: Walk, target: usize, new: &Expr) {
    let mut position = 0;
    walk(recipe, &mut |node, _| {
        if position == target {
            node.clone_from(new);
        }
        position += 1;
    });
}
