//! Equality of answers.

use std::fmt;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch, UInt64Array};
use datafusion::arrow::compute::{concat_batches, take_record_batch};
use datafusion::arrow::datatypes::{DataType, Float64Type, SchemaRef};
use datafusion::arrow::row::{RowConverter, Rows, SortField};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::error::DataFusionError;

use crate::ExecutionError;

/// What the order of rows means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowOrder {
    /// Nothing: answers are compared as multisets of rows.
    Any,
    /// The answers must also agree on the sequence of values of these columns, as ORDER BY on them demands; rows that
    /// tie on them may come in any order.
    By(Vec<usize>),
}

/// How floats are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FloatTolerance {
    /// By bits.
    Exact,
    /// Within a relative error, for sums whose terms were added in another order.
    Relative(f64),
}

/// How two answers are compared.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// What the order of rows means.
    pub order: RowOrder,
    /// How floats are compared.
    pub floats: FloatTolerance,
}

impl Comparison {
    /// Multisets of rows, floats by bits.
    #[must_use]
    pub fn exact() -> Self {
        Self { order: RowOrder::Any, floats: FloatTolerance::Exact }
    }
}

/// Where two answers first differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Names or types of columns. Nullability is not compared: it may be proven narrower.
    Schema {
        /// The first answer's columns.
        left: String,
        /// The second answer's columns.
        right: String,
    },
    /// The number of rows.
    RowCount {
        /// The first answer's rows.
        left: usize,
        /// The second answer's rows.
        right: usize,
    },
    /// A row.
    Row {
        /// The row of the first answer, after sorting both alike.
        left: String,
        /// The row of the second answer.
        right: String,
    },
    /// The order of rows.
    Order {
        /// The zero-based row at which the sequences part.
        row: usize,
        /// The row of the first answer.
        left: String,
        /// The row of the second answer.
        right: String,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Schema { left, right } => write!(f, "columns differ: {left} against {right}"),
            Self::RowCount { left, right } => write!(f, "row counts differ: {left} against {right}"),
            Self::Row { left, right } => write!(f, "rows differ: {left} against {right}"),
            Self::Order { row, left, right } => write!(f, "order differs at row {row}: {left} against {right}"),
        }
    }
}

/// The first difference of two answers, or `None` if they are equal.
///
/// # Errors
/// Arrow's, for a type that it cannot order.
pub fn compare(
    left: (&SchemaRef, &[RecordBatch]),
    right: (&SchemaRef, &[RecordBatch]),
    how: &Comparison,
) -> Result<Option<Difference>, ExecutionError> {
    if !same_columns(left.0, right.0) {
        return Ok(Some(Difference::Schema { left: columns_text(left.0), right: columns_text(right.0) }));
    }
    let left = concat_batches(left.0, left.1).map_err(arrow_error)?;
    let right = concat_batches(right.0, right.1).map_err(arrow_error)?;
    if left.num_rows() != right.num_rows() {
        return Ok(Some(Difference::RowCount { left: left.num_rows(), right: right.num_rows() }));
    }
    if left.num_columns() == 0 {
        return Ok(None);
    }
    if let RowOrder::By(columns) = &how.order
        && let Some(row) = first_mismatch(&columns_at(&left, columns)?, &columns_at(&right, columns)?, how.floats)?
    {
        return Ok(Some(Difference::Order { row, left: row_text(&left, row)?, right: row_text(&right, row)? }));
    }
    let (left, right) = (sorted(&left)?, sorted(&right)?);
    match first_mismatch(&left, &right, how.floats)? {
        Some(row) => Ok(Some(Difference::Row { left: row_text(&left, row)?, right: row_text(&right, row)? })),
        None => Ok(None),
    }
}

fn arrow_error(error: datafusion::arrow::error::ArrowError) -> ExecutionError {
    DataFusionError::from(error).into()
}

fn same_columns(left: &SchemaRef, right: &SchemaRef) -> bool {
    left.fields().len() == right.fields().len()
        && left.fields().iter().zip(right.fields()).all(|(l, r)| l.name() == r.name() && l.data_type() == r.data_type())
}

fn columns_text(schema: &SchemaRef) -> String {
    let columns = schema.fields().iter().map(|field| format!("{} {}", field.name(), field.data_type()));
    format!("({})", columns.collect::<Vec<_>>().join(", "))
}

fn columns_at(batch: &RecordBatch, columns: &[usize]) -> Result<RecordBatch, ExecutionError> {
    batch.project(columns).map_err(arrow_error)
}

fn row_text(batch: &RecordBatch, row: usize) -> Result<String, ExecutionError> {
    let values = batch
        .columns()
        .iter()
        .map(|column| match column.is_null(row) {
            true => Ok("NULL".to_owned()),
            false => array_value_to_string(column, row).map_err(arrow_error),
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(format!("({})", values.join(", ")))
}

/// The rows in an order that depends on their values alone: floats last, so that they only break ties and values that
/// are nearly equal meet each other.
fn sorted(batch: &RecordBatch) -> Result<RecordBatch, ExecutionError> {
    let (floats, others): (Vec<&ArrayRef>, Vec<&ArrayRef>) =
        batch.columns().iter().partition(|column| column.data_type().is_floating());
    let columns: Vec<ArrayRef> = others.into_iter().chain(floats).cloned().collect();
    let rows = encode(&columns)?;
    let mut order: Vec<usize> = (0..batch.num_rows()).collect();
    order.sort_by(|&left, &right| rows.row(left).cmp(&rows.row(right)));
    let order: UInt64Array = order.into_iter().map(|row| row as u64).collect();
    take_record_batch(batch, &order).map_err(arrow_error)
}

fn encode(columns: &[ArrayRef]) -> Result<Rows, ExecutionError> {
    let fields = columns.iter().map(|column| SortField::new(column.data_type().clone())).collect();
    let converter = RowConverter::new(fields).map_err(arrow_error)?;
    converter.convert_columns(columns).map_err(arrow_error)
}

/// The first row in which two batches of one shape differ.
fn first_mismatch(
    left: &RecordBatch,
    right: &RecordBatch,
    floats: FloatTolerance,
) -> Result<Option<usize>, ExecutionError> {
    let mut first: Option<usize> = None;
    for (left, right) in left.columns().iter().zip(right.columns()) {
        let mismatch = match (left.data_type(), floats) {
            (DataType::Float64, FloatTolerance::Relative(tolerance)) => {
                let (left, right) = (left.as_primitive::<Float64Type>(), right.as_primitive::<Float64Type>());
                left.iter().zip(right.iter()).position(|pair| !nearly_equal(pair, tolerance))
            }
            _ => {
                let (left, right) = (encode(std::slice::from_ref(left))?, encode(std::slice::from_ref(right))?);
                left.iter().zip(right.iter()).position(|(left, right)| left != right)
            }
        };
        first = [first, mismatch].into_iter().flatten().min();
    }
    Ok(first)
}

fn nearly_equal(pair: (Option<f64>, Option<f64>), tolerance: f64) -> bool {
    match pair {
        (None, None) => true,
        (Some(left), Some(right)) => {
            left.to_bits() == right.to_bits()
                || (left.is_nan() && right.is_nan())
                || (left.is_finite()
                    && right.is_finite()
                    && (left - right).abs() <= tolerance * left.abs().max(right.abs()))
        }
        _ => false,
    }
}
