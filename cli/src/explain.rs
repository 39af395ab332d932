//! What a run did, as text.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Arc;

use asap_execution::{RunObserver, SharedNode};
use asap_types::{GraphFormat, NodeId};
use datafusion::physical_plan::ExecutionPlan;
use lance_pushdown::{Bucket, LancePushdown, PushdownReport};

use crate::error::CliError;
use crate::planning::Planned;
use crate::workload::Query;

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

/// Prints the workload before and after planning, and which query is answered from which.
pub(crate) fn write_plan(out: &mut dyn Write, queries: &[Query], planned: &Planned) -> Result<(), CliError> {
    writeln!(out, "Workload as written (equal parts shared):\n")?;
    writeln!(out, "{}", planned.before.render(GraphFormat::Tree))?;
    writeln!(out, "Workload as planned:\n")?;
    writeln!(out, "{}", planned.selection.dag.render(GraphFormat::Tree))?;
    writeln!(out, "Which query is answered from which:\n")?;
    for (query, answered) in queries.iter().zip(answered_from(queries, planned)) {
        writeln!(out, "  {}: {answered}", query.name)?;
    }
    let derived = planned.sources().into_iter().flatten().count();
    let repeats = planned.repeats().into_iter().flatten().count();
    writeln!(out, "\n{derived} of {} queries read another query's aggregate", queries.len())?;
    writeln!(out, "{repeats} of {} queries repeat another query (not counted above)\n", queries.len())?;
    Ok(())
}

/// For each query, a few words on where its answer comes from.
pub(crate) fn answered_from(queries: &[Query], planned: &Planned) -> Vec<String> {
    let (sources, repeats) = (planned.sources(), planned.repeats());
    queries
        .iter()
        .enumerate()
        .map(|(index, query)| match (&query.lowered, repeats.get(index), sources.get(index)) {
            (Err(refused), ..) => format!("itself alone: {refused}"),
            (_, Some(Some(first)), _) => format!("same as {first}"),
            (_, _, Some(Some(source))) => format!("aggregate of {source}"),
            _ => "table".to_owned(),
        })
        .collect()
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
