//! What a query uses, for coverage.

use super::{Aggregate, Expr, Function, Query, Source, Spelling};

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
        add("where", self.filter.is_some());
        if let Some(filter) = &self.filter {
            visit(filter, &mut |expr| add("truth test", matches!(expr, Expr::IsTruth { .. })));
        }
        add("group by", self.group_by.as_ref().is_some_and(|keys| !keys.is_empty()));
        add("grand total", self.is_grand_total());
        add("having", self.having.is_some());
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
        if let Source::Nested { query, .. } = &self.source {
            query.visit(found);
        }
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

    /// The WHERE clauses, those of nested queries too.
    #[must_use]
    pub fn filters(&self) -> Vec<&Expr> {
        let mut filters = match &self.source {
            Source::Table(_) => Vec::new(),
            Source::Nested { query, .. } => query.filters(),
        };
        filters.extend(&self.filter);
        filters
    }

    /// Whether the query has one group, also over no rows.
    #[must_use]
    pub fn is_grand_total(&self) -> bool {
        self.grouping.is_none() && self.group_by.as_ref().is_some_and(Vec::is_empty)
    }

    /// The output columns that ORDER BY names, the first one first.
    #[must_use]
    pub fn sort_columns(&self) -> Vec<usize> {
        self.order_by.iter().map(|key| key.output).collect()
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

/// Visits an expression and all of its operands outside of aggregates.
pub(crate) fn visit(expr: &Expr, found: &mut dyn FnMut(&Expr)) {
    found(expr);
    match expr {
        Expr::Column(_) | Expr::Literal(_) | Expr::Aggregate(_) => {}
        Expr::Arithmetic { left, right, .. } | Expr::Compare { left, right, .. } => {
            visit(left, found);
            visit(right, found);
        }
        Expr::And(operands) | Expr::Or(operands) => operands.iter().for_each(|operand| visit(operand, found)),
        Expr::Not(operand)
        | Expr::IsNull { operand, .. }
        | Expr::IsTruth { operand, .. }
        | Expr::DateTrunc { operand, .. }
        | Expr::Like { operand, .. } => visit(operand, found),
        Expr::InList { operand, list, .. } => {
            visit(operand, found);
            list.iter().for_each(|item| visit(item, found));
        }
        Expr::Between { operand, low, high, .. } => [operand, low, high].into_iter().for_each(|e| visit(e, found)),
        Expr::Case { when, then, otherwise } => {
            [when, then].into_iter().chain(otherwise).for_each(|operand| visit(operand, found));
        }
    }
}
