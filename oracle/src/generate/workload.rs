//! Workloads: one to eight queries, most of them a family whose members can be answered from the finest one.

use rand::Rng;
use rand::seq::{IndexedRandom, IteratorRandom};

use super::columns::ColumnPlan;
use super::{TABLE, having, nested, predicate, rows, shape};
use crate::query::{Arithmetic, Column, Comparison, Expr, Function, Nesting, Output, Query, Source, visit};
use crate::value::{Type, Value};

/// What the members of a family have in common.
struct Family {
    keys: Vec<Expr>,
    measures: Vec<Expr>,
    filter: Option<Expr>,
}

/// One to eight queries over the columns.
pub(super) fn generate(columns: &[ColumnPlan], rng: &mut impl Rng) -> Vec<Query> {
    let family = family(columns, rng);
    (0..rng.random_range(1..=8))
        .map(|_| {
            if rng.random_bool(0.1) {
                rows::generate(columns, rng)
            } else if rng.random_bool(0.05) {
                match nested::join(columns, rng) {
                    Some(joined) => of_join(joined, rng),
                    None => rows::generate(columns, rng),
                }
            } else if rng.random_bool(0.4) {
                count_rows(columns, rng)
            } else if rng.random_bool(0.15) {
                let stranger = self::family(columns, rng);
                member(&stranger, columns, rng)
            } else {
                with_subquery(member(&family, columns, rng), columns, rng)
            }
        })
        .collect()
}

/// An aggregation over a join.
fn of_join((source, columns): (Source, Vec<ColumnPlan>), rng: &mut impl Rng) -> Query {
    let family = family(&columns, rng);
    Query { source, ..member(&family, &columns, rng) }
}

/// Now and then a test against a sub-query, too.
fn with_subquery(query: Query, columns: &[ColumnPlan], rng: &mut impl Rng) -> Query {
    if rng.random_bool(0.94) {
        return query;
    }
    let filters = query.filter.iter().cloned().chain(nested::subquery(columns, rng));
    Query { filter: conjunction(filters.collect()), ..query }
}

/// Counts without groups, over all rows or under a predicate: what indexes and the manifest can answer.
fn count_rows(columns: &[ColumnPlan], rng: &mut impl Rng) -> Query {
    let outdated: Vec<ColumnPlan> = columns.iter().filter(|plan| plan.outdated).cloned().collect();
    let columns = if outdated.is_empty() || rng.random() { columns } else { &outdated };
    let mut counts = Vec::new();
    for _ in 0..rng.random_range(1..=3) {
        counts.push(match columns.choose(rng) {
            Some(plan) if rng.random_bool(0.5) => Expr::aggregate(Function::Count, plan.expr(), None),
            _ => Expr::count_all(None),
        });
    }
    Query {
        filter: rng.random_bool(0.7).then(|| {
            let depth = rng.random_range(0..=1);
            predicate::generate(columns, depth, rng)
        }),
        group_by: Some(Vec::new()),
        ..Query::of_table(TABLE, outputs(&[], &counts, rng))
    }
}

fn family(columns: &[ColumnPlan], rng: &mut impl Rng) -> Family {
    let mut keys = Vec::new();
    for _ in 0..rng.random_range(0..=3) {
        if let Some(key) = columns.choose(rng).map(|plan| key(plan, columns, rng))
            && !keys.contains(&key)
        {
            keys.push(key);
        }
    }
    let mut measures = Vec::new();
    for _ in 0..rng.random_range(1..=4) {
        if let Some(plan) = columns.choose(rng) {
            measures.extend(self::measures(plan, columns, rng));
        }
    }
    Family { keys, measures, filter: rng.random_bool(0.3).then(|| predicate::generate(columns, 2, rng)) }
}

/// Mostly the column itself, else a function of it with few values.
fn key(plan: &ColumnPlan, columns: &[ColumnPlan], rng: &mut impl Rng) -> Expr {
    let integer = matches!(plan.data_type(), Type::Int32 | Type::Int64);
    match rng.random_range(0..10) {
        0 => Expr::IsNull { operand: Box::new(plan.expr()), negated: false },
        1 => Expr::case(predicate::leaf(plan, columns, rng), bigint(1), Some(bigint(0))),
        2 if integer => Expr::arithmetic(Arithmetic::Modulo, plan.expr(), bigint(3)),
        4 | 5 if plan.data_type().second_digits().is_some() => {
            predicate::truncated(plan, rng).unwrap_or_else(|| plan.expr())
        }
        3 if integer => Expr::arithmetic(Arithmetic::Add, plan.expr(), bigint(1)),
        _ => plan.expr(),
    }
}

fn bigint(value: i64) -> Expr {
    Expr::literal(Value::Int64(value), Type::Int64)
}

/// One or a few measures of the column: AVG comes with the SUM and the COUNT that it could be taken from.
fn measures(plan: &ColumnPlan, columns: &[ColumnPlan], rng: &mut impl Rng) -> Vec<Expr> {
    let filter = rng.random_bool(0.3).then(|| predicate::generate(columns, 1, rng));
    let argument = argument(plan, columns, rng);
    let of = |function| Expr::aggregate(function, argument.clone(), filter.clone());
    let distinct = |function| Expr::distinct_aggregate(function, argument.clone(), filter.clone());
    let adds = plan.adds();
    match rng.random_range(0..9) {
        7 => vec![distinct(Function::Count)],
        8 if adds && plan.is_small => {
            [Function::Sum, Function::Avg].choose(rng).copied().map(distinct).into_iter().collect()
        }
        0 => vec![Expr::count_all(filter)],
        1 => vec![of(Function::Min), of(Function::Max)],
        2 if adds && plan.is_small => {
            // The count of all rows is no part of an average of a column with NULLs.
            let count = if rng.random_bool(0.7) { of(Function::Count) } else { Expr::count_all(filter.clone()) };
            vec![of(Function::Avg), of(Function::Sum), count]
        }
        3 if adds && plan.is_small => vec![of(Function::Avg)],
        4 if adds => vec![of(Function::Sum)],
        5 => vec![Expr::count_all(filter.clone()), of(Function::Count)],
        _ => vec![of(Function::Count)],
    }
}

