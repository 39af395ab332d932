//! The candidates, choices and refusals of a workload as text.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write;

use asap_types::{Operator, QueryExpr};

use crate::prover::Requires;
use crate::{Candidate, CandidateSpace, Choice, Estimate, Selection, TargetCandidates};

impl CandidateSpace {
    /// The queries that read each target, by the names of the roots: the first of them names the target.
    fn readers<'a>(&self, names: &[&'a str]) -> HashMap<*const QueryExpr, Vec<&'a str>> {
        let mut readers: HashMap<*const QueryExpr, Vec<&str>> = HashMap::new();
        for (name, root) in names.iter().zip(&self.roots) {
            let mut next = Some(root);
            while let Some(node) = next {
                readers.entry(std::sync::Arc::as_ptr(node)).or_default().push(name);
                next = node.operator().input();
            }
        }
        readers
    }

    /// For each root, the name of the query whose aggregate its own outermost aggregate was derived from, if it was.
    #[must_use]
    pub fn sources<'a>(&self, selection: &Selection, names: &[&'a str]) -> Vec<Option<&'a str>> {
        let readers = self.readers(names);
        self.roots
            .iter()
            .map(|root| {
                let mut next = Some(root);
                while let Some(node) = next {
                    let chosen = self
                        .targets
                        .iter()
                        .zip(&selection.choices)
                        .find(|(target, _)| std::sync::Arc::ptr_eq(&target.target.node, node));
                    if let Some((target, choice)) = chosen {
                        return match target.candidates.get(choice.candidate) {
                            Some(Candidate::Rewrite(rewrite)) => {
                                readers.get(&std::sync::Arc::as_ptr(&rewrite.source))?.first().copied()
                            }
                            _ => None,
                        };
                    }
                    next = node.operator().input();
                }
                None
            })
            .collect()
    }

    /// Every target with its candidates, the choice (marked `*`), and the reasons against other sources.
    #[must_use]
    pub fn explain(&self, selection: &Selection, names: &[&str]) -> String {
        let readers = self.readers(names);
        let name_of = |node: &QueryExpr| {
            let names = readers.get(&std::ptr::from_ref(node)).map(Vec::as_slice).unwrap_or_default();
            if names.is_empty() { "?".to_owned() } else { names.join(", ") }
        };
        let mut out = String::new();
        for (target, choice) in self.targets.iter().zip(&selection.choices) {
            explain_target(&mut out, target, choice, &name_of);
        }
        out
    }
}

fn explain_target(
    out: &mut String,
    target: &TargetCandidates,
    choice: &Choice,
    name_of: &dyn Fn(&QueryExpr) -> String,
) {
    let node = &target.target.node;
    let _ = writeln!(out, "{}: {}", name_of(node), title(node));
    for (position, candidate) in target.candidates.iter().enumerate() {
        let mark = if position == choice.candidate { '*' } else { ' ' };
        let _ = writeln!(out, "  {mark} {}", candidate_text(candidate, choice, position, name_of));
    }
    let mut reasons: BTreeMap<_, Vec<String>> = BTreeMap::new();
    for refused in &target.refused {
        let sources = reasons.entry((refused.strategy, refused.reason)).or_default();
        let name = name_of(&refused.source);
        if !sources.contains(&name) {
            sources.push(name);
        }
    }
    for ((strategy, reason), sources) in reasons {
        let _ = writeln!(out, "    not from {} ({strategy}): {reason}", shortened(&sources));
    }
}

fn candidate_text(
    candidate: &Candidate,
    choice: &Choice,
    position: usize,
    name_of: &dyn Fn(&QueryExpr) -> String,
) -> String {
    let reads = |cost: Estimate| match cost {
        Estimate::Known(_) => format!(", reads at most {cost}"),
        Estimate::Unknown => ", number of rows unknown".to_owned(),
    };
    let cost = match position {
        _ if position == choice.candidate => reads(choice.cost),
        0 => reads(choice.plain_cost),
        _ => String::new(),
    };
    match candidate {
        Candidate::KeepPreAsap => format!("as written{cost}"),
        Candidate::Summary(summary) => format!("Summary of its own ({}){cost}", summary.strategy),
        Candidate::Rewrite(rewrite) => {
            let requires =
                if rewrite.derivation.requires == Requires::Reassociate { ", reassociates floats" } else { "" };
            let how = if rewrite.derivation.regroups { "re-aggregates" } else { "reuses columns of" };
            format!("Rewrite ({}): {how} {}{requires}{cost}", rewrite.strategy, name_of(&rewrite.source))
        }
    }
}

fn title(node: &QueryExpr) -> String {
    match node.operator() {
        Operator::Aggregate(aggregate) => aggregate.describe(aggregate.input.schema()),
        _ => String::new(),
    }
}

fn shortened(sources: &[String]) -> String {
    const SHOWN: usize = 4;
    match sources.get(..SHOWN) {
        Some(shown) if sources.len() > SHOWN => format!("{} and {} more", shown.join("; "), sources.len() - SHOWN),
        _ => sources.join("; "),
    }
}
