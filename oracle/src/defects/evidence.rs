//! How each defect is told from any other wrong answer.

use std::convert::Infallible;

use arrow::datatypes::DataType;
use datafusion::common::tree_node::{TreeNode, TreeNodeRecursion};
use datafusion::logical_expr::LogicalPlan;

use super::Evidence;
use crate::OracleError;
use crate::answer::Answer;
use crate::error_class::ErrorClass;
use crate::model::Table;
use crate::query::{Column, Comparison, Expr, Function, JoinKind, Output, Query, SortKey, Source, visit};
use crate::recipe::{IndexKind, Operation};
use crate::value::{Row, Type, Value};

/// A grouped query became a grand total, and one row is answered where there is no group.
pub(super) fn lost_group_keys(evidence: &Evidence<'_>) -> bool {
    let grouped = evidence.query.group_by.as_ref().is_some_and(|keys| !keys.is_empty());
    let counts = (evidence.expected.rows.len(), evidence.found.rows.len());
    grouped && counts == (0, 1) && has_grand_total(evidence.optimized)
}

/// A grand total with HAVING, or grouping sets with one, answer a row where there is none: that of no row.
pub(super) fn lost_having(evidence: &Evidence<'_>) -> bool {
    let Evidence { query, table, expected, found, .. } = evidence;
    let none = Expr::literal(Value::Boolean(false), Type::Boolean);
    let of_nothing = Query { filter: Some(none), having: None, ..(*query).clone() };
    query.has_grand_total()
        && query.having.is_some()
        && expected.rows.is_empty()
        && table.answer(&of_nothing).is_ok_and(|answer| answer.difference(&narrowed(query, &answer, found)).is_none())
}

/// The outermost Sort has fewer keys than ORDER BY, and the answer is right under as many of them.
pub(super) fn lost_sort_keys(evidence: &Evidence<'_>) -> bool {
    let keys = &evidence.query.order_by;
    sort_keys(evidence.optimized).is_some_and(|kept| {
        kept < keys.len()
            && subsequences(keys)
                .filter(|left| left.len() == kept)
                .any(|left| is_right(evidence.query, left, evidence.table, evidence.found))
    })
}

/// Has the outermost Sort fewer keys than ORDER BY?
pub(super) fn loses_sort_keys(query: &Query, optimized: &LogicalPlan) -> bool {
    sort_keys(optimized).is_some_and(|kept| kept < query.order_by.len())
}

/// Is the answer right if some of the sort keys, but not all, are left out?
pub(super) fn is_right_under_fewer_keys(query: &Query, table: &Table, found: &Answer) -> bool {
    let keys = &query.order_by;
    let fewer = subsequences(keys).filter(|left| !left.is_empty() && left.len() < keys.len());
    fewer.into_iter().any(|left| is_right(query, left, table, found))
}

/// A filter asks for the truth of what reads a column that has an index.
pub(super) fn asks_index_for_truth(evidence: &Evidence<'_>) -> bool {
    let indexed = |name: &str| has_index(evidence, name);
    let mut asks = false;
    for filter in evidence.query.filters() {
        visit(filter, &mut |expr| {
            if let Expr::IsTruth { operand, .. } = expr {
                visit(operand, &mut |read| asks |= matches!(read, Expr::Column(name) if indexed(name)));
            }
        });
    }
    asks
}

/// A filter reads a float column that has a zone map, and the table has a NaN.
pub(super) fn skips_nan(evidence: &Evidence<'_>) -> bool {
    let columns = &evidence.table.columns;
    let is_float = |expr: &Expr| expr.data_type(columns).is_ok_and(Type::is_float);
    let mut reads = false;
    for filter in evidence.query.filters() {
        visit(filter, &mut |expr| {
            reads |= matches!(expr, Expr::Column(name) if is_float(expr) && has_zone_map(evidence, name));
        });
    }
    reads && evidence.table.rows.iter().flatten().any(is_nan)
}

fn has_zone_map(evidence: &Evidence<'_>, name: &str) -> bool {
    let creates = |operation: &Operation| matches!(operation, Operation::CreateIndex { column, kind: IndexKind::ZoneMap, .. } if column == name);
    evidence.recipe.history.iter().any(creates)
}

