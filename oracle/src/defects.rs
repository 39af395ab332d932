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
    /// DataFusion's grouped MIN and MAX of floats, also those of a grand total beside a DISTINCT aggregate, start at the largest
    /// finite numbers and compare as numbers: an infinity alone is lost, and after a NaN comes whatever follows it.
    GroupedFloatExtrema,
    /// DataFusion computes an aggregate's argument also for rows that its FILTER rejects, and over no row at all if WHERE pins
    /// its column to a constant, and fails where it overflows.
    EagerFilteredArgument,
    /// Lance's bitmap with stable row ids, an update and `optimize_indices` in append mode: the old segment keeps the
    /// moved row's id, and the coverage of the new one readmits it. So does a column that is rewritten in place, also without
    /// stable row ids.
    StaleStableRowId,
    /// Lance's filters take both zeros of a float for equal, where DataFusion's tell them apart.
    SignedZeroFilter,
    /// DataFusion's grouping under ORDER BY a key and LIMIT looks float keys up with `==` and never finds a NaN again:
    /// its group is answered several times, or the plan panics.
    RepeatedNanKey,
    /// A key of GROUPING SETS, ROLLUP or CUBE that folds to a constant, or that WHERE pins to one, is taken for that constant
    /// above the aggregation, where it is NULL in the groupings that leave it out: DataFusion drops the sort by it, and in
    /// several partitions takes the rows for ordered by it and answers groups in pieces. apache/datafusion#24421. So is a column
    /// that is pinned on the right of a left join, where it is NULL in rows without a partner.
    ConstantGroupingKey,
    /// DataFusion takes a sum of decimals beside a DISTINCT aggregate in two steps, and each widens its type. A condition on the
    /// sum then fails.
    TwiceWidenedSum,
    /// DataFusion pushes a HAVING that folds to FALSE below a grand total, also one of grouping sets, which answers its one
    /// row all the same.
    NeverHaving,
    /// `x NOT IN (SELECT …)` of a constant `x`, as WHERE may pin it to one, is TRUE in DataFusion where a NULL makes it unknown.
    /// apache/datafusion#25340.
    ConstantNotIn,
    /// DataFusion merges lists of one value as if it were never NULL: `x NOT IN (1) OR x NOT IN (2)` folds to TRUE,
    /// `x IN (1) AND x IN (2)` to FALSE.
    DisjointLists,
    /// DataFusion loses the column that tells grouping sets apart where two aggregates fold to one, and the query fails.
    LostGroupingId,
    /// Lance's zone map skips a NaN with a sign, which is less than all numbers.
    SkippedNan,
}

/// An answer, right or wrong, and what may have become of it.
#[derive(Debug, Clone, Copy)]
pub struct Suspect<'a> {
    /// The query.
    pub query: &'a Query,
    /// The rows.
    pub table: &'a Table,
    /// The plain query's optimized logical plan, if it has sort keys that it could lose.
    pub optimized: Option<&'a LogicalPlan>,
    /// Do rows arrive in more than one partition, so in any order?
    pub is_parallel: bool,
    /// Is memory limited, so that an aggregate may spill, and take up again what it has in the order of its keys?
    pub may_spill: bool,
    /// The answer.
    pub found: &'a Answer,
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
    /// Do rows arrive in more than one partition, so in any order?
    pub is_parallel: bool,
    /// The plain answer without any index, if there is one.
    pub unindexed: Option<&'a Answer>,
    /// [`Self::unindexed`] without the simplification of expressions either, by DataFusion or by Lance.
    pub unsimplified: Option<&'a Answer>,
}

impl Defect {
    /// All of them, by number.
    pub const ALL: [Self; 16] = [
        Self::ConstantGroupKeys,
        Self::PrunedSortKeys,
        Self::IndexedTruthTest,
        Self::NullableTruthTest,
        Self::GroupedFloatExtrema,
        Self::EagerFilteredArgument,
        Self::StaleStableRowId,
        Self::SignedZeroFilter,
        Self::RepeatedNanKey,
        Self::ConstantGroupingKey,
        Self::TwiceWidenedSum,
        Self::NeverHaving,
        Self::ConstantNotIn,
        Self::DisjointLists,
        Self::LostGroupingId,
        Self::SkippedNan,
    ];

