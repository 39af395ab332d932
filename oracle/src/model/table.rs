use super::evaluate::Scope;
use super::{ModelError, select};
use crate::answer::Answer;
use crate::query::{Column, Expr, Query};
use crate::recipe::TableRecipe;
use crate::value::Row;

/// The live rows of a table, in the order in which they were written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Table {
    /// Its name in queries.
    pub name: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows.
    pub rows: Vec<Row>,
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(name: impl Into<String>, columns: Vec<Column>) -> Self {
        Self { name: name.into(), columns, rows: Vec::new() }
    }

    /// The table that queries of this recipe read.
    ///
    /// # Errors
    /// An expression cannot be evaluated, or a column is not there.
    pub fn of(recipe: &TableRecipe) -> Result<Self, ModelError> {
        let mut table = Self::new(&recipe.name, recipe.columns.clone());
        recipe.history.iter().take(recipe.read_after()).try_for_each(|operation| table.apply(operation))?;
        Ok(table)
    }

    /// Adds rows.
    pub fn append(&mut self, rows: &[Row]) {
        self.rows.extend_from_slice(rows);
    }

    /// Removes the rows for which the predicate is TRUE; those for which it is unknown stay. Returns how many went.
    ///
    /// # Errors
    /// The predicate cannot be evaluated; the table is then unchanged.
    pub fn delete(&mut self, predicate: &Expr) -> Result<usize, ModelError> {
        let mut kept = Vec::new();
        for row in &self.rows {
            if !(Scope::Row { columns: &self.columns, row }).is_true(predicate)? {
                kept.push(row.clone());
            }
        }
        let deleted = self.rows.len() - kept.len();
        self.rows = kept;
        Ok(deleted)
    }

    /// The query's answer.
    ///
    /// # Errors
    /// The query has none: its types do not fit, or a value overflows.
    pub fn answer(&self, query: &Query) -> Result<Answer, ModelError> {
        select::answer(query, self)
    }
}
