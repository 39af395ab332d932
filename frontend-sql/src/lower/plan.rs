//! Relational operators.

use std::sync::Arc;

use asap_types::{ColumnRef, Expr, Field, NamedExpr, Operator, Predicate, Schema, SortKey, TableRef, UnresolvedQuery};
use datafusion_common::DFSchema;
use datafusion_expr::logical_plan::{FetchType, SkipType, TableScan};
use datafusion_expr::{Distinct, Limit, LogicalPlan, SortExpr};

use super::Lowering;
use crate::catalog::CatalogTable;
use crate::{Feature, FrontendError};

type Node = Arc<UnresolvedQuery>;

impl Lowering<'_> {
    pub(super) fn plan(&self, plan: &LogicalPlan) -> Result<Node, FrontendError> {
        match plan {
            LogicalPlan::TableScan(scan) => self.scan(scan),
            LogicalPlan::SubqueryAlias(alias) => {
                let input = self.plan(&alias.input)?;
                Ok(UnresolvedQuery::aliased(input.operator.clone(), alias.alias.to_string()))
            }
            LogicalPlan::Projection(projection) => {
                let input = self.plan(&projection.input)?;
                let schema = projection.input.schema();
                let columns = projection
                    .expr
                    .iter()
                    .zip(projection.schema.fields())
                    .map(|(expr, field)| Ok(NamedExpr { expr: self.expr(expr, schema)?, name: field.name().clone() }))
                    .collect::<Result<_, FrontendError>>()?;
                Ok(UnresolvedQuery::new(Operator::Project { columns, input }))
            }
            LogicalPlan::Filter(filter) => {
                let input = self.plan(&filter.input)?;
                let predicate = Predicate(self.expr(&filter.predicate, filter.input.schema())?);
                Ok(UnresolvedQuery::new(Operator::Filter { predicate, input }))
            }
            LogicalPlan::Aggregate(aggregate) => self.aggregate(aggregate),
            LogicalPlan::Sort(sort) => {
                let input = self.plan(&sort.input)?;
                let keys = self.sort_keys(&sort.expr, sort.input.schema())?;
                let sorted = UnresolvedQuery::new(Operator::Sort { keys, input });
                Ok(match sort.fetch {
                    None => sorted,
                    Some(fetch) => {
                        let fetch = Some(rows(fetch));
                        UnresolvedQuery::new(Operator::Limit { skip: 0, fetch, input: sorted })
                    }
                })
            }
            LogicalPlan::Limit(limit) => self.limit(limit),
            LogicalPlan::Distinct(Distinct::All(input)) => {
                Ok(UnresolvedQuery::new(Operator::Distinct { input: self.plan(input)? }))
            }
            other => Err(self.refuse(relation_feature(other))),
        }
    }

    fn scan(&self, scan: &TableScan) -> Result<Node, FrontendError> {
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
        let table: TableRef = source.name.clone();
        let operator = Operator::Scan { table, schema, predicates: vec![] };
        Ok(UnresolvedQuery::aliased(operator, scan.table_name.to_string()))
    }

    fn sort_keys(&self, keys: &[SortExpr], schema: &DFSchema) -> Result<Vec<SortKey<ColumnRef>>, FrontendError> {
        keys.iter()
            .map(|key| {
                Ok(SortKey { expr: self.expr(&key.expr, schema)?, descending: !key.asc, nulls_first: key.nulls_first })
            })
            .collect()
    }

    fn limit(&self, limit: &Limit) -> Result<Node, FrontendError> {
        let input = self.plan(&limit.input)?;
        let bounds = (self.planned(limit.get_skip_type())?, self.planned(limit.get_fetch_type())?);
        let (SkipType::Literal(skip), FetchType::Literal(fetch)) = bounds else {
            return Err(self.refuse(Feature::LimitExpression));
        };
        Ok(UnresolvedQuery::new(Operator::Limit { skip: rows(skip), fetch: fetch.map(rows), input }))
    }

    /// A reference to the column that DataFusion resolves a name to.
    pub(super) fn column(
        &self,
        column: &datafusion_common::Column,
        schema: &DFSchema,
    ) -> Result<Expr<ColumnRef>, FrontendError> {
        let index = self.planned(schema.index_of_column(column))?;
        Ok(Expr::Column(column_ref(schema, index)))
    }
}

/// The name of the column at a position, as [`asap_types::resolve`] sees it.
pub(super) fn column_ref(schema: &DFSchema, index: usize) -> ColumnRef {
    let (qualifier, field) = schema.qualified_field(index);
    ColumnRef { relation: qualifier.map(ToString::to_string), name: field.name().clone() }
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
