//! IR operators as DataFusion logical plans.

use std::collections::HashMap;
use std::sync::Arc;

use asap_types::{
    AggIntent, Aggregate, ExactOperation, Expr, Literal, MeasureFilters, NodeId, Operator, PostAsapDag, PostOperator,
    Predicate, Reduction, Schema, SummaryFamily, TableRef, UnaryOp,
};
use datafusion::arrow::datatypes::DataType;
use datafusion::catalog::TableProvider;
use datafusion::common::utils::expr::COUNT_STAR_EXPANSION;
use datafusion::common::{Column, DFSchema, ExprSchema, ScalarValue, TableReference};
use datafusion::datasource::provider_as_source;
use datafusion::execution::FunctionRegistry;
use datafusion::functions::core::expr_fn::coalesce;
use datafusion::functions_aggregate::expr_fn;
use datafusion::logical_expr::expr::AggregateFunction;
use datafusion::logical_expr::{
    Distinct, Expr as DfExpr, ExprFunctionExt, ExprSchemable, LogicalPlan, LogicalPlanBuilder, Sort, SortExpr, cast,
    col, lit,
};

use crate::ExecutionError;
use crate::expr::ExprTranslator;

/// Where a plan's leaves come from.
#[derive(Debug, Default)]
pub struct Inputs {
    /// The tables of scans.
    pub tables: HashMap<TableRef, Arc<dyn TableProvider>>,
    /// Nodes that are computed already, by node.
    pub computed: HashMap<NodeId, Arc<dyn TableProvider>>,
}

/// The logical plan of one node: its inputs are planned below it, down to scans and to nodes that are computed already.
///
/// Columns of inner nodes have internal names; the outermost projection gives them those of the node's schema.
///
/// # Errors
/// A table that is missing from `inputs` or has changed, a function that `functions` does not know, an operator that
/// DataFusion does not have.
pub fn to_logical_plan(
    dag: &PostAsapDag,
    node: NodeId,
    inputs: &Inputs,
    functions: &dyn FunctionRegistry,
) -> Result<LogicalPlan, ExecutionError> {
    let planner = Planner { dag, inputs, functions };
    let plan = planner.input(node)?;
    let schema = dag.schema(node).ok_or(ExecutionError::NotComputed(node))?;
    let columns = columns_of(&plan);
    let named = columns.into_iter().zip(schema.fields()).map(|(column, field)| {
        let plain = column.relation.is_none() && column.name == field.name;
        let column = DfExpr::Column(column);
        if plain { column } else { column.alias(&field.name) }
    });
    Ok(LogicalPlanBuilder::from(plan).project(named)?.build()?)
}

struct Planner<'a> {
    dag: &'a PostAsapDag,
    inputs: &'a Inputs,
    functions: &'a dyn FunctionRegistry,
}

