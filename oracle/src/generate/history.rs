//! Histories of datasets: every operation before, between and after every other one.

use rand::Rng;
use rand::seq::{IndexedRandom, IteratorRandom};

use super::columns::{self, ColumnPlan, row};
use super::{TABLE, predicate};
use crate::query::{Arithmetic, Expr};
use crate::recipe::{Assignment, IndexKind, Operation, TableRecipe};
use crate::value::{Row, Type, Value};

/// A table that starts with up to 40 rows (or with none) and sees up to seven more operations, and the columns that
/// queries see.
pub(super) fn generate(rng: &mut impl Rng) -> (TableRecipe, Vec<ColumnPlan>) {
    let created = columns::generate(rng);
    let first = if rng.random_bool(0.1) { 0 } else { rng.random_range(1..=40) };
    let mut history = vec![Operation::Create { rows: rows(&created, first, rng) }];
    // Half of the tables have bitmaps on most columns from the start, as what follows is about partial coverage.
    if rng.random_bool(0.5) {
        let indexed = created.iter().filter(|_| rng.random_bool(0.7)).map(|plan| plan.column.name.clone());
        let bitmap = |column| Operation::CreateIndex { column, kind: IndexKind::Bitmap, name: None };
        history.extend(indexed.map(bitmap));
    }
    let mut state = State {
        columns: created.clone(),
        added: created.len(),
        indexes: Vec::new(),
        indexed: Vec::new(),
        stable: rng.random_bool(0.2),
        outdates_index: false,
    };
    history.iter().for_each(|operation| state.note(operation));
    let mut versions = vec![(history.len(), state.columns.clone())];
    for _ in 0..rng.random_range(0..=7) {
        let operation = state.operation(rng);
        state.note(&operation);
        history.push(operation);
        versions.push((history.len(), state.columns.clone()));
    }
    let older = rng.random_bool(0.15).then(|| versions.choose(rng).cloned()).flatten();
    let read_after = older.as_ref().map(|(operations, _)| *operations);
    let table = TableRecipe {
        name: TABLE.to_owned(),
        columns: created.into_iter().map(|plan| plan.column).collect(),
        rows_per_file: rng.random_range(2..=16),
        history,
        stable_row_ids: state.stable,
        storage_version: storage_version(rng),
        read_after,
    };
    (table, older.map_or(state.columns, |(_, columns)| columns))
}

fn storage_version(rng: &mut impl Rng) -> Option<String> {
    rng.random_bool(0.25).then(|| ["2.0", "2.1", "2.2"].choose(rng).map(|&version| version.to_owned())).flatten()
}

/// What a table has become so far.
struct State {
    columns: Vec<ColumnPlan>,
    /// Columns that ever were: names are not used again.
    added: usize,
    indexes: Vec<String>,
    indexed: Vec<String>,
    stable: bool,
    /// Values were written that some index may not know, and no index was looked after since.
    outdates_index: bool,
}

impl State {
    /// Follows an operation that was drawn.
    fn note(&mut self, operation: &Operation) {
        self.outdates_index &=
            !matches!(operation, Operation::OptimizeIndices | Operation::MergeIndices | Operation::DropIndex { .. });
        for plan in &mut self.columns {
            let name = &plan.column.name;
            if operation.changes(name) && self.indexed.contains(name) {
                (plan.outdated, self.outdates_index) = (true, true);
            }
            plan.misleads |= plan.outdated && matches!(operation, Operation::OptimizeIndices);
        }
        match operation {
            Operation::CreateIndex { column, .. } => {
                self.indexes.extend(operation.index_name());
                self.indexed.push(column.clone());
            }
            Operation::DropColumn { column } => self.columns.retain(|plan| plan.column.name != *column),
            _ => {}
        }
    }

    fn operation(&mut self, rng: &mut impl Rng) -> Operation {
        let columns = &self.columns;
        if self.outdates_index && rng.random_bool(0.4) {
            return Operation::OptimizeIndices;
        }
        match rng.random_range(0..100) {
            0..18 => Operation::Append {
                rows: {
                    let count = rng.random_range(1..=12);
                    rows(columns, count, rng)
                },
            },
            18..34 => self.delete(rng),
            34..62 => self.index(rng),
            62..67 => Operation::OptimizeIndices,
            67..71 => Operation::MergeIndices,
            71..77 => Operation::Compact {
                target_rows: rng.random_range(4..=32),
                // Lance refuses to defer with stable row ids.
                defer_index_remap: !self.stable && rng.random_bool(0.4),
            },
            77..83 => self.update(rng),
            83..88 => self.merge_insert(rng),
            88..93 => self.rewrite_columns(rng),
            93..97 => self.add_column(rng),
            97..98 if columns.len() > 2 => Operation::DropColumn { column: self.any_column(rng).column.name.clone() },
            _ => match self.indexes.choose(rng) {
                Some(name) => Operation::DropIndex { name: name.clone() },
                None => self.index(rng),
            },
        }
    }

