//! The operator that answers bucket (a).

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int64Array, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use datafusion::common::Statistics;
use datafusion::common::stats::Precision;
use datafusion::error::{DataFusionError, Result as DFResult};
use datafusion::execution::TaskContext;
use datafusion::physical_expr::EquivalenceProperties;
use datafusion::physical_plan::execution_plan::{Boundedness, EmissionType};
use datafusion::physical_plan::metrics::{BaselineMetrics, ExecutionPlanMetricsSet, MetricBuilder, MetricsSet};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::{
    DisplayAs, DisplayFormatType, ExecutionPlan, Partitioning, PlanProperties, SendableRecordBatchStream,
};
use lance::Dataset;
use lance_index::scalar::expression::ScalarIndexExpr;
use lance_select::RowAddrMask;
use roaring::RoaringBitmap;

use super::{CountSource, FragmentPushdownPlan, IndexReadMetrics, IndexReader, MaskQueries};
use crate::error::{PushdownError, Result};
use crate::schema_invariant::check_branch_schema;

/// Counts rows of some fragments from index masks and deletion files, as one row of partial state.
///
/// It pins the dataset version of the scan that it stands for, keeps no state between runs, and fails
/// with a [`PushdownError`] rather than count an inexact answer.
#[derive(Debug)]
pub struct IndexedAggregateExec {
    dataset: Arc<Dataset>,
    reader: Arc<dyn IndexReader>,
    queries: Arc<MaskQueries>,
    fragments: Arc<Vec<FragmentPushdownPlan>>,
    properties: Arc<PlanProperties>,
    metrics: ExecutionPlanMetricsSet,
}

impl IndexedAggregateExec {
    /// Builds the operator for the fragments given; `partial_state` is the schema of the partial aggregate that it
    /// stands for, one 64-bit integer per count.
    ///
    /// # Errors
    /// If there are no fragments, one is listed twice or is not in `dataset`, the counts of a fragment do not match
    /// the output, or `partial_state` is not a row of counts.
    pub fn try_new(
        dataset: Arc<Dataset>,
        reader: Arc<dyn IndexReader>,
        queries: MaskQueries,
        fragments: Vec<FragmentPushdownPlan>,
        partial_state: SchemaRef,
    ) -> Result<Self> {
        check_branch_schema("IndexedAggregateExec", &partial_state, &count_state(&partial_state))?;
        check_fragments(&dataset, &queries, &fragments, partial_state.fields().len())?;
        let properties = Arc::new(PlanProperties::new(
            EquivalenceProperties::new(partial_state),
            Partitioning::UnknownPartitioning(1),
            EmissionType::Final,
            Boundedness::Bounded,
        ));
        Ok(Self {
            dataset,
            reader,
            queries: Arc::new(queries),
            fragments: Arc::new(fragments),
            properties,
            metrics: ExecutionPlanMetricsSet::new(),
        })
    }

    /// The fragments that it answers for.
    pub fn fragments(&self) -> &[FragmentPushdownPlan] {
        &self.fragments
    }

    /// The dataset version that it reads.
    pub fn dataset(&self) -> &Arc<Dataset> {
        &self.dataset
    }

    /// The index queries that it runs.
    pub fn queries(&self) -> &MaskQueries {
        &self.queries
    }

    fn describe(&self, f: &mut fmt::Formatter<'_>, separator: &str) -> fmt::Result {
        write!(f, "IndexedAggregateExec:{separator}fragments=[{}]", ranges(&self.fragments))?;
        if let Some(filter) = &self.queries.filter {
            write!(f, ",{separator}filter={filter}")?;
        }
        for nulls in &self.queries.nulls {
            write!(f, ",{separator}nulls={nulls}")?;
        }
        let bindings: BTreeSet<String> = self
            .fragments
            .iter()
            .flat_map(|fragment| fragment.index_bindings.iter().map(ToString::to_string))
            .collect();
        let bindings: Vec<String> = bindings.into_iter().collect();
        write!(f, ",{separator}bindings=[{}]", bindings.join(", "))?;
        let with_deletions = self.fragments.iter().filter(|fragment| fragment.deletion_vector.is_some()).count();
        write!(f, ",{separator}deletion_vectors={with_deletions}")
    }
}