impl Planner<'_> {
    /// The plan of a node as the input of another: read, if it is computed already.
    fn input(&self, node: NodeId) -> Result<LogicalPlan, ExecutionError> {
        if let Some(table) = self.inputs.computed.get(&node) {
            let name = TableReference::bare(format!("n{}", node.0));
            return Ok(LogicalPlanBuilder::scan(name, provider_as_source(Arc::clone(table)), None)?.build()?);
        }
        match self.dag.node(node).ok_or(ExecutionError::NotComputed(node))? {
            PostOperator::KeepPreAsap(operator) => self.operator(operator),
            PostOperator::Exact(ExactOperation::Aggregate(aggregate)) => self.aggregate(aggregate),
            PostOperator::SummaryAgg { family: SummaryFamily::Exact { measure }, reduction, filter, input } => self
                .grouped(*input, reduction, std::slice::from_ref(measure), &MeasureFilters::from(vec![filter.clone()])),
            PostOperator::SummaryEstimate { input, .. } => self.input(*input),
        }
    }

    fn operator(&self, operator: &Operator<NodeId>) -> Result<LogicalPlan, ExecutionError> {
        match operator {
            Operator::Scan { table, schema, predicates } => self.scan(table, schema, predicates),
            Operator::Filter { predicate, input } => filter(self.input(*input)?, &predicate.0, self.functions),
            Operator::Project { columns, input } => {
                let input = self.input(*input)?;
                let translator = ExprTranslator::new(input.schema(), self.functions);
                let exprs = columns.iter().map(|column| translator.expr(&column.expr)).collect::<Result<_, _>>()?;
                numbered_projection(input, exprs)
            }
            Operator::Aggregate(aggregate) => self.aggregate(aggregate),
            Operator::Distinct { input } => Ok(LogicalPlan::Distinct(Distinct::All(Arc::new(self.input(*input)?)))),
            Operator::Sort { keys, input } => {
                let input = self.input(*input)?;
                let translator = ExprTranslator::new(input.schema(), self.functions);
                let keys = keys
                    .iter()
                    .map(|key| Ok(SortExpr::new(translator.expr(&key.expr)?, !key.descending, key.nulls_first)))
                    .collect::<Result<Vec<_>, ExecutionError>>()?;
                // Not by `LogicalPlanBuilder::sort`: that takes a key for what the projection below calls so in its own input,
                // and `c0`, `c1`, … are the names of every level.
                Ok(LogicalPlan::Sort(Sort { expr: keys, input: Arc::new(input), fetch: None }))
            }
            Operator::Limit { skip, fetch, input } => {
                let rows = |count: u64| usize::try_from(count).unwrap_or(usize::MAX);
                let input = LogicalPlanBuilder::from(self.input(*input)?);
                Ok(input.limit(rows(*skip), fetch.map(rows))?.build()?)
            }
        }
    }

    fn scan(&self, table: &TableRef, schema: &Schema, predicates: &[Predicate]) -> Result<LogicalPlan, ExecutionError> {
        let provider = self.inputs.tables.get(table).ok_or_else(|| ExecutionError::SchemaChanged {
            table: table.to_string(),
            expected: schema.to_string(),
            found: "no such table".to_owned(),
        })?;
        check_schema(table, schema, provider.as_ref())?;
        let source = provider_as_source(Arc::clone(provider));
        let plan = LogicalPlanBuilder::scan(TableReference::bare(table.table.as_str()), source, None)?.build()?;
        match Expr::conjunction(predicates.iter().map(|predicate| predicate.0.clone())) {
            Some(predicate) => filter(plan, &predicate, self.functions),
            None => Ok(plan),
        }
    }

    fn aggregate(&self, aggregate: &Aggregate<NodeId>) -> Result<LogicalPlan, ExecutionError> {
        let plan = self.grouped(aggregate.input, &aggregate.reduction, &aggregate.measures, &aggregate.filters)?;
        match &aggregate.having {
            Some(having) => filter(plan, &having.0, self.functions),
            None => Ok(plan),
        }
    }

    fn grouped(
        &self,
        input: NodeId,
        reduction: &Reduction,
        measures: &[AggIntent],
        filters: &MeasureFilters,
    ) -> Result<LogicalPlan, ExecutionError> {
        let by = match reduction {
            Reduction::Reduce { by, without } if without.is_empty() => by,
            Reduction::Reduce { .. } => return Err(ExecutionError::Unsupported("grouping by all labels but some")),
            Reduction::PerEntity => return Err(ExecutionError::Unsupported("grouping per entity")),
        };
        let input = self.input(input)?;
        let schema = Arc::clone(input.schema());
        let translator = ExprTranslator::new(&schema, self.functions);
        // DataFusion 54.1 gives wrong answers for keys that it folds to constants (defects 1 and 2 of the oracle), so those
        // that read no column are projected above. A key that reads one may fold as well (`coalesce(1, x)`), so unless a
        // plain column holds the groups apart, a group must show that it has a row.
        let grouped: Vec<&Expr> = by.iter().filter(|key| !is_constant(key)).collect();
        let needs_a_row = !by.is_empty() && !grouped.iter().any(|key| matches!(key, Expr::Column(_)));
        #[cfg(feature = "faults")]
        let needs_a_row = asap_faults::inject(asap_faults::Fault::ConstantKeysAlwaysGroup, needs_a_row, |_| false);
        #[cfg(feature = "faults")]
        let needs_a_row =
            asap_faults::inject(asap_faults::Fault::EmptyGrandTotalLost, needs_a_row, |right| right || by.is_empty());
        if grouped.is_empty() && measures.is_empty() && !needs_a_row {
            // DataFusion plans no aggregate without keys and measures: one group, a row without columns.
            return Ok(LogicalPlanBuilder::empty(true).build()?);
        }
        let keys = grouped.iter().enumerate().map(|(index, key)| Ok(translator.expr(key)?.alias(format!("k{index}"))));
        let keys = keys.collect::<Result<Vec<_>, ExecutionError>>()?;
        // DataFusion merges equal aggregate expressions and rejects equal output names, so each measure is named.
        let mut aggregates = measures
            .iter()
            .enumerate()
            .map(|(index, measure)| {
                let filter = filters.get(index).map(|filter| &filter.0);
                #[cfg(feature = "faults")]
                let filter = asap_faults::inject(asap_faults::Fault::FirstFilterForAll, filter, |_| {
                    filters.get(0).map(|filter| &filter.0)
                });
                Ok(aggregate_expr(measure, filter, &translator, &schema)?.alias(format!("m{index}")))
            })
            .collect::<Result<Vec<_>, ExecutionError>>()?;
        if needs_a_row {
            aggregates.push(expr_fn::count(lit(COUNT_STAR_EXPANSION)).alias("rows"));
        }
        let mut plan = LogicalPlanBuilder::from(input).aggregate(keys, aggregates)?;
        let is_grand_total = by.is_empty();
        #[cfg(feature = "faults")]
        let is_grand_total = asap_faults::inject(asap_faults::Fault::NeverPassesTotal, is_grand_total, |_| false);
        if is_grand_total {
            // The one row that there is anyway: DataFusion 54.1 pushes a filter that folds to FALSE below an aggregate without
            // keys, which then answers a row all the same, but no filter below a limit (defect 12 of the oracle).
            plan = plan.limit(0, Some(1))?;
        }
        let mut plan = plan.build()?;
        let mut columns = columns_of(&plan).into_iter();
        let mut outputs = Vec::with_capacity(by.len() + measures.len());
        for key in by {
            match is_constant(key) {
                false => outputs.extend(columns.next().map(DfExpr::Column)),
                true => outputs.push(translator.expr(key)?),
            }
        }
        for (column, measure) in columns.by_ref().zip(measures) {
            outputs.push(finish(DfExpr::Column(column), measure, &plan)?);
        }
        if needs_a_row {
            plan = LogicalPlanBuilder::from(plan).filter(col("rows").gt(lit(0_i64)))?.build()?;
        }
        numbered_projection(plan, outputs)
    }
}