    /// The defect's number, which never changes.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Self::ConstantGroupKeys => 1,
            Self::PrunedSortKeys => 2,
            Self::IndexedTruthTest => 3,
            Self::NullableTruthTest => 4,
            Self::GroupedFloatExtrema => 5,
            Self::EagerFilteredArgument => 6,
            Self::StaleStableRowId => 7,
            Self::SignedZeroFilter => 8,
            Self::RepeatedNanKey => 9,
            Self::ConstantGroupingKey => 10,
            Self::TwiceWidenedSum => 11,
            Self::NeverHaving => 12,
            Self::ConstantNotIn => 13,
            Self::DisjointLists => 14,
            Self::LostGroupingId => 15,
            Self::SkippedNan => 16,
        }
    }

    /// Does the defect explain the plain answer?
    #[must_use]
    pub fn explains(self, evidence: &Evidence<'_>) -> bool {
        match self {
            Self::ConstantGroupKeys => evidence::lost_group_keys(evidence),
            Self::PrunedSortKeys => evidence::lost_sort_keys(evidence),
            Self::GroupedFloatExtrema => {
                evidence::is_right_but_for_float_extrema(evidence.query, evidence.table, evidence.found)
            }
            Self::RepeatedNanKey => evidence::repeats_nan_keys(evidence.query, evidence.table, evidence.found),
            Self::NeverHaving => evidence::lost_having(evidence),
            Self::TwiceWidenedSum => evidence::is_right_but_for_wide_sums(evidence),
            Self::ConstantNotIn => evidence::takes_unknown_for_no_match(evidence),
            Self::ConstantGroupingKey => {
                let Evidence { query, table, found, .. } = *evidence;
                evidence::is_right_but_for_constant_keys(query, table, found)
                    || evidence.is_parallel && evidence::answers_groups_in_pieces(query, table, found)
            }
            Self::IndexedTruthTest
            | Self::StaleStableRowId
            | Self::SignedZeroFilter
            | Self::DisjointLists
            | Self::SkippedNan => {
                self.without(evidence).is_some_and(|without| evidence.expected.difference(without).is_none())
            }
            Self::NullableTruthTest | Self::EagerFilteredArgument | Self::LostGroupingId => false,
        }
    }

    /// Is there what the defect strikes, and what does the query answer without it? Only where that was tried.
    fn without<'a>(self, evidence: &Evidence<'a>) -> Option<&'a Answer> {
        let (may_strike, without) = match self {
            Self::IndexedTruthTest => (evidence::asks_index_for_truth(evidence), evidence.unindexed),
            Self::StaleStableRowId => (evidence::has_stale_ids(evidence), evidence.unindexed),
            Self::SignedZeroFilter => (evidence::filters_zeros(evidence), evidence.unindexed),
            Self::SkippedNan => (evidence::skips_nan(evidence), evidence.unindexed),
            Self::DisjointLists => (evidence.query.repeats_lists(), evidence.unsimplified),
            _ => (false, None),
        };
        without.filter(|_| may_strike)
    }

    /// The answer without the defect, if that is wrong for float extrema only, and this one for more.
    fn hides_float_extrema<'a>(self, evidence: &Evidence<'a>) -> Option<&'a Answer> {
        let Evidence { query, table, found, .. } = *evidence;
        self.without(evidence).filter(|without| {
            evidence::is_right_but_for_float_extrema(query, table, without)
                && !evidence::are_alike_but_for_float_extrema(query, table, without, found)
        })
    }

    /// Does the defect explain that a query with an answer fails?
    #[must_use]
    pub fn explains_failure(self, query: &Query, table: &Table, error: &OracleError) -> bool {
        match self {
            Self::NullableTruthTest => evidence::is_nullable_truth_test(query, error),
            Self::EagerFilteredArgument => evidence::is_eager_argument(query, error),
            Self::RepeatedNanKey => evidence::panics_on_nan_key(query, table, error),
            Self::TwiceWidenedSum => evidence::compares_wide_sum(query, error),
            Self::LostGroupingId => evidence::lost_grouping_id(query, error),
            _ => false,
        }
    }

    /// Is another plan's answer wrong in the very way in which this defect made the plain one wrong? It is if it is the
    /// plain one. Lost sort keys leave ties in any order, so there it also is if it is right but for those keys.
    #[must_use]
    pub fn excuses(self, suspect: &Suspect<'_>, plain: &Answer) -> bool {
        let Suspect { query, table, found, .. } = *suspect;
        let alike = self == Self::PrunedSortKeys && evidence::is_right_under_fewer_keys(query, table, found);
        alike || self.may_strike_at_random(suspect) || plain.difference(found).is_none()
    }

    /// Does the defect depend on the order in which rows arrive, and explain this answer whatever the plain one is? One
    /// plan that runs twice, and two plans that are the same, may then differ. Ties under lost sort keys stand in any
    /// order even in one partition: plans may scan fragments in different orders.
    #[must_use]
    pub fn may_strike_at_random(self, suspect: &Suspect<'_>) -> bool {
        let Suspect { query, table, found, .. } = *suspect;
        match self {
            Self::GroupedFloatExtrema => {
                (suspect.is_parallel || suspect.may_spill)
                    && evidence::is_right_but_for_float_extrema(query, table, found)
            }
            Self::PrunedSortKeys => {
                suspect.optimized.is_some_and(|plan| evidence::loses_sort_keys(query, plan))
                    && evidence::is_right_under_fewer_keys(query, table, found)
            }
            Self::RepeatedNanKey => evidence::repeats_nan_keys(query, table, found),
            Self::ConstantGroupingKey => {
                evidence::is_right_but_for_constant_keys(query, table, found)
                    || suspect.is_parallel && evidence::answers_groups_in_pieces(query, table, found)
            }
            _ => false,
        }
    }

    /// Does the defect never strike a workload plan? They are made to avoid it, or the front end refuses what it strikes.
    #[must_use]
    pub fn is_avoided(self) -> bool {
        match self {
            Self::ConstantGroupKeys | Self::NeverHaving | Self::DisjointLists => true,
            Self::ConstantGroupingKey | Self::TwiceWidenedSum | Self::ConstantNotIn | Self::LostGroupingId => true,
            Self::PrunedSortKeys
            | Self::IndexedTruthTest
            | Self::NullableTruthTest
            | Self::GroupedFloatExtrema
            | Self::EagerFilteredArgument
            | Self::StaleStableRowId
            | Self::SignedZeroFilter
            | Self::RepeatedNanKey
            | Self::SkippedNan => false,
        }
    }

    /// The smallest case that shows it.
    #[must_use]
    pub fn recipe(self) -> Recipe {
        match self {
            Self::ConstantGroupKeys => recipes::constant_group_keys(),
            Self::PrunedSortKeys => recipes::pruned_sort_keys(),
            Self::IndexedTruthTest => recipes::indexed_truth_test(),
            Self::NullableTruthTest => recipes::nullable_truth_test(),
            Self::GroupedFloatExtrema => recipes::grouped_float_extrema(),
            Self::EagerFilteredArgument => recipes::eager_filtered_argument(),
            Self::StaleStableRowId => recipes::stale_stable_row_id(),
            Self::SignedZeroFilter => recipes::signed_zero_filter(),
            Self::RepeatedNanKey => recipes::repeated_nan_key(),
            Self::ConstantGroupingKey => recipes::constant_grouping_key(),
            Self::TwiceWidenedSum => recipes::twice_widened_sum(),
            Self::NeverHaving => recipes::never_having(),
            Self::ConstantNotIn => recipes::constant_not_in(),
            Self::DisjointLists => recipes::disjoint_lists(),
            Self::LostGroupingId => recipes::lost_grouping_id(),
            Self::SkippedNan => recipes::skipped_nan(),
        }
    }
}

