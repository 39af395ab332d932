//! What the operations of a history do to the rows. Indexes and compaction do nothing to them.

use super::evaluate::Scope;
use super::{ModelError, Table};
use crate::query::{Column, Expr};
use crate::recipe::{Assignment, Operation};
use crate::value::{Row, Value};

impl Table {
    /// Follows one operation.
    ///
    /// # Errors
    /// An expression cannot be evaluated, or a column is not there.
    pub fn apply(&mut self, operation: &Operation) -> Result<(), ModelError> {
        match operation {
            Operation::Create { rows } | Operation::Append { rows } => self.append(rows),
            Operation::Delete { predicate } => {
                self.delete(predicate)?;
            }
            Operation::Update { set, predicate } => self.update(set, predicate.as_ref())?,
            Operation::MergeInsert { on, rows } => {
                let key = position(on, &self.columns)?;
                let kept = |row: &Row| !rows.iter().any(|new| new[key] == row[key]);
                let replaced = |new: &Row| self.rows.iter().filter(|row| row[key] == new[key]).count().max(1);
                let new: Vec<Row> = rows.iter().flat_map(|new| vec![new.clone(); replaced(new)]).collect();
                self.rows.retain(kept);
                self.rows.extend(new);
            }
            Operation::RewriteColumns { on, columns, rows } => {
                let key = position(on, &self.columns)?;
                let targets =
                    columns.iter().map(|name| position(name, &self.columns)).collect::<Result<Vec<_>, _>>()?;
                for row in &mut self.rows {
                    let Some(new) = rows.iter().find(|new| new[0] == row[key]) else { continue };
                    for (target, value) in targets.iter().zip(&new[1..]) {
                        row[*target].clone_from(value);
                    }
                }
            }
            Operation::AddColumn { column, value } => self.add_column(column, value.as_ref())?,
            Operation::DropColumn { column } => {
                let position = position(column, &self.columns)?;
                self.columns.remove(position);
                for row in &mut self.rows {
                    row.remove(position);
                }
            }
            Operation::CreateIndex { .. }
            | Operation::DropIndex { .. }
            | Operation::OptimizeIndices
            | Operation::MergeIndices
            | Operation::Compact { .. } => {}
        }
        Ok(())
    }

    fn update(&mut self, set: &[Assignment], predicate: Option<&Expr>) -> Result<(), ModelError> {
        let mut rows = self.rows.clone();
        for row in &mut rows {
            let old = row.clone();
            let scope = Scope::Row { columns: &self.columns, row: &old };
            if predicate.map_or(Ok(true), |predicate| scope.is_true(predicate))? {
                for assignment in set {
                    row[position(&assignment.column, &self.columns)?] = scope.value(&assignment.value)?;
                }
            }
        }
        self.rows = rows;
        Ok(())
    }

    fn add_column(&mut self, column: &Column, value: Option<&Expr>) -> Result<(), ModelError> {
        let values = match value {
            Some(value) => self.values(value)?,
            None => vec![Value::Null; self.rows.len()],
        };
        for (row, value) in self.rows.iter_mut().zip(values) {
            row.push(value);
        }
        self.columns.push(column.clone());
        Ok(())
    }

    /// The expression's value for each row.
    ///
    /// # Errors
    /// It cannot be evaluated.
    pub fn values(&self, expr: &Expr) -> Result<Vec<Value>, ModelError> {
        self.rows.iter().map(|row| Scope::Row { columns: &self.columns, row }.value(expr)).collect()
    }
}

fn position(name: &str, columns: &[Column]) -> Result<usize, ModelError> {
    let position = columns.iter().position(|column| column.name == name);
    position.ok_or_else(|| ModelError::UnknownColumn(name.to_owned()))
}