/// The schema of a row of counts under the names of `partial_state`.
fn count_state(partial_state: &Schema) -> Schema {
    Schema::new(
        partial_state.fields().iter().map(|field| Field::new(field.name(), DataType::Int64, false)).collect::<Vec<_>>(),
    )
}

fn check_fragments(
    dataset: &Dataset,
    queries: &MaskQueries,
    fragments: &[FragmentPushdownPlan],
    columns: usize,
) -> Result<()> {
    if fragments.is_empty() {
        return Err(PushdownError::NoFragments);
    }
    let mut seen = RoaringBitmap::new();
    for plan in fragments {
        let fragment = plan.fragment_id;
        if !seen.insert(fragment) {
            return Err(PushdownError::DuplicateFragment(fragment));
        }
        if !dataset.fragment_bitmap().contains(fragment) {
            return Err(PushdownError::UnknownFragment(fragment));
        }
        if plan.counts.len() != columns {
            return Err(PushdownError::CountArity { fragment, expected: columns, found: plan.counts.len() });
        }
        let mut null_queries = plan.counts.iter().filter_map(CountSource::null_query);
        if let Some(query) = null_queries.find(|query| *query >= queries.nulls.len()) {
            return Err(PushdownError::UnknownNullQuery { fragment, query });
        }
        check_facts(dataset, plan)?;
    }
    Ok(())
}

/// Wrong facts would not only be counted: readers keep the live rows of a fragment for later plans.
fn check_facts(dataset: &Dataset, plan: &FragmentPushdownPlan) -> Result<()> {
    let id = plan.fragment_id;
    let mut fragments = dataset.manifest.fragments.iter();
    let fragment = fragments.find(|fragment| fragment.id == u64::from(id)).ok_or(PushdownError::UnknownFragment(id))?;
    let physical_rows = fragment.physical_rows.and_then(|rows| u64::try_from(rows).ok());
    match physical_rows == Some(plan.physical_rows) && fragment.deletion_file == plan.deletion_vector {
        true => Ok(()),
        false => Err(PushdownError::FragmentFacts(id)),
    }
}

/// Fragment ids with runs contracted: `0-3,7`.
fn ranges(fragments: &[FragmentPushdownPlan]) -> String {
    let ids: RoaringBitmap = fragments.iter().map(|plan| plan.fragment_id).collect();
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for id in ids {
        match runs.last_mut() {
            Some((_, end)) if id - *end == 1 => *end = id,
            _ => runs.push((id, id)),
        }
    }
    runs.iter()
        .map(|(start, end)| match start == end {
            true => start.to_string(),
            false => format!("{start}-{end}"),
        })
        .collect::<Vec<_>>()
        .join(",")
}

/// One run of the operator.
struct Run {
    dataset: Arc<Dataset>,
    reader: Arc<dyn IndexReader>,
    queries: Arc<MaskQueries>,
    fragments: Arc<Vec<FragmentPushdownPlan>>,
    schema: SchemaRef,
    metrics: IndexReadMetrics,
}

impl Run {
    async fn batch(self) -> Result<RecordBatch> {
        let scope: RoaringBitmap = self.fragments.iter().map(|plan| plan.fragment_id).collect();
        let selected = match &self.queries.filter {
            None => RowAddrMask::all_rows(),
            Some(filter) => self.mask(filter, &scope).await?,
        };
        let mut non_null = Vec::with_capacity(self.queries.nulls.len());
        for (query, nulls) in self.queries.nulls.iter().enumerate() {
            let counts_by = |plan: &&FragmentPushdownPlan| plan.counts.contains(&CountSource::NonNull(query));
            let scope = self.fragments.iter().filter(counts_by).map(|plan| plan.fragment_id).collect();
            let nulls = self.mask(nulls, &scope).await?;
            let values = selected.clone() & !nulls;
            #[cfg(feature = "faults")]
            let values = asap_faults::inject(asap_faults::Fault::CountedNullsKept, values, |_| selected.clone());
            non_null.push(values);
        }
        let totals = self.totals(&selected, &non_null).await?;
        let columns = totals
            .into_iter()
            .map(|total| {
                let count = i64::try_from(total).map_err(|_| PushdownError::CountOverflow)?;
                Ok(Arc::new(Int64Array::from(vec![count])) as ArrayRef)
            })
            .collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(self.schema, columns).map_err(|error| DataFusionError::from(error).into())
    }

