//! Why one aggregate is not derived from another.

use std::fmt;

macro_rules! refusals {
    ($($variant:ident = $name:literal, $text:literal;)+) => {
        /// Why one aggregate is not derived from another. EXPLAIN, tests and the oracle's coverage share it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Refusal {
            $(#[doc = $text] $variant,)+
        }

        impl Refusal {
            /// Every reason, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// A stable identifier in snake case.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }
        }

        impl fmt::Display for Refusal {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(match self { $(Self::$variant => $text,)+ })
            }
        }
    };
}

refusals! {
    NotAnAggregate = "not_an_aggregate", "one of the two is not an aggregate";
    PerEntity = "per_entity", "groups per entity do not form a lattice of keys";
    Without = "without", "a grouping by all labels but some names no keys";
    Having = "having", "groups that HAVING drops are missing from the source";
    Volatile = "volatile", "an expression may have another value when it is evaluated again";
    MultiMeasure = "multi_measure", "the strategy takes single measures only";
    FilteredMeasure = "filtered_measure", "the strategy takes unfiltered measures only";
    DifferentInput = "different_input", "the inputs are different computations";
    FewerRows = "fewer_rows", "the source reads fewer rows";
    RestrictionNotOnKeys = "restriction_not_on_keys", "the extra condition on rows cannot be decided from the source's keys";
    RestrictionCanFail = "restriction_can_fail", "the extra condition on rows can fail, so it must not move";
    SourceCanFail = "source_can_fail", "the source evaluates an expression that can fail and that this aggregate does not evaluate";
    EqualKeys = "equal_keys", "the keys are the same, so nothing is coarser";
    KeyNotDerivable = "key_not_derivable", "a key is no function of the source's keys";
    ComputedKey = "computed_key", "the strategy takes keys of the source as they are";
    FloatKey = "float_key", "equal floats may have different bits, so an expression over a float key is not decided by its group";
    GrandTotalSource = "grand_total_source", "a grand total has one row also over no rows, so no groups follow from it";
    NoUniqueKey = "no_unique_key", "no unique key of the source can be proven";
    IntentMismatch = "intent_mismatch", "the source does not hold this measure";
    ApproximateCount = "approximate_count", "the error of a sum of approximate counts is not bounded by their own";
    Average = "average", "an average of averages is no average";
    AverageParts = "average_parts", "the source does not hold the sum and the count of this average";
    FloatExtremum = "float_extremum", "the extremum of floats depends on their order if one is NaN";
    Rate = "rate", "a rate is no function of rates of finer groups";
    DistinctAggregate = "distinct_aggregate", "values may be distinct in each finer group and equal across them";
    OpaqueAggregate = "opaque_aggregate", "nothing is known about combining this aggregate";
    MeasureFilter = "measure_filter", "the measure's filter differs from the source's by more than a condition on keys";
    NotFiner = "not_finer", "the other aggregate ranks below this one, and sharing goes one way only";
}
