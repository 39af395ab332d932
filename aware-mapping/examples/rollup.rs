//! Two queries planned together: the coarse one reads the fine one. Run with `cargo run -p asap-aware-mapping --example rollup`.
#![expect(clippy::print_stdout, reason = "an example shows what it found")]

use std::sync::Arc;

use arrow_schema::DataType;
use asap_aware_mapping::{FloatPolicy, UnknownLeafCost, search_workload, select};
use asap_types::*;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let text = |name| Field::new(name, DataType::Utf8, true);
    let schema = Schema::new(vec![text("job"), text("region"), Field::new("bytes", DataType::Int64, true)]);
    let metrics = QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema, predicates: vec![] })?;

    // SELECT job, region, SUM(bytes) FROM metrics GROUP BY job, region
    let fine = sum_by(&metrics, &[(0, "job"), (1, "region")])?;
    // SELECT job, SUM(bytes) FROM metrics GROUP BY job
    let coarse = sum_by(&metrics, &[(0, "job")])?;

    let names = ["fine", "coarse"];
    let space = search_workload(&[fine, coarse])?;
    let selection = select(&space, &names, &UnknownLeafCost, FloatPolicy::Exact)?;
    println!("{}", space.explain(&selection, &names));
    println!("{}", selection.dag.render(GraphFormat::Tree));
    Ok(())
}

fn sum_by(input: &Arc<QueryExpr>, keys: &[(usize, &str)]) -> Result<Arc<QueryExpr>, TypesError> {
    QueryExpr::new(Operator::Aggregate(Aggregate {
        reduction: Reduction::by(keys.iter().map(|&(key, _)| Expr::column(key)).collect()),
        measures: vec![AggIntent::Sum { arg: Expr::column(2) }],
        filters: MeasureFilters::none(),
        output_names: keys.iter().map(|&(_, name)| name).chain(["bytes"]).map(str::to_owned).collect(),
        having: None,
        input: Arc::clone(input),
    }))
}
