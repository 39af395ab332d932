//! Wrong answers of the libraries themselves. Each has a number, a minimal recipe and a test, and is recognized by what
//! the plain plan has become together with how its answer differs, so that nothing else hides behind it.

use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;

use crate::answer::Difference;
use crate::query::{Column, Expr, Output, Query, SortKey, Source};
use crate::recipe::{Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};
use crate::value::{Row, Type, Value};

/// A defect of DataFusion 54.1 or Lance 14.0.2 that makes the plain answer wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Defect {
    /// GROUP BY keys that all fold to constants are dropped, and what is left is a grand total: over no rows it answers
    /// one row where there is no group. apache/datafusion#11748, #15734.
    ConstantGroupKeys,
    /// A sort key is dropped as determined by those before it when it is not: an aggregate's keys were simplified and the
    /// functional dependencies above it were not. apache/datafusion#21362 brought the pruning.
    PrunedSortKeys,
}

impl Defect {
    /// All of them, by number.
    pub const ALL: [Self; 2] = [Self::ConstantGroupKeys, Self::PrunedSortKeys];

    /// The defect's number, which never changes.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::ConstantGroupKeys => 1,
            Self::PrunedSortKeys => 2,
        }
    }

    /// Has it changed this query's optimized plan?
    #[must_use]
    pub fn affects(self, query: &Query, optimized: &LogicalPlan) -> bool {
        match self {
            Self::ConstantGroupKeys => {
                let grouped = query.group_by.as_ref().is_some_and(|keys| !keys.is_empty());
                grouped && has_grand_total(optimized)
            }
            Self::PrunedSortKeys => sort_keys(optimized).is_some_and(|kept| kept < query.order_by.len()),
        }
    }

    /// Is this how an answer of an affected plan, on the right of the difference, differs from the model's?
    #[must_use]
    pub fn shows_as(self, query: &Query, difference: &Difference) -> bool {
        match self {
            Self::ConstantGroupKeys => matches!(difference, Difference::Rows { counts: (0, 1), .. }),
            Self::PrunedSortKeys => match difference {
                Difference::Order { .. } => true,
                Difference::Rows { counts: (left, right), .. } => query.limit.is_some() && left == right,
                Difference::Columns { .. } => false,
            },
        }
    }

    /// The smallest case that shows it.
    #[must_use]
    pub fn recipe(self) -> Recipe {
        let is_null = |name| Expr::IsNull { operand: Box::new(Expr::column(name)), negated: false };
        let k0 = || Output::new(is_null("c0"), "k0");
        match self {
            Self::ConstantGroupKeys => recipe(
                Vec::new(),
                grouped(vec![is_null("c0")], vec![k0(), Output::new(Expr::count_all(None), "m0")], 0),
            ),
            Self::PrunedSortKeys => recipe(
                vec![vec![Value::Int64(0), Value::Int64(2)], vec![Value::Int64(0), Value::Int64(1)]],
                grouped(vec![is_null("c0"), Expr::column("c1")], vec![k0(), Output::new(Expr::column("c1"), "c1")], 2),
            ),
        }
    }
}

/// The defect that explains how the answer of a plan, on the right of the difference, differs from the model's.
/// `optimized` is the plain query's optimized logical plan.
#[must_use]
pub fn recognize(query: &Query, optimized: &LogicalPlan, difference: &Difference) -> Option<Defect> {
    Defect::ALL.into_iter().find(|defect| defect.affects(query, optimized) && defect.shows_as(query, difference))
}

fn has_grand_total(plan: &LogicalPlan) -> bool {
    plan.exists(|node| Ok(matches!(node, LogicalPlan::Aggregate(aggregate) if aggregate.group_expr.is_empty())))
        .unwrap_or(false)
}

/// How many keys the outermost Sort has.
fn sort_keys(plan: &LogicalPlan) -> Option<usize> {
    let mut keys = None;
    let visited = plan.apply(|node| {
        if let LogicalPlan::Sort(sort) = node {
            keys = Some(sort.expr.len());
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.ok().and(keys)
}

fn grouped(keys: Vec<Expr>, outputs: Vec<Output>, sorted: usize) -> Query {
    let order_by = (0..sorted).map(|output| SortKey { output, descending: false, nulls_first: None }).collect();
    Query {
        source: Source::Table("t".to_owned()),
        filter: None,
        group_by: Some(keys),
        outputs,
        having: None,
        order_by,
        limit: None,
    }
}

fn recipe(rows: Vec<Row>, query: Query) -> Recipe {
    let column = |name: &str| Column { name: name.to_owned(), data_type: Type::Int64, nullable: false };
    let table = TableRecipe {
        name: "t".to_owned(),
        columns: vec![column("c0"), column("c1")],
        rows_per_file: 16,
        history: vec![Operation::Create { rows }],
    };
    let settings = Settings { target_partitions: 1, batch_size: 8192, pushdown: std::collections::BTreeMap::new() };
    Recipe { version: RECIPE_VERSION, table, workload: vec![query], settings }
}
