//! Relational operators.

use asap_types::{ColumnRef, Field, NamedExpr, Operator, Predicate, Schema, SortKey, UnresolvedQuery, visible_name};
use datafusion_expr::logical_plan::{FetchType, SkipType, TableScan};
use datafusion_expr::{Distinct, Limit, LogicalPlan, Projection, SortExpr};

use super::Lowering;
use super::scope::{Relation, Scope};
use crate::catalog::CatalogTable;
use crate::{Feature, FrontendError};

impl Lowering<'_> {
    pub(super) fn plan(&self, plan: &LogicalPlan) -> Result<Relation, FrontendError> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::SubqueryAlias(alias) => Ok(self.plan(&alias.input)?.aliased(&alias.alias.to_string())),
            LogicalPlan::Projection(projection) => self.projection(projection),
            LogicalPlan::Filter(filter) => {
                let input = self.plan(&filter.input)?;
                let predicate = Predicate(self.expr(&filter.predicate, input.scope(filter.input.schema()))?);
                Ok(input.map(|input| Operator::Filter { predicate, input }))
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Sort(sort) => {
                let input = self.plan(&sort.input)?;
                let keys = self.sort_keys(&sort.expr, input.scope(sort.input.schema()))?;
                let sorted = input.map(|input| Operator::Sort { keys, input });
                Ok(match sort.fetch {
                    None => sorted,
                    Some(fetch) => sorted.map(|input| Operator::Limit { skip: 0, fetch: Some(rows(fetch)), input }),
                })
            }
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                Ok(self.plan(input)?.map(|input| Operator::Distinct { input }))
            }
            other => Err(self.refuse(relation_feature(other))),
        }
    }

    fn scan(&self, scan: &TableScan) -> Result<Relation, FrontendError> {
        let is_whole = scan.projection.is_none() && scan.filters.is_empty() && scan.fetch.is_none();
        let (true, Some(source)) = (is_whole, scan.source.downcast_ref::<CatalogTable>()) else {
            return Err(self.refuse(Feature::Relation("a scan that is already restricted")));
        };
        let fields = source.table.schema.fields().iter();
        let fields = fields.map(|field| Field::new(field.name(), field.data_type().clone(), field.is_nullable()));
        let schema = source
            .table
            .unique_keys
            .iter()
            .fold(Schema::new(fields.collect()), |schema, key| schema.with_unique_key(key.iter().copied()));
        let columns = schema.field_names().into_iter().map(ColumnRef::bare).collect();
        let operator = Operator::Scan { table: source.name.clone(), schema, predicates: vec![] };
        Ok(Relation { query: UnresolvedQuery::new(operator), columns }.aliased(&scan.table_name.to_string()))
    }

    fn projection(&self, projection: &Projection) -> Result<Relation, FrontendError> {
        let input = self.plan(&projection.input)?;
        let scope = input.scope(projection.input.schema());
        let columns: Vec<NamedExpr<ColumnRef>> = projection
            .expr
            .iter()
            .zip(projection.schema.fields())
            .map(|(expr, field)| Ok(NamedExpr { expr: self.expr(expr, scope)?, name: field.name().clone() }))
            .collect::<Result<_, FrontendError>>()?;
        let visible = columns.iter().map(|column| visible_name(&column.expr, &column.name)).collect();
        let query = UnresolvedQuery::new(Operator::Project { columns, input: input.query });
        Ok(Relation { query, columns: visible })
    }

    fn sort_keys(&self, keys: &[SortExpr], scope: Scope<'_>) -> Result<Vec<SortKey<ColumnRef>>, FrontendError> {
        keys.iter()
            .map(|key| {
                let nulls_first = key.nulls_first;
                #[cfg(feature = "faults")]
                let nulls_first = asap_faults::inject(asap_faults::Fault::NullsOrderIgnored, nulls_first, |_| !key.asc);
                Ok(SortKey { expr: self.expr(&key.expr, scope)?, descending: !key.asc, nulls_first })
            })
            .collect()
    }

    fn limit(&self, limit: &Limit) -> Result<Relation, FrontendError> {
        let input = self.plan(&limit.input)?;
        let bounds = (self.planned(limit.get_skip_type())?, self.planned(limit.get_fetch_type())?);
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = bounds else {
            return Err(self.refuse(Feature::LimitExpression));
        };
        Ok(input.map(|input| Operator::Limit { skip: rows(skip), fetch: fetch.map(rows), input }))
    }
}

/// Row counts never exceed 64 bits.
fn rows(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

fn relation_feature(plan: &LogicalPlan) -> Feature {
    match plan {
        LogicalPlan::Window(_) => Feature::WindowFunction,
        LogicalPlan::Join(_) => Feature::Join,
        LogicalPlan::Union(_) => Feature::SetOperation,
        LogicalPlan::EmptyRelation(_) => Feature::NoTable,
        LogicalPlan::Subquery(_) => Feature::SubqueryExpression,
        LogicalPlan::Values(_) => Feature::Values,
        LogicalPlan::Distinct(_) => Feature::DistinctOn,
        LogicalPlan::Unnest(_) => Feature::Unnest,
        LogicalPlan::RecursiveQuery(_) => Feature::RecursiveCte,
        LogicalPlan::Repartition(_) => Feature::Relation("DISTRIBUTE BY"),
        LogicalPlan::Extension(_) => Feature::Relation("an extension of the planner"),
        _ => Feature::NotAQuery,
    }
}
