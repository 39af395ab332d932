//! The aggregates of a workload, indexed so that a target meets only those that could be its source.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::Arc;

use asap_types::{Expr, QueryExpr};

use crate::Refusal;
use crate::prover::{key_columns, relational_aggregate, split_input};

/// The aggregates of a workload, by the input that they read.
#[derive(Clone, Debug, Default)]
pub(crate) struct Siblings {
    members: Vec<Sibling>,
    by_input: HashMap<u64, Vec<usize>>,
}

#[derive(Clone, Debug)]
struct Sibling {
    node: Arc<QueryExpr>,
    rank: Rank,
    columns: ColumnSet,
}

/// The direction of sharing: a source ranks above what is derived from it. The order is total and strict, so that no
/// selection among derivations has a cycle: more key columns, then fewer conditions on rows, then simpler keys, then
/// more measures, then the earlier aggregate.
type Rank = (usize, Reverse<usize>, Reverse<usize>, usize, Reverse<usize>);

impl Siblings {
    /// Indexes aggregates. Nodes that are no relational aggregates can be no source and are left out.
    #[must_use]
    pub(crate) fn new(aggregates: &[Arc<QueryExpr>]) -> Self {
        let mut siblings = Self::default();
        for (index, node) in aggregates.iter().enumerate() {
            let Ok((aggregate, by)) = relational_aggregate(node) else { continue };
            let (base, conjuncts) = split_input(&aggregate.input);
            let columns = key_columns(by);
            let key_size = by.iter().map(Expr::node_count).sum();
            let rank =
                (columns.len(), Reverse(conjuncts.len()), Reverse(key_size), aggregate.measures.len(), Reverse(index));
            siblings.by_input.entry(base.fingerprint()).or_default().push(siblings.members.len());
            let columns = columns.iter().map(|column| column.index()).collect();
            siblings.members.push(Sibling { node: Arc::clone(node), rank, columns });
        }
        siblings
    }

    /// The aggregates over the same base input as the target, other than itself, each with the reason why it cannot be a
    /// source if the index alone can tell.
    pub(crate) fn of(&self, target: &Arc<QueryExpr>) -> Vec<(&Arc<QueryExpr>, Option<Refusal>)> {
        let Ok((aggregate, by)) = relational_aggregate(target) else { return Vec::new() };
        let (base, _) = split_input(&aggregate.input);
        let columns: ColumnSet = key_columns(by).iter().map(|column| column.index()).collect();
        let bucket = self.by_input.get(&base.fingerprint()).map(Vec::as_slice).unwrap_or_default();
        let members: Vec<&Sibling> = bucket.iter().filter_map(|&index| self.members.get(index)).collect();
        let own = members.iter().find(|sibling| Arc::ptr_eq(&sibling.node, target)).map(|sibling| sibling.rank);
        members
            .into_iter()
            .filter(|sibling| !Arc::ptr_eq(&sibling.node, target))
            .map(|sibling| {
                let refusal = if !columns.is_subset(&sibling.columns) {
                    Some(Refusal::KeyNotDerivable)
                } else if own.is_some_and(|own| sibling.rank < own) {
                    Some(Refusal::NotFiner)
                } else {
                    None
                };
                (&sibling.node, refusal)
            })
            .collect()
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
