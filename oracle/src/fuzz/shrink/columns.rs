//! Fewer columns: one goes with everything that names it.

use super::clauses::{edit_right, remove_key, remove_output};
use super::history::remove_operation;
use super::walk::roots;
use super::{Edit, parts};
use crate::query::{Expr, Query, Source};
use crate::recipe::{Operation, Recipe};

/// Without the columns that nothing names; then without some of them.
pub(super) fn fewer_columns(recipe: &Recipe) -> Vec<Edit> {
    let added = recipe.table.history.iter().filter_map(|operation| match operation {
        Operation::AddColumn { column, .. } => Some(column),
        _ => None,
    });
    let names: Vec<String> = recipe.table.columns.iter().chain(added).map(|column| column.name.clone()).collect();
    let unused = unused(recipe, &names);
    let mut edits: Vec<Edit> = vec![Box::new(move |recipe| forget(recipe, &unused))];
    for part in parts(names.len()) {
        let names = names.get(part).map(<[String]>::to_vec).unwrap_or_default();
        edits.push(Box::new(move |recipe| forget(recipe, &names)));
    }
    edits
}

fn unused(recipe: &Recipe, names: &[String]) -> Vec<String> {
    let mut used = Vec::new();
    roots(recipe, &mut |root| {
        root.visit(&mut |node| {
            if let Expr::Column(name) = node {
                used.push(name.clone());
            }
        });
    });
    for operation in &recipe.table.history {
        match operation {
            Operation::MergeInsert { on, .. } => used.push(on.clone()),
            Operation::RewriteColumns { on, columns, .. } => used.extend(std::iter::once(on).chain(columns).cloned()),
            Operation::CreateIndex { column, .. } => used.push(column.clone()),
            _ => {}
        }
    }
    names.iter().filter(|name| !used.contains(name)).cloned().collect()
}

/// Removes columns, and what names them: operations, outputs, keys, conditions. A table is written with one at least.
fn forget(recipe: &mut Recipe, names: &[String]) {
    if recipe.table.columns.iter().all(|column| names.contains(&column.name)) {
        return;
    }
    let mut columns: Vec<String> = recipe.table.columns.iter().map(|column| column.name.clone()).collect();
    recipe.table.columns.retain(|column| !names.contains(&column.name));
    let mut emptied = Vec::new();
    for (at, operation) in recipe.table.history.iter_mut().enumerate() {
        if !keep_without(operation, names, &mut columns) {
            emptied.push(at);
        }
    }
    emptied.into_iter().rev().for_each(|at| remove_operation(recipe, at));
    recipe.workload.retain_mut(|query| forget_in_query(query, names).is_some());
}

/// Removes the columns from an operation on a table of `columns`; `false` if nothing is left of it.
fn keep_without(operation: &mut Operation, names: &[String], columns: &mut Vec<String>) -> bool {
    let is_lost = |name: &String| names.contains(name);
    match operation {
        Operation::Create { rows } | Operation::Append { rows } => {
            remove_values(rows, columns, is_lost);
            true
        }
        Operation::MergeInsert { on, rows } => {
            remove_values(rows, columns, is_lost);
            !is_lost(on)
        }
        Operation::RewriteColumns { on, columns: rewritten, rows } => {
            let of_rows: Vec<String> = std::iter::once(&*on).chain(&*rewritten).cloned().collect();
            remove_values(rows, &of_rows, is_lost);
            rewritten.retain(|name| !is_lost(name));
            !is_lost(on) && !rewritten.is_empty()
        }
        Operation::Update { set, predicate } => {
            set.retain(|assignment| !is_lost(&assignment.column) && !assignment.value.reads(names));
            *predicate = predicate.take().filter(|predicate| !predicate.reads(names));
            !set.is_empty()
        }
        Operation::Delete { predicate } => !predicate.reads(names),
        Operation::AddColumn { column, value } => {
            columns.push(column.name.clone());
            *value = value.take().filter(|value| !value.reads(names));
            !is_lost(&column.name)
        }
        Operation::DropColumn { column } => {
            columns.retain(|name| name != column);
            !is_lost(column)
        }
        Operation::CreateIndex { column, .. } => !is_lost(column),
        Operation::DropIndex { .. }
        | Operation::OptimizeIndices
        | Operation::MergeIndices
        | Operation::Compact { .. } => true,
    }
}

fn remove_values(rows: &mut [crate::value::Row], columns: &[String], is_lost: impl Fn(&String) -> bool) {
    for row in rows {
        let mut columns = columns.iter();
        row.retain(|_| !columns.next().is_some_and(&is_lost));
    }
}

/// Removes what reads the columns; `None` if no output is left.
fn forget_in_query(query: &mut Query, names: &[String]) -> Option<()> {
    let mut lost = names.to_vec();
    if let Source::Nested { query: nested, .. } = &mut query.source {
        let before: Vec<String> = nested.outputs.iter().map(|output| output.name.clone()).collect();
        forget_in_query(nested, names)?;
        let is_left = |name: &String| nested.outputs.iter().any(|output| output.name == *name);
        lost = before.into_iter().filter(|name| !is_left(name)).collect();
    }
    edit_right(query, |right| right.filter = right.filter.take().filter(|filter| !filter.reads(names)));
    query.filter = query.filter.take().filter(|filter| !filter.reads(&lost));
    query.having = query.having.take().filter(|having| !having.reads(&lost));
    for key in (0..query.group_by.as_ref().map_or(0, Vec::len)).rev() {
        if query.group_by.as_ref().and_then(|keys| keys.get(key)).is_some_and(|key| key.reads(&lost)) {
            remove_key(query, key);
        }
    }
    for output in (0..query.outputs.len()).rev() {
        if query.outputs[output].expr.reads(&lost) {
            if query.outputs.len() == 1 {
                return None;
            }
            remove_output(query, output);
        }
    }
    Some(())
}
