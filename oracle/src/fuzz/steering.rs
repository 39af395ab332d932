//! What the next cases should be like: chosen after each round from what the cases so far led to, so that it follows from
//! the seed alone.

use std::collections::{BTreeMap, BTreeSet};

use super::catalogue::{Proof, catalogue};
use super::coverage::{Coverage, Point};
use super::static_points::SHOWN;
use crate::generate::Bias;

/// Cases of one round. What is learned in one is used from the next one on.
pub(crate) const ROUND: u64 = 25;
/// Kinds of cases that a round prefers.
pub(crate) const BIASES: usize = 6;
/// A kind of which fewer cases are known is not judged by the plans that it brought.
const JUDGED: u64 = 4;

/// What the cases of a run led to, by what their recipes showed.
#[derive(Debug, Default)]
pub(crate) struct Steering {
    kinds: BTreeMap<Point, Kind>,
    /// What the next round prefers.
    biases: Vec<Bias>,
}

/// What the cases led to whose recipes show one point.
#[derive(Debug, Default)]
struct Kind {
    cases: u64,
    /// How many of them went through each other point.
    points: BTreeMap<Point, u64>,
    /// Cases, and the plans that they were first to have; halved after each round, as new plans become fewer.
    recent_cases: u64,
    recent_plans: u64,
}

impl Steering {
    /// The bias of the case at a position of a round. Every other case has none, so that nothing is drawn much more
    /// seldom than it would be without steering.
    pub(crate) fn bias(&self, position: u64) -> Option<&Bias> {
        if position.is_multiple_of(2) || self.biases.is_empty() {
            return None;
        }
        let turn = usize::try_from(position / 2).ok()?;
        self.biases.get(turn % self.biases.len())
    }

    /// Takes note of a case: what its recipe showed, all that it went through, and how many of its plans were new.
    pub(crate) fn note(&mut self, shown: &BTreeSet<Point>, reached: &BTreeSet<Point>, new_plans: u64) {
        for point in shown {
            let kind = self.kinds.entry(point.clone()).or_default();
            kind.cases += 1;
            kind.recent_cases += 1;
            kind.recent_plans += new_plans;
            for other in reached.difference(shown) {
                *kind.points.entry(other.clone()).or_insert(0) += 1;
            }
        }
    }

    /// Chooses for the next round: half of the biases lead to the points that are the furthest below their quotas, the
    /// others to what brought the most new plans lately.
    pub(super) fn next_round(&mut self, coverage: &Coverage) {
        self.lead_to(&wanted(coverage), BIASES / 2);
        for bias in self.fertile() {
            if self.biases.len() < BIASES && !self.biases.contains(&bias) {
                self.biases.push(bias);
            }
        }
        for kind in self.kinds.values_mut() {
            kind.recent_cases /= 2;
            kind.recent_plans /= 2;
        }
    }

    /// Chooses as many biases as there may be that lead to points, the first ones first.
    pub(crate) fn lead_to(&mut self, points: &[Point], at_most: usize) {
        self.biases.clear();
        for point in points {
            if self.biases.len() < at_most
                && let Some(bias) = self.towards(point)
                && !self.biases.contains(&bias)
            {
                self.biases.push(bias);
            }
        }
    }

    /// Chooses what the fewest recipes showed, until there are as many biases as there may be: for what is wanted and no
    /// case led to yet.
    #[cfg(feature = "faults")]
    pub(crate) fn explore(&mut self) {
        let cases = |point: &Point| self.kinds.get(point).map_or(0, |kind| kind.cases);
        let drawn = catalogue().filter(|known| matches!(known.proof, Proof::Generated { .. }));
        let shown = drawn.map(|known| known.point).filter(|point| SHOWN.contains(&point.group));
        let mut seldom: Vec<(u64, Point)> = shown.map(|point| (cases(&point), point)).collect();
        seldom.sort();
        for bias in seldom.into_iter().map(|(_, point)| Bias::new(point)) {
            if self.biases.len() < BIASES && !self.biases.contains(&bias) {
                self.biases.push(bias);
            }
        }
    }

    /// The point itself if recipes show it, else what is shown by the recipes that lead to it the most often.
    fn towards(&self, point: &Point) -> Option<Bias> {
        if SHOWN.contains(&point.group) {
            return Some(Bias::new(point.clone()));
        }
        let leading = self.kinds.iter().filter_map(|(shown, kind)| {
            let hits = kind.points.get(point).copied().unwrap_or(0);
            (hits > 0).then(|| (per_mille(hits, kind.cases), shown))
        });
        // Of equals the first, which `max_by_key` would not take.
        let best = leading.reduce(|best, next| if next.0 > best.0 { next } else { best });
        best.map(|(_, shown)| Bias::new(shown.clone()))
    }

    /// What recipes show, those first that brought the most new plans for each case.
    fn fertile(&self) -> Vec<Bias> {
        let judged = self.kinds.iter().filter(|(_, kind)| kind.recent_cases >= JUDGED);
        let mut rated: Vec<(u64, &Point)> =
            judged.map(|(point, kind)| (per_mille(kind.recent_plans, kind.recent_cases), point)).collect();
        rated.sort_by(|(left, first), (right, second)| right.cmp(left).then(first.cmp(second)));
        rated.into_iter().map(|(_, point)| Bias::new(point.clone())).collect()
    }
}

/// The points with a quota, from the one that is the furthest below its own, or the least above it.
fn wanted(coverage: &Coverage) -> Vec<Point> {
    let mut wanted: Vec<(u64, Point)> = Vec::new();
    for known in catalogue() {
        if let Proof::Generated { every } = known.proof {
            wanted.push((coverage.count(known.point.group, &known.point.name).saturating_mul(every), known.point));
        }
    }
    wanted.sort();
    wanted.into_iter().map(|(_, point)| point).collect()
}

fn per_mille(part: u64, of: u64) -> u64 {
    part.saturating_mul(1000) / of.max(1)
}
