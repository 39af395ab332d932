//! Which column a name means.
//!
//! DataFusion resolves names to positions of its schemas. Positions of the IR are the same; its names are its own, so
//! that the columns inside of a query do not depend on how the query spells aliases.

use std::sync::Arc;

use asap_types::{ColumnRef, Operator, UnresolvedQuery};
use datafusion_common::{Column, DFSchema, DataFusionError};

/// A lowered relation, and its columns by position, named as [`asap_types::resolve`] sees them.
pub(super) struct Relation {
    pub(super) query: Arc<UnresolvedQuery>,
    pub(super) columns: Vec<ColumnRef>,
}

impl Relation {
    /// An operator on top that keeps the columns.
    pub(super) fn map(
        self,
        operator: impl FnOnce(Arc<UnresolvedQuery>) -> Operator<Arc<UnresolvedQuery>, ColumnRef>,
    ) -> Self {
        Self { query: UnresolvedQuery::new(operator(self.query)), columns: self.columns }
    }

    /// The relation under another name.
    pub(super) fn aliased(self, alias: &str) -> Self {
        let columns = self.columns.into_iter().map(|column| ColumnRef::qualified(alias, column.name)).collect();
        Self { query: UnresolvedQuery::aliased(self.query.operator.clone(), alias), columns }
    }

    /// The columns for expressions that DataFusion planned over a schema of this relation.
    pub(super) fn scope<'a>(&'a self, planned: &'a DFSchema) -> Scope<'a> {
        Scope { planned, columns: &self.columns }
    }
}

/// What expressions over a relation can refer to.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    pub(super) planned: &'a DFSchema,
    columns: &'a [ColumnRef],
}

impl Scope<'_> {
    /// The column that DataFusion resolves a name to.
    pub(super) fn column(&self, column: &Column) -> Result<ColumnRef, DataFusionError> {
        let index = self.planned.index_of_column(column)?;
        self.columns
            .get(index)
            .cloned()
            .ok_or_else(|| DataFusionError::Internal(format!("column {index} of {} columns", self.columns.len())))
    }
}
