//! Lowers a workload from standard input over one table `t(k, a)`, and prints each statement's plan or refusal.
//!
//! `echo 'SELECT k, sum(a) FROM t GROUP BY k; SELECT median(a) FROM t' | cargo run -p asap-frontend-sql --example lower`
#![expect(clippy::print_stdout, reason = "an example prints")]

use std::io::Read;

use arrow_schema::{DataType, Field, Schema};
use asap_frontend_sql::{TableCatalog, TableSchema, lower_workload};
use asap_types::{GraphFormat, PostAsapDag, canonicalize};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let fields = vec![Field::new("k", DataType::Utf8, true), Field::new("a", DataType::Int64, true)];
    let mut catalog = TableCatalog::new();
    catalog.insert("t", TableSchema::new(Schema::new(fields)));

    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    for (index, lowered) in lower_workload(&text, &catalog)?.iter().enumerate() {
        match &lowered.query {
            Ok(query) => {
                let name = lowered.statement.name().map_or_else(|| format!("query {}", index + 1), str::to_owned);
                let query = canonicalize(query)?;
                println!("{}", PostAsapDag::from_queries([(name.as_str(), &query)])?.render(GraphFormat::Tree));
            }
            Err(error) => {
                let place = text.get(error.span()).unwrap_or_default();
                println!("refused: {error}\n  at: {place}\n  hint: {}\n", error.hint());
            }
        }
    }
    Ok(())
}