fn argument(plan: &ColumnPlan, columns: &[ColumnPlan], rng: &mut impl Rng) -> Expr {
    match rng.random_range(0..10) {
        0..2 => Expr::case(predicate::generate(columns, 1, rng), plan.expr(), None),
        2 if plan.adds() && plan.data_type().has_arithmetic() => {
            let operator = [Arithmetic::Add, Arithmetic::Subtract, Arithmetic::Multiply].choose(rng).copied();
            Expr::arithmetic(operator.unwrap_or(Arithmetic::Add), plan.expr(), predicate::constant(plan, rng))
        }
        _ => plan.expr(),
    }
}

/// A query over some of the family's keys and some of its measures, in one of the spellings of its source.
fn member(family: &Family, columns: &[ColumnPlan], rng: &mut impl Rng) -> Query {
    let kept = rng.random_range(0..=family.keys.len());
    let mut keys = family.keys.iter().cloned().choose_multiple(rng, kept);
    if rng.random_bool(0.3) {
        keys = family.keys.clone();
    }
    let measures = rng.random_range(usize::from(keys.is_empty())..=family.measures.len());
    let mut measures = family.measures.iter().cloned().choose_multiple(rng, measures);
    if keys.is_empty() && measures.is_empty() {
        measures.push(Expr::count_all(None));
    }
    let mut filters = Vec::from_iter(family.filter.clone());
    if rng.random_bool(0.25) {
        filters.extend(key_filter(family, columns, rng));
    }
    let (source, filter) = source(conjunction(filters), columns, rng);
    // Whether the measures of groups that HAVING or LIMIT 0 rejects are computed is left open, so they must not fail.
    let may_fail = measures.iter().any(|measure| may_overflow(measure, columns));
    let mut query = Query {
        source,
        filter,
        having: (!may_fail && rng.random_bool(0.2)).then(|| having::generate(&measures, &keys, columns, rng)),
        ..Query::of_table(TABLE, outputs(&keys, &measures, rng))
    };
    query.group_by = Some(keys);
    shape::decorate(&mut query, columns, rng);
    if may_fail && query.limit == Some(0) {
        query.limit = Some(1);
    }
    query
}

/// Does a measure compute a decimal?
fn may_overflow(measure: &Expr, columns: &[ColumnPlan]) -> bool {
    let columns: Vec<Column> = columns.iter().map(|plan| plan.column.clone()).collect();
    let Expr::Aggregate(call) = measure else { return false };
    let mut computes = false;
    if let Some(argument) = &call.argument {
        visit(argument, &mut |part| {
            let is_decimal = matches!(part.data_type(&columns), Ok(Type::Decimal { .. }));
            computes |= is_decimal && matches!(part, Expr::Arithmetic { .. });
        });
    }
    computes
}

/// `key = constant`: a finer query that has the key can still answer it.
fn key_filter(family: &Family, columns: &[ColumnPlan], rng: &mut impl Rng) -> Option<Expr> {
    let keys = columns.iter().filter(|plan| family.keys.contains(&plan.expr()));
    let plan = keys.choose(rng)?;
    Some(if rng.random_bool(0.7) {
        Expr::compare(Comparison::Equal, plan.expr(), predicate::constant(plan, rng))
    } else {
        predicate::leaf(plan, &[], rng)
    })
}

fn conjunction(mut filters: Vec<Expr>) -> Option<Expr> {
    if filters.len() > 1 { Some(Expr::And(filters)) } else { filters.pop() }
}

/// The table itself, or a nested query that hands all its columns on and takes the filter in or leaves it outside.
fn source(filter: Option<Expr>, columns: &[ColumnPlan], rng: &mut impl Rng) -> (Source, Option<Expr>) {
    let table = Source::Table(TABLE.to_owned());
    if rng.random_bool(0.8) {
        return (table, filter);
    }
    let (inner, outer) = if rng.random() { (filter, None) } else { (None, filter) };
    let nesting = if rng.random() { Nesting::SubSelect } else { Nesting::CommonTable };
    let outputs = columns.iter().map(|plan| Output::new(plan.expr(), &plan.column.name)).collect();
    let query = Query { filter: inner, ..Query::of_table(TABLE, outputs) };
    (Source::Nested { name: "s".to_owned(), nesting, query: Box::new(query) }, outer)
}

fn outputs(keys: &[Expr], measures: &[Expr], rng: &mut impl Rng) -> Vec<Output> {
    let keys = keys.iter().enumerate().map(|(position, key)| match key {
        Expr::Column(name) if rng.random_bool(0.5) => Output::new(key.clone(), name),
        _ => Output::new(key.clone(), format!("k{position}")),
    });
    let keys = keys.collect::<Vec<_>>();
    let measures =
        measures.iter().enumerate().map(|(position, measure)| Output::new(measure.clone(), format!("m{position}")));
    keys.into_iter().chain(measures).collect()
}
