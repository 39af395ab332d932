//! GROUP BY and aggregate functions.
//!
//! `COUNT(x)` is a count of rows with filter `x IS NOT NULL`, which is left out where it is always TRUE. FILTER and the
//! predicate of a CASE (see [`case_filter`]) are joined by AND.

use std::collections::HashSet;

use arrow_schema::DataType;
use asap_types::{
    AggIntent, Aggregate, AggregateFacts, ColumnRef, Expr, Literal, MeasureFilters, Operator, Predicate, Reduction,
    UnresolvedQuery, Volatility, visible_name,
};
use datafusion_common::Column;
use datafusion_expr::expr::AggregateFunction;
use datafusion_expr::{Expr as PlanExpr, ExprSchemable};

use super::input::Input;
use super::scope::{Relation, Scope};
use super::{Lowering, case_filter};
use crate::{Feature, FrontendError};

/// The aggregate functions that have a form in the IR, by DataFusion's names. All of them skip NULLs. `corr` is known by
/// name only: it takes a filter like the others, and is derived from nothing.
pub(crate) const SUPPORTED_AGGREGATES: [&str; 6] = ["count", "sum", "min", "max", "avg", "corr"];

/// A measure and its filter.
type Measure = (AggIntent<ColumnRef>, Option<Predicate<ColumnRef>>);

impl Lowering<'_> {
    pub(super) fn aggregate(&self, aggregate: &datafusion_expr::Aggregate) -> Result<Relation, FrontendError> {
        let input = self.plan(&aggregate.input)?;
        let scope = input.scope(aggregate.input.schema());
        if let Some(key) = converted_key(aggregate) {
            return Err(self.refuse_expr(Feature::ConvertedKey, key));
        }
        let facts = self.ir(Input::new(&input))?;
        let by: Vec<Expr<ColumnRef>> =
            aggregate.group_expr.iter().map(|key| self.expr(key, scope)).collect::<Result<_, _>>()?;
        let measures: Vec<Measure> = aggregate
            .aggr_expr
            .iter()
            .map(|expr| self.measure(expr, scope, &facts))
            .collect::<Result<_, FrontendError>>()?;
        let output_names = output_names(&by, &measures, &facts);
        let keys = by.iter().zip(&output_names).map(|(key, name)| visible_name(key, name));
        let columns = keys.chain(output_names.iter().skip(by.len()).map(ColumnRef::bare)).collect();
        #[cfg(feature = "faults")]
        let measures = asap_faults::inject(asap_faults::Fault::LastMeasureUnfiltered, measures, |mut right| {
            if let Some((_, filter)) = right.last_mut() {
                *filter = None;
            }
            right
        });
        let (measures, filters): (Vec<_>, Vec<_>) = measures.into_iter().unzip();
        let query = UnresolvedQuery::new(Operator::Aggregate(Aggregate {
            reduction: Reduction::by(by),
            measures,
            filters: MeasureFilters::from(filters),
            output_names,
            having: None,
            input: input.query,
        }));
        Ok(Relation { query, columns })
    }

    fn measure(&self, expr: &PlanExpr, scope: Scope<'_>, input: &Input<'_>) -> Result<Measure, FrontendError> {
        let call = match expr {
            PlanExpr::Alias(alias) => return self.measure(&alias.expr, scope, input),
            PlanExpr::AggregateFunction(call) => call,
            other => return Err(self.refuse_expr(Feature::Expression("a measure that is not an aggregate"), other)),
        };
        if let Some(feature) = refused_modifier(call) {
            return Err(self.refuse_expr(feature, expr));
        }
        let args: Vec<Expr<ColumnRef>> =
            call.params.args.iter().map(|arg| self.expr(arg, scope)).collect::<Result<_, _>>()?;
        let filter = call.params.filter.as_deref().map(|filter| self.measure_filter(filter, scope)).transpose()?;
        #[cfg(feature = "faults")]
        let filter = asap_faults::inject(asap_faults::Fault::UnknownPassesFilter, filter, |right| {
            right.map(|filter| filter.unary(asap_types::UnaryOp::IsNotFalse))
        });
        let filter = filter.and_then(|filter| unless_always_true(filter, input));
        let name = call.func.name();
        if name == "count" {
            let filter = args.iter().fold(filter, |filter, arg| rows_with_value(arg, filter, input));
            return Ok((AggIntent::count(), filter.map(Predicate)));
        }
        if name == "corr" {
            let facts = self.facts_of_corr(expr, scope)?;
            let measure = AggIntent::Named { name: name.to_owned(), args, distinct: false, facts };
            return Ok((measure, filter.map(Predicate)));
        }
        let [arg] = args.as_slice() else { return Err(self.refuse_expr(Feature::Aggregate(name.to_owned()), expr)) };
        let (arg, filter) = match case_filter::split(arg, filter.is_some(), input) {
            #[cfg(feature = "faults")]
            Some(guarded) if filter.is_some() && asap_faults::is_planted(asap_faults::Fault::CaseReplacesFilter) => {
                (guarded.value, Some(guarded.predicate))
            }
            Some(guarded) => (guarded.value, conjunction(filter, unless_always_true(guarded.predicate, input))),
            None => (arg.clone(), filter),
        };
        let measure = match name {
            "sum" => AggIntent::Sum { arg },
            "min" => AggIntent::Min { arg },
            "max" => AggIntent::Max { arg },
            "avg" => AggIntent::Avg { arg },
            other => return Err(self.refuse_expr(Feature::Aggregate(other.to_owned()), expr)),
        };
        Ok((measure, filter.map(Predicate)))
    }

    /// The condition of FILTER, whose type DataFusion does not check. An untyped NULL is an unknown truth value.
    fn measure_filter(&self, filter: &PlanExpr, scope: Scope<'_>) -> Result<Expr<ColumnRef>, FrontendError> {
        match self.planned(filter.get_type(scope.planned))? {
            DataType::Boolean => self.expr(filter, scope),
            DataType::Null => Ok(Expr::Literal(Literal::null(DataType::Boolean))),
            other => Err(FrontendError::Plan {
                message: format!("the condition of FILTER is of type {other}, not Boolean"),
                span: self.place_of(filter),
            }),
        }
    }

    /// A correlation skips rows where either argument is NULL and fails for no value.
    fn facts_of_corr(&self, call: &PlanExpr, scope: Scope<'_>) -> Result<AggregateFacts, FrontendError> {
        let (_, field) = self.planned(call.to_field(scope.planned))?;
        Ok(AggregateFacts {
            data_type: field.data_type().clone(),
            nullable: field.is_nullable(),
            volatility: Volatility::Immutable,
            can_fail: false,
            skips_nulls: true,
            order_matters: false,
        })
    }
}

