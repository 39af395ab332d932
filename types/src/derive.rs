//! Derivation of types, nullability and unique keys: the one place that knows them.
//!
//! Types agree with DataFusion's for the same SQL; nullability is SQL's, never narrower than what rows can hold.

use std::collections::BTreeSet;

use arrow_schema::DataType;

use crate::{AggIntent, Aggregate, ColumnId, Expr, Field, Operator, Schema, TypesError, UnaryOp};

const MAX_DECIMAL128: u8 = 38;
const MAX_DECIMAL256: u8 = 76;

/// The type of SUM over a type: integers widen to 64 bits, decimals by ten digits.
///
/// # Errors
/// [`TypesError::ArgumentType`] for a type that cannot be summed.
pub fn sum_type(arg: &DataType) -> Result<DataType, TypesError> {
    Ok(match arg {
        integer if integer.is_signed_integer() => DataType::Int64,
        integer if integer.is_unsigned_integer() => DataType::UInt64,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => DataType::Float64,
        DataType::Decimal128(p, s) => DataType::Decimal128(p.saturating_add(10).min(MAX_DECIMAL128), *s),
        DataType::Decimal256(p, s) => DataType::Decimal256(p.saturating_add(10).min(MAX_DECIMAL256), *s),
        DataType::Duration(unit) => DataType::Duration(*unit),
        other => return Err(argument_type("sum", other)),
    })
}

/// The type of AVG over a type: decimals gain four digits and four places, other numbers average as `Float64`.
///
/// # Errors
/// [`TypesError::ArgumentType`] for a type that cannot be averaged.
pub fn average_type(arg: &DataType) -> Result<DataType, TypesError> {
    let widen = |p: u8, s: i8, max: u8| {
        let max_scale = i8::try_from(max).unwrap_or(i8::MAX);
        (p.saturating_add(4).min(max), s.saturating_add(4).min(max_scale))
    };
    Ok(match arg {
        number if number.is_integer() => DataType::Float64,
        DataType::Float16 | DataType::Float32 | DataType::Float64 => DataType::Float64,
        DataType::Decimal128(p, s) => {
            let (p, s) = widen(*p, *s, MAX_DECIMAL128);
            DataType::Decimal128(p, s)
        }
        DataType::Decimal256(p, s) => {
            let (p, s) = widen(*p, *s, MAX_DECIMAL256);
            DataType::Decimal256(p, s)
        }
        DataType::Duration(unit) => DataType::Duration(*unit),
        other => return Err(argument_type("avg", other)),
    })
}

fn argument_type(function: &str, data_type: &DataType) -> TypesError {
    TypesError::ArgumentType { function: function.to_owned(), data_type: data_type.clone() }
}

impl Expr<ColumnId> {
    /// The type of the value over rows of a schema.
    ///
    /// # Errors
    /// A column out of range, or operands whose types do not fit.
    pub fn data_type(&self, input: &Schema) -> Result<DataType, TypesError> {
        // Each operand is typed once: twice would double the work with every level of nesting.
        let typed = |result: DataType| {
            self.children().into_iter().try_for_each(|child| child.data_type(input).map(drop))?;
            Ok(result)
        };
        match self {
            Self::Column(id) => Ok(field(*id, input)?.data_type.clone()),
            Self::Literal(literal) => Ok(literal.data_type.clone()),
            Self::Compare { left, right, .. } => {
                let (left, right) = (left.data_type(input)?, right.data_type(input)?);
                if left == right {
                    Ok(DataType::Boolean)
                } else {
                    Err(TypesError::OperandTypes { operator: "a comparison", left, right })
                }
            }
            Self::Logical { left, right, .. } => {
                expect_boolean(left, input)?;
                expect_boolean(right, input)?;
                Ok(DataType::Boolean)
            }
            Self::InList { .. } | Self::Like { .. } => typed(DataType::Boolean),
            Self::Arithmetic { data_type, .. } | Self::AverageFromParts { data_type, .. } => typed(data_type.clone()),
            Self::Unary { op: UnaryOp::Negative, arg } => arg.data_type(input),
            Self::Unary { op: UnaryOp::IsNull | UnaryOp::IsNotNull, .. } => typed(DataType::Boolean),
            Self::Unary { arg, .. } => expect_boolean(arg, input).map(|()| DataType::Boolean),
            Self::Cast { to, .. } => typed(to.clone()),
            Self::Case { branches, .. } if branches.is_empty() => Err(TypesError::EmptyCase),
            Self::Case { operand, branches, otherwise } => {
                let tests = operand.as_deref().into_iter().chain(branches.iter().map(|(when, _)| when));
                tests.into_iter().try_for_each(|test| test.data_type(input).map(drop))?;
                let values = branches.iter().map(|(_, then)| then).chain(otherwise.as_deref());
                let types = values.map(|value| value.data_type(input)).collect::<Result<Vec<_>, _>>()?;
                Ok(types.into_iter().find(|data_type| *data_type != DataType::Null).unwrap_or(DataType::Null))
            }
            Self::Function { facts, .. } => typed(facts.data_type.clone()),
        }
    }

