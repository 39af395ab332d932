//! The smallest case for each defect.

use crate::query::{Column, Expr, Output, Query, SortKey};
use crate::recipe::{Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};
use crate::value::{Row, Type, Value};

fn is_null(name: &str) -> Expr {
    Expr::IsNull { operand: Box::new(Expr::column(name)), negated: false }
}

pub(super) fn constant_group_keys() -> Recipe {
    let outputs = vec![Output::new(is_null("c0"), "k0"), Output::new(Expr::count_all(None), "m0")];
    integers(Vec::new(), grouped(vec![is_null("c0")], outputs, 0))
}

pub(super) fn pruned_sort_keys() -> Recipe {
    let keys = vec![is_null("c0"), Expr::column("c1")];
    let outputs = vec![Output::new(is_null("c0"), "k0"), Output::new(Expr::column("c1"), "c1")];
    let rows = vec![vec![Value::Int64(0), Value::Int64(2)], vec![Value::Int64(0), Value::Int64(1)]];
    integers(rows, grouped(keys, outputs, 2))
}

fn grouped(keys: Vec<Expr>, outputs: Vec<Output>, sorted: usize) -> Query {
    let order_by = (0..sorted).map(|output| SortKey { output, descending: false, nulls_first: None }).collect();
    Query { group_by: Some(keys), order_by, ..Query::of_table("t", outputs) }
}

/// Two columns of 64-bit integers without NULL.
fn integers(rows: Vec<Row>, query: Query) -> Recipe {
    let column = |name: &str| Column { name: name.to_owned(), data_type: Type::Int64, nullable: false };
    recipe(vec![column("c0"), column("c1")], vec![Operation::Create { rows }], query)
}

fn recipe(columns: Vec<Column>, history: Vec<Operation>, query: Query) -> Recipe {
    let table = TableRecipe { name: "t".to_owned(), columns, rows_per_file: 16, history };
    Recipe { version: RECIPE_VERSION, table, workload: vec![query], settings: Settings::default() }
}
