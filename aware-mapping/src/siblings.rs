//! The aggregates of a workload, indexed so that a target meets only those that could be its source.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use asap_types::{Expr, Operator, QueryExpr};

use crate::prover::{Derivation, key_columns, relational_aggregate, split_input};
use crate::{Candidate, Refusal, Refused, Replacements, Rewrite, Target};

/// The aggregates of a workload, by the input that they read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Siblings {
    members: Vec<Sibling>,
    by_input: HashMap<u64, Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Sibling {
    node: Arc<QueryExpr>,
    /// The place of the aggregate among the others, or why it takes part in no derivation.
    place: Result<Place, Refusal>,
}

#[derive(Clone, Debug)]
struct Place {
    rank: Rank,
    columns: ColumnSet,
}

/// The direction of sharing: a source ranks above what is derived from it. The order is total and strict, so that no
/// selection among derivations has a cycle: more key columns, then fewer conditions on rows, then simpler keys, then
/// more measures, then the earlier aggregate.
type Rank = (usize, Reverse<usize>, Reverse<usize>, usize, Reverse<usize>);

const LOWEST: Rank = (0, Reverse(usize::MAX), Reverse(usize::MAX), 0, Reverse(usize::MAX));

impl Siblings {
    /// Indexes aggregates; other nodes are left out.
    #[must_use]
    pub(crate) fn new(aggregates: &[Arc<QueryExpr>]) -> Self {
        let mut siblings = Self::default();
        for (index, node) in aggregates.iter().enumerate() {
            let Some(base) = base_input(node) else { continue };
            siblings.by_input.entry(base.fingerprint()).or_default().push(siblings.members.len());
            siblings.members.push(Sibling { node: Arc::clone(node), place: place(node, index) });
        }
        siblings
    }

    /// What `derive` derives the target from, and why not from the others.
    pub(crate) fn rewrites(
        &self,
        target: &Target,
        strategy: &'static str,
        derive: impl Fn(&QueryExpr, &QueryExpr) -> Result<Derivation, Refusal>,
    ) -> Replacements {
        let mut found = Replacements::default();
        for (source, refusal) in self.of(&target.node) {
            let source = Arc::clone(source);
            match refusal.map_or_else(|| derive(&target.node, &source), Err) {
                Ok(derivation) => {
                    let rewrite = Rewrite { target: Arc::clone(&target.node), source, derivation, strategy };
                    found.candidates.push(Candidate::Rewrite(rewrite));
                }
                Err(reason) => found.refused.push(Refused { source, strategy, reason }),
            }
        }
        found
    }

    /// The aggregates over the same base input as the target, other than itself, each with the reason why it cannot be a
    /// source if the index alone can tell.
    fn of(&self, target: &Arc<QueryExpr>) -> Vec<(&Arc<QueryExpr>, Option<Refusal>)> {
        let Some(base) = base_input(target) else { return Vec::new() };
        let bucket = self.by_input.get(&base.fingerprint()).map(Vec::as_slice).unwrap_or_default();
        let members = || bucket.iter().filter_map(|&index| self.members.get(index));
        let own = members().find(|sibling| Arc::ptr_eq(&sibling.node, target)).map(|sibling| sibling.place.clone());
        // An aggregate from elsewhere ranks below every member, so that each may be its source.
        let own = own.unwrap_or_else(|| place(target, usize::MAX).map(|place| Place { rank: LOWEST, ..place }));
        members()
            .filter(|sibling| !Arc::ptr_eq(&sibling.node, target))
            .map(|sibling| (&sibling.node, refusal(&own, &sibling.place)))
            .collect()
    }
}

/// What an aggregate reads, without the conditions directly above it; none for another operator.
fn base_input(node: &QueryExpr) -> Option<Arc<QueryExpr>> {
    match node.operator() {
        Operator::Aggregate(aggregate) => Some(split_input(&aggregate.input).0),
        _ => None,
    }
}

fn place(node: &QueryExpr, index: usize) -> Result<Place, Refusal> {
    let (aggregate, by) = relational_aggregate(node)?;
    let columns = key_columns(by);
    let key_size = by.iter().map(Expr::node_count).sum();
    let conditions = split_input(&aggregate.input).1.len();
    let rank = (columns.len(), Reverse(conditions), Reverse(key_size), aggregate.measures.len(), Reverse(index));
    Ok(Place { rank, columns: columns.iter().map(|column| column.index()).collect() })
}

/// Why a sibling is no source of a target, as far as their places tell.
fn refusal(target: &Result<Place, Refusal>, source: &Result<Place, Refusal>) -> Option<Refusal> {
    match (target, source) {
        (Err(reason), _) | (_, Err(reason)) => Some(*reason),
        (Ok(target), Ok(source)) if !target.columns.is_subset(&source.columns) => Some(Refusal::KeyNotDerivable),
        (Ok(target), Ok(source)) if source.rank < target.rank => Some(Refusal::NotFiner),
        _ => None,
    }
}

/// A set of columns as bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct ColumnSet(Vec<u64>);

impl FromIterator<usize> for ColumnSet {
    fn from_iter<I: IntoIterator<Item = usize>>(columns: I) -> Self {
        let mut words: Vec<u64> = Vec::new();
        for column in columns {
            let word = column / 64;
            if words.len() <= word {
                words.resize(word + 1, 0);
            }
            if let Some(bits) = words.get_mut(word) {
                *bits |= 1 << (column % 64);
            }
        }
        Self(words)
    }
}

impl ColumnSet {
    fn is_subset(&self, other: &Self) -> bool {
        self.0.iter().enumerate().all(|(word, bits)| bits & !other.0.get(word).copied().unwrap_or(0) == 0)
    }
}
