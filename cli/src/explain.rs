//! What a run did, as text.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

use asap_execution::{RunObserver, SharedNode};
use asap_types::{GraphFormat, NodeId};
use datafusion::physical_plan::ExecutionPlan;
use lance_pushdown::{Bucket, LancePushdown, PushdownReport};

use crate::answers::Answered;
use crate::error::CliError;
use crate::planning::Planned;
use crate::workload::{Query, WorkloadText};

/// Collects, per executed plan, what the scans were answered from.
pub(crate) struct PushdownLog {
    pushdown: LancePushdown,
    pub(crate) plans: Vec<(Option<usize>, NodeId, Vec<PushdownReport>)>,
    pub(crate) shared: Vec<SharedNode>,
}

impl PushdownLog {
    pub(crate) fn new(pushdown: &LancePushdown) -> Self {
        pushdown.take_reports();
        Self { pushdown: pushdown.clone(), plans: Vec::new(), shared: Vec::new() }
    }
}

impl RunObserver for PushdownLog {
    fn planned(&mut self, root: Option<usize>, node: NodeId, _: &Arc<dyn ExecutionPlan>) {
        self.plans.push((root, node, self.pushdown.take_reports()));
    }

    fn computed(&mut self, shared: SharedNode) {
        self.shared.push(shared);
    }
}

/// Where a query's answer comes from.
pub(crate) enum Source {
    Table,
    SameAs(String),
    AggregateOf(String),
    /// Its own text, and why.
    ItselfAlone(String),
}

impl Source {
    /// Without the reason.
    pub(crate) fn short(&self) -> String {
        match self {
            Self::Table => "table".to_owned(),
            Self::SameAs(first) => format!("same as {first}"),
            Self::AggregateOf(source) => format!("aggregate of {source}"),
            Self::ItselfAlone(_) => "itself alone".to_owned(),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.short())?;
        match self {
            Self::ItselfAlone(why) => write!(f, ": {why}"),
            _ => Ok(()),
        }
    }
}

/// The source of each query. `answers` says which plans failed; it is empty before the workload has run.
pub(crate) fn sources(
    workload: &WorkloadText,
    queries: &[Query],
    planned: &Planned,
    answers: &[Answered],
) -> Vec<Source> {
    let (derived, repeats) = (planned.sources(), planned.repeats());
    let source = |(index, query): (usize, &Query)| {
        if let Err(refused) = &query.lowered {
            let (line, column) = workload.line_and_column(refused.span().start);
            let place = format!("{}:{line}:{column}", workload.name);
            return Source::ItselfAlone(one_line(&format!("{refused} ({place}; {})", refused.hint())));
        }
        if let Some(error) = answers.get(index).and_then(|answered| answered.plan_failed.as_ref()) {
            return Source::ItselfAlone(one_line(&format!("its plan failed: {error}")));
        }
        match (repeats.get(index), derived.get(index)) {
            (Some(Some(first)), _) => Source::SameAs(first.clone()),
            (_, Some(Some(source))) => Source::AggregateOf(source.clone()),
            _ => Source::Table,
        }
    };
    queries.iter().enumerate().map(source).collect()
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Prints the workload before and after planning, and which query is answered from which.
pub(crate) fn write_plan(
    out: &mut dyn Write,
    queries: &[Query],
    planned: &Planned,
    sources: &[Source],
) -> Result<(), CliError> {
    writeln!(out, "Workload as written (equal parts shared):\n")?;
    writeln!(out, "{}", planned.before.render(GraphFormat::Tree))?;
    writeln!(out, "Workload as planned:\n")?;
    writeln!(out, "{}", planned.selection.dag.render(GraphFormat::Tree))?;
    writeln!(out, "Which query is answered from which:\n")?;
    for (query, source) in queries.iter().zip(sources) {
        writeln!(out, "  {}: {source}", query.name)?;
    }
    let derived = planned.sources().into_iter().flatten().count();
    let repeats = planned.repeats().into_iter().flatten().count();
    writeln!(out, "\n{derived} of {} queries read another query's aggregate", queries.len())?;
    writeln!(out, "{repeats} of {} queries repeat another query (not counted above)\n", queries.len())?;
    Ok(())
}

/// Prints what the fragments of each scan below an ungrouped aggregate were answered from, and the totals.
pub(crate) fn write_scans(
    out: &mut dyn Write,
    queries: &[Query],
    planned: &Planned,
    log: &PushdownLog,
) -> Result<(), CliError> {
    if log.plans.iter().any(|(.., reports)| !reports.is_empty()) {
        write_fragments(out, queries, planned, log)?;
    }
    for shared in &log.shared {
        let place = if shared.spilled {
            "spilled to disk".to_owned()
        } else {
            format!("{:.1} KiB", shared.memory as f64 / 1024.0)
        };
        writeln!(out, "shared node n{}: computed once, {} rows, {place}", shared.node.0, shared.rows)?;
    }
    Ok(writeln!(out)?)
}

fn write_fragments(
    out: &mut dyn Write,
    queries: &[Query],
    planned: &Planned,
    log: &PushdownLog,
) -> Result<(), CliError> {
    writeln!(out, "What the fragments of each scan were answered from:\n")?;
    let mut totals: BTreeMap<&str, usize> = BTreeMap::new();
    for (root, node, reports) in &log.plans {
        let reader = match root {
            Some(position) => {
                let query = planned.roots.iter().position(|root| root == &Some(*position));
                query.and_then(|query| queries.get(query)).map(|query| query.name.clone()).unwrap_or_default()
            }
            None => format!("shared node n{}", node.0),
        };
        for report in reports {
            write_scan(out, &reader, report, &mut totals)?;
        }
    }
    let total = |bucket: &str| totals.get(bucket).copied().unwrap_or(0);
    let (literal, index, scan) = (total("literal"), total("index"), total("scan"));
    Ok(writeln!(out, "\nfragments: {literal} literal, {index} index, {scan} scan")?)
}

fn write_scan(
    out: &mut dyn Write,
    reader: &str,
    report: &PushdownReport,
    totals: &mut BTreeMap<&str, usize>,
) -> Result<(), CliError> {
    let sizes = report.bucket_sizes();
    *totals.entry("literal").or_default() += sizes.literal;
    *totals.entry("index").or_default() += sizes.index;
    *totals.entry("scan").or_default() += sizes.scan;
    if let Some(refusal) = report.refusal {
        return Ok(writeln!(out, "  {reader}: scan of all {} fragments: {refusal}", sizes.scan)?);
    }
    let filter = report.filter.as_ref().map(|filter| format!(" where {filter}")).unwrap_or_default();
    writeln!(out, "  {reader}: {}{filter}", report.aggregates.join(", "))?;
    let mut groups: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for fragment in &report.fragments {
        let answer = match (fragment.bucket, fragment.deleted_rows) {
            (Bucket::Literal, Some(deleted)) if deleted > 0 => {
                format!("literal ({deleted} deleted rows recorded)")
            }
            (bucket, _) => bucket.to_string(),
        };
        groups.entry(answer).or_default().push(fragment.fragment_id.to_string());
    }
    for (answer, fragments) in groups {
        writeln!(out, "    {answer}: fragments {}", fragments.join(", "))?;
    }
    Ok(())
}
