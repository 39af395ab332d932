//! Compares every answer with the plain one, and times both sides.

use std::io::Write;
use std::time::Duration;

use asap_execution::{Comparison, ExecutionError, FloatTolerance, QueryResult, RowOrder, compare};
use asap_types::{Expr, Operator, QueryExpr};
use datafusion::arrow::datatypes::DataType;

use crate::answers::Answered;
use crate::args::FloatArg;
use crate::error::{CliError, reason};
use crate::workload::Query;

/// The relative error that is allowed when float sums may be added up in another order.
const REASSOCIATED: f64 = 1e-9;

/// One pass over the workload on both sides.
pub(crate) struct Pass {
    pub(crate) asap: Vec<Answered>,
    pub(crate) plain: Vec<Result<QueryResult, ExecutionError>>,
}

impl Pass {
    /// The times of each query on both sides; none where it failed.
    pub(crate) fn times(&self) -> Vec<[Option<Duration>; 2]> {
        let elapsed = |result: &Result<QueryResult, ExecutionError>| result.as_ref().ok().map(|result| result.elapsed);
        self.asap.iter().zip(&self.plain).map(|(asap, plain)| [elapsed(&asap.result), elapsed(plain)]).collect()
    }
}

/// What the comparison of a query says.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Equal,
    Different(String),
    /// There is no answer to compare: it failed on both sides.
    Failed,
}

/// The verdict on each query from a cold and a warm pass: equal only if it is in both.
pub(crate) fn verdicts(queries: &[Query], cold: &Pass, warm: &Pass, float: FloatArg) -> Result<Vec<Verdict>, CliError> {
    let first = verdicts_of_pass(queries, cold, float)?;
    let second = verdicts_of_pass(queries, warm, float)?;
    let both = first.into_iter().zip(second).map(|verdicts| match verdicts {
        (Verdict::Equal, Verdict::Different(text)) => Verdict::Different(format!("in the second run: {text}")),
        (Verdict::Equal, Verdict::Failed) => Verdict::Different("in the second run: failed on both sides".to_owned()),
        (first, _) => first,
    });
    Ok(both.collect())
}

fn verdicts_of_pass(queries: &[Query], pass: &Pass, float: FloatArg) -> Result<Vec<Verdict>, CliError> {
    let pairs = pass.asap.iter().map(|answered| &answered.result).zip(&pass.plain);
    queries.iter().zip(pairs).map(|(query, (asap, plain))| verdict(query, asap, plain, float)).collect()
}

fn verdict(
    query: &Query,
    asap: &Result<QueryResult, ExecutionError>,
    plain: &Result<QueryResult, ExecutionError>,
    float: FloatArg,
) -> Result<Verdict, CliError> {
    let one_sided =
        |side: &str, error: &ExecutionError| Verdict::Different(format!("{side} failed: {}", reason(error)));
    let (asap, plain) = match (asap, plain) {
        (Ok(asap), Ok(plain)) => (asap, plain),
        (Err(error), Ok(_)) => return Ok(one_sided("asap", error)),
        (Ok(_), Err(error)) => return Ok(one_sided("plain", error)),
        (Err(_), Err(_)) => return Ok(Verdict::Failed),
    };
    let how = Comparison {
        order: match &query.lowered {
            Ok(root) => RowOrder::By(ordered_columns(root)),
            Err(_) => RowOrder::Any,
        },
        floats: match float {
            FloatArg::Exact => FloatTolerance::Exact,
            FloatArg::Reassociate => FloatTolerance::Relative(REASSOCIATED),
        },
    };
    let difference = compare((&asap.schema, &asap.batches), (&plain.schema, &plain.batches), &how)?;
    Ok(difference.map_or(Verdict::Equal, |difference| Verdict::Different(format!("{difference} (asap against plain)"))))
}

/// The output columns that the query's ORDER BY sorts by: its leading keys, as far as they are output columns.
fn ordered_columns(root: &QueryExpr) -> Vec<usize> {
    match root.operator() {
        Operator::Limit { input, .. } => ordered_columns(input),
        Operator::Sort { keys, .. } => {
            let columns = keys.iter().map_while(|key| match &key.expr {
                Expr::Column(id) => Some(id.index()),
                _ => None,
            });
            columns.collect()
        }
        Operator::Project { columns, input } => {
            let output = |column: usize| columns.iter().position(|output| output.expr == Expr::column(column));
            ordered_columns(input).into_iter().map_while(output).collect()
        }
        _ => Vec::new(),
    }
}

/// Prints what differs or failed, how floats were compared, and the count of equal answers.
pub(crate) fn write_verdicts(
    out: &mut dyn Write,
    queries: &[Query],
    verdicts: &[Verdict],
    cold: &Pass,
    float: FloatArg,
) -> Result<(), CliError> {
    for (query, verdict) in queries.iter().zip(verdicts) {
        match verdict {
            Verdict::Equal => {}
            Verdict::Different(text) => writeln!(out, "DIFFERENT {}: {text}", query.name)?,
            Verdict::Failed => writeln!(out, "FAILED {}: on both sides", query.name)?,
        }
    }
    writeln!(out)?;
    let answers = cold.asap.iter().filter_map(|answered| answered.result.as_ref().ok());
    let mut columns = answers.flat_map(|answer| answer.schema.fields());
    if float == FloatArg::Reassociate && columns.any(|field| *field.data_type() == DataType::Float64) {
        writeln!(out, "floats are compared within a relative error of {REASSOCIATED:e} (--float exact: bit by bit)")?;
    }
    let equal = verdicts.iter().filter(|verdict| **verdict == Verdict::Equal).count();
    Ok(writeln!(out, "equal: {equal}/{}", queries.len())?)
}
