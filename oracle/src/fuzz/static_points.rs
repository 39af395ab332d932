//! What a recipe shows before anything runs, as coverage points. Generation can be biased to each of them.

use std::collections::{BTreeMap, BTreeSet};

use super::coverage::Point;
use crate::query::Column;
use crate::recipe::{Operation, Recipe};
use crate::value::{Row, Type, Value};

/// The groups of these points. No other point is in one of them.
pub const SHOWN: [&str; 8] =
    ["column type", "history", "query", "settings", "switched off", "table", "value", "workload"];

/// The points that follow from the recipe alone. A table in memory has the last rows of its history only.
#[must_use]
pub fn static_points(recipe: &Recipe) -> BTreeSet<Point> {
    let mut points = BTreeSet::new();
    let mut add = |group, name: &str| {
        points.insert(Point::new(group, name));
    };
    recipe.table.columns.iter().for_each(|column| add("column type", column.data_type.name()));
    recipe.workload.iter().flat_map(|query| query.features()).for_each(|feature| add("query", feature));
    if !recipe.settings.in_memory {
        recipe.table.history.iter().for_each(|operation| add("history", operation.name()));
        recipe.settings.pushdown.keys().for_each(|switch| add("switched off", switch));
    }
    for (group, name, holds) in states(recipe) {
        if holds && !(recipe.settings.in_memory && group == "table") {
            add(group, name);
        }
    }
    points
}

fn states(recipe: &Recipe) -> [(&'static str, &'static str, bool); 23] {
    let (table, settings, queries) = (&recipe.table, &recipe.settings, recipe.workload.len());
    let count = |counts: fn(&Operation) -> bool| table.history.iter().filter(|operation| counts(operation)).count();
    let appends = count(|operation| matches!(operation, Operation::Append { .. }));
    let indexes = count(|operation| matches!(operation, Operation::CreateIndex { .. }));
    let created = count(|operation| matches!(operation, Operation::Create { rows } if rows.is_empty()));
    let any = |is: fn(&Value) -> bool| rows(recipe).flatten().any(is);
    [
        ("table", "stable row ids", table.stable_row_ids),
        ("table", "an older storage version", table.storage_version.is_some()),
        ("table", "an older version is read", table.read_after.is_some()),
        ("table", "created without rows", created > 0),
        ("table", "several appends", appends > 1),
        ("table", "several indexes", indexes > 2),
        ("table", "index optimized after a rewrite", is_optimized_after_a_rewrite(&table.history)),
        ("value", "NULL in every row of a column", has_null_column(&table.columns, &table.history)),
        ("value", "float that is no number", any(is_special)),
        ("value", "negative zero", any(is_negative_zero)),
        ("value", "end of the integers", any(is_extreme)),
        ("value", "text beyond ASCII", any(|value| matches!(value, Value::Utf8(text) if !text.is_ascii()))),
        ("workload", "one query", queries == 1),
        ("workload", "five queries or more", queries > 4),
        ("settings", "in memory", settings.in_memory),
        ("settings", "texts are views", settings.in_memory && settings.text_views && has_text(&table.columns)),
        ("settings", "zone maps are read", settings.zone_maps_read && !settings.in_memory),
        ("settings", "stock provider", settings.stock_provider && !settings.in_memory),
        ("settings", "exact floats", settings.exact_floats),
        ("settings", "priced", settings.price_seed.is_some()),
        ("settings", "memory limit", settings.memory_limit.is_some()),
        ("settings", "several partitions", settings.target_partitions > 1),
        ("settings", "batches of one row", settings.batch_size == 1),
    ]
}

fn rows(recipe: &Recipe) -> impl Iterator<Item = &Row> {
    recipe.table.history.iter().filter_map(Operation::rows).flatten()
}

fn has_null_column(columns: &[Column], history: &[Operation]) -> bool {
    let Some(Operation::Create { rows }) = history.first() else { return false };
    let is_null = |column| rows.iter().all(|row: &Row| row.get(column).is_none_or(Value::is_null));
    !rows.is_empty() && (0..columns.len()).any(is_null)
}

/// Was a column indexed, rewritten in place, and then indexed anew where it was rewritten?
fn is_optimized_after_a_rewrite(history: &[Operation]) -> bool {
    // By name: the indexed column, and whether it was rewritten since.
    let mut indexes = BTreeMap::<String, (&str, bool)>::new();
    for operation in history {
        match operation {
            Operation::CreateIndex { column, .. } => {
                indexes.extend(operation.index_name().map(|name| (name, (column.as_str(), false))));
            }
            Operation::DropIndex { name } => {
                indexes.remove(name);
            }
            Operation::DropColumn { column } => indexes.retain(|_, (indexed, _)| indexed != column),
            Operation::RewriteColumns { columns, .. } => {
                for (indexed, is_rewritten) in indexes.values_mut() {
                    *is_rewritten |= columns.iter().any(|column| column == indexed);
                }
            }
            Operation::OptimizeIndices if indexes.values().any(|(_, is_rewritten)| *is_rewritten) => return true,
            _ => {}
        }
    }
    false
}

fn has_text(columns: &[Column]) -> bool {
    columns.iter().any(|column| column.data_type == Type::Utf8)
}

fn is_special(value: &Value) -> bool {
    matches!(value, Value::Float64(float) if !float.0.is_finite())
}

fn is_negative_zero(value: &Value) -> bool {
    matches!(value, Value::Float64(float) if float.0 == 0.0 && float.0.is_sign_negative())
}

fn is_extreme(value: &Value) -> bool {
    matches!(value, Value::Int32(i32::MIN | i32::MAX) | Value::Int64(i64::MIN | i64::MAX))
}