fn filter(
    input: LogicalPlan,
    predicate: &Expr,
    functions: &dyn FunctionRegistry,
) -> Result<LogicalPlan, ExecutionError> {
    let predicate = ExprTranslator::new(input.schema(), functions).predicate(predicate)?;
    Ok(LogicalPlanBuilder::from(input).filter(predicate)?.build()?)
}

/// Whether a key has one value for all rows of a run. DataFusion folds such a key to a literal, so it counts as one.
fn is_constant(key: &Expr) -> bool {
    !key.is_volatile() && !key.any(&mut |part| matches!(part, Expr::Column(_)))
}

/// A DataFusion aggregate call. Sum0 becomes a sum here and gets its 0 in [`finish`].
fn aggregate_expr(
    measure: &AggIntent,
    filter: Option<&Expr>,
    translator: &ExprTranslator<'_>,
    input: &DFSchema,
) -> Result<DfExpr, ExecutionError> {
    let mut filter = filter.cloned();
    let call = match measure {
        AggIntent::Count { accuracy: asap_types::AccuracyTarget::Exact } => {
            let (counted, rest) = counted_value(filter);
            filter = rest;
            match counted {
                Some(counted) => expr_fn::count(translator.expr(&counted)?),
                None => expr_fn::count(lit(COUNT_STAR_EXPANSION)),
            }
        }
        AggIntent::Count { .. } => return Err(ExecutionError::Unsupported("an approximate count")),
        AggIntent::Sum { arg } | AggIntent::Sum0 { arg } => expr_fn::sum(translator.expr(arg)?),
        AggIntent::Min { arg } => expr_fn::min(translator.expr(arg)?),
        AggIntent::Max { arg } => expr_fn::max(translator.expr(arg)?),
        AggIntent::Avg { arg } => expr_fn::avg(translator.expr(arg)?),
        AggIntent::Rate { .. } => return Err(ExecutionError::Unsupported("a rate")),
        AggIntent::Named { name, args, distinct, .. } => {
            let udaf = translator.functions.udaf(name).map_err(|_| ExecutionError::UnknownFunction(name.clone()))?;
            let args = translator.exprs(args)?;
            DfExpr::AggregateFunction(AggregateFunction::new_udf(udaf, args, *distinct, None, vec![], None))
        }
    };
    match filter {
        Some(filter) => Ok(call.filter(boolean(translator.expr(&filter)?, input)?).build()?),
        None => Ok(call),
    }
}

/// An untyped NULL as a Boolean one: DataFusion 54.1 fails to run an aggregate whose filter has no type
/// (apache/datafusion#22773).
fn boolean(filter: DfExpr, input: &DFSchema) -> Result<DfExpr, ExecutionError> {
    match filter.get_type(input)? {
        DataType::Null => Ok(cast(filter, DataType::Boolean)),
        _ => Ok(filter),
    }
}

