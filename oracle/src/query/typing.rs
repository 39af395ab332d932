//! Types of expressions and queries, with the result types of DataFusion 54.1.

use super::{Aggregate, Arithmetic, Column, Expr, Function, Query};
use crate::model::ModelError;
use crate::value::Type;

const MAX_PRECISION: u8 = 38;

impl Expr {
    /// The expression's type over these columns.
    ///
    /// # Errors
    /// An unknown column, or operands that do not go together.
    pub fn data_type(&self, columns: &[Column]) -> Result<Type, ModelError> {
        match self {
            Self::Column(name) => columns
                .iter()
                .find(|column| column.name == *name)
                .map(|column| column.data_type)
                .ok_or_else(|| ModelError::UnknownColumn(name.clone())),
            Self::Literal(literal) => Ok(literal.data_type),
            Self::Arithmetic { operator, left, right } => {
                arithmetic_type(*operator, left.data_type(columns)?, right.data_type(columns)?)
            }
            Self::Compare { .. }
            | Self::And(_)
            | Self::Or(_)
            | Self::Not(_)
            | Self::IsNull { .. }
            | Self::IsTruth { .. }
            | Self::InList { .. }
            | Self::InQuery { .. }
            | Self::Exists { .. }
            | Self::Between { .. }
            | Self::Like { .. } => Ok(Type::Boolean),
            Self::Case { then, otherwise, .. } => {
                let data_type = then.data_type(columns)?;
                match otherwise.as_ref().map(|otherwise| otherwise.data_type(columns)).transpose()? {
                    Some(other) if other != data_type => Err(ModelError::Types(self.to_string())),
                    _ => Ok(data_type),
                }
            }
            Self::Scalar { data_type, .. } => Ok(*data_type),
            Self::DateTrunc { operand, .. } => {
                let data_type = operand.data_type(columns)?;
                data_type.second_digits().map(|_| data_type).ok_or_else(|| ModelError::Types(self.to_string()))
            }
            Self::Aggregate(aggregate) => aggregate.data_type(columns),
        }
    }
}

/// Source: arrow-arith 58 `numeric.rs` (decimals), DataFusion 54.1 `BinaryTypeCoercer` (integers).
fn arithmetic_type(operator: Arithmetic, left: Type, right: Type) -> Result<Type, ModelError> {
    match (left, right) {
        (Type::Int32, Type::Int32) => Ok(Type::Int32),
        (Type::Int32 | Type::Int64, Type::Int32 | Type::Int64) => Ok(Type::Int64),
        (Type::Float64, Type::Float64) if operator != Arithmetic::Modulo => Ok(Type::Float64),
        (Type::Decimal { precision: p1, scale: s1 }, Type::Decimal { precision: p2, scale: s2 }) => match operator {
            Arithmetic::Multiply => {
                Ok(Type::Decimal { precision: p1.saturating_add(p2 + 1).min(MAX_PRECISION), scale: s1 + s2 })
            }
            Arithmetic::Add | Arithmetic::Subtract => {
                let scale = s1.max(s2);
                let whole = whole_digits(p1, s1).max(whole_digits(p2, s2));
                let precision = u8::try_from(i16::from(scale) + whole + 1).unwrap_or(MAX_PRECISION).min(MAX_PRECISION);
                Ok(Type::Decimal { precision, scale })
            }
            Arithmetic::Modulo => Err(ModelError::Types(format!("{left} {operator} {right}"))),
        },
        _ => Err(ModelError::Types(format!("{left} {operator} {right}"))),
    }
}

fn whole_digits(precision: u8, scale: i8) -> i16 {
    i16::from(precision) - i16::from(scale)
}

impl Aggregate {
    /// The aggregate's type. Source: DataFusion 54.1 `Sum::return_type`, `Avg::return_type`.
    ///
    /// # Errors
    /// An unknown column, or an argument that the function does not take.
    pub fn data_type(&self, columns: &[Column]) -> Result<Type, ModelError> {
        let Some(argument) = &self.argument else {
            return match self.function {
                Function::Count => Ok(Type::Int64),
                _ => Err(ModelError::Types(self.to_string())),
            };
        };
        let argument = argument.data_type(columns)?;
        match (self.function, argument) {
            (Function::Count, _) => Ok(Type::Int64),
            (Function::Sum, argument) if argument.is_unsigned() => Ok(Type::UInt64),
            (Function::Sum, argument) if argument.is_integer() => Ok(Type::Int64),
            (Function::Sum | Function::Avg, argument) if argument.is_float() => Ok(Type::Float64),
            (Function::Avg, argument) if argument.is_integer() => Ok(Type::Float64),
            (Function::Sum, Type::Decimal { precision, scale }) => {
                Ok(Type::Decimal { precision: MAX_PRECISION.min(precision + 10), scale })
            }
            (Function::Avg, Type::Decimal { precision, scale }) => {
                Ok(Type::Decimal { precision: MAX_PRECISION.min(precision + 4), scale: 38.min(scale + 4) })
            }
            (Function::Min | Function::Max, Type::Dictionary) => Ok(Type::Utf8),
            (Function::Min | Function::Max, _) => Ok(argument),
            _ => Err(ModelError::Types(self.to_string())),
        }
    }
}

impl Query {
    /// Names and types of the answer's columns.
    ///
    /// # Errors
    /// As [`Expr::data_type`].
    pub fn output_columns(&self, table: &[Column]) -> Result<Vec<Column>, ModelError> {
        let columns = self.source.columns(table)?;
        self.outputs
            .iter()
            .map(|output| {
                Ok(Column { name: output.name.clone(), data_type: output.expr.data_type(&columns)?, nullable: true })
            })
            .collect()
    }
}