    /// Whether the value over rows of a schema can be NULL.
    ///
    /// # Errors
    /// A column out of range.
    pub fn nullable(&self, input: &Schema) -> Result<bool, TypesError> {
        let any_child = |expr: &Self| -> Result<bool, TypesError> {
            expr.children().into_iter().try_fold(false, |any, child| Ok(any | child.nullable(input)?))
        };
        match self {
            Self::Column(id) => Ok(field(*id, input)?.nullable),
            Self::Literal(literal) => Ok(literal.is_null()),
            Self::Compare { op, .. } => {
                let total = matches!(op, crate::CompareOp::IsDistinctFrom | crate::CompareOp::IsNotDistinctFrom);
                Ok(!total && any_child(self)?)
            }
            Self::Unary { op: UnaryOp::Not | UnaryOp::Negative, arg } => arg.nullable(input),
            Self::Unary { .. } => Ok(false),
            Self::Cast { arg, null_on_failure, .. } => Ok(*null_on_failure || arg.nullable(input)?),
            Self::Case { branches, otherwise, .. } => {
                let Some(otherwise) = otherwise else { return Ok(true) };
                branches
                    .iter()
                    .map(|(_, then)| then)
                    .chain(std::iter::once(&**otherwise))
                    .try_fold(false, |any, value| Ok(any | value.nullable(input)?))
            }
            Self::Function { facts, .. } => Ok(facts.nullable),
            Self::AverageFromParts { .. } => Ok(true),
            Self::Logical { .. } | Self::Arithmetic { .. } | Self::InList { .. } | Self::Like { .. } => any_child(self),
        }
    }

    /// Whether no row of a schema can make the evaluation raise an error. Conservative: `false` is always a safe answer.
    #[must_use]
    pub fn cannot_fail(&self, input: &Schema) -> bool {
        let own = match self {
            Self::Column(_)
            | Self::Literal(_)
            | Self::Logical { .. }
            | Self::Compare { .. }
            | Self::InList { .. }
            | Self::Case { .. } => true,
            // A pattern that is not a constant may be malformed; an escape other than the default is checked at run time.
            Self::Like { pattern, escape, .. } => escape.is_none() && matches!(**pattern, Self::Literal(_)),
            // Integer division by zero and decimal or temporal overflow are errors; floats never are, integers wrap.
            Self::Arithmetic { op, data_type, .. } => match data_type {
                DataType::Float16 | DataType::Float32 | DataType::Float64 => true,
                integer if integer.is_integer() => {
                    !matches!(op, crate::ArithmeticOp::Divide | crate::ArithmeticOp::Modulo)
                }
                _ => false,
            },
            Self::Unary { op: UnaryOp::Negative, arg } => {
                arg.data_type(input).is_ok_and(|data_type| data_type.is_floating())
            }
            Self::Unary { .. } => true,
            Self::Cast { arg, to, null_on_failure } => {
                *null_on_failure || arg.data_type(input).is_ok_and(|from| cast_cannot_fail(&from, to))
            }
            Self::Function { facts, .. } => !facts.can_fail,
            Self::AverageFromParts { data_type, .. } => data_type.is_floating(),
        };
        own && self.children().into_iter().all(|child| child.cannot_fail(input))
    }
}

/// Whether every value of a type converts to the other without error: identities, widenings of integers and decimals,
/// any number to a float, any string to a string. The value may be rounded.
fn cast_cannot_fail(from: &DataType, to: &DataType) -> bool {
    use DataType::{Int8, Int16, Int32, Int64, UInt8, UInt16, UInt32, UInt64};
    if from == to || (from.is_numeric() && to.is_floating()) {
        return true;
    }
    match (from, to) {
        (Int8, Int16 | Int32 | Int64) | (Int16, Int32 | Int64) | (Int32, Int64) => true,
        (UInt8, UInt16 | UInt32 | UInt64 | Int16 | Int32 | Int64) => true,
        (UInt16, UInt32 | UInt64 | Int32 | Int64) | (UInt32, UInt64 | Int64) => true,
        (from, to) if from.is_string() && to.is_string() => true,
        (DataType::Dictionary(_, value), to) => cast_cannot_fail(value, to),
        (DataType::Decimal128(p1, s1), DataType::Decimal128(p2, s2)) => {
            s1 <= s2 && i16::from(*p1) - i16::from(*s1) <= i16::from(*p2) - i16::from(*s2)
        }
        (DataType::Null, _) => true,
        _ => false,
    }
}

fn field(column: ColumnId, input: &Schema) -> Result<&Field, TypesError> {
    input.field(column).ok_or(TypesError::ColumnOutOfRange { column: column.index(), columns: input.len() })
}

fn expect_boolean(expr: &Expr, input: &Schema) -> Result<(), TypesError> {
    match expr.data_type(input)? {
        DataType::Boolean | DataType::Null => Ok(()),
        data_type => Err(TypesError::PredicateNotBoolean { data_type }),
    }
}

