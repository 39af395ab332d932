//! Makes a failing recipe small: leaves things out as long as it fails in the same way.
//!
//! Greedy passes, from bold to fine, each over lists of cuts that halve (delta debugging, Zeller and Hildebrandt 2002).
//! Every cut makes [`size::weight`] smaller, so the search ends; where it ends, no single cut is left that still fails.

mod clauses;
mod columns;
mod expressions;
mod history;
mod search;
mod simple;
mod size;
mod walk;

use std::ops::Range;
use std::time::{Duration, Instant};

pub(crate) use search::{Part, Search};
pub use size::RecipeSize;

use super::check::check_within;
use super::failure::{Failure, FailureClass};
use super::scope::Scope;
use crate::recipe::Recipe;

/// A change that leaves something out.
type Edit = Box<dyn Fn(&mut Recipe) + Send + Sync>;

/// The smallest recipe with a failure like this one that was found in this time.
pub(crate) async fn shrink(recipe: &Recipe, failure: &Failure, time: Duration) -> Recipe {
    let start = Instant::now();
    let signature = failure.signature();
    let scope = scope_of(failure.class);
    let fails = async |candidate: &Recipe| {
        let failures = check_within(candidate, scope).await.failures;
        // Where the plain answer is wrong too, it is another mistake.
        let is_another = |other: &Failure| other.class == FailureClass::Plain && failure.class != FailureClass::Plain;
        failures.iter().any(|other| other.signature() == signature) && !failures.iter().any(is_another)
    };
    // Most often it takes no other query, and tries are dearest at the beginning.
    let alone = failure
        .query
        .and_then(|query| recipe.workload.get(query))
        .map(|query| Recipe { workload: vec![query.clone()], ..recipe.clone() });
    match alone {
        Some(alone) if !time.is_zero() && fails(&alone).await => {
            shrink_while(&alone, time.saturating_sub(start.elapsed()), fails).await
        }
        _ => shrink_while(recipe, time.saturating_sub(start.elapsed()), fails).await,
    }
}

/// What must run to see a failure again: tries are most of the time of shrinking.
fn scope_of(class: FailureClass) -> Option<Scope> {
    match class {
        FailureClass::Workload => Some(Scope::AwareMapping),
        FailureClass::Pushdown | FailureClass::Buckets | FailureClass::PlanTimeRead | FailureClass::Reexecution => {
            Some(Scope::LancePushdown)
        }
        _ => None,
    }
}

/// The smallest recipe that was found in this time and for which `fails` holds, as it must for `recipe` itself. Without
/// a lack of time the result depends on the recipe and on `fails` only, and nothing more can be left out of it alone.
pub async fn shrink_while(recipe: &Recipe, time: Duration, fails: impl AsyncFn(&Recipe) -> bool) -> Recipe {
    let start = Instant::now();
    let mut search = Search::new(recipe.clone(), Part::All);
    while start.elapsed() < time
        && let Some(candidate) = search.candidate()
    {
        if fails(&candidate).await {
            search.accept(candidate);
        }
    }
    search.into_best()
}

/// Parts of a list to leave out: all of it, its halves, their halves, and at last each item.
fn parts(length: usize) -> Vec<Range<usize>> {
    let sizes = std::iter::successors(Some(length), |size| (*size > 1).then(|| size.div_ceil(2)));
    let parts = sizes
        .filter(|size| *size > 0)
        .flat_map(|size| (0..length).step_by(size).map(move |start| start..length.min(start + size)));
    parts.collect()
}

/// An edit of the query at a position of the workload.
fn edit_query(at: usize, change: impl Fn(&mut crate::query::Query) + Send + Sync + 'static) -> Edit {
    Box::new(move |recipe| {
        if let Some(query) = recipe.workload.get_mut(at) {
            change(query);
        }
    })
}
