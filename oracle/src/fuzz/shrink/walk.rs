//! Every expression of a recipe, with the columns that it sees.

use crate::query::{Column, Expr, Query, Source};
use crate::recipe::{Operation, Recipe};

/// What is called with an expression, to read or to change it, and with the columns of its source.
pub(super) type Found<'a> = dyn FnMut(&mut Expr, &[Column]) + 'a;

impl Expr {
    /// The operands, those of an aggregate too.
    pub(super) fn operands_mut(&mut self) -> Vec<&mut Self> {
        match self {
            Self::Column(_) | Self::Literal(_) | Self::Exists { .. } | Self::Scalar { .. } => Vec::new(),
            Self::Arithmetic { left, right, .. } | Self::Compare { left, right, .. } => vec![left, right],
            Self::And(operands) | Self::Or(operands) => operands.iter_mut().collect(),
            Self::Not(operand)
            | Self::IsNull { operand, .. }
            | Self::IsTruth { operand, .. }
            | Self::DateTrunc { operand, .. }
            | Self::InQuery { operand, .. }
            | Self::Like { operand, .. } => vec![operand],
            Self::InList { operand, list, .. } => std::iter::once(&mut **operand).chain(list).collect(),
            Self::Between { operand, low, high, .. } => vec![operand, low, high],
            Self::Case { when, then, otherwise } => {
                [when, then].into_iter().chain(otherwise).map(|operand| &mut **operand).collect()
            }
            Self::Aggregate(call) => call.argument.iter_mut().chain(&mut call.filter).collect(),
        }
    }

    /// Visits this node and all below, those of aggregates too.
    pub(super) fn visit(&self, found: &mut dyn FnMut(&Self)) {
        crate::query::visit(self, &mut |node| {
            found(node);
            if let Self::Aggregate(call) = node {
                call.argument.iter().chain(&call.filter).for_each(|operand| operand.visit(found));
            }
        });
    }

    /// Does it read one of the columns?
    pub(super) fn reads(&self, names: &[String]) -> bool {
        let mut reads = false;
        self.visit(&mut |node| reads |= matches!(node, Self::Column(name) if names.contains(name)));
        reads
    }

    fn visit_mut(&mut self, columns: &[Column], found: &mut Found<'_>) {
        found(self, columns);
        self.operands_mut().into_iter().for_each(|operand| operand.visit_mut(columns, found));
    }

    /// Visits the queries that it reads, each by itself.
    fn visit_subqueries_mut(&mut self, found: &mut dyn FnMut(&mut Query)) {
        if let Self::Exists { query, .. } | Self::Scalar { query, .. } | Self::InQuery { query, .. } = self {
            found(query);
        }
        self.operands_mut().into_iter().for_each(|operand| operand.visit_subqueries_mut(found));
    }

    /// Replaces every node that is equal to `old`.
    pub(super) fn replace(&mut self, old: &Self, new: &Self) {
        if self == old {
            self.clone_from(new);
        } else {
            self.operands_mut().into_iter().for_each(|operand| operand.replace(old, new));
        }
    }
}

/// The expressions of the operations and of the queries, each once, without those below them.
pub(super) fn roots(recipe: &Recipe, found: &mut dyn FnMut(&Expr)) {
    for operation in &recipe.table.history {
        match operation {
            Operation::Delete { predicate } => found(predicate),
            Operation::Update { set, predicate } => {
                set.iter().map(|assignment| &assignment.value).chain(predicate).for_each(&mut *found);
            }
            Operation::AddColumn { value, .. } => value.iter().for_each(&mut *found),
            _ => {}
        }
    }
    recipe.workload.iter().for_each(|query| query_roots(query, found));
}

fn query_roots(query: &Query, found: &mut dyn FnMut(&Expr)) {
    query.source.queries().into_iter().chain(query.subqueries()).for_each(|query| query_roots(query, found));
    let keys = query.group_by.iter().flatten();
    let outputs = query.outputs.iter().map(|output| &output.expr);
    query.filter.iter().chain(keys).chain(outputs).chain(&query.having).for_each(found);
}

/// Every node of the operations' expressions, from the roots down.
pub(super) fn operations_mut(recipe: &mut Recipe, found: &mut Found<'_>) {
    let mut columns = recipe.table.columns.clone();
    for operation in &mut recipe.table.history {
        match operation {
            Operation::Delete { predicate } => predicate.visit_mut(&columns, found),
            Operation::Update { set, predicate } => {
                let values = set.iter_mut().map(|assignment| &mut assignment.value);
                values.chain(predicate).for_each(|expr| expr.visit_mut(&columns, found));
            }
            Operation::AddColumn { column, value } => {
                value.iter_mut().for_each(|value| value.visit_mut(&columns, found));
                columns.push(column.clone());
            }
            Operation::DropColumn { column } => columns.retain(|other| other.name != *column),
            _ => {}
        }
    }
}

/// Every node of the queries' expressions, from the roots down. A group key stands for itself wherever it is repeated.
pub(super) fn queries_mut(recipe: &mut Recipe, found: &mut Found<'_>) {
    let Ok(columns) = recipe.table.columns_read() else { return };
    recipe.workload.iter_mut().for_each(|query| query_mut(query, &columns, found));
}

fn query_mut(query: &mut Query, table: &[Column], found: &mut Found<'_>) {
    let Ok(columns) = query.source.columns(table) else { return };
    if let Source::Nested { query, .. } = &mut query.source {
        query_mut(query, table, found);
    }
    if let Some(filter) = &mut query.filter {
        filter.visit_mut(&columns, found);
        filter.visit_subqueries_mut(&mut |query| query_mut(query, table, found));
    }
    let keys = query.group_by.clone().unwrap_or_default();
    let mut new_keys = keys.clone();
    new_keys.iter_mut().for_each(|key| key.visit_mut(&columns, found));
    let outputs = query.outputs.iter_mut().map(|output| &mut output.expr);
    for root in outputs.chain(&mut query.having) {
        visit_beside_keys(root, &keys, &columns, found);
        keys.iter().zip(&new_keys).filter(|(old, new)| old != new).for_each(|(old, new)| root.replace(old, new));
    }
    if let Some(keys) = &mut query.group_by {
        *keys = new_keys;
    }
}

fn visit_beside_keys(expr: &mut Expr, keys: &[Expr], columns: &[Column], found: &mut Found<'_>) {
    if keys.contains(expr) {
        return;
    }
    found(expr, columns);
    expr.operands_mut().into_iter().for_each(|operand| visit_beside_keys(operand, keys, columns, found));
}