/// The defect that may have struck this answer and no other one of the same query.
#[must_use]
pub fn recognize_at_random(suspect: &Suspect<'_>) -> Option<Defect> {
    Defect::ALL.into_iter().find(|defect| defect.may_strike_at_random(suspect))
}

/// The defect that explains why a query with an answer fails.
#[must_use]
pub fn recognize_failure(query: &Query, table: &Table, error: &OracleError) -> Option<Defect> {
    Defect::ALL.into_iter().find(|defect| defect.explains_failure(query, table, error))
}

/// The defect that explains a wrong plain answer, with that answer. Where none does alone, one that hides wrong float
/// extrema, and these (5), with the answer that shows them only.
#[must_use]
pub fn recognize<'a>(evidence: &Evidence<'a>) -> Vec<(Defect, &'a Answer)> {
    if let Some(defect) = Defect::ALL.into_iter().find(|defect| defect.explains(evidence)) {
        return vec![(defect, evidence.found)];
    }
    let mut hidden = Defect::ALL.into_iter().filter_map(|defect| Some((defect, defect.hides_float_extrema(evidence)?)));
    hidden.next().map_or_else(Vec::new, |(defect, without)| {
        vec![(defect, evidence.found), (Defect::GroupedFloatExtrema, without)]
    })
}
