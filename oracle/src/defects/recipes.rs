//! The smallest case for each defect.

use crate::query::{
    Aggregate, Arithmetic, Column, Comparison, Expr, Function, Grouping, Output, Query, SortKey, Spelling,
};
use crate::recipe::{Assignment, IndexKind, Operation, RECIPE_VERSION, Recipe, Settings, TableRecipe};
use crate::value::{Decimal, Float, Row, Type, Value};

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

pub(super) fn indexed_truth_test() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Boolean, nullable: true };
    let index = Operation::CreateIndex { column: "c0".to_owned(), kind: IndexKind::Bitmap, name: None };
    let history = vec![Operation::Create { rows: vec![vec![Value::Null]] }, index];
    let is_true = Expr::IsTruth { operand: Box::new(Expr::column("c0")), truth: Some(true), negated: false };
    let filter = Some(Expr::Not(Box::new(is_true)));
    let query = Query { filter, ..Query::of_table("t", vec![Output::new(Expr::column("c0"), "c0")]) };
    recipe(vec![column], history, query)
}

pub(super) fn nullable_truth_test() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Boolean, nullable: true };
    let is_true = Expr::IsTruth { operand: Box::new(Expr::column("c0")), truth: Some(true), negated: false };
    let count = Expr::aggregate(Function::Count, Expr::case(is_true, Expr::column("c0"), None), None);
    let query = Query { group_by: Some(Vec::new()), ..Query::of_table("t", vec![Output::new(count, "m0")]) };
    recipe(vec![column], vec![Operation::Create { rows: Vec::new() }], query)
}

pub(super) fn grouped_float_extrema() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Float64, nullable: false };
    let max = Expr::aggregate(Function::Max, Expr::column("c0"), None);
    let outputs = vec![Output::new(Expr::column("c0"), "c0"), Output::new(max, "m0")];
    let rows = vec![vec![Value::Float64(Float(f64::NEG_INFINITY))]];
    recipe(vec![column], vec![Operation::Create { rows }], grouped(vec![Expr::column("c0")], outputs, 0))
}

pub(super) fn eager_filtered_argument() -> Recipe {
    let data_type = Type::Decimal { precision: 38, scale: 0 };
    let largest = || Value::Decimal(Decimal { unscaled: 10_i128.pow(38) - 1, scale: 0 });
    let column = Column { name: "c0".to_owned(), data_type, nullable: false };
    let sum = Expr::arithmetic(Arithmetic::Add, Expr::column("c0"), Expr::column("c0"));
    let less = Expr::compare(Comparison::Less, Expr::column("c0"), Expr::literal(largest(), data_type));
    let outputs =
        vec![Output::new(Expr::column("c0"), "c0"), Output::new(Expr::aggregate(Function::Max, sum, Some(less)), "m0")];
    let query = grouped(vec![Expr::column("c0")], outputs, 0);
    recipe(vec![column], vec![Operation::Create { rows: vec![vec![largest()]] }], query)
}

pub(super) fn stale_stable_row_id() -> Recipe {
    let integer = |value| Expr::literal(Value::Int64(value), Type::Int64);
    let is = |value| Expr::compare(Comparison::Equal, Expr::column("c0"), integer(value));
    let index = Operation::CreateIndex { column: "c0".to_owned(), kind: IndexKind::Bitmap, name: None };
    let set = vec![Assignment { column: "c0".to_owned(), value: integer(2) }];
    let update = Operation::Update { set, predicate: Some(is(1)) };
    // The fragment stays, so the old segment goes on covering it.
    let rows = vec![vec![Value::Int64(1), Value::Int64(0)], vec![Value::Int64(3), Value::Int64(0)]];
    let query = Query { filter: Some(is(1)), ..Query::of_table("t", vec![Output::new(Expr::column("c0"), "c0")]) };
    let mut recipe = integers(rows, query);
    recipe.table.stable_row_ids = true;
    recipe.table.history.extend([index, update, Operation::OptimizeIndices]);
    recipe
}

pub(super) fn signed_zero_filter() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Float64, nullable: false };
    let zero = |value| Value::Float64(Float(value));
    let filter = Expr::compare(Comparison::Greater, Expr::column("c0"), Expr::literal(zero(-0.0), Type::Float64));
    let query = Query { filter: Some(filter), ..Query::of_table("t", vec![Output::new(Expr::column("c0"), "c0")]) };
    recipe(vec![column], vec![Operation::Create { rows: vec![vec![zero(0.0)]] }], query)
}

pub(super) fn repeated_nan_key() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Float64, nullable: false };
    let nan = || vec![Value::Float64(Float(f64::NAN))];
    let key = vec![Output::new(Expr::column("c0"), "c0")];
    let query = Query { limit: Some(2), ..grouped(vec![Expr::column("c0")], key, 1) };
    recipe(vec![column], vec![Operation::Create { rows: vec![nan(), nan()] }], query)
}

