//! The steps of a dataset's history. What one does to the rows is in `model/history.rs`, what it does to the dataset in
//! `dataset/apply.rs`, how it is drawn in `generate/history.rs`.

use serde::{Deserialize, Serialize};

use super::is_default;
use crate::model::ModelError;
use crate::query::{Column, Expr};
use crate::value::Row;
use crate::{OracleError, Result};

/// One step of a dataset's history. Each makes at most one new version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Operation {
    /// Writes the dataset.
    Create {
        /// Its first rows.
        rows: Vec<Row>,
    },
    /// Adds rows in new fragments.
    Append {
        /// The rows.
        rows: Vec<Row>,
    },
    /// Deletes the rows for which the predicate is TRUE.
    Delete {
        /// The predicate.
        predicate: Expr,
    },
    /// SQL's UPDATE: moves the rows for which the predicate is TRUE to new fragments.
    Update {
        /// New values, computed from the old row.
        set: Vec<Assignment>,
        /// All rows if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        predicate: Option<Expr>,
    },
    /// Replaces every row whose key is among the new rows', and adds the new rows whose key was not there. A NULL key
    /// matches nothing.
    MergeInsert {
        /// The key column.
        on: String,
        /// The new rows; their keys are distinct and not NULL.
        rows: Vec<Row>,
    },
    /// Replaces columns within the fragments, for the rows whose key is given.
    RewriteColumns {
        /// The key column.
        on: String,
        /// The columns.
        columns: Vec<String>,
        /// A key, and then a value for each of the columns; the keys are distinct and not NULL.
        rows: Vec<Row>,
    },
    /// Adds a column.
    AddColumn {
        /// The column.
        column: Column,
        /// Its value, computed from the row. Absent: NULL everywhere, which writes no data.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Expr>,
    },
    /// Removes a column.
    DropColumn {
        /// Its name.
        column: String,
    },
    /// Builds an index over the fragments that are there. One of the same name is replaced.
    CreateIndex {
        /// The indexed column.
        column: String,
        /// The kind.
        kind: IndexKind,
        /// Its name; absent: from column and kind.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
    },
    /// Removes an index; nothing happens if there is none of the name.
    DropIndex {
        /// Its name.
        name: String,
    },
    /// Indexes the fragments that no index covers yet, as a segment of its own.
    OptimizeIndices,
    /// Indexes the fragments that no index covers yet, and merges each index into one segment.
    MergeIndices,
    /// Rewrites small fragments, and those with deletions, into larger ones.
    Compact {
        /// Rows per new fragment.
        target_rows: usize,
        /// Indexes keep the old addresses, and a system index says how to read them.
        #[serde(default, skip_serializing_if = "is_default")]
        defer_index_remap: bool,
    },
}

/// `column = value`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Assignment {
    /// The column.
    pub column: String,
    /// Its new value, computed from the old row.
    pub value: Expr,
}

/// A kind of scalar index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexKind {
    /// One posting list for each value.
    Bitmap,
    /// Sorted pages.
    BTree,
    /// Extrema of each zone of rows.
    ZoneMap,
}

impl IndexKind {
    /// The kind's part of an index's default name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bitmap => "bitmap",
            Self::BTree => "btree",
            Self::ZoneMap => "zonemap",
        }
    }
}

