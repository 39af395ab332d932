//! A table's rows in memory, without Lance.

use std::sync::Arc;

use datafusion::datasource::MemTable;
use datafusion::prelude::SessionContext;

use crate::Result;
use crate::convert::{arrow_schema, record_batch};
use crate::model::Table;
use crate::recipe::Settings;

/// A stock DataFusion session that knows the rows by the table's name: as many partitions as the session has, and batches
/// of at most `rows_per_batch` rows, dealt out in turn.
///
/// # Errors
/// A row does not fit the columns.
pub fn memory_session(table: &Table, rows_per_batch: usize, settings: &Settings) -> Result<SessionContext> {
    let mut partitions = vec![Vec::new(); settings.target_partitions.max(1)];
    for (position, rows) in table.rows.chunks(rows_per_batch.max(1)).enumerate() {
        let partition = position % partitions.len();
        partitions[partition].push(record_batch(&table.columns, rows)?);
    }
    let session = SessionContext::new_with_config(settings.session_config());
    let provider = MemTable::try_new(arrow_schema(&table.columns), partitions)?;
    session.register_table(table.name.as_str(), Arc::new(provider))?;
    Ok(session)
}
