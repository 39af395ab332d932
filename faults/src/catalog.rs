//! The faults.

use crate::Scope;

macro_rules! faults {
    ($($name:ident = $text:literal, $scope:ident, $file:literal, $description:literal;)*) => {
        /// A fault, by what goes wrong.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Fault {
            $(#[doc = $description] $name,)*
        }

        impl Fault {
            /// Every fault, those of one layer together.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// Its name on the command line.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self { $(Self::$name => $text),* }
            }

            /// What it can show itself in.
            #[must_use]
            pub const fn scope(&self) -> Scope {
                match self { $(Self::$name => Scope::$scope),* }
            }

            /// The file of its hook, from the root of the workspace.
            #[must_use]
            pub const fn file(&self) -> &'static str {
                match self { $(Self::$name => $file),* }
            }

            /// What the code does wrong.
            #[must_use]
            pub const fn description(&self) -> &'static str {
                match self { $(Self::$name => $description),* }
            }

            /// The fault of that name.
            #[must_use]
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().find(|fault| fault.name() == name).copied()
            }
        }
    };
}

faults! {
    // types
    FilteredMeasuresShared = "filtered-measures-shared", Workload, "types/src/cse.rs",
        "two aggregates that differ in the filter of a measure only are shared";
    MeasureFiltersRotated = "measure-filters-rotated", Query, "types/src/canonicalize.rs",
        "the normal form gives each measure the filter of its neighbour";
    HavingLost = "having-lost", Query, "types/src/canonicalize.rs",
        "the normal form loses a condition above an aggregate";
    OrderOfLimitLost = "order-of-limit-lost", Query, "types/src/canonicalize.rs",
        "the normal form drops a sort below a LIMIT";
    NullableTakenForNonNull = "nullable-taken-for-non-null", Query, "types/src/simplify.rs",
        "IS NOT NULL of a nullable column is simplified to TRUE";
    NotTrueReadAsNot = "not-true-read-as-not", Query, "types/src/simplify.rs",
        "`p IS NOT TRUE` is simplified to `NOT p`, which loses the rows where p is NULL";
    LastConjunctLost = "last-conjunct-lost", Query, "types/src/simplify.rs",
        "the last of several conditions joined by AND is lost";

    // frontend-sql
    CountArgumentIgnored = "count-argument-ignored", Query, "frontend-sql/src/lower/aggregate.rs",
        "COUNT(x) counts rows where x is NULL";
    LastMeasureUnfiltered = "last-measure-unfiltered", Query, "frontend-sql/src/lower/aggregate.rs",
        "the FILTER of the last measure is ignored";
    UnknownPassesFilter = "unknown-passes-filter", Query, "frontend-sql/src/lower/aggregate.rs",
        "FILTER keeps rows for which its condition is NULL";
    CaseReplacesFilter = "case-replaces-filter", Query, "frontend-sql/src/lower/aggregate.rs",
        "the condition of a CASE argument replaces the FILTER instead of joining it";
    ElseZeroIgnored = "else-zero-ignored", Query, "frontend-sql/src/lower/expr.rs",
        "CASE … ELSE 0 is read as a CASE without ELSE";
    NotBetweenReadAsAnd = "not-between-read-as-and", Query, "frontend-sql/src/lower/expr.rs",
        "NOT BETWEEN asks that a value is both below and above";
    NullsOrderIgnored = "nulls-order-ignored", Query, "frontend-sql/src/lower/plan.rs",
        "NULLS FIRST and NULLS LAST are ignored";

    // aware-mapping
    CountsCounted = "counts-counted", Workload, "aware-mapping/src/combinator.rs",
        "the counts of fine groups are counted instead of added";
    EmptySumIsZero = "empty-sum-is-zero", Workload, "aware-mapping/src/combinator.rs",
        "a sum of sums is 0, not NULL, where there is no value";
    EmptyCountIsNull = "empty-count-is-null", Workload, "aware-mapping/src/combinator.rs",
        "a sum of counts is NULL, not 0, over no group";
    MinimaMaximized = "minima-maximized", Workload, "aware-mapping/src/combinator.rs",
        "the greatest of the minima is taken";
    AveragesAveraged = "averages-averaged", Workload, "aware-mapping/src/prover/measures.rs",
        "an average of averages ignores the sizes of the groups";
    AverageOverAllRows = "average-over-all-rows", Workload, "aware-mapping/src/prover/measures.rs",
        "an average divides by the count of rows, NULL or not";
    NarrowerMeasureTaken = "narrower-measure-taken", Workload, "aware-mapping/src/prover/measures.rs",
        "a measure is combined from one whose filter keeps fewer rows";
    RefinementLost = "refinement-lost", Workload, "aware-mapping/src/prover/measures.rs",
        "a measure's filter on a key is not applied to the finer measure";
    ReuseIgnoresFilter = "reuse-ignores-filter", Workload, "aware-mapping/src/prover/measures.rs",
        "a measure over equal keys is reused under another filter";
    NarrowerSourceTaken = "narrower-source-taken", Workload, "aware-mapping/src/prover/rows.rs",
        "an aggregate is derived from one whose WHERE keeps fewer rows";
    RestrictionLost = "restriction-lost", Workload, "aware-mapping/src/prover/rows.rs",
        "the condition by which the coarse aggregate reads fewer rows is not applied";
    NonKeyConditionLost = "non-key-condition-lost", Workload, "aware-mapping/src/prover/rows.rs",
        "a condition on a column that is no key of the source is dropped instead of refused";
    RegroupingSkipped = "regrouping-skipped", Workload, "aware-mapping/src/prover/keys.rs",
        "fine groups that agree on the coarse keys are not combined";

    // execution
    SumZeroIsNull = "sum0-is-null", Workload, "execution/src/plan.rs",
        "a sum that is 0 over no row is NULL";
    FirstFilterForAll = "first-filter-for-all", Query, "execution/src/plan.rs",
        "the first measure's filter is applied to every measure";
    ConstantKeysAlwaysGroup = "constant-keys-always-group", Query, "execution/src/plan.rs",
        "keys that fold to constants make a group over no row";
    EmptyGrandTotalLost = "empty-grand-total-lost", Query, "execution/src/plan.rs",
        "a grand total over no row has no row";
    NeverPassesTotal = "never-passes-total", Query, "execution/src/plan.rs",
        "a HAVING that is FALSE is taken below a grand total, whose row stays";
    ListsMerged = "lists-merged", Query, "execution/src/in_lists.rs",
        "lists of one value are merged as if it were never NULL";
    UnknownItemsListed = "unknown-items-listed", Query, "execution/src/in_lists.rs",
        "a NULL in a list is lost where lists are merged";
    CountedColumnDropsFilter = "counted-column-drops-filter", Query, "execution/src/plan.rs",
        "COUNT(x) FILTER (p) loses p";
    SharedBatchesLost = "shared-batches-lost", Workload, "execution/src/materialize.rs",
        "readers of a shared node see its first batch only";

    // lance-pushdown
    DeletedRowsCounted = "deleted-rows-counted", Query, "lance-pushdown/src/count_from_mask/counts.rs",
        "deleted rows that an index selects are counted";
    DeletedRowsNotBlocked = "deleted-rows-not-blocked", Query, "lance-pushdown/src/count_from_mask/counts.rs",
        "what an index excludes is taken off all rows, not off those that are not deleted";
    DeletedRowIdsKept = "deleted-row-ids-kept", Query, "lance-pushdown/src/count_from_mask/reader.rs",
        "stable row ids of deleted rows count as live";
    RowIdsTakenForAddresses = "row-ids-taken-for-addresses", Query, "lance-pushdown/src/count_from_mask/reader.rs",
        "an index over stable row ids is read as if it held addresses";
    NullsLostBelowNot = "nulls-lost-below-not", Query, "lance-pushdown/src/count_from_mask/leaf.rs",
        "NULL rows pass a negated filter";
    SegmentsReadUnrestricted = "segments-read-unrestricted", Query, "lance-pushdown/src/count_from_mask/leaf.rs",
        "a segment of an index answers for fragments that it no longer covers";
    CountedNullsKept = "counted-nulls-kept", Query, "lance-pushdown/src/count_from_mask/exec.rs",
        "COUNT(x) by an index does not take off the NULLs of x";
    ResetForgetsFilter = "reset-forgets-filter", Query, "lance-pushdown/src/count_from_mask/exec.rs",
        "a plan that is reset to run again forgets its filter";
    PhysicalRowsTakenForLive = "physical-rows-taken-for-live", Query, "lance-pushdown/src/rule/scan.rs",
        "the rows of a fragment's files are counted, deleted ones included";
    FragmentsInTwoBuckets = "fragments-in-two-buckets", Query, "lance-pushdown/src/rule/classify.rs",
        "fragments answered by literals are scanned, too";
    OneNullColumnEmptiesAll = "one-null-column-empties-all", Query, "lance-pushdown/src/rule/decisions.rs",
        "one counted column that is NULL throughout makes every count 0";
    ScanBranchLost = "scan-branch-lost", Query, "lance-pushdown/src/rule/branches.rs",
        "the fragments left to the scan are forgotten beside others";
    MeasureFilterIgnored = "measure-filter-ignored", Query, "lance-pushdown/src/rule/measures.rs",
        "COUNT(*) FILTER (p) is answered as COUNT(*)";
    CountColumnReadAsRows = "count-column-read-as-rows", Query, "lance-pushdown/src/rule/measures.rs",
        "COUNT(x) is answered as COUNT(*)";
    UncoveredFragmentsIndexed = "uncovered-fragments-indexed", Query, "lance-pushdown/src/rule/filter.rs",
        "an index answers for fragments that were added after it";
    HalfFilterTaken = "half-filter-taken", Query, "lance-pushdown/src/rule/filter.rs",
        "the part of a filter that no index knows is dropped";
    UnknownTakenForNoMatch = "unknown-taken-for-no-match", Query, "lance-pushdown/src/statistics/containers.rs",
        "a fragment of which statistics prove nothing is taken to hold no matching row";
    NullsAssumedAbsent = "nulls-assumed-absent", Query, "lance-pushdown/src/statistics/facts.rs",
        "a nullable column is taken to hold no NULL";
    FirstFileOnly = "first-file-only", Query, "lance-pushdown/src/statistics/facts.rs",
        "a column that is not in the first data file of a fragment is taken to be NULL there";
}
