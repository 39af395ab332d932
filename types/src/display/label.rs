//! One line for each node.

use crate::{
    AggIntent, Aggregate, ExactOperation, Expr, MeasureFilters, NamedExpr, NodeId, Operator, PostAsapDag, PostOperator,
    Predicate, Reduction, Schema, SortKey, SummaryFamily,
};

/// The line that describes a node.
pub(super) fn node_label(dag: &PostAsapDag, id: NodeId) -> String {
    let Some(node) = dag.node(id) else { return "?".to_owned() };
    let empty = Schema::new(vec![]);
    let input = node.input().and_then(|input| dag.schema(input)).unwrap_or(&empty);
    match node {
        PostOperator::KeepPreAsap(operator) => operator_label(operator, input),
        PostOperator::Exact(ExactOperation::Aggregate(aggregate)) => {
            format!("RollUp{}", aggregate_label(aggregate, input))
        }
        PostOperator::SummaryAgg { family, reduction, filter, .. } => {
            let SummaryFamily::Exact { measure } = family;
            let filters = MeasureFilters::from(vec![filter.clone()]);
            let body = grouping_label(reduction, std::slice::from_ref(measure), &filters, input);
            format!("Summary({body})")
        }
        PostOperator::SummaryEstimate { output_names, .. } => format!("Estimate({})", output_names.join(", ")),
    }
}

fn operator_label(operator: &Operator<NodeId>, input: &Schema) -> String {
    match operator {
        Operator::Scan { table, predicates, schema } => match predicates.as_slice() {
            [] => format!("Scan({table})"),
            some => format!("Scan({table}: {})", conjunction(some, schema)),
        },
        Operator::Filter { predicate, .. } => format!("Filter({})", predicate.0.display(input)),
        Operator::Project { columns, .. } => {
            let columns: Vec<String> = columns.iter().map(|column| column_label(column, input)).collect();
            format!("Project({})", columns.join(", "))
        }
        Operator::Aggregate(aggregate) => format!("Aggregate{}", aggregate_label(aggregate, input)),
        Operator::Distinct { .. } => "Distinct".to_owned(),
        Operator::Sort { keys, .. } => {
            let keys: Vec<String> = keys.iter().map(|key| sort_label(key, input)).collect();
            format!("Sort({})", keys.join(", "))
        }
        Operator::Limit { skip: 0, fetch: Some(fetch), .. } => format!("Limit({fetch})"),
        Operator::Limit { skip, fetch, .. } => {
            let fetch = fetch.map_or_else(|| "all".to_owned(), |fetch| fetch.to_string());
            format!("Limit({fetch}, skip {skip})")
        }
    }
}

impl<N> Aggregate<N> {
    /// Grouping and measures in one line: `by job: sum(bytes) filter (bytes > 1), count(*)`.
    #[must_use]
    pub fn describe(&self, input: &Schema) -> String {
        grouping_label(&self.reduction, &self.measures, &self.filters, input)
    }
}

fn aggregate_label(aggregate: &Aggregate<NodeId>, input: &Schema) -> String {
    let grouping = aggregate.describe(input);
    match &aggregate.having {
        Some(_) => format!("({grouping}, having)"),
        None => format!("({grouping})"),
    }
}

fn grouping_label(reduction: &Reduction, measures: &[AggIntent], filters: &MeasureFilters, input: &Schema) -> String {
    let by = match reduction {
        Reduction::Reduce { by, without } if by.is_empty() && without.is_empty() => "grand total".to_owned(),
        Reduction::Reduce { by, without } => {
            let parts = [("by", by), ("without", without)].into_iter().filter(|(_, exprs)| !exprs.is_empty());
            let parts: Vec<String> =
                parts.map(|(word, exprs)| format!("{word} {}", expressions_label(exprs, input))).collect();
            parts.join(" ")
        }
        Reduction::PerEntity => "per entity".to_owned(),
    };
    let measures = measures.iter().enumerate().map(|(index, measure)| {
        let filter = filters.get(index).map(|p| format!(" filter ({})", p.0.display(input))).unwrap_or_default();
        format!("{}{filter}", measure.display(input))
    });
    format!("{by}: {}", measures.collect::<Vec<_>>().join(", "))
}

fn expressions_label(exprs: &[Expr], input: &Schema) -> String {
    exprs.iter().map(|expr| expr.display(input).to_string()).collect::<Vec<_>>().join(", ")
}

fn conjunction(predicates: &[Predicate], schema: &Schema) -> String {
    let conjuncts: Vec<String> = predicates.iter().map(|predicate| predicate.0.display(schema).to_string()).collect();
    conjuncts.join(" AND ")
}

fn column_label(column: &NamedExpr, input: &Schema) -> String {
    let expr = column.expr.display(input).to_string();
    if expr == column.name { expr } else { format!("{expr} AS {}", column.name) }
}

fn sort_label(key: &SortKey, input: &Schema) -> String {
    let direction = if key.descending { " DESC" } else { "" };
    let nulls = if key.nulls_first { " NULLS FIRST" } else { " NULLS LAST" };
    format!("{}{direction}{nulls}", key.expr.display(input))
}