pub(super) fn constant_grouping_key() -> Recipe {
    let keys = vec![is_null("c0"), Expr::column("c1")];
    let outputs = vec![Output::new(is_null("c0"), "k0"), Output::new(Expr::column("c1"), "c1")];
    let mut query = Query { grouping: Some(Grouping::Cube), ..grouped(keys, outputs, 1) };
    query.order_by[0].descending = true;
    query.order_by[0].nulls_first = Some(false);
    integers(vec![vec![Value::Int64(0), Value::Int64(1)]], query)
}

pub(super) fn twice_widened_sum() -> Recipe {
    let data_type = Type::Decimal { precision: 9, scale: 2 };
    let column = Column { name: "c0".to_owned(), data_type, nullable: false };
    let sum = |distinct| {
        let call = Aggregate { function: Function::Sum, argument: Some(Expr::column("c0")), distinct, filter: None };
        Expr::Aggregate(Box::new(call))
    };
    let outputs = vec![Output::new(sum(false), "m0"), Output::new(sum(true), "m1")];
    let query = Query { group_by: Some(Vec::new()), ..Query::of_table("t", outputs) };
    recipe(vec![column], vec![Operation::Create { rows: Vec::new() }], query)
}

pub(super) fn never_having() -> Recipe {
    let counts = |value| {
        let value = Expr::literal(Value::Int64(value), Type::Int64);
        Expr::compare(Comparison::Equal, Expr::count_all(None), value)
    };
    let having = Some(Expr::And(vec![counts(1), counts(2)]));
    let outputs = vec![Output::new(Expr::count_all(None), "m0")];
    integers(Vec::new(), Query { having, ..grouped(Vec::new(), outputs, 0) })
}

pub(super) fn constant_not_in() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Int64, nullable: true };
    let list = Query::of_table("t", vec![Output::new(Expr::column("c0"), "y")]);
    let operand = Box::new(Expr::literal(Value::Int64(1), Type::Int64));
    let filter = Some(Expr::InQuery { operand, query: Box::new(list), negated: true });
    let query = Query { filter, ..Query::of_table("t", vec![Output::new(Expr::column("c0"), "c0")]) };
    recipe(vec![column], vec![Operation::Create { rows: vec![vec![Value::Null]] }], query)
}

pub(super) fn disjoint_lists() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Int64, nullable: true };
    let not_in = |value| Expr::InList {
        operand: Box::new(Expr::column("c0")),
        list: vec![Expr::literal(Value::Int64(value), Type::Int64)],
        negated: true,
    };
    let filter = Some(Expr::Or(vec![not_in(1), not_in(2)]));
    let query = Query { filter, ..Query::of_table("t", vec![Output::new(Expr::column("c0"), "c0")]) };
    recipe(vec![column], vec![Operation::Create { rows: vec![vec![Value::Null]] }], query)
}

pub(super) fn lost_grouping_id() -> Recipe {
    let known = Expr::IsNull { operand: Box::new(Expr::column("c0")), negated: true };
    let values = [Expr::column("c0"), Expr::case(known, Expr::column("c0"), None)];
    let mut outputs = vec![Output::new(Expr::column("c0"), "c0")];
    for (position, value) in values.into_iter().enumerate() {
        outputs.push(Output::new(Expr::aggregate(Function::Count, value, None), format!("m{position}")));
    }
    let grouping = Some(Grouping::Sets(vec![vec![0]]));
    integers(Vec::new(), Query { grouping, ..grouped(vec![Expr::column("c0")], outputs, 0) })
}

pub(super) fn skipped_nan() -> Recipe {
    let column = Column { name: "c0".to_owned(), data_type: Type::Float64, nullable: false };
    let float = |value| Value::Float64(Float(value));
    let create = Operation::Create { rows: vec![vec![float(-f64::NAN)]] };
    let index = Operation::CreateIndex { column: "c0".to_owned(), kind: IndexKind::ZoneMap, name: None };
    let filter = Expr::compare(Comparison::Less, Expr::column("c0"), Expr::literal(float(1.0), Type::Float64));
    let query = Query { filter: Some(filter), ..Query::of_table("t", vec![Output::new(Expr::column("c0"), "c0")]) };
    recipe(vec![column], vec![create, index], query)
}

fn grouped(keys: Vec<Expr>, outputs: Vec<Output>, sorted: usize) -> Query {
    let order_by = (0..sorted)
        .map(|output| SortKey { output, descending: false, nulls_first: None, spelling: Spelling::Usual })
        .collect();
    Query { group_by: Some(keys), order_by, ..Query::of_table("t", outputs) }
}

/// Two columns of 64-bit integers without NULL.
fn integers(rows: Vec<Row>, query: Query) -> Recipe {
    let column = |name: &str| Column { name: name.to_owned(), data_type: Type::Int64, nullable: false };
    recipe(vec![column("c0"), column("c1")], vec![Operation::Create { rows }], query)
}

fn recipe(columns: Vec<Column>, history: Vec<Operation>, query: Query) -> Recipe {
    let table = TableRecipe::new("t", columns, history);
    Recipe { version: RECIPE_VERSION, table, workload: vec![query], settings: Settings::default() }
}