fn has_index(evidence: &Evidence<'_>, name: &str) -> bool {
    let creates = |operation: &Operation| matches!(operation, Operation::CreateIndex { column, .. } if column == name);
    evidence.recipe.history.iter().any(creates)
}

/// The fields of a physical plan are more nullable than those of its logical plan, and the query has a truth test.
pub(super) fn is_nullable_truth_test(query: &Query, error: &OracleError) -> bool {
    let text = error.to_string();
    query.has_truth_test()
        && text.contains("Physical input schema should be the same")
        && text.contains("field nullability at index")
}

/// An index, an operation that leaves a row's id and changes its values, an append to the index.
pub(super) fn has_stale_ids(evidence: &Evidence<'_>) -> bool {
    let mut operations = evidence.recipe.history.iter();
    let moves = |operation: &Operation| match operation {
        Operation::Update { .. } | Operation::MergeInsert { .. } => evidence.recipe.stable_row_ids,
        Operation::RewriteColumns { .. } => true,
        _ => false,
    };
    operations.any(|operation| matches!(operation, Operation::CreateIndex { .. }))
        && operations.any(moves)
        && operations.any(|operation| matches!(operation, Operation::OptimizeIndices))
}

/// A filter reads a float column, and a negative zero is in it or in the filter.
pub(super) fn filters_zeros(evidence: &Evidence<'_>) -> bool {
    let columns = &evidence.table.columns;
    let mut reads = false;
    let mut zero = evidence.table.rows.iter().flatten().any(is_negative_zero);
    for filter in evidence.query.filters() {
        visit(filter, &mut |expr| match expr {
            Expr::Column(_) => reads |= expr.data_type(columns).is_ok_and(Type::is_float),
            Expr::Literal(literal) => zero |= is_negative_zero(&literal.value),
            _ => {}
        });
    }
    reads && zero
}

fn is_negative_zero(value: &Value) -> bool {
    matches!(value, Value::Float64(float) if float.0 == 0.0 && float.0.is_sign_negative())
}

/// An overflow, and an aggregate whose argument can overflow where the query asks for no such row: a FILTER rejects it, or
/// WHERE pins the argument's column to a constant.
pub(super) fn is_eager_argument(query: &Query, error: &OracleError) -> bool {
    let pinned = pinned_columns(query);
    let mut may_overflow = false;
    query.visit(&mut |expr| {
        if let Expr::Aggregate(call) = expr
            && let Some(argument) = &call.argument
        {
            let mut reads_pinned = false;
            visit(argument, &mut |expr| reads_pinned |= matches!(expr, Expr::Column(name) if pinned.contains(name)));
            let rejected = call.filter.is_some() || reads_pinned;
            visit(argument, &mut |expr| may_overflow |= rejected && matches!(expr, Expr::Arithmetic { .. }));
        }
    });
    may_overflow && ErrorClass::of(error) == ErrorClass::Overflow
}

/// Columns that WHERE compares with a constant for equality.
fn pinned_columns(query: &Query) -> Vec<String> {
    let mut pinned = Vec::new();
    for filter in query.filters() {
        visit(filter, &mut |expr| {
            if let Expr::Compare { operator: Comparison::Equal, left, right } = expr
                && let (Expr::Column(name), Expr::Literal(_)) = (&**left, &**right)
            {
                pinned.push(name.clone());
            }
        });
    }
    pinned
}

/// A grouped query (also a grand total beside a DISTINCT aggregate) over floats that are not all finite is right in every
/// other column than MIN and MAX of floats, and there it has a number that the argument has, or an end of the finite range.
/// Rows that a LIMIT chose by such a column are not excused.
pub(super) fn is_right_but_for_float_extrema(query: &Query, table: &Table, found: &Answer) -> bool {
    table.answer(query).is_ok_and(|expected| are_alike_but_for_float_extrema(query, table, &expected, found))
}

