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
