//! The report as JSON, for machines. Two runs of one seed and one number of cases have equal reports but for `timings` and
//! `by_chance`.

use std::collections::BTreeMap;

use serde::Serialize;

use super::catalogue::{BY_CHANCE, Known, Proof, catalogue};
use super::failure::FailureClass;
use super::plan_fingerprint::PlanCounts;
use super::report::{FailedCase, FuzzReport};
use super::run::Length;
use crate::Result;

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Serialize)]
struct Report<'a> {
    version: u32,
    seed: u64,
    length: JsonLength,
    only: &'a [String],
    scope: Option<String>,
    success: bool,
    drawn: u64,
    cases: u64,
    comparisons: u64,
    refused: u64,
    plans: PlanCounts,
    coverage: Vec<JsonPoint>,
    unknown: Vec<String>,
    failed: Vec<JsonFailure<'a>>,
    by_chance: ByChance<'a>,
    timings: Timings<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum JsonLength {
    Cases(u64),
    Comparisons(u64),
    Seconds(u64),
    Case(u64),
}

/// A point of the catalogue, or one that was reached beside it.
#[derive(Serialize)]
struct JsonPoint {
    point: String,
    cases: u64,
    /// Of a run of this length; 0 for what tests prove, and for runs that are not full.
    quota: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'static str>,
}

#[derive(Serialize)]
struct JsonFailure<'a> {
    case: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    bias: Option<String>,
    class: FailureClass,
    #[serde(skip_serializing_if = "Option::is_none")]
    query: Option<usize>,
    detail: String,
    artifacts: &'a std::path::Path,
}

/// What depends on which of several threads is faster.
#[derive(Serialize)]
struct ByChance<'a> {
    /// Wrong answers, by the number of the defect that excuses them.
    defects: &'a BTreeMap<u32, u64>,
    /// Cases in which an optimized plan ran into a defect and the plain one did not.
    failing: BTreeMap<&'a str, u64>,
}

#[derive(Serialize)]
struct Timings<'a> {
    jobs: usize,
    seconds: f64,
    comparisons_per_second: f64,
    /// Summed over the cases that ran at the same time.
    stages: BTreeMap<&'a str, f64>,
}

impl FuzzReport {
    /// The report as JSON.
    ///
    /// # Errors
    /// The report cannot be written as JSON.
    pub fn to_json(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(&Report {
            version: VERSION,
            seed: self.seed,
            length: length(&self.length),
            only: &self.only,
            scope: self.scope.map(|scope| scope.to_string()),
            success: self.is_success(),
            drawn: self.drawn,
            cases: self.cases,
            comparisons: self.comparisons,
            refused: self.refused,
            plans: self.plans.counts(),
            coverage: catalogue().map(|known| self.point(known)).collect(),
            unknown: self.unknown().iter().map(ToString::to_string).collect(),
            failed: self.failed.iter().map(failure).collect(),
            by_chance: self.by_chance(),
            timings: self.timings(),
        })?)
    }

    fn point(&self, known: Known) -> JsonPoint {
        JsonPoint {
            cases: self.coverage.count(known.point.group, &known.point.name),
            quota: if self.is_full() { known.quota(self.cases) } else { 0 },
            test: if let Proof::Constructed { test } = known.proof { Some(test) } else { None },
            point: known.point.to_string(),
        }
    }

    fn by_chance(&self) -> ByChance<'_> {
        let failing = self.coverage.iter().filter(|(point, _)| point.group == BY_CHANCE);
        ByChance {
            defects: &self.defects,
            failing: failing.map(|(point, cases)| (point.name.as_str(), cases)).collect(),
        }
    }

    fn timings(&self) -> Timings<'_> {
        Timings {
            jobs: self.jobs,
            seconds: self.elapsed.as_secs_f64(),
            comparisons_per_second: self.rate(),
            stages: self.times.iter().map(|(stage, time)| (*stage, time.as_secs_f64())).collect(),
        }
    }
}

fn length(length: &Length) -> JsonLength {
    match length {
        Length::Cases(cases) => JsonLength::Cases(*cases),
        Length::Comparisons(comparisons) => JsonLength::Comparisons(*comparisons),
        Length::Time(time) => JsonLength::Seconds(time.as_secs()),
        Length::One(case, _) => JsonLength::Case(*case),
    }
}

fn failure(failed: &FailedCase) -> JsonFailure<'_> {
    JsonFailure {
        case: failed.case.index,
        bias: failed.bias.as_ref().map(ToString::to_string),
        class: failed.failure.class,
        query: failed.failure.query,
        detail: without_ids(&failed.failure.detail),
        artifacts: &failed.artifacts,
    }
}

/// The datasets of a process are numbered as they come.
fn without_ids(detail: &str) -> String {
    const NAME: &str = "oracle-";
    let mut parts = detail.split(NAME);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(NAME);
        text.push('N');
        text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
    }
    text
}
