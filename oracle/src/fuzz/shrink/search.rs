//! The order in which cuts are tried.

use super::size::weight;
use super::{Edit, clauses, columns, expressions, history};
use crate::recipe::Recipe;

/// What may become smaller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Everything.
    All,
    /// The table; there are no queries.
    History,
    /// The queries and how many there are.
    Workload,
    /// Each query, but none is left out.
    Queries,
}

type Pass = fn(&Recipe) -> Vec<Edit>;

const WORKLOAD: &[Pass] = &[clauses::fewer_queries, clauses::fewer_clauses, expressions::in_queries];
const HISTORY: &[Pass] = &[
    history::no_history,
    history::fewer_operations,
    history::fewer_rows,
    columns::fewer_columns,
    history::simpler_storage,
    expressions::in_operations,
    history::simpler_values_of_rows,
];
const ALL: &[Pass] = &[
    history::no_history,
    clauses::fewer_queries,
    history::fewer_operations,
    clauses::simpler_settings,
    history::fewer_rows,
    clauses::fewer_clauses,
    columns::fewer_columns,
    history::simpler_storage,
    expressions::in_queries,
    expressions::in_operations,
    history::simpler_values_of_rows,
];

impl Part {
    fn passes(self) -> &'static [Pass] {
        match self {
            Self::All => ALL,
            Self::History => HISTORY,
            Self::Workload => WORKLOAD,
            Self::Queries => WORKLOAD.get(1..).unwrap_or_default(),
        }
    }
}

/// Hands out smaller recipes to try, and goes on from those that are accepted.
pub(crate) struct Search {
    best: Recipe,
    weight: u64,
    passes: &'static [Pass],
    /// The pass at work, its edits of the best recipe, and the next one of them.
    pass: usize,
    edits: Vec<Edit>,
    next: usize,
    /// Passes that ended since a recipe was accepted.
    idle: usize,
}

impl Search {
    pub(crate) fn new(recipe: Recipe, part: Part) -> Self {
        let passes = part.passes();
        let edits = passes.first().map_or_else(Vec::new, |pass| pass(&recipe));
        Self { weight: weight(&recipe), best: recipe, passes, pass: 0, edits, next: 0, idle: 0 }
    }

    /// The smallest recipe so far.
    pub(crate) fn best(&self) -> &Recipe {
        &self.best
    }

    /// The smallest recipe.
    pub(crate) fn into_best(self) -> Recipe {
        self.best
    }

    /// A valid recipe with less in it than the best one; `None` when each was handed out and none accepted.
    pub(crate) fn candidate(&mut self) -> Option<Recipe> {
        loop {
            while let Some(edit) = self.edits.get(self.next) {
                self.next += 1;
                let mut candidate = self.best.clone();
                edit(&mut candidate);
                if weight(&candidate) < self.weight && candidate.validate().is_ok() {
                    return Some(candidate);
                }
            }
            // The pass in which the last one was accepted is tried once more from its start.
            self.idle += 1;
            if self.idle > self.passes.len() {
                return None;
            }
            self.pass = (self.pass + 1) % self.passes.len().max(1);
            self.start_pass(0);
        }
    }

    /// Goes on from the candidate that was handed out last: with the edit that now has its place.
    pub(crate) fn accept(&mut self, candidate: Recipe) {
        self.weight = weight(&candidate);
        self.best = candidate;
        self.idle = 0;
        self.start_pass(self.next.saturating_sub(1));
    }

    fn start_pass(&mut self, next: usize) {
        self.edits = self.passes.get(self.pass).map_or_else(Vec::new, |pass| pass(&self.best));
        self.next = next;
    }
}
