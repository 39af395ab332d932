//! Tests of the front end over its public interface.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod accepted;
mod canonical;
mod counts;
mod dashboard;
mod refused;
mod text;

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, TimeUnit};
use asap_frontend_sql::{FrontendError, TableCatalog, TableSchema, lower_workload};
use asap_types::{GraphFormat, PostAsapDag, QueryExpr, canonicalize};

/// `lineitem` of TPC-H with some nullable columns, and small tables for everything else.
fn catalog() -> TableCatalog {
    let money = DataType::Decimal128(15, 2);
    let lineitem = vec![
        Field::new("l_orderkey", DataType::Int64, false),
        Field::new("l_partkey", DataType::Int64, false),
        Field::new("l_suppkey", DataType::Int64, false),
        Field::new("l_linenumber", DataType::Int32, false),
        Field::new("l_quantity", money.clone(), false),
        Field::new("l_extendedprice", money.clone(), false),
        Field::new("l_discount", money.clone(), false),
        Field::new("l_tax", money, true),
        Field::new("l_returnflag", DataType::Utf8, false),
        Field::new("l_linestatus", DataType::Utf8, false),
        Field::new("l_shipdate", DataType::Date32, false),
        Field::new("l_commitdate", DataType::Date32, true),
        Field::new("l_receiptdate", DataType::Date32, false),
        Field::new("l_shipinstruct", DataType::Utf8, false),
        Field::new("l_shipmode", DataType::Utf8, true),
        Field::new("l_comment", DataType::Utf8, true),
    ];
    let t = vec![
        Field::new("k", DataType::Utf8, true),
        Field::new("a", DataType::Int64, true),
        Field::new("b", DataType::Int32, false),
        Field::new("f", DataType::Float64, true),
        Field::new("p", DataType::Boolean, true),
        Field::new("ts", DataType::Timestamp(TimeUnit::Microsecond, None), true),
        Field::new("tags", DataType::List(Arc::new(Field::new("item", DataType::Utf8, true))), true),
        Field::new("Mixed", DataType::Utf8View, true),
    ];
    let mut catalog = TableCatalog::new();
    catalog.insert("lineitem", TableSchema::new(Schema::new(lineitem)));
    catalog.insert("t", TableSchema::new(Schema::new(t.clone())).with_unique_key([0]));
    catalog.insert("other.t2", TableSchema::new(Schema::new(t)));
    catalog
}

/// The query of a text that is one statement.
fn lower(sql: &str) -> Result<Arc<QueryExpr>, FrontendError> {
    let mut workload = lower_workload(sql, &catalog())?;
    assert_eq!(workload.len(), 1, "{sql}");
    workload.remove(0).query
}

fn tree(query: &Arc<QueryExpr>) -> String {
    PostAsapDag::from_queries([("query", query)]).unwrap().render(GraphFormat::Tree)
}

/// The canonical form's tree, without its first line, and the output schema.
fn canonical_tree(sql: &str) -> String {
    let query = lower(sql).unwrap_or_else(|error| panic_with(sql, &error));
    let canonical = canonicalize(&query).unwrap();
    assert_eq!(canonical.schema().field_names(), query.schema().field_names());
    format!("{}{}\n", tree(&canonical), canonical.schema())
}

#[expect(clippy::panic, reason = "a test fails by panicking")]
fn panic_with<T>(sql: &str, error: &FrontendError) -> T {
    panic!("{sql}\nis refused: {error} at {:?} ({})", sql.get(error.span()), error.hint())
}

/// Compares with the snapshot that is named after the running test; `INSTA_UPDATE=always` writes it.
fn assert_snapshot(description: &str, text: &str) {
    let name = std::thread::current().name().unwrap().split("::").skip(1).collect::<Vec<_>>().join("_");
    insta::with_settings!({
        prepend_module_to_snapshot => false,
        omit_expression => true,
        description => description,
    }, {
        insta::assert_snapshot!(name, text);
    });
}
