//! The choice: one plan for the whole workload.

use std::collections::HashMap;
use std::sync::Arc;

use asap_types::{DagBuilder, ExactOperation, NodeId, Operator, PostAsapDag, PostOperator, QueryExpr};

use crate::prover::{Requires, key_columns, relational_aggregate};
use crate::{Candidate, CandidateSpace, Estimate, LeafCost, MappingError, Rewrite, RewritePlan, TargetCandidates};

/// Whether float sums may be derived from other float sums.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FloatPolicy {
    /// Never: every float has the bits of the plain plan's.
    Exact,
    /// Yes, as DataFusion's own parallel plans add them up in any order, with another one each time. Terms of much larger
    /// magnitude than their sum can change every digit of it, here as there.
    #[default]
    Reassociate,
}

impl FloatPolicy {
    fn allows(self, requires: Requires) -> bool {
        self == Self::Reassociate || requires == Requires::Nothing
    }
}

/// What was chosen for a workload.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The plan.
    pub dag: PostAsapDag,
    /// The choice for each target of the candidate space, in its order.
    pub choices: Vec<Choice>,
}

/// What was chosen for a target.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The chosen candidate, by its position among the target's.
    pub candidate: usize,
    /// The estimated rows that the chosen candidate reads.
    pub cost: Estimate,
    /// The estimated rows that the target reads as it is written.
    pub plain_cost: Estimate,
}

/// Chooses a candidate for each target and builds the plan. `names` are the names of the results, one per root.
///
/// - The aggregates of the workload are computed anyway, so a derivation costs the rows of its source and nothing else;
///   each producer appears once in the plan and is charged once.
/// - A derivation is taken if it reads no more rows than the aggregate as it is written, by the estimates. Groups are never
///   more than the rows that they come from, so if nothing is known about either, it is taken.
/// - Among derivations, the one with the fewest source rows wins, then the source with the fewest key columns.
/// - Sources rank above what is derived from them, so the plan has no cycle.
///
/// # Errors
/// A number of names that is not the number of roots.
pub fn select(
    space: &CandidateSpace,
    names: &[&str],
    costs: &dyn LeafCost,
    floats: FloatPolicy,
) -> Result<Selection, MappingError> {
    if names.len() != space.roots.len() {
        return Err(MappingError::NameCount { roots: space.roots.len(), names: names.len() });
    }
    let choices: Vec<Choice> = space.targets.iter().map(|target| choose(target, costs, floats)).collect();
    let mut emitter = Emitter::new(space, &choices);
    for (name, root) in names.iter().zip(&space.roots) {
        let node = emitter.emit(root)?;
        emitter.builder.root(*name, node)?;
    }
    Ok(Selection { dag: emitter.builder.finish(), choices })
}

fn choose(target: &TargetCandidates, costs: &dyn LeafCost, floats: FloatPolicy) -> Choice {
    let plain_cost = costs.rows_read(&target.target.node);
    let derivations = target.candidates.iter().enumerate().filter_map(|(position, candidate)| match candidate {
        Candidate::Rewrite(rewrite) if floats.allows(rewrite.derivation.requires) => {
            Some((position, costs.output_rows(&rewrite.source), source_key_columns(rewrite)))
        }
        _ => None,
    });
    let best = derivations
        .filter(|(_, cost, _)| is_no_dearer(*cost, plain_cost))
        .min_by_key(|(position, cost, keys)| (rows_or_more(*cost), *keys, *position));
    match best {
        Some((candidate, cost, _)) => Choice { candidate, cost, plain_cost },
        None => Choice { candidate: 0, cost: plain_cost, plain_cost },
    }
}

/// Whether reading a source of so many rows costs at most as much as the aggregate as it is written.
fn is_no_dearer(source: Estimate, plain: Estimate) -> bool {
    match (source, plain) {
        (Estimate::Known(source), Estimate::Known(plain)) => source <= plain,
        (_, Estimate::Unknown) => true,
        (Estimate::Unknown, Estimate::Known(_)) => false,
    }
}

fn rows_or_more(estimate: Estimate) -> u64 {
    match estimate {
        Estimate::Known(rows) => rows,
        Estimate::Unknown => u64::MAX,
    }
}

fn source_key_columns(rewrite: &Rewrite) -> usize {
    relational_aggregate(&rewrite.source).map_or(usize::MAX, |(_, by)| key_columns(by).len())
}

/// Builds the DAG: every node once, each target as its choice says.
struct Emitter<'a> {
    builder: DagBuilder,
    chosen: HashMap<*const QueryExpr, &'a Candidate>,
    done: HashMap<*const QueryExpr, NodeId>,
}

impl<'a> Emitter<'a> {
    fn new(space: &'a CandidateSpace, choices: &[Choice]) -> Self {
        let chosen = space
            .targets
            .iter()
            .zip(choices)
            .filter_map(|(target, choice)| {
                Some((Arc::as_ptr(&target.target.node), target.candidates.get(choice.candidate)?))
            })
            .collect();
        Self { builder: DagBuilder::default(), chosen, done: HashMap::new() }
    }

    fn emit(&mut self, node: &Arc<QueryExpr>) -> Result<NodeId, MappingError> {
        if let Some(id) = self.done.get(&Arc::as_ptr(node)) {
            return Ok(*id);
        }
        let id = match self.chosen.get(&Arc::as_ptr(node)).copied() {
            Some(Candidate::Rewrite(rewrite)) => {
                let built = rewrite.build()?;
                self.emit_rewrite(&built.plan, &built, &rewrite.source)?
            }
            Some(Candidate::Summary(summary)) => {
                let input = self.emit(&summary.aggregate.input)?;
                let agg = self.builder.push(PostOperator::SummaryAgg {
                    family: summary.family.clone(),
                    reduction: summary.aggregate.reduction.clone(),
                    filter: None,
                    input,
                })?;
                let output_names = summary.aggregate.output_names.clone();
                self.builder.push(PostOperator::SummaryEstimate { output_names, input: agg })?
            }
            Some(Candidate::KeepPreAsap) | None => {
                let operator = node.operator().try_map_input(&mut |input| self.emit(input))?;
                self.builder.push(PostOperator::KeepPreAsap(operator))?
            }
        };
        self.done.insert(Arc::as_ptr(node), id);
        Ok(id)
    }

    /// The nodes of a rewrite's own, down to its source.
    fn emit_rewrite(
        &mut self,
        node: &Arc<QueryExpr>,
        built: &RewritePlan,
        source: &Arc<QueryExpr>,
    ) -> Result<NodeId, MappingError> {
        if Arc::ptr_eq(node, source) {
            return self.emit(node);
        }
        let operator = node.operator().try_map_input(&mut |input| self.emit_rewrite(input, built, source))?;
        let is_roll_up = built.roll_up.as_ref().is_some_and(|roll_up| Arc::ptr_eq(roll_up, node));
        let node = match operator {
            Operator::Aggregate(aggregate) if is_roll_up => PostOperator::Exact(ExactOperation::Aggregate(aggregate)),
            other => PostOperator::KeepPreAsap(other),
        };
        Ok(self.builder.push(node)?)
    }
}
