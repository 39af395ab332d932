//! Builds the plan of a derivation.

use std::sync::Arc;

use asap_types::{Aggregate, Expr, MeasureFilters, NamedExpr, Operator, Predicate, QueryExpr, Reduction};

use crate::MappingError;
use crate::prover::{Combined, Derivation, MeasureDerivation};

/// A proof that a target follows from another aggregate of the workload. A workload has many more proofs than choices, so
/// the plan is built only when it is asked for.
#[derive(Clone, Debug)]
pub struct Rewrite {
    /// The aggregate that is computed.
    pub target: Arc<QueryExpr>,
    /// The aggregate that it is computed from: the workload's own node.
    pub source: Arc<QueryExpr>,
    /// How.
    pub derivation: Derivation,
    /// The strategy that proposes it.
    pub strategy: &'static str,
}

/// A plan that computes a target from another aggregate of the workload.
#[derive(Clone, Debug)]
pub struct RewritePlan {
    /// The plan, down to the source; its schema can replace the target's.
    pub plan: Arc<QueryExpr>,
    /// The node of the plan that groups the source's rows again; none when each source row is an output row.
    pub roll_up: Option<Arc<QueryExpr>>,
}

impl Rewrite {
    /// The plan of the derivation:
    ///
    /// ```text
    /// before: Aggregate(coarse) <- input
    /// after:  [Project] <- [Aggregate(combine)] <- [Filter(restriction)] <- source
    /// ```
    ///
    /// # Errors
    /// [`MappingError::SchemaMismatch`] if the plan does not have the target's schema: a defect of the strategy.
    pub fn build(&self) -> Result<RewritePlan, MappingError> {
        let Self { target, source, derivation, strategy } = self;
        let names = target.schema().field_names();
        let input = match Expr::conjunction(derivation.restriction.iter().cloned()) {
            Some(predicate) => {
                QueryExpr::new(Operator::Filter { predicate: Predicate(predicate), input: Arc::clone(source) })?
            }
            None => Arc::clone(source),
        };
        let (plan, roll_up) = if derivation.regroups {
            let (aggregate, outputs) = regroup(derivation, &names, input)?;
            (finish(target, Arc::clone(&aggregate), outputs)?, Some(aggregate))
        } else {
            (finish(target, input, reused(derivation))?, None)
        };
        if !plan.schema().can_replace(target.schema()) {
            let (expected, found) = (target.schema().clone(), plan.schema().clone());
            return Err(MappingError::SchemaMismatch { strategy, expected, found });
        }
        Ok(RewritePlan { plan, roll_up })
    }
}

/// The combining aggregate, and the target's columns over it.
fn regroup(
    derivation: &Derivation,
    names: &[&str],
    input: Arc<QueryExpr>,
) -> Result<(Arc<QueryExpr>, Vec<Expr>), MappingError> {
    let mut columns = Columns { combined: Vec::new(), names: Vec::new(), first: derivation.keys.len() };
    let mut outputs: Vec<Expr> = (0..derivation.keys.len()).map(Expr::column).collect();
    for (index, measure) in derivation.measures.iter().enumerate() {
        let name = names.get(derivation.keys.len() + index).copied().unwrap_or_default();
        outputs.push(match measure {
            MeasureDerivation::Reuse { column } => Expr::column(*column),
            MeasureDerivation::Combine(combined) => columns.push(combined, name.to_owned()),
            MeasureDerivation::Average { sum, count, data_type } => Expr::AverageFromParts {
                sum: Box::new(columns.push(sum, format!("{name} (sum)"))),
                count: Box::new(columns.push(count, format!("{name} (count)"))),
                data_type: data_type.clone(),
            },
        });
    }
    let key_names = names.iter().take(derivation.keys.len()).map(|&name| name.to_owned());
    let aggregate = QueryExpr::new(Operator::Aggregate(Aggregate {
        reduction: Reduction::by(derivation.keys.clone()),
        measures: columns.combined.iter().map(|combined| combined.intent.clone()).collect(),
        filters: columns
            .combined
            .iter()
            .map(|combined| combined.filter.clone().map(Predicate))
            .collect::<MeasureFilters>(),
        output_names: key_names.chain(columns.names).collect(),
        having: None,
        input,
    }))?;
    Ok((aggregate, outputs))
}

/// The measures of the combining aggregate as they are collected; equal ones are computed once.
struct Columns {
    combined: Vec<Combined>,
    names: Vec<String>,
    first: usize,
}

impl Columns {
    fn push(&mut self, combined: &Combined, name: String) -> Expr {
        let position = self.combined.iter().position(|known| known == combined).unwrap_or_else(|| {
            self.combined.push(combined.clone());
            self.names.push(name);
            self.combined.len() - 1
        });
        Expr::column(self.first + position)
    }
}

fn reused(derivation: &Derivation) -> Vec<Expr> {
    let measures = derivation.measures.iter().filter_map(|measure| match measure {
        MeasureDerivation::Reuse { column } => Some(Expr::column(*column)),
        _ => None,
    });
    derivation.keys.iter().cloned().chain(measures).collect()
}

/// The target's columns over a node: the node itself if it has them. A combined decimal sum is wider than the sum that it
/// stands for, and is cast back to its type.
fn finish(target: &QueryExpr, node: Arc<QueryExpr>, outputs: Vec<Expr>) -> Result<Arc<QueryExpr>, MappingError> {
    let columns = outputs
        .into_iter()
        .zip(target.schema().fields())
        .map(|(expr, field)| {
            let found = expr.data_type(node.schema())?;
            let expr = if found == field.data_type {
                expr
            } else {
                Expr::Cast { arg: Box::new(expr), to: field.data_type.clone(), null_on_failure: false }
            };
            Ok(NamedExpr { expr, name: field.name.clone() })
        })
        .collect::<Result<Vec<_>, MappingError>>()?;
    let is_identity = columns.len() == node.schema().len()
        && columns
            .iter()
            .zip(node.schema().fields())
            .enumerate()
            .all(|(index, (column, field))| column.expr == Expr::column(index) && column.name == field.name);
    if is_identity { Ok(node) } else { Ok(QueryExpr::new(Operator::Project { columns, input: node })?) }
}
