//! Compares every answer with the plain one, and times both sides.

use std::io::Write;
use std::time::Duration;

use asap_execution::{Comparison, Difference, FloatTolerance, QueryResult, RowOrder, compare};
use asap_types::{Expr, Operator, QueryExpr};
use comfy_table::{CellAlignment, Table, presets};

use crate::args::{FloatArg, SessionArgs};
use crate::error::CliError;
use crate::plain::PlainAnswer;
use crate::workload::Query;

/// The relative error that is allowed when float sums may be added up in another order.
const REASSOCIATED: f64 = 1e-9;

/// One timed pass over the workload on both sides.
pub(crate) struct Pass {
    pub(crate) asap: Vec<Duration>,
    pub(crate) plain: Vec<Duration>,
}

/// The first difference of an answer from the plain one.
pub(crate) fn difference(
    query: &Query,
    asap: &QueryResult,
    plain: &PlainAnswer,
    args: &SessionArgs,
) -> Result<Option<Difference>, CliError> {
    let how = Comparison {
        order: match &query.lowered {
            Ok(root) => RowOrder::By(ordered_columns(root)),
            Err(_) => RowOrder::Any,
        },
        floats: match args.float {
            FloatArg::Exact => FloatTolerance::Exact,
            FloatArg::Reassociate => FloatTolerance::Relative(REASSOCIATED),
        },
    };
    Ok(compare((&asap.schema, &asap.batches), (&plain.schema, &plain.batches), &how)?)
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

/// Prints the times of a cold and a warm pass.
pub(crate) fn write_times(
    out: &mut dyn Write,
    queries: &[Query],
    sources: &[String],
    cold: &Pass,
    warm: &Pass,
) -> Result<(), CliError> {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["query", "answered from", "asap cold", "plain cold", "asap warm", "plain warm", "warm ratio"]);
    for (index, query) in queries.iter().enumerate() {
        let at = |times: &[Duration]| times.get(index).copied().unwrap_or_default();
        let source = sources.get(index).map(String::as_str).unwrap_or_default();
        table.add_row(time_row(
            &query.name,
            source,
            [at(&cold.asap), at(&cold.plain), at(&warm.asap), at(&warm.plain)],
        ));
    }
    let sum = |times: &[Duration]| times.iter().sum::<Duration>();
    table.add_row(time_row("all", "", [sum(&cold.asap), sum(&cold.plain), sum(&warm.asap), sum(&warm.plain)]));
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    writeln!(
        out,
        "Times in ms, planning included. Cold: a session that has read nothing yet; warm: the same session again."
    )?;
    writeln!(out, "{table}")?;
    if cfg!(debug_assertions) {
        writeln!(out, "This is a debug build: the ratios say little about a release build.")?;
    }
    Ok(())
}

fn time_row(name: &str, source: &str, times: [Duration; 4]) -> Vec<String> {
    let [.., asap, plain] = times;
    let ratio =
        if asap.is_zero() { "-".to_owned() } else { format!("{:.1}x", plain.as_secs_f64() / asap.as_secs_f64()) };
    let cells = times.iter().map(|time| format!("{:.1}", time.as_secs_f64() * 1e3));
    [name.to_owned(), source.to_owned()].into_iter().chain(cells).chain([ratio]).collect()
}
