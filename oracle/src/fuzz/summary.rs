//! The report for people, on one screen.

use std::fmt;

use super::coverage::Coverage;
use super::report::FuzzReport;

/// Columns of a line.
const WIDTH: usize = 120;

impl fmt::Display for FuzzReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&coverage(&self.coverage))?;
        writeln!(f, "(cases that went through each point)\n")?;
        let plans = self.plans.counts();
        write!(f, "seed {}: {} cases", self.seed, self.cases)?;
        if self.drawn != self.cases {
            write!(f, " of {} drawn", self.drawn)?;
        }
        writeln!(
            f,
            ", {} comparisons with the row interpreter in {:.1} s ({:.0}/s), {} points of coverage",
            self.comparisons,
            self.elapsed.as_secs_f64(),
            self.rate(),
            self.coverage.len()
        )?;
        writeln!(
            f,
            "{} plans of queries with pushdown and {} of workloads; {} queries refused by the front end",
            plans.pushdown, plans.workload, self.refused
        )?;
        let defects = self.defects.iter().map(|(number, answers)| format!("defect {number}: {answers}"));
        listed(f, "answers wrong in the libraries", defects)?;
        let times = self.times.iter().map(|(stage, time)| format!("{stage} {:.1} s", time.as_secs_f64()));
        listed(f, "time", times)?;
        for missed in self.under_quota() {
            writeln!(f, "BELOW QUOTA {}: {} of {}", missed.point, missed.reached, missed.quota)?;
        }
        for point in self.unknown() {
            writeln!(f, "NOT IN THE CATALOGUE {point}")?;
        }
        write!(f, "{} different", self.failed.len())
    }
}

/// One line, and none if there is nothing.
fn listed(f: &mut fmt::Formatter<'_>, title: &str, items: impl Iterator<Item = String>) -> fmt::Result {
    let items: Vec<String> = items.collect();
    if items.is_empty() { Ok(()) } else { writeln!(f, "{title}: {}", items.join(" · ")) }
}

/// A paragraph for each group: its name, and its points with their counts.
fn coverage(coverage: &Coverage) -> String {
    let mut groups: Vec<(&str, Vec<String>)> = Vec::new();
    for (point, count) in coverage.iter() {
        if groups.last().is_none_or(|(group, _)| *group != point.group) {
            groups.push((point.group, Vec::new()));
        }
        if let Some((_, items)) = groups.last_mut() {
            items.push(format!("{} {count}", point.name));
        }
    }
    let indent = groups.iter().map(|(group, _)| group.chars().count()).max().unwrap_or(0) + 2;
    groups.iter().map(|(group, items)| paragraph(group, items, indent)).collect()
}

/// The items, wrapped, in a column beside the title.
fn paragraph(title: &str, items: &[String], indent: usize) -> String {
    let mut text = format!("{title:indent$}");
    let mut column = indent;
    for (position, item) in items.iter().enumerate() {
        let width = item.chars().count() + 3;
        if position > 0 && column + width > WIDTH {
            text.push_str(&format!("\n{:indent$}", ""));
            column = indent;
        } else if position > 0 {
            text.push_str(" · ");
        }
        text.push_str(item);
        column += width;
    }
    text.push('\n');
    text
}
