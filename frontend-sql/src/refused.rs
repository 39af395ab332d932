//! Constructs that the IR does not hold, found in the syntax tree, where their place in the text is known.
//!
//! The lowering refuses whatever it does not know, too; here the refusal gets its place and its name.

use std::ops::ControlFlow;

use datafusion_sql::parser::Statement as ParsedStatement;
use datafusion_sql::sqlparser::ast::{
    Distinct, DuplicateTreatment, Expr, Function, FunctionArgumentClause, FunctionArguments, GroupByExpr, Query,
    Select, SetExpr, Spanned, Statement, TableFactor, TableWithJoins, Value, ValueWithSpan, Visit, Visitor,
};
use datafusion_sql::sqlparser::tokenizer::Span;

use crate::Feature;
use crate::functions::Functions;
use crate::lower::SUPPORTED_AGGREGATES;

/// The first refused construct of a statement, with its place.
pub(crate) fn find(statement: &ParsedStatement) -> Option<(Feature, Span)> {
    match statement {
        ParsedStatement::Statement(statement) => match &**statement {
            Statement::Query(query) => query.visit(&mut Finder).break_value(),
            _ => Some((Feature::NotAQuery, Span::empty())),
        },
        _ => Some((Feature::NotAQuery, Span::empty())),
    }
}

struct Finder;

type Found = ControlFlow<(Feature, Span)>;

fn refuse_if(is_used: bool, feature: Feature, span: impl FnOnce() -> Span) -> Found {
    if is_used { ControlFlow::Break((feature, span())) } else { ControlFlow::Continue(()) }
}

impl Visitor for Finder {
    type Break = (Feature, Span);

    fn pre_visit_query(&mut self, query: &Query) -> Found {
        if let Some(with) = &query.with {
            refuse_if(with.recursive, Feature::RecursiveCte, || with.with_token.0.span)?;
        }
        let feature = match &*query.body {
            SetExpr::Select(_) | SetExpr::Query(_) | SetExpr::Table(_) => return ControlFlow::Continue(()),
            SetExpr::SetOperation { .. } => Feature::SetOperation,
            SetExpr::Values(_) => Feature::Values,
            SetExpr::Insert(_) | SetExpr::Update(_) | SetExpr::Delete(_) | SetExpr::Merge(_) => Feature::NotAQuery,
        };
        ControlFlow::Break((feature, query.body.span()))
    }

    fn pre_visit_select(&mut self, select: &Select) -> Found {
        refuse_if(select.from.is_empty(), Feature::NoTable, || select.span())?;
        if let Some(second) = select.from.get(1) {
            return ControlFlow::Break((Feature::Join, second.span()));
        }
        select.from.iter().try_for_each(no_join)?;
        if let Some(Distinct::On(on)) = &select.distinct {
            return ControlFlow::Break((Feature::DistinctOn, Span::union_iter(on.iter().map(Spanned::span))));
        }
        let (GroupByExpr::All(modifiers) | GroupByExpr::Expressions(_, modifiers)) = &select.group_by;
        refuse_if(!modifiers.is_empty(), Feature::GroupingSets, || select.group_by.span())?;
        refuse_if(!select.lateral_views.is_empty(), Feature::Unnest, || select.span())?;
        if let Some(qualify) = &select.qualify {
            return ControlFlow::Break((Feature::WindowFunction, qualify.span()));
        }
        ControlFlow::Continue(())
    }

    fn pre_visit_table_factor(&mut self, table: &TableFactor) -> Found {
        let feature = match table {
            TableFactor::Table { args: Some(_), .. }
            | TableFactor::TableFunction { .. }
            | TableFactor::Function { .. }
            | TableFactor::JsonTable { .. }
            | TableFactor::OpenJsonTable { .. } => Feature::TableFunction,
            TableFactor::Table { sample: None, .. } | TableFactor::Derived { lateral: false, .. } => {
                return ControlFlow::Continue(());
            }
            TableFactor::NestedJoin { table_with_joins, .. } => return no_join(table_with_joins),
            TableFactor::Derived { .. } => Feature::Lateral,
            TableFactor::UNNEST { .. } => Feature::Unnest,
            _ => Feature::TableFactor,
        };
        ControlFlow::Break((feature, table.span()))
    }

    fn pre_visit_expr(&mut self, expr: &Expr) -> Found {
        let feature = match expr {
            Expr::Subquery(_)
            | Expr::Exists { .. }
            | Expr::InSubquery { .. }
            | Expr::AnyOp { .. }
            | Expr::AllOp { .. } => Feature::SubqueryExpression,
            Expr::GroupingSets(_) | Expr::Cube(_) | Expr::Rollup(_) => Feature::GroupingSets,
            Expr::InUnnest { .. } => Feature::Unnest,
            Expr::Function(function) => return visit_function(function),
            _ => return ControlFlow::Continue(()),
        };
        ControlFlow::Break((feature, expr.span()))
    }

    fn pre_visit_value(&mut self, value: &ValueWithSpan) -> Found {
        refuse_if(matches!(value.value, Value::Placeholder(_)), Feature::Parameter, || value.span)
    }
}

fn no_join(table: &TableWithJoins) -> Found {
    match table.joins.first() {
        Some(join) => ControlFlow::Break((Feature::Join, join.span())),
        None => ControlFlow::Continue(()),
    }
}

fn visit_function(function: &Function) -> Found {
    let span = || function.span();
    refuse_if(function.over.is_some(), Feature::WindowFunction, span)?;
    let name = function.name.to_string().to_lowercase();
    refuse_if(name == "unnest", Feature::Unnest, span)?;
    if let Some(aggregate) = Functions::get().aggregate.get(&name)
        && !SUPPORTED_AGGREGATES.contains(&aggregate.name())
    {
        return ControlFlow::Break((Feature::Aggregate(name), span()));
    }
    // DataFusion's planner drops the filter of a scalar function.
    let is_scalar = Functions::get().scalar.contains_key(&name) && !Functions::get().aggregate.contains_key(&name);
    refuse_if(is_scalar && function.filter.is_some(), Feature::FilterClause, span)?;
    refuse_if(!function.within_group.is_empty(), Feature::WithinGroup, span)?;
    refuse_if(function.null_treatment.is_some(), Feature::NullTreatment, span)?;
    let FunctionArguments::List(list) = &function.args else {
        let is_subquery = matches!(function.args, FunctionArguments::Subquery(_));
        return refuse_if(is_subquery, Feature::SubqueryExpression, span);
    };
    let is_distinct = list.duplicate_treatment == Some(DuplicateTreatment::Distinct);
    refuse_if(is_distinct, Feature::DistinctAggregate, span)?;
    match list.clauses.first() {
        Some(FunctionArgumentClause::IgnoreOrRespectNulls(_)) => ControlFlow::Break((Feature::NullTreatment, span())),
        Some(_) => ControlFlow::Break((Feature::AggregateClause, span())),
        None => ControlFlow::Continue(()),
    }
}
