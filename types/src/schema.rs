//! Schemas: the columns of a relation, and the keys that identify its rows.

use std::collections::BTreeSet;
use std::fmt;

use arrow_schema::DataType;
use serde::{Deserialize, Serialize};

use crate::ColumnId;

/// A column of a relation.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Field {
    /// The column's name; names need not be unique.
    pub name: String,
    /// The column's Arrow type.
    pub data_type: DataType,
    /// Whether the column can hold NULL.
    pub nullable: bool,
}

impl Field {
    /// A column.
    pub fn new(name: impl Into<String>, data_type: DataType, nullable: bool) -> Self {
        Self { name: name.into(), data_type, nullable }
    }
}

/// The columns of a relation and its provable unique keys.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schema {
    fields: Vec<Field>,
    /// Sets of columns of which no two rows agree on all values, NULLs counted as equal. The empty set says that there
    /// is at most one row.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    unique_keys: BTreeSet<BTreeSet<ColumnId>>,
}

impl Schema {
    /// A schema without known keys.
    #[must_use]
    pub fn new(fields: Vec<Field>) -> Self {
        Self { fields, unique_keys: BTreeSet::new() }
    }

    /// The same columns with one more unique key.
    #[must_use]
    pub fn with_unique_key(mut self, key: impl IntoIterator<Item = usize>) -> Self {
        self.unique_keys.insert(key.into_iter().map(ColumnId).collect());
        self
    }

    /// The columns.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// The column at a position.
    #[must_use]
    pub fn field(&self, column: ColumnId) -> Option<&Field> {
        self.fields.get(column.index())
    }

    /// The number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there are no columns.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// The names of the columns, in order.
    #[must_use]
    pub fn field_names(&self) -> Vec<&str> {
        self.fields.iter().map(|field| field.name.as_str()).collect()
    }

    /// The known unique keys.
    #[must_use]
    pub fn unique_keys(&self) -> &BTreeSet<BTreeSet<ColumnId>> {
        &self.unique_keys
    }

    /// Whether no two rows can agree on all of these columns: a known key is among them.
    #[must_use]
    pub fn is_unique_key(&self, columns: &[usize]) -> bool {
        self.unique_keys.iter().any(|key| key.iter().all(|column| columns.contains(&column.index())))
    }

    /// Whether names and types agree and no column here can be NULL that cannot be NULL there. Keys are not compared.
    #[must_use]
    pub fn can_replace(&self, other: &Schema) -> bool {
        self.fields.len() == other.fields.len()
            && self.fields.iter().zip(&other.fields).all(|(mine, theirs)| {
                mine.name == theirs.name && mine.data_type == theirs.data_type && (theirs.nullable || !mine.nullable)
            })
    }

    /// The same columns with these keys only.
    pub(crate) fn with_keys(mut self, keys: impl IntoIterator<Item = BTreeSet<ColumnId>>) -> Self {
        self.unique_keys = keys.into_iter().collect();
        self
    }
}

impl fmt::Display for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        for (index, field) in self.fields.iter().enumerate() {
            let separator = if index == 0 { "" } else { ", " };
            let null = if field.nullable { "" } else { " NOT NULL" };
            write!(f, "{separator}{}: {}{null}", field.name, field.data_type)?;
        }
        f.write_str("]")
    }
}
