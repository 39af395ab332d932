//! The table of times of a comparison.

use std::io::Write;
use std::time::Duration;

use comfy_table::{CellAlignment, Table, presets};

use crate::compare::Pass;
use crate::error::CliError;
use crate::explain::Source;
use crate::workload::Query;

/// What was done before the first query.
pub(crate) struct Preparation {
    pub(crate) opening: Duration,
    pub(crate) planning: Duration,
}

/// Prints the times of a cold and a warm pass.
pub(crate) fn write_times(
    out: &mut dyn Write,
    queries: &[Query],
    sources: &[Source],
    before: &Preparation,
    cold: &Pass,
    warm: &Pass,
) -> Result<(), CliError> {
    let mut table = Table::new();
    table.load_preset(presets::ASCII_MARKDOWN);
    table.set_header(["query", "answered from", "asap cold", "plain cold", "asap warm", "plain warm", "warm ratio"]);
    let (cold, warm) = (cold.times(), warm.times());
    let mut sums = [Duration::ZERO; 4];
    for (((query, source), cold), warm) in queries.iter().zip(sources).zip(&cold).zip(&warm) {
        let times = [cold[0], cold[1], warm[0], warm[1]];
        for (sum, time) in sums.iter_mut().zip(times) {
            *sum += time.unwrap_or_default();
        }
        table.add_row(time_row(&query.name, &source.short(), times));
    }
    table.add_row(time_row("all", "", sums.map(Some)));
    for column in table.column_iter_mut().skip(2) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    writeln!(out, "opening the tables: {:.1} ms (rows counted, facts about indexes loaded)", millis(before.opening))?;
    writeln!(out, "planning the workload: {:.1} ms (search, pricing and selection)", millis(before.planning))?;
    writeln!(
        out,
        "\nTimes of the queries in ms, each with its own physical plan. Cold is the first run in a session: asap's has\n\
         opened its tables and planned the workload by then (above), the plain one has opened its tables. Warm is a second\n\
         run in the same session."
    )?;
    writeln!(out, "{table}")?;
    if cfg!(debug_assertions) {
        writeln!(out, "This is a debug build: the ratios say little about a release build.")?;
    }
    Ok(())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn time_row(name: &str, source: &str, times: [Option<Duration>; 4]) -> Vec<String> {
    let absent = || "-".to_owned();
    let ratio = match times {
        [.., Some(asap), Some(plain)] if !asap.is_zero() => format!("{:.1}x", plain.as_secs_f64() / asap.as_secs_f64()),
        _ => absent(),
    };
    let cells = times.iter().map(|time| time.map_or_else(absent, |time| format!("{:.1}", millis(time))));
    [name.to_owned(), source.to_owned()].into_iter().chain(cells).chain([ratio]).collect()
}
