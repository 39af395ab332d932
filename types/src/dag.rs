//! The flat DAG of a planned workload: what is executed, and what goes over the wire.

use std::collections::HashMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::derive::{aggregate_schema, operator_schema};
use crate::{AggIntent, Aggregate, MeasureFilters, Operator, Predicate, QueryExpr, Reduction, Schema, TypesError};

/// The wire version that this crate writes. It reads this version and version 2.
///
/// Version 2 is version 3 without predicates on measures.
pub const POST_ASAP_DAG_WIRE_VERSION: u32 = 3;

const OLDEST_WIRE_VERSION: u32 = 2;
const FIRST_VERSION_WITH_FILTERS: u32 = 3;

/// A node of a [`PostAsapDag`], by its zero-based position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub usize);

/// What a node of a planned workload does.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum PostOperator {
    /// An operator of the query as it was written.
    KeepPreAsap(Operator<NodeId>),
    /// An exact operation that planning put in the place of what was written.
    Exact(ExactOperation),
    /// Builds one summary for each group. Its rows are keys and state, for [`PostOperator::SummaryEstimate`] to read.
    SummaryAgg {
        /// What is summarized, and how.
        family: SummaryFamily,
        /// How rows form groups.
        reduction: Reduction,
        /// Which rows update the summary; groups are formed from all rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        filter: Option<Predicate>,
        /// The input.
        input: NodeId,
    },
    /// Reads the values out of summaries: keys, then the value.
    SummaryEstimate {
        /// The names of the output columns.
        output_names: Vec<String>,
        /// A [`PostOperator::SummaryAgg`].
        input: NodeId,
    },
}

/// Exact operations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum ExactOperation {
    /// An aggregate over what another aggregate of the workload computed.
    Aggregate(Aggregate<NodeId>),
}

/// Families of summaries.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub enum SummaryFamily {
    /// The state is the exact value of the measure.
    Exact {
        /// The measure.
        measure: AggIntent,
    },
}

/// A named result of the DAG.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// The result's name.
    pub name: String,
    /// The node that computes it.
    pub node: NodeId,
}

/// A planned workload as a flat DAG. Nodes refer to earlier nodes only, so the order of nodes is an order of execution
/// and no cycle can be written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "WireDag", into = "WireDag")]
pub struct PostAsapDag {
    nodes: Vec<PostOperator>,
    roots: Vec<Root>,
    schemas: Vec<Schema>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WireDag {
    version: u32,
    nodes: Vec<PostOperator>,
    roots: Vec<Root>,
}

impl From<PostAsapDag> for WireDag {
    fn from(dag: PostAsapDag) -> Self {
        Self { version: POST_ASAP_DAG_WIRE_VERSION, nodes: dag.nodes, roots: dag.roots }
    }
}

impl TryFrom<WireDag> for PostAsapDag {
    type Error = TypesError;

    fn try_from(wire: WireDag) -> Result<Self, TypesError> {
        check_version(wire.version)?;
        let mut builder = DagBuilder::default();
        for (position, node) in wire.nodes.into_iter().enumerate() {
            if wire.version < FIRST_VERSION_WITH_FILTERS && node.is_filtered() {
                return Err(TypesError::FilterBeforeVersion { node: position, version: wire.version });
            }
            builder.push(node)?;
        }
        for root in wire.roots {
            builder.root(root.name, root.node)?;
        }
        Ok(builder.finish())
    }
}

fn check_version(found: u32) -> Result<(), TypesError> {
    if (OLDEST_WIRE_VERSION..=POST_ASAP_DAG_WIRE_VERSION).contains(&found) {
        return Ok(());
    }
    Err(TypesError::WireVersion { found, oldest: OLDEST_WIRE_VERSION, newest: POST_ASAP_DAG_WIRE_VERSION })
}

impl PostAsapDag {
    /// The DAG that computes queries as they are written. Nodes that are shared by pointer become one node.
    ///
    /// # Errors
    /// None for queries that were built by [`QueryExpr::new`].
    pub fn from_queries<'a>(
        queries: impl IntoIterator<Item = (&'a str, &'a Arc<QueryExpr>)>,
    ) -> Result<Self, TypesError> {
        let mut builder = DagBuilder::default();
        for (name, query) in queries {
            let node = builder.query(query)?;
            builder.root(name, node)?;
        }
        Ok(builder.finish())
    }