    async fn mask(&self, query: &ScalarIndexExpr, scope: &RoaringBitmap) -> Result<RowAddrMask> {
        let answer = self.reader.evaluate(&self.dataset, query, scope, &self.metrics).await?;
        match answer.is_exact() {
            true => Ok(answer.lower),
            false => Err(PushdownError::InexactExpression(query.to_string())),
        }
    }

    async fn totals(&self, selected: &RowAddrMask, non_null: &[RowAddrMask]) -> Result<Vec<u64>> {
        let mut totals = vec![0_u64; self.schema.fields().len()];
        let live = self.reader.live_rows(&self.dataset, &self.fragments).await?;
        for (plan, rows) in self.fragments.iter().zip(&live) {
            for (total, source) in totals.iter_mut().zip(&plan.counts) {
                let count = match source {
                    CountSource::Rows => rows.count(selected)?,
                    CountSource::NonNull(query) => rows.count(
                        non_null
                            .get(*query)
                            .ok_or(PushdownError::UnknownNullQuery { fragment: plan.fragment_id, query: *query })?,
                    )?,
                    CountSource::Zero => 0,
                };
                *total = total.checked_add(count).ok_or(PushdownError::CountOverflow)?;
            }
        }
        Ok(totals)
    }
}

impl DisplayAs for IndexedAggregateExec {
    fn fmt_as(&self, t: DisplayFormatType, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match t {
            DisplayFormatType::Default | DisplayFormatType::Verbose => self.describe(f, " "),
            DisplayFormatType::TreeRender => self.describe(f, "\n"),
        }
    }
}

impl ExecutionPlan for IndexedAggregateExec {
    fn name(&self) -> &str {
        "IndexedAggregateExec"
    }

    fn properties(&self) -> &Arc<PlanProperties> {
        &self.properties
    }

    fn children(&self) -> Vec<&Arc<dyn ExecutionPlan>> {
        vec![]
    }

    fn with_new_children(self: Arc<Self>, children: Vec<Arc<dyn ExecutionPlan>>) -> DFResult<Arc<dyn ExecutionPlan>> {
        match children.is_empty() {
            true => Ok(self),
            false => Err(DataFusionError::Internal("IndexedAggregateExec has no children".to_string())),
        }
    }

    fn reset_state(self: Arc<Self>) -> DFResult<Arc<dyn ExecutionPlan>> {
        let queries = Arc::clone(&self.queries);
        #[cfg(feature = "faults")]
        let queries = match queries.filter {
            Some(_) if asap_faults::is_planted(asap_faults::Fault::ResetForgetsFilter) => {
                Arc::new(MaskQueries { filter: None, nulls: queries.nulls.clone() })
            }
            _ => queries,
        };
        Ok(Arc::new(Self {
            dataset: Arc::clone(&self.dataset),
            reader: Arc::clone(&self.reader),
            queries,
            fragments: Arc::clone(&self.fragments),
            properties: Arc::clone(&self.properties),
            metrics: ExecutionPlanMetricsSet::new(),
        }))
    }

    fn execute(&self, partition: usize, _context: Arc<TaskContext>) -> DFResult<SendableRecordBatchStream> {
        if partition != 0 {
            return Err(PushdownError::Partition(partition).into());
        }
        let run = Run {
            dataset: Arc::clone(&self.dataset),
            reader: Arc::clone(&self.reader),
            queries: Arc::clone(&self.queries),
            fragments: Arc::clone(&self.fragments),
            schema: self.schema(),
            metrics: IndexReadMetrics::new(&self.metrics, partition),
        };
        let baseline = BaselineMetrics::new(&self.metrics, partition);
        let time = MetricBuilder::new(&self.metrics).subset_time("index_count_time", partition);
        let row = async move {
            let timer = time.timer();
            let batch = run.batch().await?;
            timer.done();
            baseline.record_output(batch.num_rows());
            Ok(batch)
        };
        Ok(Box::pin(RecordBatchStreamAdapter::new(self.schema(), futures::stream::once(row))))
    }

    fn metrics(&self) -> Option<MetricsSet> {
        Some(self.metrics.clone_inner())
    }

    fn partition_statistics(&self, _partition: Option<usize>) -> DFResult<Arc<Statistics>> {
        Ok(Arc::new(Statistics { num_rows: Precision::Exact(1), ..Statistics::new_unknown(&self.schema()) }))
    }
}