/// `count(*) FILTER (x IS NOT NULL AND rest)` as `count(x) FILTER (rest)`, which more of the plan below understands and
/// which evaluates `x` also where DataFusion knows that it is not NULL, and leaves the test out although `x` may fail:
/// what is counted and what is left of the filter.
///
/// Beside other conditions only for a plain column: a DataFusion aggregate computes its argument also for rows that its
/// filter rejects. Where they guard an `x` that may fail, as the front end spells it, so does a CASE.
fn counted_value(filter: Option<Expr>) -> (Option<Expr>, Option<Expr>) {
    let mut conjuncts = filter.map(Expr::conjuncts).unwrap_or_default();
    if let [only] = conjuncts.as_slice()
        && let Some(counted) = tested_value(only).cloned().or_else(|| guarded_value(only))
    {
        return (Some(counted), None);
    }
    let is_column = |conjunct: &Expr| matches!(tested_value(conjunct), Some(Expr::Column(_)));
    let counted = conjuncts.iter().rposition(is_column).map(|position| conjuncts.remove(position));
    #[cfg(feature = "faults")]
    if counted.is_some()
        && !conjuncts.is_empty()
        && asap_faults::is_planted(asap_faults::Fault::CountedColumnDropsFilter)
    {
        conjuncts.clear();
    }
    (counted.as_ref().and_then(tested_value).cloned(), Expr::conjunction(conjuncts))
}

/// The `x` of `x IS NOT NULL`.
fn tested_value(test: &Expr) -> Option<&Expr> {
    match test {
        Expr::Unary { op: UnaryOp::IsNotNull, arg } => Some(arg),
        _ => None,
    }
}

/// `CASE WHEN guard THEN x END` of `CASE WHEN guard THEN x IS NOT NULL ELSE FALSE END`.
fn guarded_value(test: &Expr) -> Option<Expr> {
    let Expr::Case { operand: None, branches, otherwise: Some(otherwise) } = test else { return None };
    let [(guard, test)] = branches.as_slice() else { return None };
    let value = tested_value(test).filter(|_| **otherwise == Expr::Literal(Literal::boolean(false)))?;
    Some(Expr::Case { operand: None, branches: vec![(guard.clone(), value.clone())], otherwise: None })
}

/// The output column of a measure.
fn finish(column: DfExpr, measure: &AggIntent, plan: &LogicalPlan) -> Result<DfExpr, ExecutionError> {
    let is_zero_over_nothing = matches!(measure, AggIntent::Sum0 { .. });
    #[cfg(feature = "faults")]
    let is_zero_over_nothing = asap_faults::inject(asap_faults::Fault::SumZeroIsNull, is_zero_over_nothing, |_| false);
    if !is_zero_over_nothing {
        return Ok(column);
    }
    let DfExpr::Column(sum) = &column else { return Ok(column) };
    let zero = ScalarValue::new_zero(plan.schema().field_from_column(sum)?.data_type())?;
    Ok(coalesce(vec![column, DfExpr::Literal(zero, None)]))
}

/// Projects expressions under the internal names `c0`, `c1`, ….
fn numbered_projection(input: LogicalPlan, exprs: Vec<DfExpr>) -> Result<LogicalPlan, ExecutionError> {
    let named = exprs.into_iter().enumerate().map(|(index, expr)| expr.alias(format!("c{index}")));
    Ok(LogicalPlanBuilder::from(input).project(named)?.build()?)
}

fn columns_of(plan: &LogicalPlan) -> Vec<Column> {
    plan.schema().columns()
}

/// A plan holds positions and types, so a table that changed since must not be read with it.
fn check_schema(table: &TableRef, expected: &Schema, provider: &dyn TableProvider) -> Result<(), ExecutionError> {
    let found = provider.schema();
    let same = found.fields().len() == expected.len()
        && found.fields().iter().zip(expected.fields()).all(|(found, expected)| {
            *found.name() == expected.name
                && *found.data_type() == expected.data_type
                && (expected.nullable || !found.is_nullable())
        });
    if same {
        return Ok(());
    }
    let found = found.fields().iter().map(|field| format!("{}: {}", field.name(), field.data_type()));
    Err(ExecutionError::SchemaChanged {
        table: table.to_string(),
        expected: expected.to_string(),
        found: format!("[{}]", found.collect::<Vec<_>>().join(", ")),
    })
}