impl Operation {
    /// A name for coverage.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Create { .. } => "create",
            Self::Append { .. } => "append",
            Self::Delete { .. } => "delete",
            Self::Update { .. } => "update",
            Self::MergeInsert { .. } => "merge insert",
            Self::RewriteColumns { .. } => "rewrite columns",
            Self::AddColumn { value: None, .. } => "add column of NULL",
            Self::AddColumn { value: Some(_), .. } => "add column with values",
            Self::DropColumn { .. } => "drop column",
            Self::CreateIndex { kind: IndexKind::Bitmap, .. } => "bitmap index",
            Self::CreateIndex { kind: IndexKind::BTree, .. } => "b-tree index",
            Self::CreateIndex { kind: IndexKind::ZoneMap, .. } => "zone map index",
            Self::DropIndex { .. } => "drop index",
            Self::OptimizeIndices => "optimize indices",
            Self::MergeIndices => "merge indices",
            Self::Compact { defer_index_remap: false, .. } => "compact",
            Self::Compact { defer_index_remap: true, .. } => "compact with deferred remap",
        }
    }

    /// The rows that it brings along.
    #[must_use]
    pub fn rows(&self) -> Option<&Vec<Row>> {
        match self {
            Self::Create { rows }
            | Self::Append { rows }
            | Self::MergeInsert { rows, .. }
            | Self::RewriteColumns { rows, .. } => Some(rows),
            _ => None,
        }
    }

    /// [`Self::rows`], to be changed.
    pub fn rows_mut(&mut self) -> Option<&mut Vec<Row>> {
        match self {
            Self::Create { rows }
            | Self::Append { rows }
            | Self::MergeInsert { rows, .. }
            | Self::RewriteColumns { rows, .. } => Some(rows),
            _ => None,
        }
    }

    /// The name of the index that it creates.
    #[must_use]
    pub fn index_name(&self) -> Option<String> {
        let Self::CreateIndex { column, kind, name } = self else { return None };
        Some(name.clone().unwrap_or_else(|| format!("{column}_{}", kind.name())))
    }

    /// Does it give rows that are there other values in this column?
    #[must_use]
    pub fn changes(&self, column: &str) -> bool {
        match self {
            Self::Update { set, .. } => set.iter().any(|assignment| assignment.column == column),
            Self::RewriteColumns { columns, .. } => columns.iter().any(|name| name == column),
            Self::MergeInsert { on, .. } => on != column,
            _ => false,
        }
    }

    /// Can it follow on a table of these columns? Changes them as it changes the table.
    ///
    /// # Errors
    /// A column is not there, or a row or a value does not fit.
    pub(super) fn validate(&self, columns: &mut Vec<Column>) -> Result<()> {
        let all = columns.iter().collect::<Vec<_>>();
        match self {
            Self::Create { rows } | Self::Append { rows } => fit(rows, &all)?,
            Self::MergeInsert { on, rows } => {
                fit(rows, &all)?;
                let key = position(on, columns)?;
                distinct_keys(rows.iter().filter_map(|row| row.get(key)))?;
            }
            Self::RewriteColumns { on, columns: names, rows } => {
                let names = std::iter::once(on).chain(names);
                let chosen = names.map(|name| Ok(&columns[position(name, columns)?])).collect::<Result<Vec<_>>>()?;
                if chosen.len() >= columns.len() {
                    return Err(OracleError::Recipe("a rewrite of all columns is a merge insert".to_owned()));
                }
                fit(rows, &chosen)?;
                distinct_keys(rows.iter().filter_map(|row| row.first()))?;
            }
            Self::Update { set, predicate } => {
                for assignment in set {
                    let column = &columns[position(&assignment.column, columns)?];
                    typed(&assignment.value, column, columns)?;
                }
                predicate.as_ref().map(|predicate| predicate.data_type(columns)).transpose()?;
            }
            Self::Delete { predicate } => {
                predicate.data_type(columns)?;
            }
            Self::AddColumn { column, value } => {
                if columns.iter().any(|other| other.name == column.name) || !column.nullable {
                    return Err(OracleError::Recipe(format!("column {} is not new and nullable", column.name)));
                }
                value.as_ref().map(|value| typed(value, column, columns)).transpose()?;
                columns.push(column.clone());
            }
            Self::DropColumn { column } => {
                let position = position(column, columns)?;
                columns.remove(position);
            }
            Self::CreateIndex { column, .. } => {
                position(column, columns)?;
            }
            Self::DropIndex { .. } | Self::OptimizeIndices | Self::MergeIndices | Self::Compact { .. } => {}
        }
        Ok(())
    }
}

fn position(name: &str, columns: &[Column]) -> Result<usize> {
    let position = columns.iter().position(|column| column.name == name);
    Ok(position.ok_or_else(|| ModelError::UnknownColumn(name.to_owned()))?)
}

fn typed(value: &Expr, column: &Column, columns: &[Column]) -> Result<()> {
    if value.data_type(columns)? == column.data_type {
        Ok(())
    } else {
        Err(OracleError::Recipe(format!("{value} does not fit column {}", column.name)))
    }
}

fn fit(rows: &[Row], columns: &[&Column]) -> Result<()> {
    let fits = |row: &Row| {
        let fits = |(value, column): (&crate::value::Value, &&Column)| {
            value.fits(column.data_type) && (column.nullable || !value.is_null())
        };
        row.len() == columns.len() && row.iter().zip(columns).all(fits)
    };
    match rows.iter().find(|row| !fits(row)) {
        Some(row) => Err(OracleError::Recipe(format!("{row:?} does not fit the columns"))),
        None => Ok(()),
    }
}

fn distinct_keys<'a>(keys: impl Iterator<Item = &'a crate::value::Value>) -> Result<()> {
    let mut seen = std::collections::BTreeSet::new();
    for key in keys {
        if key.is_null() || !seen.insert(key) {
            return Err(OracleError::Recipe(format!("the key {key:?} is NULL or there twice")));
        }
    }
    Ok(())
}
