//! Resolution of column names to positions.

use std::collections::HashMap;
use std::sync::Arc;

use crate::{
    Aggregate, ColumnId, ColumnRef, Expr, NamedExpr, Operator, Predicate, QueryExpr, SortKey, TypesError,
    UnresolvedQuery,
};

/// Resolves every column name of a query to a position and derives schemas. Nodes that are shared by pointer stay
/// shared.
///
/// # Errors
/// A name that matches no column or several, with the candidates; or an invalid operator.
pub fn resolve(query: &Arc<UnresolvedQuery>) -> Result<Arc<QueryExpr>, TypesError> {
    Resolver::default().resolve(query).map(|resolved| resolved.query)
}

/// The names under which columns are visible, by position.
type Scope = Vec<ColumnRef>;

#[derive(Clone)]
struct Resolved {
    query: Arc<QueryExpr>,
    scope: Scope,
}

#[derive(Default)]
struct Resolver {
    done: HashMap<*const UnresolvedQuery, Resolved>,
}

impl Resolver {
    fn resolve(&mut self, node: &Arc<UnresolvedQuery>) -> Result<Resolved, TypesError> {
        if let Some(resolved) = self.done.get(&Arc::as_ptr(node)) {
            return Ok(resolved.clone());
        }
        let input = node.operator.input().map(|input| self.resolve(input)).transpose()?;
        let (operator, mut scope) = resolve_operator(&node.operator, input)?;
        if let Some(alias) = &node.alias {
            for column in &mut scope {
                column.relation = Some(alias.clone());
            }
        }
        let resolved = Resolved { query: QueryExpr::new(operator)?, scope };
        self.done.insert(Arc::as_ptr(node), resolved.clone());
        Ok(resolved)
    }
}

fn resolve_operator(
    operator: &Operator<Arc<UnresolvedQuery>, ColumnRef>,
    input: Option<Resolved>,
) -> Result<(Operator<Arc<QueryExpr>>, Scope), TypesError> {
    let missing = || TypesError::MissingNode("an operator without its input");
    if let Operator::Scan { table, schema, predicates } = operator {
        let scope: Scope = schema
            .fields()
            .iter()
            .map(|field| ColumnRef { relation: Some(table.table.clone()), name: field.name.clone() })
            .collect();
        let predicates =
            predicates.iter().map(|predicate| resolve_predicate(predicate, &scope)).collect::<Result<_, _>>()?;
        return Ok((Operator::Scan { table: table.clone(), schema: schema.clone(), predicates }, scope));
    }
    let Resolved { query: input, scope } = input.ok_or_else(missing)?;
    Ok(match operator {
        Operator::Scan { .. } => return Err(missing()),
        Operator::Filter { predicate, .. } => {
            (Operator::Filter { predicate: resolve_predicate(predicate, &scope)?, input }, scope)
        }
        Operator::Project { columns, .. } => {
            let resolved = columns
                .iter()
                .map(|column| Ok(NamedExpr { expr: resolve_expr(&column.expr, &scope)?, name: column.name.clone() }))
                .collect::<Result<_, TypesError>>()?;
            let out = columns.iter().map(|column| visible_name(&column.expr, &column.name)).collect();
            (Operator::Project { columns: resolved, input }, out)
        }
        Operator::Aggregate(aggregate) => {
            let (aggregate, out) = resolve_aggregate(aggregate, input, &scope)?;
            (Operator::Aggregate(aggregate), out)
        }
        Operator::Distinct { .. } => (Operator::Distinct { input }, scope),
        Operator::Sort { keys, .. } => {
            let keys = keys
                .iter()
                .map(|key| {
                    Ok(SortKey {
                        expr: resolve_expr(&key.expr, &scope)?,
                        descending: key.descending,
                        nulls_first: key.nulls_first,
                    })
                })
                .collect::<Result<_, TypesError>>()?;
            (Operator::Sort { keys, input }, scope)
        }
        Operator::Limit { skip, fetch, .. } => (Operator::Limit { skip: *skip, fetch: *fetch, input }, scope),
    })
}

fn resolve_aggregate(
    aggregate: &Aggregate<Arc<UnresolvedQuery>, ColumnRef>,
    input: Arc<QueryExpr>,
    scope: &Scope,
) -> Result<(Aggregate<Arc<QueryExpr>>, Scope), TypesError> {
    let mut over_input = |expr: &Expr<ColumnRef>| resolve_expr(expr, scope);
    let keys = aggregate.keys();
    let out: Scope = aggregate
        .output_names
        .iter()
        .enumerate()
        .map(|(index, name)| match keys.get(index) {
            Some(key) => visible_name(key, name),
            None => ColumnRef::bare(name),
        })
        .collect();
    let resolved = Aggregate {
        reduction: aggregate.reduction.try_map(&mut over_input)?,
        measures: aggregate
            .measures
            .iter()
            .map(|measure| measure.try_map_args(&mut over_input))
            .collect::<Result<_, _>>()?,
        filters: aggregate.filters.try_map(&mut over_input)?,
        output_names: aggregate.output_names.clone(),
        having: aggregate.having.as_ref().map(|having| resolve_predicate(having, &out)).transpose()?,
        input,
    };
    Ok((resolved, out))
}

/// The name by which an output column is visible to what reads it: a column that keeps its name keeps its qualifier, any
/// other expression is visible by its new name alone.
#[must_use]
pub fn visible_name(expr: &Expr<ColumnRef>, name: &str) -> ColumnRef {
    match expr {
        Expr::Column(column) if column.name == name => column.clone(),
        _ => ColumnRef::bare(name),
    }
}

fn resolve_predicate(predicate: &Predicate<ColumnRef>, scope: &Scope) -> Result<Predicate, TypesError> {
    resolve_expr(&predicate.0, scope).map(Predicate)
}

fn resolve_expr(expr: &Expr<ColumnRef>, scope: &Scope) -> Result<Expr, TypesError> {
    expr.try_map_columns(&mut |column| resolve_column(column, scope))
}

fn resolve_column(column: &ColumnRef, scope: &Scope) -> Result<ColumnId, TypesError> {
    let is_match = |visible: &ColumnRef| {
        visible.name == column.name && (column.relation.is_none() || visible.relation == column.relation)
    };
    let matches: Vec<usize> = (0..scope.len()).filter(|&index| scope.get(index).is_some_and(is_match)).collect();
    let names = |positions: &mut dyn Iterator<Item = usize>| {
        positions.filter_map(|index| scope.get(index)).map(ColumnRef::to_string).collect()
    };
    match matches.as_slice() {
        [index] => Ok(ColumnId(*index)),
        [] => Err(TypesError::ColumnNotFound { column: column.clone(), candidates: names(&mut (0..scope.len())) }),
        several => {
            Err(TypesError::AmbiguousColumn { column: column.clone(), candidates: names(&mut several.iter().copied()) })
        }
    }
}
