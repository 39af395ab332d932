//! What a query uses, for coverage.

use super::{Aggregate, Comparison, Expr, Function, Query, Source, Spelling};
use crate::value::Value;

impl Query {
    /// Names of what the query uses, each once.
    #[must_use]
    pub fn features(&self) -> Vec<&'static str> {
        let mut features = Vec::new();
        let mut add = |feature: &'static str, used: bool| {
            if used && !features.contains(&feature) {
                features.push(feature);
            }
        };
        add("sub-select", matches!(self.source, Source::Nested { .. }));
        add("join", matches!(self.source, Source::Join { .. }));
        add("sub-query", !self.subqueries().is_empty());
        add("where", self.filter.is_some());
        if let Some(filter) = &self.filter {
            visit(filter, &mut |expr| add("truth test", matches!(expr, Expr::IsTruth { .. })));
        }
        let lists = self.lists();
        add("NULL in a list", lists.iter().any(|(_, list)| list.iter().any(is_null)));
        let is_again = |position: usize| lists[..position].iter().any(|(operand, _)| *operand == lists[position].0);
        add("several lists of a column", (0..lists.len()).any(is_again));
        add("group by", self.group_by.as_ref().is_some_and(|keys| !keys.is_empty()));
        add("grand total", self.is_grand_total());
        add("having", self.having.is_some());
        add("having that is never TRUE", self.having.as_ref().is_some_and(is_contradiction));
        add("order by", !self.order_by.is_empty());
        add("limit", self.limit.is_some());
        add("limit 0", self.limit == Some(0));
        add("offset", self.offset.is_some());
        add("rows, not groups", self.group_by.is_none());
        add("select distinct", self.distinct);
        add("grouping sets", self.grouping.is_some());
        let other = |spelling: Spelling| spelling != Spelling::Usual;
        add("keys by name or position", other(self.key_spelling));
        add("order by an expression or position", self.order_by.iter().any(|key| other(key.spelling)));
        for output in &self.outputs {
            visit(&output.expr, &mut |expr| {
                add("date_trunc", matches!(expr, Expr::DateTrunc { .. }));
                if let Expr::Aggregate(aggregate) = expr {
                    add("filtered measure", is_filtered(aggregate));
                    add("distinct measure", aggregate.distinct);
                    add(function_name(aggregate.function), true);
                }
            });
        }
        features
    }

    /// Visits every expression, those inside of aggregates and of nested queries too.
    pub fn visit(&self, found: &mut dyn FnMut(&Expr)) {
        self.source.queries().into_iter().chain(self.subqueries()).for_each(|query| query.visit(found));
        let keys = self.group_by.iter().flatten();
        let all =
            self.filter.iter().chain(keys).chain(self.outputs.iter().map(|output| &output.expr)).chain(&self.having);
        for expr in all {
            visit(expr, &mut |expr| {
                found(expr);
                if let Expr::Aggregate(call) = expr {
                    call.argument.iter().chain(&call.filter).for_each(|operand| visit(operand, found));
                }
            });
        }
    }

    /// The WHERE clauses, those of nested queries and of sub-queries too.
    #[must_use]
    pub fn filters(&self) -> Vec<&Expr> {
        let inner = self.source.queries().into_iter().chain(self.subqueries());
        inner.flat_map(Self::filters).chain(&self.filter).collect()
    }

    /// The sub-queries of WHERE.
    #[must_use]
    pub fn subqueries(&self) -> Vec<&Self> {
        let mut queries = Vec::new();
        if let Some(filter) = &self.filter {
            collect_subqueries(filter, &mut queries);
        }
        queries
    }

    /// What is looked up in lists, and the lists.
    fn lists(&self) -> Vec<(Expr, Vec<Expr>)> {
        let mut lists = Vec::new();
        self.visit(&mut |expr| {
            if let Expr::InList { operand, list, .. } = expr {
                lists.push(((**operand).clone(), list.clone()));
            }
        });
        lists
    }

    /// Whether a value is looked up in a list, and once more in a list or by `x = 1` or `x <> 1`, which are lists to DataFusion.
    #[must_use]
    pub fn repeats_lists(&self) -> bool {
        let mut operands: Vec<Expr> = Vec::new();
        let (mut again, mut lists) = (false, false);
        self.visit(&mut |expr| {
            let operand = match expr {
                Expr::InList { operand, .. } => operand,
                Expr::Compare { operator: Comparison::Equal | Comparison::NotEqual, left, .. } => left,
                _ => return,
            };
            lists |= matches!(expr, Expr::InList { .. });
            again |= operands.contains(operand);
            operands.push((**operand).clone());
        });
        again && lists
    }

    /// Whether an expression asks for a truth value.
    #[must_use]
    pub fn has_truth_test(&self) -> bool {
        let mut tests = false;
        self.visit(&mut |expr| tests |= matches!(expr, Expr::IsTruth { .. }));
        tests
    }

    /// Whether the query has one group, also over no rows.
    #[must_use]
    pub fn is_grand_total(&self) -> bool {
        self.grouping.is_none() && self.group_by.as_ref().is_some_and(Vec::is_empty)
    }

    /// Whether one of the groupings has one group, also over no rows.
    #[must_use]
    pub fn has_grand_total(&self) -> bool {
        self.group_by.as_ref().is_some_and(|keys| match &self.grouping {
            None => keys.is_empty(),
            Some(grouping) => grouping.sets(keys.len()).iter().any(Vec::is_empty),
        })
    }

    /// The output columns that ORDER BY names, the first one first.
    #[must_use]
    pub fn sort_columns(&self) -> Vec<usize> {
        self.order_by.iter().map(|key| key.output).collect()
    }
}

