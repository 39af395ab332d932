//! Sub-queries read nothing of the query around them, so that each is answered once and its answer stands in its place.

use super::{ModelError, Table, select};
use crate::query::{Expr, Query};
use crate::value::{Row, Type, Value};

/// WHERE with the answers of its sub-queries.
pub(super) fn resolved(filter: &Expr, table: &Table) -> Result<Expr, ModelError> {
    filter.rewritten(&mut |expr| match expr {
        Expr::InQuery { operand, query, negated } => {
            let (data_type, rows) = answered(query, table)?;
            let list = rows.into_iter().flatten().map(|value| Expr::literal(value, data_type)).collect();
            let operand = Box::new(resolved(operand, table)?);
            Ok(Some(Expr::InList { operand, list, negated: *negated }))
        }
        Expr::Exists { query, negated } => {
            let (_, rows) = answered(query, table)?;
            Ok(Some(Expr::literal(Value::Boolean(rows.is_empty() == *negated), Type::Boolean)))
        }
        Expr::Scalar { query, data_type } => match answered(query, table)? {
            // In memory, a text may be a view.
            (found, rows) if (found == *data_type || found.is_text() && data_type.is_text()) && rows.len() < 2 => {
                let value = rows.into_iter().flatten().next().unwrap_or(Value::Null);
                Ok(Some(Expr::literal(value, found)))
            }
            _ => Err(ModelError::Types(expr.to_string())),
        },
        _ => Ok(None),
    })
}

/// The type and the rows of a query of one column.
fn answered(query: &Query, table: &Table) -> Result<(Type, Vec<Row>), ModelError> {
    match query.output_columns(&table.columns)?.as_slice() {
        [column] => Ok((column.data_type, select::rows(query, table)?)),
        _ => Err(ModelError::Types(query.to_string())),
    }
}
