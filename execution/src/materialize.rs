//! A shared node's rows, kept for its readers: in memory under the session's pool, in a temporary file past it.

use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::catalog::TableProvider;
use datafusion::catalog::streaming::StreamingTable;
use datafusion::common::utils::memory::get_record_batch_memory_size;
use datafusion::datasource::MemTable;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::disk_manager::RefCountedTempFile;
use datafusion::execution::memory_pool::{MemoryConsumer, MemoryReservation};
use datafusion::execution::{SendableRecordBatchStream, TaskContext};
use datafusion::physical_plan::SpillManager;
use datafusion::physical_plan::metrics::{ExecutionPlanMetricsSet, SpillMetrics};
use datafusion::physical_plan::stream::RecordBatchStreamAdapter;
use datafusion::physical_plan::streaming::PartitionStream;
use futures::{StreamExt, TryStreamExt};

/// A set of rows that several plans read, each in any order. Memory and files are released when it is dropped.
#[derive(Debug)]
pub(crate) struct Materialized {
    pub(crate) rows: usize,
    /// Bytes held in memory; 0 when the rows are in a file.
    pub(crate) memory: usize,
    /// Whether the rows are in a file.
    pub(crate) spilled: bool,
    table: Arc<dyn TableProvider>,
    _reservation: MemoryReservation,
}

impl Materialized {
    /// The rows as a table.
    pub(crate) fn table(&self) -> Arc<dyn TableProvider> {
        Arc::clone(&self.table)
    }

    /// Reads a stream to its end.
    pub(crate) async fn collect(
        name: &str,
        mut stream: SendableRecordBatchStream,
        context: &TaskContext,
    ) -> Result<Self> {
        let schema = stream.schema();
        let consumer = MemoryConsumer::new(format!("asap shared node {name}")).with_can_spill(true);
        let reservation = consumer.register(context.memory_pool());
        let (mut batches, mut rows, mut memory) = (Vec::new(), 0, 0);
        while let Some(batch) = stream.try_next().await? {
            let size = get_record_batch_memory_size(&batch);
            rows += batch.num_rows();
            batches.push(batch);
            if let Err(error) = reservation.try_grow(size) {
                if !context.runtime_env().disk_manager.tmp_files_enabled() {
                    return Err(error);
                }
                let (file, rest) = spill(&schema, batches, stream, context).await?;
                reservation.free();
                let table = spilled_table(schema, file)?;
                return Ok(Self { rows: rows + rest, memory: 0, spilled: true, table, _reservation: reservation });
            }
            memory += size;
        }
        #[cfg(feature = "faults")]
        let batches = asap_faults::inject(asap_faults::Fault::SharedBatchesLost, batches, |mut right| {
            right.truncate(1);
            right
        });
        let table = Arc::new(MemTable::try_new(schema, vec![batches])?);
        Ok(Self { rows, memory, spilled: false, table, _reservation: reservation })
    }
}

/// Writes the batches so far and the rest of the stream to a temporary file; the number of rows of the rest.
async fn spill(
    schema: &SchemaRef,
    batches: Vec<RecordBatch>,
    mut stream: SendableRecordBatchStream,
    context: &TaskContext,
) -> Result<(Option<RefCountedTempFile>, usize)> {
    let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
    let manager = SpillManager::new(context.runtime_env(), metrics, Arc::clone(schema));
    let mut file = manager.create_in_progress_file("asap shared node")?;
    for batch in batches {
        file.append_batch(&batch)?;
    }
    let mut rest = 0;
    while let Some(batch) = stream.next().await {
        let batch = batch?;
        rest += batch.num_rows();
        file.append_batch(&batch)?;
    }
    Ok((file.finish()?, rest))
}

fn spilled_table(schema: SchemaRef, file: Option<RefCountedTempFile>) -> Result<Arc<dyn TableProvider>> {
    let partition = Arc::new(SpilledPartition { schema: Arc::clone(&schema), file });
    Ok(Arc::new(StreamingTable::try_new(schema, vec![partition])?))
}

#[derive(Debug)]
struct SpilledPartition {
    schema: SchemaRef,
    file: Option<RefCountedTempFile>,
}

impl PartitionStream for SpilledPartition {
    fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    fn execute(&self, context: Arc<TaskContext>) -> SendableRecordBatchStream {
        let metrics = SpillMetrics::new(&ExecutionPlanMetricsSet::new(), 0);
        let manager = SpillManager::new(context.runtime_env(), metrics, Arc::clone(&self.schema));
        let stream = self.file.clone().map(|file| manager.read_spill_as_stream(file, None));
        match stream {
            Some(Ok(stream)) => stream,
            Some(Err(error)) => failed(Arc::clone(&self.schema), error),
            None => Box::pin(RecordBatchStreamAdapter::new(Arc::clone(&self.schema), futures::stream::empty())),
        }
    }
}

fn failed(schema: SchemaRef, error: DataFusionError) -> SendableRecordBatchStream {
    Box::pin(RecordBatchStreamAdapter::new(schema, futures::stream::once(async move { Err(error) })))
}
