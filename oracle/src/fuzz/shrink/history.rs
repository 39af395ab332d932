//! Shorter histories, of fewer and simpler rows.

use super::simple::simpler_values;
use super::{Edit, parts};
use crate::model::{ModelError, Table};
use crate::query::Column;
use crate::recipe::{IndexKind, Operation, Recipe, Settings};
use crate::value::{Row, Type, Value};

/// Rows per file with which no recipe writes a second one.
pub(super) const ONE_FILE: usize = 1_000_000;

/// Rows alone, in one file and a plain session: what is not about the table's past is cheaper to shrink without it.
pub(super) fn no_history(recipe: &Recipe) -> Vec<Edit> {
    let operations = recipe.table.read_after();
    vec![
        Box::new(move |recipe| {
            _ = write_at_once(recipe, operations);
            recipe.table.history.truncate(1);
            (recipe.table.rows_per_file, recipe.table.read_after) = (ONE_FILE, None);
            recipe.settings = Settings::default();
        }),
        Box::new(move |recipe| _ = write_at_once(recipe, operations)),
        Box::new(|recipe| recipe.settings = Settings::default()),
        Box::new(|recipe| recipe.table.rows_per_file = ONE_FILE),
    ]
}

/// Without some of the operations after the first one; the queries go on reading after the same one.
pub(super) fn fewer_operations(recipe: &Recipe) -> Vec<Edit> {
    let later = recipe.table.history.len().saturating_sub(1);
    let mut edits: Vec<Edit> = vec![
        Box::new(|recipe| recipe.table.read_after = None),
        Box::new(|recipe| recipe.table.history.truncate(recipe.table.read_after())),
    ];
    edits.extend(parts(later).into_iter().map(|part| -> Edit {
        Box::new(move |recipe| part.clone().rev().for_each(|operation| remove_operation(recipe, operation + 1)))
    }));
    edits
}

/// Removes an operation, never the first one.
pub(super) fn remove_operation(recipe: &mut Recipe, operation: usize) {
    if operation == 0 || operation >= recipe.table.history.len() {
        return;
    }
    recipe.table.history.remove(operation);
    if let Some(read) = recipe.table.read_after.as_mut().filter(|read| operation < **read) {
        *read -= 1;
    }
}

/// Operations with fewer rows.
pub(super) fn fewer_rows(recipe: &Recipe) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for (at, operation) in recipe.table.history.iter().enumerate() {
        edits.extend(parts(operation.rows().map_or(0, Vec::len)).into_iter().map(|part| -> Edit {
            Box::new(move |recipe| {
                edit_rows(recipe, at, |rows| {
                    rows.drain(part.clone());
                });
            })
        }));
    }
    edits
}

fn edit_rows(recipe: &mut Recipe, operation: usize, change: impl FnOnce(&mut Vec<Row>)) {
    if let Some(rows) = recipe.table.history.get_mut(operation).and_then(Operation::rows_mut) {
        change(rows);
    }
}

/// One file for each write, appends that belong to the first write, operations of the plainest kind.
pub(super) fn simpler_storage(recipe: &Recipe) -> Vec<Edit> {
    let mut edits: Vec<Edit> = vec![
        Box::new(|recipe| recipe.table.rows_per_file = ONE_FILE),
        Box::new(|recipe| recipe.table.rows_per_file = recipe.table.rows_per_file.saturating_mul(2)),
        Box::new(|recipe| recipe.table.stable_row_ids = false),
        Box::new(|recipe| recipe.table.storage_version = None),
    ];
    edits.extend(
        (2..=recipe.table.history.len())
            .rev()
            .map(|operations| -> Edit { Box::new(move |recipe| _ = write_at_once(recipe, operations)) }),
    );
    for at in 1..recipe.table.history.len() {
        edits.push(Box::new(move |recipe| merge_append(recipe, at)));
        edits.push(Box::new(move |recipe| {
            if let Some(operation) = recipe.table.history.get_mut(at) {
                make_plain(operation);
            }
        }));
        edits.push(Box::new(move |recipe| {
            if let Some(Operation::CreateIndex { kind, .. }) = recipe.table.history.get_mut(at) {
                *kind = IndexKind::Bitmap;
            }
        }));
        edits.push(Box::new(move |recipe| {
            if let Some(Operation::Update { predicate, .. }) = recipe.table.history.get_mut(at) {
                *predicate = None;
            }
        }));
        edits.extend(fewer_targets(recipe, at));
    }
    edits
}

