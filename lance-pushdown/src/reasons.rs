//! Why a plan, or one fragment of it, is left to the scan.

/// Declares a fieldless reason enum with a stable name and a sentence per value.
macro_rules! reasons {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $key:literal, $text:literal;)+ }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum $name {
            $(#[doc = $text] $variant,)+
        }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// A stable identifier in snake case.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $key,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self { $(Self::$variant => $text,)+ })
            }
        }
    };
}

pub(crate) use reasons;

reasons! {
    /// Why the whole plan stands as it was.
    Refusal {
        GroupBy = "group_by", "the aggregate has GROUP BY";
        MeasureFilter = "measure_filter", "an aggregate has its own FILTER";
        UnsupportedAggregate = "unsupported_aggregate", "an aggregate is not COUNT";
        Distinct = "distinct", "an aggregate is DISTINCT";
        OrderedAggregate = "ordered_aggregate", "an aggregate has ORDER BY or a NULL treatment";
        UnsupportedArgument = "unsupported_argument", "an argument is neither a literal nor a column";
        NullArgument = "null_argument", "an argument is a NULL literal";
        SystemColumn = "system_column", "an argument is a system column";
        BlobColumn = "blob_column", "an argument is a blob column";
        AggregateMode = "aggregate_mode", "the aggregate is not split into a partial and a final step";
        UnsupportedNode = "unsupported_node", "an operator between the aggregate and the scan may change its rows";
        FilterAboveScan = "filter_above_scan", "a filter above the scan cannot be expressed over an index";
        Limit = "limit", "a LIMIT or OFFSET applies below the aggregate";
        RowStream = "row_stream", "the scan takes its rows from another plan";
        IndexInput = "index_input", "the scan's row selection is not a scalar index query";
        DeletedRows = "deleted_rows", "the scan includes deleted rows";
        OnlyIndexedFragments = "only_indexed_fragments", "the scan skips fragments without an index";
        PhysicalSelection = "physical_selection", "the scan is restricted to chosen row addresses";
        Overlays = "overlays", "a fragment has data overlays";
        DuplicateFragments = "duplicate_fragments", "the scan lists a fragment twice";
        StaleFragments = "stale_fragments", "the scan lists fragments of another dataset version";
        FragmentIdRange = "fragment_id_range", "a fragment id exceeds 32 bits";
        WriterVersion = "writer_version", "the manifest does not name its writer, so its row counts are not trusted";
        NoFragments = "no_fragments", "the scan has no fragments";
        NothingAnswered = "nothing_answered", "no fragment can be answered from the manifest, statistics or an index";
    }
}

reasons! {
    /// Why one fragment goes to the scan.
    ScanReason {
        PlanRefused = "plan_refused", "the plan as a whole was left as it was";
        PhysicalRowsUnknown = "physical_rows_unknown", "the manifest does not record the fragment's rows";
        DeletionCountUnknown = "deletion_count_unknown", "the manifest does not record how many rows are deleted";
        DeletionCountCorrupt = "deletion_count_corrupt", "the manifest records more deleted rows than rows";
        LiteralCountsOff = "literal_counts_off", "literal answers are switched off";
        IndexCountsOff = "index_counts_off", "answers from indexes are switched off";
        CountColumnOff = "count_column_off", "COUNT of a column is switched off";
        FilterNotIndexed = "filter_not_indexed", "no usable index evaluates the filter";
        FilterSplit = "filter_split", "a usable index evaluates only a part of the filter";
        IndexKind = "index_kind", "the filter's index is not a bitmap index";
        InexactIndex = "inexact_index", "the filter's index needs a recheck";
        UnsupportedQuery = "unsupported_query", "a bitmap index cannot answer this predicate";
        CoverageUnknown = "coverage_unknown", "the fragments that the filter's index covers are unknown";
        Uncovered = "uncovered", "the filter's index does not cover the fragment";
        NullLiteral = "null_literal", "the filter compares with a NULL literal";
        FloatFilter = "float_filter", "the filter compares a floating-point column";
        NestedColumn = "nested_column", "the filter uses a nested column";
        ColumnNotIndexed = "column_not_indexed", "the counted column may be NULL and has no usable bitmap index";
        ColumnUncovered = "column_uncovered", "the counted column's index does not cover the fragment";
        ColumnMissing = "column_missing", "the fragment lacks a column that must not be NULL";
        StableRowIds = "stable_row_ids", "stable row ids, and the index's segments are not known";
        StableRowIdSegments = "stable_row_id_segments", "stable row ids, and the index has several segments";
        FragmentReuse = "fragment_reuse", "a compaction left the indexes to be remapped while reading";
    }
}