/// FALSE, or `x = 1 AND x = 2`, alone or beside other conditions.
fn is_contradiction(condition: &Expr) -> bool {
    let pinned = |condition: &Expr| match condition {
        Expr::Compare { operator: Comparison::Equal, left, right } if matches!(**right, Expr::Literal(_)) => {
            Some((left.clone(), right.clone()))
        }
        _ => None,
    };
    match condition {
        Expr::Literal(literal) => literal.value == Value::Boolean(false),
        Expr::And(operands) => {
            let pinned: Vec<_> = operands.iter().filter_map(pinned).collect();
            let conflicts = |(left, right)| pinned.iter().any(|(other, value)| *other == left && *value != right);
            operands.iter().any(is_contradiction) || pinned.iter().cloned().any(conflicts)
        }
        _ => false,
    }
}

fn is_null(expr: &Expr) -> bool {
    matches!(expr, Expr::Literal(literal) if literal.value.is_null())
}

fn collect_subqueries<'a>(expr: &'a Expr, queries: &mut Vec<&'a Query>) {
    match expr {
        Expr::Exists { query, .. } | Expr::Scalar { query, .. } => queries.push(query),
        Expr::InQuery { operand, query, .. } => {
            collect_subqueries(operand, queries);
            queries.push(query);
        }
        _ => operands(expr).into_iter().for_each(|operand| collect_subqueries(operand, queries)),
    }
}

/// By FILTER, or by a CASE that the aggregate reads.
fn is_filtered(aggregate: &Aggregate) -> bool {
    aggregate.filter.is_some() || matches!(aggregate.argument, Some(Expr::Case { .. }))
}

fn function_name(function: Function) -> &'static str {
    match function {
        Function::Count => "count",
        Function::Sum => "sum",
        Function::Min => "min",
        Function::Max => "max",
        Function::Avg => "avg",
    }
}

/// Visits an expression and all of its operands outside of aggregates and sub-queries.
pub(crate) fn visit(expr: &Expr, found: &mut dyn FnMut(&Expr)) {
    found(expr);
    operands(expr).into_iter().for_each(|operand| visit(operand, found));
}

/// What the expression is made of, outside of aggregates and sub-queries.
fn operands(expr: &Expr) -> Vec<&Expr> {
    match expr {
        Expr::Column(_) | Expr::Literal(_) | Expr::Aggregate(_) | Expr::Exists { .. } | Expr::Scalar { .. } => {
            Vec::new()
        }
        Expr::Arithmetic { left, right, .. } | Expr::Compare { left, right, .. } => vec![left, right],
        Expr::And(operands) | Expr::Or(operands) => operands.iter().collect(),
        Expr::Not(operand)
        | Expr::IsNull { operand, .. }
        | Expr::IsTruth { operand, .. }
        | Expr::InQuery { operand, .. }
        | Expr::DateTrunc { operand, .. }
        | Expr::Like { operand, .. } => vec![operand],
        Expr::InList { operand, list, .. } => std::iter::once(&**operand).chain(list).collect(),
        Expr::Between { operand, low, high, .. } => vec![operand, low, high],
        Expr::Case { when, then, otherwise } => [when, then].into_iter().chain(otherwise).map(|e| &**e).collect(),
    }
}
