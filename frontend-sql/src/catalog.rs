//! What the front end must know about tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use arrow_schema::SchemaRef;
use asap_types::TableRef;
use datafusion_common::{ResolvedTableReference, TableReference};

pub(crate) const DEFAULT_CATALOG: &str = "datafusion";
pub(crate) const DEFAULT_SCHEMA: &str = "public";

/// Knows the tables of a workload.
///
/// Names arrive normalized: unquoted parts in lower case, and without the parts that are DataFusion's defaults
/// (`datafusion.public.t`, `public.t` and `t` are one table, `t`).
pub trait Catalog: Sync {
    /// The schema of a table, if there is one.
    fn table(&self, name: &TableRef) -> Option<TableSchema>;

    /// The names of all tables, to suggest one for a name that is wrong.
    fn table_names(&self) -> Vec<String>;
}

/// What the catalog knows about one table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableSchema {
    /// The Arrow schema of the table.
    pub schema: SchemaRef,
    /// Sets of columns, by position, of which no two rows agree on all values. Only what the storage enforces: a key
    /// that is merely declared is not one.
    pub unique_keys: Vec<Vec<usize>>,
}

impl TableSchema {
    /// A table without enforced keys.
    pub fn new(schema: impl Into<SchemaRef>) -> Self {
        Self { schema: schema.into(), unique_keys: Vec::new() }
    }

    /// The same table with one more enforced key.
    #[must_use]
    pub fn with_unique_key(mut self, columns: impl IntoIterator<Item = usize>) -> Self {
        self.unique_keys.push(columns.into_iter().collect());
        self
    }
}

/// A catalog in memory.
#[derive(Debug, Clone, Default)]
pub struct TableCatalog {
    tables: BTreeMap<TableRef, TableSchema>,
}

impl TableCatalog {
    /// A catalog without tables.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds or replaces a table. The name is read as DataFusion's `register_table` reads it: in lower case, except for
    /// parts in double quotes.
    pub fn insert(&mut self, name: &str, table: TableSchema) {
        self.tables.insert(table_ref(TableReference::from(name)), table);
    }
}

impl Catalog for TableCatalog {
    fn table(&self, name: &TableRef) -> Option<TableSchema> {
        self.tables.get(name).cloned()
    }

    fn table_names(&self) -> Vec<String> {
        self.tables.keys().map(TableRef::to_string).collect()
    }
}

/// The one spelling of a table's name: without the parts that are defaults.
pub(crate) fn table_ref(name: TableReference) -> TableRef {
    let ResolvedTableReference { catalog, schema, table } = name.resolve(DEFAULT_CATALOG, DEFAULT_SCHEMA);
    let catalog = (&*catalog != DEFAULT_CATALOG).then(|| catalog.to_string());
    let schema = (catalog.is_some() || &*schema != DEFAULT_SCHEMA).then(|| schema.to_string());
    TableRef { catalog, schema, table: table.to_string() }
}

/// A table as DataFusion's planner sees it.
#[derive(Debug)]
pub(crate) struct CatalogTable {
    pub(crate) name: TableRef,
    pub(crate) table: TableSchema,
}

impl datafusion_expr::TableSource for CatalogTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.table.schema)
    }
}
