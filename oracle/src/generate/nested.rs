//! Joins, and sub-queries in WHERE.

use rand::Rng;
use rand::seq::IndexedRandom;

use super::columns::ColumnPlan;
use super::{TABLE, predicate};
use crate::query::{Column, Expr, Function, JoinKind, Nesting, Output, Query, Source};
use crate::value::Type;

/// The table joined with some of its own rows, and the columns of both; `None` without a column to join on.
pub(super) fn join(columns: &[ColumnPlan], rng: &mut impl Rng) -> Option<(Source, Vec<ColumnPlan>)> {
    // Floats are equal in more than one way.
    let keys = columns.iter().filter(|plan| !plan.data_type().is_float()).collect::<Vec<_>>();
    let key = keys.choose(rng)?;
    let mut taken = vec![(*key).clone()];
    taken.extend(columns.choose(rng).filter(|plan| plan.column.name != key.column.name).cloned());
    let renamed = |plan: &ColumnPlan| plan.renamed(format!("r_{}", plan.column.name));
    let outputs = taken.iter().map(|plan| Output::new(plan.expr(), renamed(plan).column.name)).collect();
    let query = Query {
        filter: rng.random_bool(0.7).then(|| predicate::generate(columns, 1, rng)),
        distinct: rng.random_bool(0.3),
        ..Query::of_table(TABLE, outputs)
    };
    let right = Source::Nested { name: "r".to_owned(), nesting: Nesting::SubSelect, query: Box::new(query) };
    let source = Source::Join {
        kind: if rng.random() { JoinKind::Inner } else { JoinKind::Left },
        left: Box::new(Source::Table(TABLE.to_owned())),
        left_key: key.column.name.clone(),
        right: Box::new(right),
        right_key: renamed(key).column.name,
    };
    let all = columns.iter().cloned().chain(taken.iter().map(renamed)).collect();
    Some((source, all))
}

/// A test against a sub-query that reads nothing of the query around it.
pub(super) fn subquery(columns: &[ColumnPlan], rng: &mut impl Rng) -> Option<Expr> {
    let plan = columns.choose(rng).filter(|plan| !plan.data_type().is_float())?;
    let filter = rng.random_bool(0.7).then(|| predicate::generate(columns, 1, rng));
    let of = |expr| Query { filter, ..Query::of_table(TABLE, vec![Output::new(expr, "y")]) };
    let negated = rng.random();
    Some(match rng.random_range(0..4) {
        0 => Expr::Exists { query: Box::new(of(plan.expr())), negated },
        1 if plan.data_type() != Type::Boolean => {
            let function = if rng.random() { Function::Min } else { Function::Max };
            let extremum = Expr::aggregate(function, plan.expr(), None);
            let schema: Vec<Column> = columns.iter().map(|plan| plan.column.clone()).collect();
            let data_type = extremum.data_type(&schema).ok()?;
            let total = of(extremum);
            let query = Box::new(Query { group_by: Some(Vec::new()), ..total });
            let scalar = Expr::Scalar { query, data_type };
            Expr::compare(predicate::comparison(rng), plan.expr(), scalar)
        }
        _ => Expr::InQuery { operand: Box::new(plan.expr()), query: Box::new(of(plan.expr())), negated },
    })
}