    /// The columns by which Lance finds the rows that it should. There may be none.
    fn reliable(&self) -> Vec<ColumnPlan> {
        self.columns.iter().filter(|plan| !plan.misleads).cloned().collect()
    }

    fn delete(&self, rng: &mut impl Rng) -> Operation {
        match self.reliable() {
            columns if columns.is_empty() => self.index(rng),
            columns => Operation::Delete { predicate: predicate::for_lance(&columns, 2, rng) },
        }
    }

    fn any_column(&self, rng: &mut impl Rng) -> &ColumnPlan {
        self.columns.choose(rng).unwrap_or(&self.columns[0])
    }

    /// Mostly bitmaps, which answer counts exactly; now and then a second index beside one of the same kind.
    fn index(&self, rng: &mut impl Rng) -> Operation {
        let kinds = [
            IndexKind::Bitmap,
            IndexKind::Bitmap,
            IndexKind::Bitmap,
            IndexKind::BTree,
            IndexKind::ZoneMap,
            IndexKind::ZoneMap,
        ];
        let column = self.any_column(rng).column.name.clone();
        let kind = kinds.choose(rng).copied().unwrap_or(IndexKind::Bitmap);
        let name = rng.random_bool(0.2).then(|| format!("{column}_second"));
        Operation::CreateIndex { column, kind, name }
    }

    fn update(&self, rng: &mut impl Rng) -> Operation {
        let target = self.any_column(rng);
        let column = target.column.name.clone();
        let value = match target.data_type() {
            Type::Int64 if rng.random_bool(0.3) => {
                Expr::arithmetic(Arithmetic::Add, target.expr(), Expr::literal(Value::Int64(1), Type::Int64))
            }
            _ => predicate::value(target, rng),
        };
        let columns = self.reliable();
        let restricted = !columns.is_empty() && rng.random_bool(0.9);
        let predicate = restricted.then(|| predicate::for_lance(&columns, 1, rng));
        Operation::Update { set: vec![Assignment { column, value }], predicate }
    }

    fn merge_insert(&self, rng: &mut impl Rng) -> Operation {
        let Some(position) = self.key(rng) else { return self.index(rng) };
        let mut new = Vec::<Row>::new();
        for _ in 0..rng.random_range(1..=4) {
            let row = row(&self.columns, rng);
            if !row[position].is_null() && !new.iter().any(|other| other[position] == row[position]) {
                new.push(row);
            }
        }
        Operation::MergeInsert { on: self.columns[position].column.name.clone(), rows: new }
    }

    fn rewrite_columns(&self, rng: &mut impl Rng) -> Operation {
        let Some(position) = self.key(rng) else { return self.index(rng) };
        let indexed = self.columns.iter().filter(|plan| self.indexed.contains(&plan.column.name));
        let indexed = indexed.choose(rng).filter(|_| rng.random_bool(0.8));
        let target = indexed.unwrap_or_else(|| self.any_column(rng));
        let on = &self.columns[position];
        if target.column.name == on.column.name || self.columns.len() < 3 {
            return self.index(rng);
        }
        let mut new = Vec::<Row>::new();
        for _ in 0..rng.random_range(1..=4) {
            let row = vec![on.draw(rng), target.draw(rng)];
            if !row[0].is_null() && !new.iter().any(|other| other[0] == row[0]) {
                new.push(row);
            }
        }
        let columns = vec![target.column.name.clone()];
        Operation::RewriteColumns { on: on.column.name.clone(), columns, rows: new }
    }

    /// A column whose values are equal only if they are the same, and by which Lance finds the rows that it should.
    fn key(&self, rng: &mut impl Rng) -> Option<usize> {
        let keys = self.columns.iter().enumerate();
        let keys =
            keys.filter(|(_, plan)| !plan.data_type().is_float() && !plan.data_type().is_binary() && !plan.misleads);
        keys.map(|(position, _)| position).collect::<Vec<_>>().choose(rng).copied()
    }

    fn add_column(&mut self, rng: &mut impl Rng) -> Operation {
        let mut plan = columns::one(self.added, rng);
        plan.column.nullable = true;
        self.added += 1;
        let value = rng.random_bool(0.6).then(|| {
            let when = predicate::generate(&self.columns, 1, rng);
            Expr::case(when, predicate::value(&plan, rng), rng.random_bool(0.5).then(|| predicate::value(&plan, rng)))
        });
        let column = plan.column.clone();
        self.columns.push(plan);
        Operation::AddColumn { column, value }
    }
}

fn rows(columns: &[ColumnPlan], count: usize, rng: &mut impl Rng) -> Vec<Row> {
    (0..count).map(|_| row(columns, rng)).collect()
}
