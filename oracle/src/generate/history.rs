//! Histories of datasets: appends, deletions and index builds before, between and after one another.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::columns::{ColumnPlan, row};
use super::{TABLE, predicate};
use crate::recipe::{IndexKind, Operation, TableRecipe};
use crate::value::Row;

/// A table that starts with up to 40 rows (or with none) and sees up to seven more operations.
pub(super) fn generate(columns: &[ColumnPlan], rng: &mut impl Rng) -> TableRecipe {
    let first = if rng.random_bool(0.1) { 0 } else { rng.random_range(1..=40) };
    let mut history = vec![Operation::Create { rows: rows(columns, first, rng) }];
    // Half of the tables have bitmaps on most columns from the start, as what follows is about partial coverage.
    if rng.random_bool(0.5) {
        let indexed = columns.iter().filter(|_| rng.random_bool(0.7)).map(|plan| plan.column.name.clone());
        history.extend(indexed.map(|column| Operation::CreateIndex { column, kind: IndexKind::Bitmap }));
    }
    for _ in 0..rng.random_range(0..=7) {
        history.push(operation(columns, rng));
    }
    TableRecipe {
        name: TABLE.to_owned(),
        columns: columns.iter().map(|plan| plan.column.clone()).collect(),
        rows_per_file: rng.random_range(2..=16),
        history,
    }
}

fn operation(columns: &[ColumnPlan], rng: &mut impl Rng) -> Operation {
    match rng.random_range(0..100) {
        0..25 => Operation::Append {
            rows: {
                let count = rng.random_range(1..=12);
                rows(columns, count, rng)
            },
        },
        25..50 => Operation::Delete { predicate: predicate::generate(columns, 2, rng) },
        50..90 => index(columns, rng),
        90..95 => Operation::OptimizeIndices,
        _ => Operation::Compact { target_rows: rng.random_range(4..=32) },
    }
}

fn rows(columns: &[ColumnPlan], count: usize, rng: &mut impl Rng) -> Vec<Row> {
    (0..count).map(|_| row(columns, rng)).collect()
}

/// Mostly bitmaps, which answer counts exactly.
fn index(columns: &[ColumnPlan], rng: &mut impl Rng) -> Operation {
    let kinds = [IndexKind::Bitmap, IndexKind::Bitmap, IndexKind::Bitmap, IndexKind::BTree, IndexKind::ZoneMap];
    Operation::CreateIndex {
        column: columns.choose(rng).map(|plan| plan.column.name.clone()).unwrap_or_default(),
        kind: kinds.choose(rng).copied().unwrap_or(IndexKind::Bitmap),
    }
}