/// Writes what the first operations leave as the first one.
fn write_at_once(recipe: &mut Recipe, operations: usize) -> Result<(), ModelError> {
    let table = &mut recipe.table;
    if operations > table.read_after() {
        return Ok(());
    }
    let mut rows = Table::new(&table.name, table.columns.clone());
    table.history.iter().take(operations).try_for_each(|operation| rows.apply(operation))?;
    table.columns = rows.columns;
    table.history.splice(..operations, [Operation::Create { rows: rows.rows }]);
    table.read_after = table.read_after.map(|read| read + 1 - operations);
    Ok(())
}

/// Writes the rows of an append together with those of the write before it.
fn merge_append(recipe: &mut Recipe, at: usize) {
    let Some(Operation::Append { rows }) = recipe.table.history.get(at).cloned() else { return };
    let before = at.checked_sub(1).and_then(|before| recipe.table.history.get_mut(before));
    if let Some(Operation::Create { rows: before } | Operation::Append { rows: before }) = before {
        before.extend(rows);
        remove_operation(recipe, at);
    }
}

/// The operation without its options, and a merge as an append.
fn make_plain(operation: &mut Operation) {
    match operation {
        Operation::MergeInsert { rows, .. } => *operation = Operation::Append { rows: std::mem::take(rows) },
        Operation::CreateIndex { name, .. } => *name = None,
        Operation::Compact { defer_index_remap, .. } => *defer_index_remap = false,
        Operation::MergeIndices => *operation = Operation::OptimizeIndices,
        _ => {}
    }
}

/// An update or a rewrite of fewer columns.
fn fewer_targets(recipe: &Recipe, at: usize) -> Vec<Edit> {
    let targets = match recipe.table.history.get(at) {
        Some(Operation::Update { set, .. }) => set.len(),
        Some(Operation::RewriteColumns { columns, .. }) => columns.len(),
        _ => 0,
    };
    let without = |target| -> Edit { Box::new(move |recipe| remove_target(recipe, at, target)) };
    (0..targets).filter(|_| targets > 1).map(without).collect()
}

fn remove_target(recipe: &mut Recipe, at: usize, target: usize) {
    match recipe.table.history.get_mut(at) {
        Some(Operation::Update { set, .. }) => {
            set.remove(target);
        }
        Some(Operation::RewriteColumns { columns, rows, .. }) => {
            columns.remove(target);
            // The key comes first.
            rows.iter_mut().for_each(|row| _ = row.remove(target + 1));
        }
        _ => {}
    }
}

/// Rows with simpler values: all of a column at once, then one after the other.
pub(super) fn simpler_values_of_rows(recipe: &Recipe) -> Vec<Edit> {
    let mut edits: Vec<Edit> = Vec::new();
    for (at, (operation, columns)) in recipe.table.history.iter().zip(columns_of_rows(recipe)).enumerate() {
        let rows = operation.rows().map_or(&[][..], Vec::as_slice);
        for (position, column) in columns.iter().enumerate() {
            edits.extend(of_column(at, position, column.data_type));
        }
        for (row, values) in rows.iter().enumerate() {
            for (position, (value, column)) in values.iter().zip(&columns).enumerate() {
                edits.extend(simpler_values(value, column.data_type).into_iter().map(|simpler| -> Edit {
                    Box::new(move |recipe| {
                        edit_rows(recipe, at, |rows| set(rows, row, position, &simpler));
                    })
                }));
            }
        }
    }
    edits
}

/// All values of a column, in the rows of one operation, zero or NULL.
fn of_column(at: usize, position: usize, data_type: Type) -> Vec<Edit> {
    let simplest = simpler_values(&Value::Null, data_type);
    let same = simplest.into_iter().chain([Value::Null]).map(|value| -> Edit {
        Box::new(move |recipe| {
            edit_rows(recipe, at, |rows| (0..rows.len()).for_each(|row| set(rows, row, position, &value)));
        })
    });
    same.collect()
}

fn set(rows: &mut [Row], row: usize, position: usize, value: &Value) {
    if let Some(old) = rows.get_mut(row).and_then(|row| row.get_mut(position)) {
        old.clone_from(value);
    }
}

/// The columns of each operation's rows.
fn columns_of_rows(recipe: &Recipe) -> Vec<Vec<Column>> {
    let mut columns = recipe.table.columns.clone();
    let of_rows = recipe.table.history.iter().map(|operation| match operation {
        Operation::RewriteColumns { on, columns: names, .. } => {
            let named = |name: &String| columns.iter().find(|column| column.name == *name).cloned();
            std::iter::once(on).chain(names).filter_map(named).collect()
        }
        Operation::AddColumn { column, .. } => {
            columns.push(column.clone());
            Vec::new()
        }
        Operation::DropColumn { column } => {
            columns.retain(|other| other.name != *column);
            Vec::new()
        }
        _ => columns.clone(),
    });
    of_rows.collect()
}
