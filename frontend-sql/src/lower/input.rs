//! What is known about the rows that an aggregate reads.

use std::sync::Arc;

use arrow_schema::DataType;
use asap_types::{ColumnId, ColumnRef, Expr, Schema, TypesError, UnresolvedQuery, resolve, simplify};
use datafusion_common::DFSchema;

use super::plan::column_ref;

/// The derived schema of an input, and the names of its columns: facts of expressions that are still by name.
pub(super) struct Input {
    schema: Schema,
    columns: Vec<ColumnRef>,
}

impl Input {
    pub(super) fn new(query: &Arc<UnresolvedQuery>, planned: &DFSchema) -> Result<Self, TypesError> {
        let columns = (0..planned.fields().len()).map(|index| column_ref(planned, index)).collect();
        Ok(Self { schema: resolve(query)?.schema().clone(), columns })
    }

    /// Whether no row can make the evaluation raise an error; `false` when that is not known.
    pub(super) fn cannot_fail(&self, expr: &Expr<ColumnRef>) -> bool {
        self.positional(expr).is_some_and(|expr| expr.cannot_fail(&self.schema))
    }

    /// The type of an expression, if it has one.
    pub(super) fn data_type(&self, expr: &Expr<ColumnRef>) -> Option<DataType> {
        self.positional(expr)?.data_type(&self.schema).ok()
    }

    /// Whether a predicate is TRUE for every row, and its evaluation never fails.
    pub(super) fn is_always_true(&self, predicate: &Expr<ColumnRef>) -> bool {
        let Some(predicate) = self.positional(predicate) else { return false };
        matches!(simplify(&predicate, &self.schema), Expr::Literal(literal) if literal.is_true())
    }

    fn positional(&self, expr: &Expr<ColumnRef>) -> Option<Expr> {
        let mut position = |column: &ColumnRef| {
            let position = self.columns.iter().position(|known| known == column);
            position.map(ColumnId).ok_or(())
        };
        expr.try_map_columns(&mut position).ok()
    }
}
