//! References to columns and tables.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A column by its zero-based position in the schema of the operator's input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ColumnId(pub usize);

impl ColumnId {
    /// The zero-based position.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

impl fmt::Display for ColumnId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}", self.0)
    }
}

/// A column by name, as written before [`resolve`](crate::resolve). Names compare by bytes: a front end that folds case
/// does so before it builds references.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ColumnRef {
    /// The table or alias that qualifies the name, if any.
    pub relation: Option<String>,
    /// The column's name.
    pub name: String,
}

impl ColumnRef {
    /// A reference without a qualifier.
    pub fn bare(name: impl Into<String>) -> Self {
        Self { relation: None, name: name.into() }
    }

    /// A reference of the form `relation.name`.
    pub fn qualified(relation: impl Into<String>, name: impl Into<String>) -> Self {
        Self { relation: Some(relation.into()), name: name.into() }
    }
}

impl fmt::Display for ColumnRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.relation {
            Some(relation) => write!(f, "{relation}.{}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// A table's name in the catalog, with the parts that were written: `catalog.schema.table`, `schema.table` or `table`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRef {
    /// The catalog, if the reference names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub catalog: Option<String>,
    /// The schema (namespace), if the reference names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub schema: Option<String>,
    /// The table's own name.
    pub table: String,
}

impl TableRef {
    /// A reference by the table's name alone.
    pub fn bare(table: impl Into<String>) -> Self {
        Self { catalog: None, schema: None, table: table.into() }
    }
}

impl fmt::Display for TableRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in [&self.catalog, &self.schema].into_iter().flatten() {
            write!(f, "{part}.")?;
        }
        f.write_str(&self.table)
    }
}
