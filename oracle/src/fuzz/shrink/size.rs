//! How large a recipe is.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::simple::{expression_weight, value_weight};
use super::walk::roots;
use crate::query::{Query, SortKey, Spelling};
use crate::recipe::{IndexKind, Operation, Recipe, Settings, TableRecipe};

/// How large a recipe is, for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecipeSize {
    /// Fragments that the history leaves, at most.
    pub fragments: usize,
    /// Rows that the operations bring along.
    pub rows: usize,
    /// Columns that the table ever had.
    pub columns: usize,
    /// Operations after the first one.
    pub operations: usize,
    /// Queries.
    pub queries: usize,
    /// Nodes of all expressions, those of operations too.
    pub expressions: usize,
}

impl RecipeSize {
    /// The size of this recipe.
    #[must_use]
    pub fn of(recipe: &Recipe) -> Self {
        let history = &recipe.table.history;
        let added = history.iter().filter(|operation| matches!(operation, Operation::AddColumn { .. })).count();
        let mut expressions = 0;
        roots(recipe, &mut |root| root.visit(&mut |_| expressions += 1));
        Self {
            fragments: fragments(&recipe.table),
            rows: history.iter().filter_map(Operation::rows).map(Vec::len).sum(),
            columns: recipe.table.columns.len() + added,
            operations: history.len().saturating_sub(1),
            queries: recipe.workload.len(),
            expressions,
        }
    }
}

impl fmt::Display for RecipeSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fragments, rows, columns, operations, queries, expressions } = self;
        write!(
            f,
            "{fragments} fragments, {rows} rows, {columns} columns, {operations} operations, {queries} queries, \
             {expressions} expression nodes"
        )
    }
}

/// What is written and not deleted or compacted, as nothing but the rows can tell how much of it goes.
fn fragments(table: &TableRecipe) -> usize {
    let written = table.history.iter().map(|operation| match operation {
        Operation::Create { rows } | Operation::Append { rows } => rows.len().div_ceil(table.rows_per_file.max(1)),
        Operation::Update { .. } | Operation::MergeInsert { .. } => 1,
        _ => 0,
    });
    written.sum()
}

/// What every cut makes smaller. Counts what [`RecipeSize`] does and all that can be left out or made simple besides.
pub(super) fn weight(recipe: &Recipe) -> u64 {
    let size = RecipeSize::of(recipe);
    let parts = 20 * (size.fragments + size.rows + size.columns + 3 * size.operations + 3 * size.queries);
    let mut expressions = 0;
    roots(recipe, &mut |root| root.visit(&mut |node| expressions += expression_weight(node)));
    let rows = recipe.table.history.iter().filter_map(Operation::rows).flatten();
    let values: u64 = rows.flatten().map(value_weight).sum();
    let operations: u64 = recipe.table.history.iter().map(operation_weight).sum();
    let queries: u64 = recipe.workload.iter().map(query_weight).sum();
    count(parts)
        + expressions
        + values
        + operations
        + queries
        + table_weight(&recipe.table)
        + settings_weight(&recipe.settings)
}

fn count(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX / 4)
}

fn operation_weight(operation: &Operation) -> u64 {
    match operation {
        Operation::MergeInsert { .. } => 6,
        Operation::Update { set, .. } => 5 + 3 * count(set.len()),
        Operation::RewriteColumns { columns, .. } => 5 + 3 * count(columns.len()),
        Operation::CreateIndex { kind, name, .. } => {
            2 + u64::from(name.is_some()) + u64::from(*kind != IndexKind::Bitmap)
        }
        Operation::MergeIndices => 2,
        Operation::Compact { defer_index_remap, .. } => 2 + u64::from(*defer_index_remap),
        _ => 1,
    }
}

fn query_weight(query: &Query) -> u64 {
    let inner = query.source.queries().into_iter().chain(query.subqueries());
    let nested: u64 = inner.map(|query| 20 + query_weight(query)).sum();
    let keys = query.group_by.as_ref().map_or(0, Vec::len);
    let sort_key = |key: &SortKey| {
        6 + u64::from(key.descending)
            + u64::from(key.nulls_first.is_some())
            + u64::from(key.spelling != Spelling::Usual)
    };
    let sorted: u64 = query.order_by.iter().map(sort_key).sum();
    let clauses = [query.limit.is_some(), query.offset.is_some(), query.grouping.is_some(), query.distinct];
    let clauses = count(clauses.iter().filter(|clause| **clause).count());
    let spelling = u64::from(query.key_spelling != Spelling::Usual);
    nested + sorted + spelling + 4 * (count(query.outputs.len() + keys) + clauses)
}

fn table_weight(table: &TableRecipe) -> u64 {
    let special = [table.stable_row_ids, table.storage_version.is_some(), table.read_after.is_some()];
    // Fewer rows per file is the more special.
    let files = if table.rows_per_file < super::history::ONE_FILE { 2 } else { 0 };
    3 * count(special.iter().filter(|special| **special).count()) + files
}

fn settings_weight(settings: &Settings) -> u64 {
    let plain = Settings::default();
    let special = [
        settings.target_partitions != plain.target_partitions,
        settings.batch_size != plain.batch_size,
        settings.in_memory,
        settings.text_views,
        settings.stock_provider,
        settings.zone_maps_read,
        settings.exact_floats,
        settings.price_seed.is_some(),
        settings.memory_limit.is_some(),
    ];
    3 * count(settings.pushdown.len() + special.iter().filter(|special| **special).count())
}
