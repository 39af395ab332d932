//! Common sub-expressions: equal nodes of a workload become one node.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::{QueryExpr, TypesError};

/// Shares equal nodes among all roots by hash-consing, so that pointer equality decides what is computed once.
/// Structural equality decides; a predicate of a measure is part of it. Nodes with volatile expressions anywhere in
/// them stay apart, because sharing would evaluate once what the workload evaluates twice.
///
/// # Errors
/// None for queries that were built by [`QueryExpr::new`]; the signature carries the schema derivation's error.
pub fn cse(roots: &[Arc<QueryExpr>]) -> Result<Vec<Arc<QueryExpr>>, TypesError> {
    let mut interned: HashSet<Arc<QueryExpr>> = HashSet::new();
    let mut done: HashMap<*const QueryExpr, Arc<QueryExpr>> = HashMap::new();
    for node in QueryExpr::reachable(roots) {
        let lookup = |input: &Arc<QueryExpr>| {
            done.get(&Arc::as_ptr(input)).cloned().ok_or(TypesError::MissingNode("an unvisited input"))
        };
        let rebuilt = QueryExpr::new(node.operator().try_map_input(&mut { lookup })?)?;
        #[cfg(feature = "faults")]
        let rebuilt = asap_faults::inject(asap_faults::Fault::FilteredMeasuresShared, rebuilt, |right| {
            interned.iter().find(|known| differ_in_filters_only(known, &right)).map_or(right, Arc::clone)
        });
        let shared = match interned.get(&rebuilt) {
            Some(known) if !rebuilt.is_volatile() => Arc::clone(known),
            _ => {
                interned.insert(Arc::clone(&rebuilt));
                rebuilt
            }
        };
        done.insert(Arc::as_ptr(&node), shared);
    }
    roots
        .iter()
        .map(|root| done.get(&Arc::as_ptr(root)).cloned().ok_or(TypesError::MissingNode("an unvisited root")))
        .collect()
}

#[cfg(feature = "faults")]
fn differ_in_filters_only(left: &QueryExpr, right: &QueryExpr) -> bool {
    let unfiltered = |node: &QueryExpr| match node.operator() {
        crate::Operator::Aggregate(aggregate) => {
            Some((aggregate.reduction.clone(), aggregate.measures.clone(), Arc::clone(&aggregate.input)))
        }
        _ => None,
    };
    unfiltered(left).is_some_and(|left| unfiltered(right) == Some(left))
}
