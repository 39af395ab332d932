//! What is known about the rows that an aggregate reads.

use arrow_schema::DataType;
use asap_types::{AggIntent, ColumnId, ColumnRef, Expr, Schema, TypesError, resolve, simplify};

use super::scope::Relation;

/// The derived schema of an input, and the names of its columns: facts of expressions that are still by name.
pub(super) struct Input<'a> {
    schema: Schema,
    columns: &'a [ColumnRef],
}

impl<'a> Input<'a> {
    pub(super) fn new(relation: &'a Relation) -> Result<Self, TypesError> {
        Ok(Self { schema: resolve(&relation.query)?.schema().clone(), columns: &relation.columns })
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

    /// Text of an expression that does not depend on table names and aliases.
    pub(super) fn display(&self, expr: &Expr<ColumnRef>) -> Option<String> {
        Some(self.positional(expr)?.display(&self.schema).to_string())
    }

    /// Text of a measure that does not depend on table names and aliases.
    pub(super) fn display_measure(&self, measure: &AggIntent<ColumnRef>) -> Option<String> {
        let measure = measure.try_map_args(&mut |arg| self.positional(arg).ok_or(())).ok()?;
        Some(measure.display(&self.schema))
    }

    fn positional(&self, expr: &Expr<ColumnRef>) -> Option<Expr> {
        let mut position = |column: &ColumnRef| {
            let position = self.columns.iter().position(|known| known == column);
            position.map(ColumnId).ok_or(())
        };
        expr.try_map_columns(&mut position).ok()
    }
}
