//! Metamorphic relations: what answers say of one another, whoever computed them. One file each; a new one is a file
//! and a line in [`RELATIONS`].

mod filter_case;
pub(super) mod fragments;
mod having;
mod norec;
pub(super) mod old_version;
mod partition;
mod roll_up;

use super::check::CaseOutcome;
use super::failure::FailureClass;
use super::judge::Judge;
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
const RELATIONS: [(&str, fn(&Query, &[Column]) -> Option<Relation>); 5] = [
    ("TRUE, FALSE and unknown rows are all rows", partition::relation),
    ("TRUE, FALSE and unknown groups are all groups", having::relation),
    ("WHERE keeps the rows whose predicate is TRUE", norec::relation),
    ("FILTER is CASE", filter_case::relation),
    ("groups roll up to the total", roll_up::relation),
];

/// Answers queries that were made from one of the workload.
pub(super) trait Answers {
    /// An answer to each query, or `None` where they cannot be asked.
    async fn answers(&self, queries: &[Query], judge: &Judge<'_>) -> Option<Vec<Result<Answer>>>;
}

/// Checks each relation on the first query that fits it.
pub(super) async fn check(side: &impl Answers, judge: &Judge<'_>, outcome: &mut CaseOutcome) {
    for (name, relation) in RELATIONS {
        let mut fitting = judge.queries().iter().enumerate().filter(|(index, _)| judge.expected(*index).is_some());
        let found = fitting.find_map(|(index, query)| Some((index, relation(query, &judge.table.columns)?)));
        if let Some((index, relation)) = found
            && let Some(answers) = side.answers(&relation.parts, judge).await
        {
            outcome.reach("relation", name);
            check_one(judge, (name, index), &relation, answers, outcome).await;
        }
    }
}

async fn check_one(
    judge: &Judge<'_>,
    (name, index): (&str, usize),
    relation: &Relation,
    found: Vec<Result<Answer>>,
    outcome: &mut CaseOutcome,
) {
    let mut answers = Vec::new();
    for (query, found) in relation.parts.iter().zip(found) {
        match found {
            Ok(answer) => answers.push(answer),
            failed => {
                judge.judge_other(index, query, failed, outcome).await;
            }
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
