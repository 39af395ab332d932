//! The value of an average from its sum and its count.

use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, Decimal128Array, Float64Array};
use datafusion::arrow::datatypes::{DataType, Decimal128Type, Float64Type, Int64Type};
use datafusion::common::{Result, exec_err, plan_err};
use datafusion::logical_expr::{ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility};
use datafusion_functions_aggregate_common::utils::DecimalAverager;

/// `average_from_parts(sum, count)`: exactly what DataFusion's AVG makes of its final state. NULL for a count of 0.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct AverageFromParts {
    data_type: DataType,
    signature: Signature,
}

impl AverageFromParts {
    pub(crate) fn udf(data_type: DataType) -> Arc<ScalarUDF> {
        let signature = Signature::any(2, Volatility::Immutable);
        Arc::new(ScalarUDF::new_from_impl(Self { data_type, signature }))
    }
}

impl ScalarUDFImpl for AverageFromParts {
    fn name(&self) -> &'static str {
        "average_from_parts"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, arg_types: &[DataType]) -> Result<DataType> {
        match (arg_types, &self.data_type) {
            ([DataType::Float64, DataType::Int64], DataType::Float64)
            | ([DataType::Decimal128(..), DataType::Int64], DataType::Decimal128(..)) => Ok(self.data_type.clone()),
            _ => plan_err!("an average of type {} cannot be made from {arg_types:?}", self.data_type),
        }
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let arrays = ColumnarValue::values_to_arrays(&args.args)?;
        let [sum, count] = arrays.as_slice() else {
            return exec_err!("average_from_parts takes a sum and a count");
        };
        average(sum, count, &self.data_type).map(ColumnarValue::Array)
    }
}

fn average(sum: &ArrayRef, count: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let counts = count.as_primitive::<Int64Type>();
    let count_at = |row: usize| (!counts.is_null(row) && counts.value(row) != 0).then(|| counts.value(row));
    match (sum.data_type(), data_type) {
        (DataType::Float64, DataType::Float64) => {
            let sums = sum.as_primitive::<Float64Type>();
            #[expect(clippy::cast_precision_loss, reason = "AVG divides by the count as a float, too")]
            let value = |row: usize| (!sums.is_null(row)).then(|| Some(sums.value(row) / count_at(row)? as f64));
            Ok(Arc::new((0..sums.len()).map(|row| value(row).flatten()).collect::<Float64Array>()))
        }
        (DataType::Decimal128(_, sum_scale), DataType::Decimal128(precision, scale)) => {
            let averager = DecimalAverager::<Decimal128Type>::try_new(*sum_scale, *precision, *scale)?;
            let sums = sum.as_primitive::<Decimal128Type>();
            let averages = (0..sums.len())
                .map(|row| match count_at(row) {
                    Some(count) if !sums.is_null(row) => averager.avg(sums.value(row), count.into()).map(Some),
                    _ => Ok(None),
                })
                .collect::<Result<Decimal128Array>>()?;
            Ok(Arc::new(averages.with_precision_and_scale(*precision, *scale)?))
        }
        (sum, data_type) => exec_err!("an average of type {data_type} cannot be made from a sum of type {sum}"),
    }
}