/// [`is_right_but_for_float_extrema`], beside another answer than the right one.
pub(super) fn are_alike_but_for_float_extrema(query: &Query, table: &Table, expected: &Answer, found: &Answer) -> bool {
    let grouped = query.group_by.as_ref().is_some_and(|keys| !keys.is_empty() || has_distinct(query));
    let Ok(read) = query.source.columns(&table.columns) else { return false };
    let columns: Vec<usize> =
        (0..query.outputs.len()).filter(|&output| is_float_extremum(&query.outputs[output].expr, &read)).collect();
    if !grouped
        || columns.is_empty()
        || query.limit.is_some()
        || query.offset.is_some()
        || expected.columns != found.columns
    {
        return false;
    }
    let masked = |answer: &Answer| {
        let mut answer = answer.clone();
        answer.rows.iter_mut().for_each(|row| columns.iter().for_each(|&column| row[column] = Value::Null));
        answer.sorted_by = answer.sorted_by.into_iter().take_while(|key| !columns.contains(key)).collect();
        answer
    };
    let known = |row: &Row| columns.iter().all(|&column| is_known(&row[column], table));
    masked(expected).difference(&masked(found)).is_none() && found.rows.iter().all(known) && has_special_floats(table)
}

/// Beside a DISTINCT aggregate, sums of decimals have more digits than they must, and all else is right.
pub(super) fn is_right_but_for_wide_sums(evidence: &Evidence<'_>) -> bool {
    let Evidence { query, expected, found, .. } = evidence;
    expected.difference(&narrowed(query, expected, found)).is_none()
}

/// An answer whose sums of decimals beside a DISTINCT aggregate have the digits that they must have.
fn narrowed(query: &Query, right: &Answer, found: &Answer) -> Answer {
    let is_distinct = |output: &Output| matches!(&output.expr, Expr::Aggregate(call) if call.distinct);
    let is_sum = |output: &Output| matches!(&output.expr, Expr::Aggregate(call) if call.function == Function::Sum && !call.distinct);
    let mut narrowed = found.clone();
    if !query.outputs.iter().any(is_distinct) {
        return narrowed;
    }
    for ((column, right), output) in narrowed.columns.iter_mut().zip(&right.columns).zip(&query.outputs) {
        if let (DataType::Decimal128(wide, scale), DataType::Decimal128(precision, right_scale)) =
            (&column.data_type, &right.data_type)
            && is_sum(output)
            && wide > precision
            && scale == right_scale
        {
            column.data_type = right.data_type.clone();
        }
    }
    narrowed
}

/// The answer is right if `x NOT IN (SELECT …)` is TRUE where it is unknown.
pub(super) fn takes_unknown_for_no_match(evidence: &Evidence<'_>) -> bool {
    let Evidence { query, table, found, .. } = evidence;
    let Some(filter) = &query.filter else { return false };
    let mut asks = false;
    let two_valued = filter.rewritten(&mut |expr| {
        let Expr::InQuery { operand, query, negated: true } = expr else { return Ok::<_, Infallible>(None) };
        asks = true;
        let is_in = Expr::InQuery { operand: operand.clone(), query: query.clone(), negated: false };
        Ok(Some(Expr::IsTruth { operand: Box::new(is_in), truth: Some(true), negated: true }))
    });
    let Ok(filter) = two_valued;
    let answer = table.answer(&Query { filter: Some(filter), ..(*query).clone() });
    asks && answer.is_ok_and(|answer| answer.difference(found).is_none())
}

/// A query with grouping sets fails for want of the column that tells them apart.
pub(super) fn lost_grouping_id(query: &Query, error: &OracleError) -> bool {
    query.grouping.is_some() && error.to_string().contains("No field named __grouping_id")
}

/// Decimals of different types are compared where a query has a sum of decimals beside a DISTINCT aggregate.
pub(super) fn compares_wide_sum(query: &Query, error: &OracleError) -> bool {
    let (mut sums, mut is_distinct) = (false, false);
    query.visit(&mut |expr| {
        if let Expr::Aggregate(call) = expr {
            is_distinct |= call.distinct;
            sums |= !call.distinct && call.function == Function::Sum;
        }
    });
    sums && is_distinct && error.to_string().contains("Invalid comparison operation: Decimal128")
}

