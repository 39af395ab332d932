//! Counts over a Lance dataset without reading its columns: `cargo run --example count -- DATASET "SELECT count(*) FROM t"`.
#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use std::sync::Arc;

use datafusion::prelude::{SessionConfig, SessionContext};
use lance::Dataset;
use lance_pushdown::LancePushdown;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let uri = args.next().ok_or("which dataset?")?;
    let sql = args.next().unwrap_or("SELECT count(*) FROM t".to_string());

    let pushdown = LancePushdown::new();
    let session = SessionContext::new_with_state(pushdown.session_state(SessionConfig::new()));
    let dataset = Arc::new(Dataset::open(&uri).await?);
    session.register_table("t", pushdown.open_table(dataset).await?)?;

    session.sql(&sql).await?.show().await?;
    for report in pushdown.take_reports() {
        println!("{report}");
    }
    Ok(())
}