    /// The nodes, each after its input.
    #[must_use]
    pub fn nodes(&self) -> &[PostOperator] {
        &self.nodes
    }

    /// The results, in workload order.
    #[must_use]
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The node at a position.
    #[must_use]
    pub fn node(&self, id: NodeId) -> Option<&PostOperator> {
        self.nodes.get(id.0)
    }

    /// The output schema of a node.
    #[must_use]
    pub fn schema(&self, id: NodeId) -> Option<&Schema> {
        self.schemas.get(id.0)
    }

    /// How many nodes and results read each node, by position.
    #[must_use]
    pub fn reader_counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.nodes.len()];
        let inputs = self.nodes.iter().filter_map(PostOperator::input);
        for id in inputs.chain(self.roots.iter().map(|root| root.node)) {
            if let Some(count) = counts.get_mut(id.0) {
                *count += 1;
            }
        }
        counts
    }

    /// The versioned JSON form.
    ///
    /// # Errors
    /// None that is known: every DAG has a JSON form.
    pub fn to_json(&self) -> Result<String, TypesError> {
        serde_json::to_string_pretty(self).map_err(|error| TypesError::Wire(error.to_string()))
    }

    /// Reads a DAG from its JSON form.
    ///
    /// # Errors
    /// [`TypesError::WireVersion`] for another version, whatever else the document holds; [`TypesError::Wire`] for
    /// anything that is not such a document, unknown fields included.
    pub fn from_json(json: &str) -> Result<Self, TypesError> {
        /// Only the version: a newer document is refused for its version, not for a field that only it knows.
        #[derive(Deserialize)]
        struct Header {
            version: u32,
        }
        let wire = |error: serde_json::Error| TypesError::Wire(error.to_string());
        let header: Header = serde_json::from_str(json).map_err(wire)?;
        check_version(header.version)?;
        serde_json::from_str(json).map_err(wire)
    }
}

impl PostOperator {
    /// The input, if the node has one.
    #[must_use]
    pub fn input(&self) -> Option<NodeId> {
        match self {
            Self::KeepPreAsap(operator) => operator.input().copied(),
            Self::Exact(ExactOperation::Aggregate(aggregate)) => Some(aggregate.input),
            Self::SummaryAgg { input, .. } | Self::SummaryEstimate { input, .. } => Some(*input),
        }
    }

    /// Whether a measure or a summary of the node has a predicate of its own.
    #[must_use]
    pub fn is_filtered(&self) -> bool {
        match self {
            Self::KeepPreAsap(Operator::Aggregate(aggregate)) | Self::Exact(ExactOperation::Aggregate(aggregate)) => {
                !aggregate.filters.is_none()
            }
            Self::SummaryAgg { filter, .. } => filter.is_some(),
            Self::KeepPreAsap(_) | Self::SummaryEstimate { .. } => false,
        }
    }
}

/// Builds a [`PostAsapDag`] node by node, deriving and checking each schema.
#[derive(Debug, Default)]
pub struct DagBuilder {
    dag: Parts,
    known: HashMap<*const QueryExpr, (Arc<QueryExpr>, NodeId)>,
}

#[derive(Debug, Default)]
struct Parts {
    nodes: Vec<PostOperator>,
    roots: Vec<Root>,
    schemas: Vec<Schema>,
}

impl DagBuilder {
    /// Appends a node.
    ///
    /// # Errors
    /// An input that is not an earlier node, or an operator that is invalid over its input.
    pub fn push(&mut self, node: PostOperator) -> Result<NodeId, TypesError> {
        let id = self.dag.nodes.len();
        let schema = self.node_schema(id, &node)?;
        self.dag.nodes.push(node);
        self.dag.schemas.push(schema);
        Ok(NodeId(id))
    }

