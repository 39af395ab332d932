//! The canonical form of a query: two spellings of one computation become structurally equal.

use std::collections::HashMap;
use std::sync::Arc;

use crate::simplify::{normal_conjuncts, normal_predicate, simplify};
use crate::{
    AggIntent, Aggregate, ColumnId, Expr, MeasureFilters, NamedExpr, Operator, Predicate, QueryExpr, TypesError,
};

/// The canonical form of a resolved query. Idempotent; the output schema, its names and the rows stay the same.
///
/// - conjuncts directly above a table move into its scan, neighbouring filters merge, filters move below projections
///   and sorts;
/// - HAVING becomes a filter above its aggregate, so that the aggregate equals one without it;
/// - projections merge, an identity projection is dropped, and an aggregate reads through a projection, so that the
///   inputs of aggregates are equal however many sub-selects spell them;
/// - a sort below an aggregate that does not depend on order is dropped;
/// - expressions take the form of [`simplify`].
///
/// Volatile expressions are neither moved nor duplicated.
///
/// # Errors
/// None for a query that was built by [`QueryExpr::new`]; the signature carries the schema derivation's error.
pub fn canonicalize(query: &Arc<QueryExpr>) -> Result<Arc<QueryExpr>, TypesError> {
    let mut done: HashMap<*const QueryExpr, Arc<QueryExpr>> = HashMap::new();
    for node in QueryExpr::reachable(std::slice::from_ref(query)) {
        let operator = node.operator().try_map_input(&mut |input| {
            done.get(&Arc::as_ptr(input)).cloned().ok_or(TypesError::MissingNode("an unvisited input"))
        })?;
        done.insert(Arc::as_ptr(&node), canonical_node(operator)?);
    }
    done.remove(&Arc::as_ptr(query)).ok_or(TypesError::MissingNode("an unvisited root"))
}

/// The canonical form of an operator over canonical inputs.
fn canonical_node(operator: Operator<Arc<QueryExpr>>) -> Result<Arc<QueryExpr>, TypesError> {
    match operator {
        Operator::Scan { table, schema, predicates } => {
            let conjuncts = normal_conjuncts(predicates.into_iter().map(|predicate| predicate.0), &schema);
            let predicates = conjuncts.into_iter().map(Predicate).collect();
            QueryExpr::new(Operator::Scan { table, schema, predicates })
        }
        Operator::Filter { predicate, input } => canonical_filter(vec![predicate.0], input),
        Operator::Project { columns, input } => canonical_project(columns, input),
        Operator::Aggregate(aggregate) => canonical_aggregate(aggregate),
        Operator::Sort { keys, input } => {
            let keys = keys
                .into_iter()
                .map(|key| crate::SortKey { expr: simplify(&key.expr, input.schema()), ..key })
                .collect();
            QueryExpr::new(Operator::Sort { keys, input })
        }
        #[cfg(feature = "faults")]
        Operator::Limit { skip, fetch, input }
            if matches!(input.operator(), Operator::Sort { .. })
                && asap_faults::is_planted(asap_faults::Fault::OrderOfLimitLost) =>
        {
            let input = Arc::clone(input.operator().input().unwrap_or(&input));
            QueryExpr::new(Operator::Limit { skip, fetch, input })
        }
        other @ (Operator::Distinct { .. } | Operator::Limit { .. }) => QueryExpr::new(other),
    }
}

fn canonical_filter(conjuncts: Vec<Expr>, input: Arc<QueryExpr>) -> Result<Arc<QueryExpr>, TypesError> {
    let conjuncts = normal_conjuncts(conjuncts, input.schema());
    #[cfg(feature = "faults")]
    if matches!(input.operator(), Operator::Aggregate(_)) && asap_faults::is_planted(asap_faults::Fault::HavingLost) {
        return Ok(input);
    }
    let movable = !conjuncts.iter().any(Expr::is_volatile);
    match input.operator() {
        Operator::Scan { table, schema, predicates } => {
            let all = predicates.iter().map(|predicate| predicate.0.clone()).chain(conjuncts);
            canonical_node(Operator::Scan {
                table: table.clone(),
                schema: schema.clone(),
                predicates: all.map(Predicate).collect(),
            })
        }
        Operator::Filter { predicate, input } => {
            let all = std::iter::once(predicate.0.clone()).chain(conjuncts).collect();
            canonical_filter(all, Arc::clone(input))
        }
        Operator::Project { columns, input }
            if movable && !any_volatile(columns) && stays_small(&conjuncts, columns) =>
        {
            let sources = expressions(columns);
            let below = conjuncts.iter().map(|conjunct| conjunct.substitute(&sources)).collect();
            canonical_project(columns.clone(), canonical_filter(below, Arc::clone(input))?)
        }
        Operator::Sort { keys, input } if movable => {
            let input = canonical_filter(conjuncts, Arc::clone(input))?;
            QueryExpr::new(Operator::Sort { keys: keys.clone(), input })
        }
        _ => match Expr::conjunction(conjuncts) {
            Some(predicate) => QueryExpr::new(Operator::Filter { predicate: Predicate(predicate), input }),
            None => Ok(input),
        },
    }
}

