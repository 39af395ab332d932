//! Queries in memory: trees, or DAGs by shared pointers, of operators.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::derive::operator_schema;
use crate::{ColumnRef, Operator, Schema, TypesError};

/// A query whose columns are names. The schemas of its scans come from the catalog.
#[derive(Clone, Debug)]
pub struct UnresolvedQuery {
    /// The operator.
    pub operator: Operator<Arc<UnresolvedQuery>, ColumnRef>,
    /// The relation name under which the columns of this node are visible above it, if it gives them a new one: a
    /// table's name or alias, or the alias of a sub-select.
    pub alias: Option<String>,
}

impl UnresolvedQuery {
    /// A node that gives its columns no new qualifier.
    #[must_use]
    pub fn new(operator: Operator<Arc<UnresolvedQuery>, ColumnRef>) -> Arc<Self> {
        Arc::new(Self { operator, alias: None })
    }

    /// A node whose columns are visible as `alias.column`.
    pub fn aliased(operator: Operator<Arc<UnresolvedQuery>, ColumnRef>, alias: impl Into<String>) -> Arc<Self> {
        Arc::new(Self { operator, alias: Some(alias.into()) })
    }
}

/// A query whose columns are positions, with its derived schema. Comparison is structural, with pointers as a fast path.
#[derive(Clone, Debug)]
pub struct QueryExpr {
    operator: Operator<Arc<QueryExpr>>,
    schema: Schema,
    fingerprint: u64,
    volatile: bool,
}

impl QueryExpr {
    /// Builds a node and derives its schema.
    ///
    /// # Errors
    /// Whatever makes the operator invalid over its input: columns out of range, types that do not fit, filters that
    /// are not parallel to measures.
    pub fn new(operator: Operator<Arc<QueryExpr>>) -> Result<Arc<Self>, TypesError> {
        let schema = operator_schema(&operator, |input| Ok(input.schema.clone()))?;
        let volatile = operator.is_volatile() || operator.input().is_some_and(|input| input.volatile);
        let mut hasher = DefaultHasher::new();
        operator.hash(&mut hasher);
        Ok(Arc::new(Self { fingerprint: hasher.finish(), operator, schema, volatile }))
    }

    /// The operator.
    #[must_use]
    pub fn operator(&self) -> &Operator<Arc<QueryExpr>> {
        &self.operator
    }

    /// The output schema.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// A structural hash: equal queries have equal fingerprints.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Whether this node or any below it contains a volatile expression, so that two evaluations may differ.
    #[must_use]
    pub fn is_volatile(&self) -> bool {
        self.volatile
    }

    /// Every distinct node reachable from the roots, inputs before their readers, each once (by pointer).
    #[must_use]
    pub fn reachable(roots: &[Arc<QueryExpr>]) -> Vec<Arc<QueryExpr>> {
        fn visit(
            node: &Arc<QueryExpr>,
            seen: &mut std::collections::HashSet<*const QueryExpr>,
            out: &mut Vec<Arc<QueryExpr>>,
        ) {
            if seen.insert(Arc::as_ptr(node)) {
                if let Some(input) = node.operator.input() {
                    visit(input, seen, out);
                }
                out.push(Arc::clone(node));
            }
        }
        let (mut seen, mut out) = (std::collections::HashSet::new(), Vec::new());
        for root in roots {
            visit(root, &mut seen, &mut out);
        }
        out
    }
}

impl PartialEq for QueryExpr {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || (self.fingerprint == other.fingerprint && self.operator == other.operator)
    }
}

impl Eq for QueryExpr {}

impl Hash for QueryExpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}