    /// Appends a query as it is written; nodes that were appended before are used again, by pointer.
    ///
    /// # Errors
    /// None for queries that were built by [`QueryExpr::new`].
    pub fn query(&mut self, query: &Arc<QueryExpr>) -> Result<NodeId, TypesError> {
        if let Some((_, id)) = self.known.get(&Arc::as_ptr(query)) {
            return Ok(*id);
        }
        let operator = query.operator().try_map_input(&mut |input| self.query(input))?;
        let id = self.push(PostOperator::KeepPreAsap(operator))?;
        self.alias(query, id);
        Ok(id)
    }

    /// Says that a node computes a query, for later calls of [`DagBuilder::query`].
    pub fn alias(&mut self, query: &Arc<QueryExpr>, node: NodeId) {
        self.known.insert(Arc::as_ptr(query), (Arc::clone(query), node));
    }

    /// The schema of a node.
    #[must_use]
    pub fn schema(&self, id: NodeId) -> Option<&Schema> {
        self.dag.schemas.get(id.0)
    }

    /// Names a node as a result.
    ///
    /// # Errors
    /// [`TypesError::NodeOrder`] for a node that does not exist.
    pub fn root(&mut self, name: impl Into<String>, node: NodeId) -> Result<(), TypesError> {
        let next = self.dag.nodes.len();
        if node.0 >= next {
            return Err(TypesError::NodeOrder { node: next, input: node.0 });
        }
        self.dag.roots.push(Root { name: name.into(), node });
        Ok(())
    }

    /// The DAG.
    #[must_use]
    pub fn finish(self) -> PostAsapDag {
        let Parts { nodes, roots, schemas } = self.dag;
        PostAsapDag { nodes, roots, schemas }
    }

    fn node_schema(&self, node: usize, operator: &PostOperator) -> Result<Schema, TypesError> {
        let schema_of =
            |input: &NodeId| self.schema(*input).cloned().ok_or(TypesError::NodeOrder { node, input: input.0 });
        let relation = |input: &NodeId| {
            let is_summary = matches!(self.dag.nodes.get(input.0), Some(PostOperator::SummaryAgg { .. }));
            if is_summary {
                return Err(TypesError::SummaryKind { node, problem: "reads a summary as rows; estimate it first" });
            }
            schema_of(input)
        };
        match operator {
            PostOperator::KeepPreAsap(operator) => operator_schema(operator, relation),
            PostOperator::Exact(ExactOperation::Aggregate(aggregate)) => {
                aggregate_schema(aggregate, &relation(&aggregate.input)?)
            }
            PostOperator::SummaryAgg { family, reduction, filter, input } => {
                let aggregate = summary_as_aggregate(family, reduction, filter.as_ref(), *input, None);
                aggregate_schema(&aggregate, &relation(input)?)
            }
            PostOperator::SummaryEstimate { output_names, input } => {
                let Some(PostOperator::SummaryAgg { family, reduction, filter, input: rows }) =
                    self.dag.nodes.get(input.0)
                else {
                    schema_of(input)?;
                    return Err(TypesError::SummaryKind { node, problem: "estimates something that is no summary" });
                };
                let names = Some(output_names.clone());
                let aggregate = summary_as_aggregate(family, reduction, filter.as_ref(), *rows, names);
                aggregate_schema(&aggregate, &schema_of(rows)?)
            }
        }
    }
}

/// The aggregate whose rows an exact summary holds.
fn summary_as_aggregate(
    family: &SummaryFamily,
    reduction: &Reduction,
    filter: Option<&Predicate>,
    input: NodeId,
    output_names: Option<Vec<String>>,
) -> Aggregate<NodeId> {
    let SummaryFamily::Exact { measure } = family;
    let state_names = || {
        let keys = (0..reduction.keys().len()).map(|key| format!("key{key}"));
        keys.chain(["state".to_owned()]).collect()
    };
    Aggregate {
        reduction: reduction.clone(),
        measures: vec![measure.clone()],
        filters: MeasureFilters::from(vec![filter.cloned()]),
        output_names: output_names.unwrap_or_else(state_names),
        having: None,
        input,
    }
}
