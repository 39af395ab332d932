//! Two queries of one workload; the coarse one is answered from the fine one.
//!
//! `cargo run -p asap-aware-mapping --example rollup`

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use arrow_schema::DataType;
use asap_aware_mapping::{FloatPolicy, UnknownLeafCost, search_workload, select};
use asap_types::{
    AggIntent, Aggregate, Expr, Field, GraphFormat, MeasureFilters, Operator, QueryExpr, Reduction, Schema, TableRef,
};

fn main() -> Result<(), Box<dyn Error>> {
    let column = |name| Field::new(name, DataType::Utf8, true);
    let schema = Schema::new(vec![column("job"), column("region"), Field::new("bytes", DataType::Int64, true)]);
    let metrics = QueryExpr::new(Operator::Scan { table: TableRef::bare("metrics"), schema, predicates: vec![] })?;
    let sum_bytes_by = |keys: &[usize], names: &[&str]| {
        QueryExpr::new(Operator::Aggregate(Aggregate {
            reduction: Reduction::by(keys.iter().copied().map(Expr::column).collect()),
            measures: vec![AggIntent::Sum { arg: Expr::column(2) }],
            filters: MeasureFilters::none(),
            output_names: names.iter().map(ToString::to_string).collect(),
            having: None,
            input: Arc::clone(&metrics),
        }))
    };
    let names = ["fine", "coarse"];
    let workload = [sum_bytes_by(&[0, 1], &["job", "region", "bytes"])?, sum_bytes_by(&[0], &["job", "bytes"])?];
    let space = search_workload(&workload)?;
    let selection = select(&space, &names, &UnknownLeafCost, FloatPolicy::Exact)?;
    write!(std::io::stdout(), "{}\n{}", space.explain(&selection, &names), selection.dag.render(GraphFormat::Mermaid))?;
    Ok(())
}
