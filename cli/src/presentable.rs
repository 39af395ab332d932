//! Values that Arrow cannot print as they are: decimals beyond the digits of their type, which DataFusion's sums make, and
//! dates and timestamps beyond the calendar.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Decimal256Array, RecordBatch, StringArray};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{
    DECIMAL256_MAX_PRECISION, DataType, Decimal128Type, Field, Int64Type, Schema, i256,
};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};

/// The batch with all digits of its decimals, and with the number behind each date or time that has no text.
pub(crate) fn presentable(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns = batch.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    if columns.iter().zip(batch.columns()).all(|(shown, column)| shown.data_type() == column.data_type()) {
        return Ok(batch.clone());
    }
    let schema = batch.schema();
    let shown = |(field, column): (&Arc<Field>, &ArrayRef)| {
        Field::new(field.name(), column.data_type().clone(), field.is_nullable())
    };
    let fields = schema.fields().iter().zip(&columns).map(shown);
    RecordBatch::try_new(Arc::new(Schema::new(fields.collect::<Vec<_>>())), columns)
}

fn column(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.data_type() {
        DataType::Decimal128(precision, scale) => decimals(column, *precision, *scale),
        DataType::Date32 | DataType::Date64 | DataType::Timestamp(..) => times(column),
        _ => Ok(ArrayRef::clone(column)),
    }
}

/// With more digits where the type has too few for a value.
fn decimals(column: &ArrayRef, precision: u8, scale: i8) -> Result<ArrayRef, ArrowError> {
    let decimals = column.as_primitive::<Decimal128Type>();
    if decimals.validate_decimal_precision(precision).is_ok() {
        return Ok(ArrayRef::clone(column));
    }
    let wide: Decimal256Array = decimals.iter().map(|value| value.map(i256::from_i128)).collect();
    Ok(Arc::new(wide.with_precision_and_scale(DECIMAL256_MAX_PRECISION, scale)?))
}

/// As text where a value is beyond the calendar, which is then the number of units since 1970.
fn times(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let options = FormatOptions::new().with_display_error(false);
    let formatter = ArrayFormatter::try_new(column, &options)?;
    let text = |row: usize| (!column.is_null(row)).then(|| formatter.value(row).try_to_string());
    let texts: Vec<Option<Result<String, ArrowError>>> = (0..column.len()).map(text).collect();
    if !texts.iter().flatten().any(Result::is_err) {
        return Ok(ArrayRef::clone(column));
    }
    let numbers = cast(&cast(column, &number_type(column))?, &DataType::Int64)?;
    let numbers = numbers.as_primitive::<Int64Type>();
    let shown = texts.into_iter().zip(numbers).map(|(text, number)| match (text?, number) {
        (Err(_), Some(number)) => Some(number.to_string()),
        (text, _) => text.ok(),
    });
    Ok(Arc::new(shown.collect::<StringArray>()))
}

fn number_type(column: &ArrayRef) -> DataType {
    if *column.data_type() == DataType::Date32 { DataType::Int32 } else { DataType::Int64 }
}