/// A query with a float key and a LIMIT over NaN is right but that rows with a NaN come more than once.
pub(super) fn repeats_nan_keys(query: &Query, table: &Table, found: &Answer) -> bool {
    if !limits_float_keys(query, table) {
        return false;
    }
    let Ok(all) = table.answer(&Query { limit: None, offset: None, ..query.clone() }) else { return false };
    let mut distinct = Vec::<&Row>::new();
    for row in &found.rows {
        if !(row.iter().any(is_nan) && distinct.contains(&row)) {
            distinct.push(row);
        }
    }
    // Repeats that an OFFSET skips let it skip fewer groups.
    let starts_at = |start: usize| {
        let expected = all.rows.iter().skip(start);
        expected.clone().count() >= distinct.len()
            && distinct.iter().zip(expected).all(|(found, expected)| *found == expected)
    };
    let is_right = (0..=query.offset.unwrap_or(0)).any(starts_at);
    let repeats = distinct.len() < found.rows.len() && found.rows.len() <= query.limit.unwrap_or(usize::MAX);
    repeats && is_right && all.columns == found.columns
}

/// A query with grouping sets or a left join is right but for the sort keys that are NULL or one and the same value.
pub(super) fn is_right_but_for_constant_keys(query: &Query, table: &Table, found: &Answer) -> bool {
    let Ok(all) = table.answer(&Query { having: None, ..query.unordered() }) else { return false };
    let (constant, left): (Vec<_>, Vec<_>) =
        query.order_by.iter().cloned().partition(|key| is_constant(&all.rows, key.output));
    let brings_null = query.grouping.is_some() || matches!(query.source, Source::Join { kind: JoinKind::Left, .. });
    brings_null && !constant.is_empty() && is_right(query, left, table, found)
}

/// A query with grouping sets over a key of one value (and NULL) is right but that groups come in pieces: each row has the
/// keys of a group, and unless a clause drops rows, every group is there, and what is wrong is a row of a repeated group.
pub(super) fn answers_groups_in_pieces(query: &Query, table: &Table, found: &Answer) -> bool {
    let by_keys = |outputs| table.answer(&Query { outputs, having: None, ..query.unordered() });
    let keys = query.group_by.iter().flatten().cloned().map(|key| Output::new(key, "k")).collect();
    let Ok(keys) = by_keys(keys) else { return false };
    let has_constant_key = (0..keys.columns.len()).any(|key| is_constant(&keys.rows, key));
    if query.grouping.is_none() || !has_constant_key || query.outputs.iter().all(|output| has_aggregate(&output.expr)) {
        return false;
    }
    let drops_rows = query.distinct || query.having.is_some() || query.limit.is_some() || query.offset.is_some();
    let shown: Vec<usize> =
        (0..query.outputs.len()).filter(|&output| !has_aggregate(&query.outputs[output].expr)).collect();
    let group = |row: &Row| shown.iter().map(|&output| row[output].clone()).collect::<Row>();
    let Ok(all) = table.answer(&Query { having: None, ..query.unordered() }) else { return false };
    let groups = |rows: &[Row]| rows.iter().map(group).collect::<Vec<Row>>();
    let (right, answered) = (groups(&all.rows), groups(&found.rows));
    let is_piece = |row: &Row| times(&group(row), &answered) > times(&group(row), &right);
    all.columns == found.columns
        && answered.iter().all(|group| right.contains(group))
        && (drops_rows
            || right.iter().all(|group| answered.contains(group))
                && found.rows.iter().all(|row| times(row, &found.rows) <= times(row, &all.rows) || is_piece(row)))
}

fn has_aggregate(expr: &Expr) -> bool {
    let mut aggregates = false;
    visit(expr, &mut |part| aggregates |= matches!(part, Expr::Aggregate(_)));
    aggregates
}

/// Has a column at most one value beside NULL?
fn is_constant(rows: &[Row], column: usize) -> bool {
    let mut values = rows.iter().map(|row| &row[column]).filter(|value| !value.is_null());
    let first = values.next();
    values.all(|value| Some(value) == first)
}

/// The panic of DataFusion 54.1 `TopKHashTable::remove_if_full`, which looks for the group that has to leave.
pub(super) fn panics_on_nan_key(query: &Query, table: &Table, error: &OracleError) -> bool {
    limits_float_keys(query, table) && error.to_string().contains("entered unreachable code")
}

