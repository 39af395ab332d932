//! Wrong answers of the libraries themselves. Each has a number, a minimal recipe and a test, and is recognized by what
//! the plain plan has become together with how its answer differs, so that nothing else hides behind it.
//! A new one is a value of [`Defect`], its arms in this file, its evidence and its recipe.

mod evidence;
mod recipes;

use datafusion::logical_expr::LogicalPlan;

use crate::OracleError;
use crate::answer::Answer;
use crate::model::Table;
use crate::query::Query;
use crate::recipe::{Recipe, TableRecipe};

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
    /// Lance reads `x IS TRUE` over an index as `x = true`, which is unknown where x is NULL: below NOT those rows are
    /// lost.
    IndexedTruthTest,
    /// DataFusion's plan of a truth test that two expressions share, or that a CASE reads, fails with an internal error:
    /// the logical plan has it as never NULL, the physical one as nullable.
    NullableTruthTest,
}

/// What is known of a wrong plain answer.
#[derive(Debug, Clone, Copy)]
pub struct Evidence<'a> {
    /// The query.
    pub query: &'a Query,
    /// The dataset's history.
    pub recipe: &'a TableRecipe,
    /// The rows.
    pub table: &'a Table,
    /// The plain query's optimized logical plan.
    pub optimized: &'a LogicalPlan,
    /// The interpreter's answer.
    pub expected: &'a Answer,
    /// The plain answer.
    pub found: &'a Answer,
    /// The plain answer without any index, if there is one.
    pub unindexed: Option<&'a Answer>,
}

impl Defect {
    /// All of them, by number.
    pub const ALL: [Self; 4] =
        [Self::ConstantGroupKeys, Self::PrunedSortKeys, Self::IndexedTruthTest, Self::NullableTruthTest];

    /// The defect's number, which never changes.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::ConstantGroupKeys => 1,
            Self::PrunedSortKeys => 2,
            Self::IndexedTruthTest => 3,
            Self::NullableTruthTest => 4,
        }
    }

    /// Does the defect explain the plain answer?
    #[must_use]
    pub fn explains(self, evidence: &Evidence<'_>) -> bool {
        match self {
            Self::ConstantGroupKeys => evidence::lost_group_keys(evidence),
            Self::PrunedSortKeys => evidence::lost_sort_keys(evidence),
            Self::IndexedTruthTest => evidence::lost_unknown_rows(evidence),
            Self::NullableTruthTest => false,
        }
    }

    /// Does the defect explain that a query with an answer fails?
    #[must_use]
    pub fn explains_failure(self, query: &Query, error: &OracleError) -> bool {
        self == Self::NullableTruthTest && evidence::is_nullable_truth_test(query, error)
    }

    /// Is another plan's answer wrong in the very way in which this defect made the plain one wrong? It is if it is the
    /// plain one; lost sort keys leave ties in any order, so there it is also if it is right but for those keys.
    #[must_use]
    pub fn excuses(self, query: &Query, table: &Table, plain: &Answer, found: &Answer) -> bool {
        plain.difference(found).is_none()
            || self == Self::PrunedSortKeys && evidence::is_right_under_fewer_keys(query, table, found)
    }

    /// The smallest case that shows it.
    #[must_use]
    pub fn recipe(self) -> Recipe {
        match self {
            Self::ConstantGroupKeys => recipes::constant_group_keys(),
            Self::PrunedSortKeys => recipes::pruned_sort_keys(),
            Self::IndexedTruthTest => recipes::indexed_truth_test(),
            Self::NullableTruthTest => recipes::nullable_truth_test(),
        }
    }
}

/// The defect that explains why a query with an answer fails.
#[must_use]
pub fn recognize_failure(query: &Query, error: &OracleError) -> Option<Defect> {
    Defect::ALL.into_iter().find(|defect| defect.explains_failure(query, error))
}

/// The defect that explains a wrong plain answer.
#[must_use]
pub fn recognize(evidence: &Evidence<'_>) -> Option<Defect> {
    Defect::ALL.into_iter().find(|defect| defect.explains(evidence))
}