fn canonical_project(columns: Vec<NamedExpr>, input: Arc<QueryExpr>) -> Result<Arc<QueryExpr>, TypesError> {
    let columns: Vec<NamedExpr> = columns
        .into_iter()
        .map(|column| NamedExpr { expr: simplify(&column.expr, input.schema()), name: column.name })
        .collect();
    if let Operator::Project { columns: inner, input: below } = input.operator()
        && can_merge(&columns, inner)
    {
        let sources = expressions(inner);
        let merged = columns
            .iter()
            .map(|column| NamedExpr { expr: column.expr.substitute(&sources), name: column.name.clone() })
            .collect();
        return canonical_project(merged, Arc::clone(below));
    }
    if is_identity(&columns, &input) {
        return Ok(input);
    }
    QueryExpr::new(Operator::Project { columns, input })
}

fn canonical_aggregate(aggregate: Aggregate<Arc<QueryExpr>>) -> Result<Arc<QueryExpr>, TypesError> {
    let aggregate = read_through(aggregate)?;
    let input = aggregate.input.schema().clone();
    let mut simplified = |expr: &Expr| Ok::<_, TypesError>(simplify(expr, &input));
    let reduction = aggregate.reduction.try_map(&mut simplified)?;
    let measures: Vec<AggIntent> =
        aggregate.measures.iter().map(|measure| measure.try_map_args(&mut simplified)).collect::<Result<_, _>>()?;
    let filters = (0..measures.len())
        .map(|measure| {
            let predicate = normal_predicate(&aggregate.filters.get(measure)?.0, &input);
            (!matches!(&predicate, Expr::Literal(literal) if literal.is_true())).then_some(Predicate(predicate))
        })
        .collect::<MeasureFilters>();
    #[cfg(feature = "faults")]
    let filters = asap_faults::inject(asap_faults::Fault::MeasureFiltersRotated, filters, |right| {
        let mut filters: Vec<Option<Predicate>> = right.into();
        let places = usize::from(filters.len() > 1);
        filters.rotate_right(places);
        filters.into()
    });
    let node = QueryExpr::new(Operator::Aggregate(Aggregate {
        reduction,
        measures,
        filters,
        output_names: aggregate.output_names,
        having: None,
        input: aggregate.input,
    }))?;
    match aggregate.having {
        Some(having) => canonical_filter(vec![having.0], node),
        None => Ok(node),
    }
}

/// The aggregate over the input of the projections and needless sorts that it reads.
fn read_through(aggregate: Aggregate<Arc<QueryExpr>>) -> Result<Aggregate<Arc<QueryExpr>>, TypesError> {
    match aggregate.input.operator() {
        // Below the projection are other labels, so other groups, if the keys alone do not make the groups.
        Operator::Project { columns, input }
            if aggregate.reduction.is_relational()
                && !any_volatile(columns)
                && stays_small(aggregate.input_exprs(), columns) =>
        {
            let sources = expressions(columns);
            let mut substitute = |expr: &Expr| Ok::<_, TypesError>(expr.substitute(&sources));
            read_through(Aggregate {
                reduction: aggregate.reduction.try_map(&mut substitute)?,
                measures: aggregate
                    .measures
                    .iter()
                    .map(|measure| measure.try_map_args(&mut substitute))
                    .collect::<Result<_, _>>()?,
                filters: aggregate.filters.try_map(&mut substitute)?,
                output_names: aggregate.output_names.clone(),
                having: aggregate.having.clone(),
                input: Arc::clone(input),
            })
        }
        Operator::Sort { input, keys }
            if !aggregate.measures.iter().any(AggIntent::order_matters)
                && !keys.iter().any(|key| key.expr.is_volatile()) =>
        {
            read_through(aggregate.with_input(Arc::clone(input)))
        }
        _ => Ok(aggregate),
    }
}

/// Nodes that an expression may gain when columns are replaced by what they stand for.
const MAX_GROWTH: usize = 256;

/// Whether no expression grows beyond measure when it reads through a projection. Chains of sub-selects such as
/// `SELECT x + x AS x FROM (…)` would double at each step.
fn stays_small<'a>(reading: impl IntoIterator<Item = &'a Expr>, columns: &[NamedExpr]) -> bool {
    let sizes: Vec<usize> = columns.iter().map(|column| column.expr.node_count()).collect();
    reading.into_iter().all(|expr| {
        let mut growth = 0_usize;
        expr.for_each_column(&mut |id: &ColumnId| growth += sizes.get(id.index()).map_or(0, |size| size - 1));
        growth <= MAX_GROWTH
    })
}

fn expressions(columns: &[NamedExpr]) -> Vec<Expr> {
    columns.iter().map(|column| column.expr.clone()).collect()
}

fn any_volatile(columns: &[NamedExpr]) -> bool {
    columns.iter().any(|column| column.expr.is_volatile())
}

/// Merging duplicates no work worth naming: every computed inner column is read at most once, and none is volatile.
fn can_merge(outer: &[NamedExpr], inner: &[NamedExpr]) -> bool {
    let mut reads = vec![0_usize; inner.len()];
    for column in outer {
        column.expr.for_each_column(&mut |id: &ColumnId| {
            if let Some(count) = reads.get_mut(id.index()) {
                *count += 1;
            }
        });
    }
    inner.iter().zip(reads).all(|(column, reads)| match column.expr {
        Expr::Column(_) | Expr::Literal(_) => true,
        _ => reads <= 1 && !column.expr.is_volatile(),
    })
}

fn is_identity(columns: &[NamedExpr], input: &QueryExpr) -> bool {
    columns.len() == input.schema().len()
        && columns
            .iter()
            .zip(input.schema().fields())
            .enumerate()
            .all(|(index, (column, field))| column.expr == Expr::column(index) && column.name == field.name)
}