/// A computed key that bears the name of a column on which others depend.
///
/// DataFusion 54.1 looks dependencies up by the names of keys, and the name of a CAST is its operand's: it then adds what
/// depends on the column to the keys, although the converted column does not determine it.
fn converted_key(aggregate: &datafusion_expr::Aggregate) -> Option<&PlanExpr> {
    let schema = aggregate.input.schema();
    let determinants: HashSet<usize> =
        schema.functional_dependencies().iter().flat_map(|dependency| dependency.source_indices.clone()).collect();
    let names: HashSet<String> =
        determinants.into_iter().map(|index| Column::from(schema.qualified_field(index)).flat_name()).collect();
    let is_column = |key: &PlanExpr| matches!(key.clone().unalias(), PlanExpr::Column(_));
    aggregate.group_expr.iter().find(|key| !is_column(key) && names.contains(&key.schema_name().to_string()))
}

/// Names of the keys and measures that follow from what they compute: spellings of one aggregate get the same names. What
/// a query shows is named by the projection above. Equal texts are told apart by a number.
fn output_names(by: &[Expr<ColumnRef>], measures: &[Measure], input: &Input<'_>) -> Vec<String> {
    let keys = by.iter().map(|key| match key {
        Expr::Column(column) => column.name.clone(),
        computed => input.display(computed).unwrap_or_else(|| "key".to_owned()),
    });
    let measures = measures.iter().map(|(measure, filter)| {
        let text = input.display_measure(measure).unwrap_or_else(|| measure.name().to_owned());
        match filter.as_ref().and_then(|filter| input.display(&filter.0)) {
            Some(filter) => format!("{text} filter ({filter})"),
            None => text,
        }
    });
    keys.chain(measures).fold(Vec::new(), |mut names, name| {
        let numbered = (2..).map(|number| format!("{name}#{number}"));
        let unused = std::iter::once(name.clone()).chain(numbered).find(|name| !names.contains(name));
        names.push(unused.unwrap_or(name));
        names
    })
}

fn refused_modifier(call: &AggregateFunction) -> Option<Feature> {
    if call.params.distinct {
        Some(Feature::DistinctAggregate)
    } else if !call.params.order_by.is_empty() {
        Some(Feature::AggregateClause)
    } else if call.params.null_treatment.is_some() {
        Some(Feature::NullTreatment)
    } else {
        None
    }
}

/// The filter of a count of the rows where `arg` is not NULL, among those that `filter` keeps; `None` for all rows.
fn rows_with_value(
    arg: &Expr<ColumnRef>,
    filter: Option<Expr<ColumnRef>>,
    input: &Input<'_>,
) -> Option<Expr<ColumnRef>> {
    #[cfg(feature = "faults")]
    if asap_faults::is_planted(asap_faults::Fault::CountArgumentIgnored) {
        return filter;
    }
    let not_null = |arg: &Expr<ColumnRef>| unless_always_true(arg.clone().is_not_null(), input);
    if let Some(guarded) = case_filter::split(arg, filter.is_some(), input) {
        let filter = conjunction(filter, unless_always_true(guarded.predicate, input));
        return conjunction(filter, not_null(&guarded.value));
    }
    match (filter, not_null(arg)) {
        (Some(filter), Some(test)) if !input.cannot_fail(arg) => Some(evaluated_only_where(filter, test)),
        (filter, test) => conjunction(filter, test),
    }
}

/// A predicate, unless it keeps every row.
fn unless_always_true(predicate: Expr<ColumnRef>, input: &Input<'_>) -> Option<Expr<ColumnRef>> {
    (!input.is_always_true(&predicate)).then_some(predicate)
}

/// `test` where `filter` is TRUE, else FALSE: unlike AND, a CASE does not evaluate `test` for other rows.
fn evaluated_only_where(filter: Expr<ColumnRef>, test: Expr<ColumnRef>) -> Expr<ColumnRef> {
    let otherwise = Some(Box::new(Expr::Literal(Literal::boolean(false))));
    Expr::Case { operand: None, branches: vec![(filter, test)], otherwise }
}

fn conjunction(left: Option<Expr<ColumnRef>>, right: Option<Expr<ColumnRef>>) -> Option<Expr<ColumnRef>> {
    Expr::conjunction([left, right].into_iter().flatten())
}
