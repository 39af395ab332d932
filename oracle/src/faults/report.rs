//! The table of faults.

use std::fmt;
use std::time::Duration;

use super::{Caught, Fault, FaultRun, Scope, Size};

/// How it went with all faults.
#[derive(Debug, Clone)]
pub struct FaultReport {
    /// The seed of the cases.
    pub seed: u64,
    /// One run for each fault.
    pub runs: Vec<FaultRun>,
}

/// How to print a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Columns for a terminal.
    Text,
    /// A table for the documentation.
    Markdown,
}

impl FaultReport {
    /// The faults that no case failed because of.
    pub fn survivors(&self) -> impl Iterator<Item = Fault> {
        self.runs.iter().filter(|run| run.caught.is_none()).map(|run| run.fault)
    }

    /// The report in a format.
    #[must_use]
    pub fn display(&self, format: Format) -> impl fmt::Display {
        Displayed { report: self, format }
    }

    /// The sizes of shrunk recipes that fail by a fault of this scope, each sorted: fragments, rows, queries.
    fn sizes(&self, scope: Scope) -> [Vec<usize>; 3] {
        let caught: Vec<&Caught> =
            self.runs.iter().filter(|run| run.fault.scope() == scope).filter_map(|run| run.caught.as_ref()).collect();
        let sorted = |size: fn(&Caught) -> usize| {
            let mut sizes: Vec<usize> = caught.iter().map(|caught| size(caught)).collect();
            sizes.sort_unstable();
            sizes
        };
        [sorted(|it| it.size.fragments), sorted(|it| it.size.rows), sorted(|it| it.size.queries)]
    }
}

/// The greater of the two in the middle of an even number; nothing of nothing.
fn median<T: Copy + Default>(sorted: &[T]) -> T {
    sorted.get(sorted.len() / 2).copied().unwrap_or_default()
}

struct Displayed<'a> {
    report: &'a FaultReport,
    format: Format,
}

impl fmt::Display for Displayed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.format {
            Format::Text => writeln!(
                f,
                "{:<28} {:>5} {:>7}  {:<58} {:>9} {:>4} {:>7}",
                "fault", "cases", "seconds", "seen as", "fragments", "rows", "queries"
            )?,
            Format::Markdown => {
                writeln!(f, "| crate | fault | cases | seconds | seen as | fragments | rows | queries |")?;
                writeln!(f, "| --- | --- | ---: | ---: | --- | ---: | ---: | ---: |")?;
            }
        }
        for run in &self.report.runs {
            match self.format {
                Format::Text => text_row(f, run)?,
                Format::Markdown => markdown_row(f, run)?,
            }
        }
        writeln!(f)?;
        summary(f, self.report)
    }
}

fn text_row(f: &mut fmt::Formatter<'_>, run: &FaultRun) -> fmt::Result {
    write!(f, "{:<28} {:>5} {:>7.1}  ", run.fault.name(), run.cases, run.elapsed.as_secs_f64())?;
    match &run.caught {
        Some(Caught { failure, size, .. }) => {
            writeln!(f, "{:<58} {:>9} {:>4} {:>7}", failure.class.to_string(), size.fragments, size.rows, size.queries)
        }
        None => writeln!(f, "SURVIVED, {} cases could reach it", run.reached),
    }
}

fn markdown_row(f: &mut fmt::Formatter<'_>, run: &FaultRun) -> fmt::Result {
    let fault = run.fault;
    let place = fault.file().split('/').next().unwrap_or_default();
    write!(f, "| `{place}` | {} | {} | {:.1} | ", fault.description(), run.cases, run.elapsed.as_secs_f64())?;
    match &run.caught {
        Some(Caught { failure, size, .. }) => {
            let Size { fragments, rows, queries } = size;
            writeln!(f, "{} | {fragments} | {rows} | {queries} |", failure.class)
        }
        None => writeln!(f, "SURVIVED | | | |"),
    }
}

fn summary(f: &mut fmt::Formatter<'_>, report: &FaultReport) -> fmt::Result {
    let mut seconds: Vec<Duration> = report.runs.iter().map(|run| run.elapsed).collect();
    seconds.sort_unstable();
    let survived = report.survivors().count();
    let (all, median_seconds) = (report.runs.len(), median(&seconds).as_secs_f64());
    writeln!(
        f,
        "seed {}: {} of {all} faults caught, in {median_seconds:.1} s by the median; {survived} survived",
        report.seed,
        all - survived
    )?;
    for (scope, name) in [(Scope::Query, "a query"), (Scope::Workload, "a workload")] {
        let [fragments, rows, queries] = report.sizes(scope).map(|sizes| median(&sizes));
        writeln!(
            f,
            "shrunk, faults in the plan of {name}: {fragments} fragments, {rows} rows, {queries} queries by the median"
        )?;
    }
    Ok(())
}