fn limits_float_keys(query: &Query, table: &Table) -> bool {
    let columns = query.source.columns(&table.columns).unwrap_or_default();
    let is_float = |key: &Expr| key.data_type(&columns).is_ok_and(Type::is_float);
    let mut keys =
        query.group_by.iter().flatten().chain(query.outputs.iter().filter(|_| query.distinct).map(|it| &it.expr));
    query.limit.is_some() && keys.any(is_float) && table.rows.iter().flatten().any(is_nan)
}

fn is_nan(value: &Value) -> bool {
    matches!(value, Value::Float64(float) if float.0.is_nan())
}

fn has_distinct(query: &Query) -> bool {
    query.outputs.iter().any(|output| matches!(&output.expr, Expr::Aggregate(call) if call.distinct))
}

fn is_float_extremum(expr: &Expr, columns: &[Column]) -> bool {
    let Expr::Aggregate(call) = expr else { return false };
    matches!(call.function, Function::Min | Function::Max) && call.data_type(columns).is_ok_and(Type::is_float)
}

fn has_special_floats(table: &Table) -> bool {
    table.rows.iter().flatten().any(|value| matches!(value, Value::Float64(float) if !float.0.is_finite()))
}

/// The ends of the finite floats, of both widths.
fn is_end(float: f64) -> bool {
    [f64::MAX, f64::MIN, f64::from(f32::MAX), f64::from(f32::MIN)].contains(&float)
}

/// A value of the table, NULL, or what the accumulators start with.
fn is_known(value: &Value, table: &Table) -> bool {
    let start = matches!(value, Value::Float64(float) if is_end(float.0));
    start || value.is_null() || table.rows.iter().flatten().any(|known| known == value)
}

/// One that computes nothing is planned as a row without columns.
fn has_grand_total(plan: &LogicalPlan) -> bool {
    let is_grand_total = |node: &LogicalPlan| match node {
        LogicalPlan::Aggregate(aggregate) => aggregate.group_expr.is_empty(),
        LogicalPlan::EmptyRelation(relation) => relation.produce_one_row,
        _ => false,
    };
    plan.exists(|node| Ok(is_grand_total(node))).unwrap_or(false)
}

/// How many keys the outermost Sort has.
fn sort_keys(plan: &LogicalPlan) -> Option<usize> {
    let mut keys = None;
    let visited = plan.apply(|node| {
        if let LogicalPlan::Sort(sort) = node {
            keys = Some(sort.expr.len());
            return Ok(TreeNodeRecursion::Stop);
        }
        Ok(TreeNodeRecursion::Continue)
    });
    visited.ok().and(keys)
}

/// Every choice of keys, in their order. ORDER BY has fewer than 32 keys.
fn subsequences(keys: &[SortKey]) -> impl Iterator<Item = Vec<SortKey>> + '_ {
    (0..1_u32 << keys.len().min(31)).map(|chosen| {
        let kept = keys.iter().enumerate().filter(|(position, _)| chosen >> position & 1 == 1);
        kept.map(|(_, key)| key.clone()).collect()
    })
}

/// Is the answer right for the query ordered by these keys only? Rows that tie at a LIMIT may be any of the tied ones.
fn is_right(query: &Query, order_by: Vec<SortKey>, table: &Table, found: &Answer) -> bool {
    let unlimited = Query { order_by, limit: None, offset: None, ..query.clone() };
    let skipped = query.offset.unwrap_or(0);
    let Ok(all) = table.answer(&unlimited) else { return false };
    let taken = all.rows.len().saturating_sub(skipped).min(query.limit.unwrap_or(usize::MAX));
    let keys = |row: &Row| unlimited.sort_columns().iter().map(|&column| row[column].clone()).collect::<Row>();
    all.columns == found.columns
        && found.rows.len() == taken
        && found.rows.iter().zip(all.rows.iter().skip(skipped)).all(|(left, right)| keys(left) == keys(right))
        && found.rows.iter().all(|row| times(row, &found.rows) <= times(row, &all.rows))
}

fn times(row: &Row, rows: &[Row]) -> usize {
    rows.iter().filter(|other| *other == row).count()
}