impl AggIntent<ColumnId> {
    /// The type of the measure over rows of a schema.
    ///
    /// # Errors
    /// An argument type that the aggregate does not take, or an invalid argument.
    pub fn data_type(&self, input: &Schema) -> Result<DataType, TypesError> {
        match self {
            Self::Count { .. } => Ok(DataType::Int64),
            Self::Sum { arg } | Self::Sum0 { arg } => sum_type(&arg.data_type(input)?),
            Self::Min { arg } | Self::Max { arg } => match arg.data_type(input)? {
                // DataFusion's extrema of a dictionary are values of the dictionary.
                DataType::Dictionary(_, value) => Ok(*value),
                plain => Ok(plain),
            },
            Self::Avg { arg } => average_type(&arg.data_type(input)?),
            Self::Rate { arg } => arg.data_type(input).map(|_| DataType::Float64),
            Self::Named { args, facts, .. } => {
                args.iter().try_for_each(|arg| arg.data_type(input).map(drop))?;
                Ok(facts.data_type.clone())
            }
        }
    }

    /// Whether the measure can be NULL: counts and [`AggIntent::Sum0`] never, the rest over no non-NULL value. Groups
    /// with only NULLs or only filtered rows exist, so no other measure is ever narrower.
    #[must_use]
    pub fn nullable(&self) -> bool {
        match self {
            Self::Count { .. } | Self::Sum0 { .. } => false,
            Self::Named { facts, .. } => facts.nullable,
            _ => true,
        }
    }
}

/// The output schema of an operator whose input has a schema.
pub(crate) fn operator_schema<N>(
    operator: &Operator<N>,
    input_schema: impl Fn(&N) -> Result<Schema, TypesError>,
) -> Result<Schema, TypesError> {
    match operator {
        Operator::Scan { schema, predicates, .. } => {
            predicates.iter().try_for_each(|predicate| expect_boolean(&predicate.0, schema))?;
            Ok(schema.clone())
        }
        Operator::Filter { predicate, input } => {
            let schema = input_schema(input)?;
            expect_boolean(&predicate.0, &schema)?;
            Ok(schema)
        }
        Operator::Project { columns, input } => project_schema(columns, &input_schema(input)?),
        Operator::Aggregate(aggregate) => aggregate_schema(aggregate, &input_schema(&aggregate.input)?),
        Operator::Distinct { input } => {
            let schema = input_schema(input)?;
            let all = 0..schema.len();
            Ok(schema.with_unique_key(all))
        }
        Operator::Sort { keys, input } => {
            let schema = input_schema(input)?;
            keys.iter().try_for_each(|key| key.expr.data_type(&schema).map(drop))?;
            Ok(schema)
        }
        Operator::Limit { fetch, input, .. } => {
            let schema = input_schema(input)?;
            Ok(if matches!(fetch, Some(0 | 1)) { schema.with_unique_key([]) } else { schema })
        }
    }
}

fn project_schema(columns: &[crate::NamedExpr], input: &Schema) -> Result<Schema, TypesError> {
    let fields = columns
        .iter()
        .map(|column| Ok(Field::new(&column.name, column.expr.data_type(input)?, column.expr.nullable(input)?)))
        .collect::<Result<Vec<_>, TypesError>>()?;
    let output_of = |id: &ColumnId| columns.iter().position(|column| column.expr == Expr::Column(*id)).map(ColumnId);
    let keys = input.unique_keys().iter().filter_map(|key| key.iter().map(output_of).collect());
    Ok(Schema::new(fields).with_keys(keys.collect::<Vec<BTreeSet<ColumnId>>>()))
}

/// The output schema of an aggregate: keys, then measures. `by` is a unique key of it if the grouping is relational;
/// otherwise labels that are no output columns tell the groups apart, and no key is known.
pub(crate) fn aggregate_schema<N>(aggregate: &Aggregate<N>, input: &Schema) -> Result<Schema, TypesError> {
    let by = aggregate.keys();
    aggregate.reduction.without().iter().try_for_each(|label| label.data_type(input).map(drop))?;
    let measures = aggregate.measures.len();
    if !aggregate.filters.fits(measures) {
        return Err(TypesError::FilterCount { measures, filters: aggregate.filters.len() });
    }
    let columns = by.len() + measures;
    if aggregate.output_names.len() != columns {
        return Err(TypesError::OutputNameCount { columns, names: aggregate.output_names.len() });
    }
    for filter in aggregate.filters.predicates() {
        expect_boolean(&filter.0, input)?;
    }
    let keys = by.iter().map(|key| Ok((key.data_type(input)?, key.nullable(input)?)));
    let values = aggregate.measures.iter().map(|measure| Ok((measure.data_type(input)?, measure.nullable())));
    let fields = keys
        .chain(values)
        .zip(&aggregate.output_names)
        .map(|(typed, name)| typed.map(|(data_type, nullable)| Field::new(name, data_type, nullable)))
        .collect::<Result<Vec<_>, TypesError>>()?;
    let schema = Schema::new(fields);
    let schema = if aggregate.reduction.is_relational() { schema.with_unique_key(0..by.len()) } else { schema };
    if let Some(having) = &aggregate.having {
        expect_boolean(&having.0, &schema)?;
    }
    Ok(schema)
}
