//! The last check: a lowered query has the columns of DataFusion's plan.

use asap_types::{Field, QueryExpr, Schema};
use datafusion_common::DFSchema;

use crate::FrontendError;
use crate::source::Source;

/// Names and types must be equal, in order. Nullability is not compared: the IR derives its own.
pub(crate) fn same_columns(query: &QueryExpr, planned: &DFSchema, source: &Source) -> Result<(), FrontendError> {
    let fields = planned.fields().iter();
    let expected: Vec<Field> =
        fields.map(|field| Field::new(field.name(), field.data_type().clone(), field.is_nullable())).collect();
    let found = query.schema().fields();
    let equal = expected.len() == found.len()
        && expected.iter().zip(found).all(|(left, right)| left.name == right.name && left.data_type == right.data_type);
    if equal {
        return Ok(());
    }
    Err(FrontendError::SchemaDiffers {
        expected: Box::new(Schema::new(expected)),
        found: Box::new(query.schema().clone()),
        span: source.whole(),
    })
}
