//! Metamorphic relations: what answers say of one another, whoever computed them. One file each; a new one is a file
//! and a line in [`RELATIONS`].

mod filter_case;
mod fragments;
mod partition;
mod roll_up;

use super::check::CaseOutcome;
use super::failure::FailureClass;
use super::judge::Judge;
use super::pushdown::PushdownSide;
use crate::Result;
use crate::answer::Answer;
use crate::query::{Column, Query};

/// Queries whose optimized answers must agree.
struct Relation {
    parts: Vec<Query>,
    /// Says how they do not.
    holds: fn(&[Answer]) -> Result<(), String>,
}

/// By name: what a query of the workload, over a table of these columns, is made into, if it fits.
const RELATIONS: [(&str, fn(&Query, &[Column]) -> Option<Relation>); 3] = [
    ("TRUE, FALSE and unknown rows are all rows", partition::relation),
    ("FILTER is CASE", filter_case::relation),
    ("groups roll up to the total", roll_up::relation),
];

/// Checks each relation on the first query that fits it.
pub(super) async fn check(side: &PushdownSide, judge: &Judge<'_>, outcome: &mut CaseOutcome) -> Result<()> {
    let columns = &judge.test.table.columns;
    for (name, relation) in RELATIONS {
        let mut fitting = judge.queries().iter().enumerate().filter(|(index, _)| judge.expected(*index).is_some());
        let found = fitting.find_map(|(index, query)| Some((index, relation(query, columns)?)));
        if let Some((index, relation)) = found {
            outcome.reach("relation", name);
            check_one(side, judge, (name, index), &relation, outcome).await;
        }
    }
    fragments::check(side, judge, outcome).await
}

async fn check_one(
    side: &PushdownSide,
    judge: &Judge<'_>,
    (name, index): (&str, usize),
    relation: &Relation,
    outcome: &mut CaseOutcome,
) {
    let mut answers = Vec::new();
    for query in &relation.parts {
        let found = side.answer(query).await;
        if let Ok(answer) = &found {
            answers.push(answer.clone());
        } else {
            judge.judge_other(index, query, found, outcome).await;
        }
    }
    if answers.len() < relation.parts.len() {
        return;
    }
    if let Err(contradiction) = (relation.holds)(&answers) {
        report(judge, (name, index), relation.parts.iter().zip(answers), contradiction, outcome).await;
    }
}

/// A contradiction is excused only by an answer that a numbered defect makes wrong.
async fn report(
    judge: &Judge<'_>,
    (name, index): (&str, usize),
    parts: impl Iterator<Item = (&Query, Answer)> + Send,
    contradiction: String,
    outcome: &mut CaseOutcome,
) {
    let mut all_right = true;
    for (query, answer) in parts {
        all_right &= judge.judge_other(index, query, Ok(answer), outcome).await;
    }
    if all_right {
        outcome.fail(FailureClass::Relation, Some(index), format!("{name}: {contradiction}"));
    }
}
