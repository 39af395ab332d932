//! A query's clauses, in the order in which SQL evaluates them.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::evaluate::Scope;
use super::{ModelError, Table, operators, subquery};
use crate::answer::{Answer, AnswerColumn};
use crate::query::{Column, Comparison, Expr, JoinKind, Query, SortKey, Source};
use crate::value::{Row, Value};

pub(super) fn answer(query: &Query, table: &Table) -> Result<Answer, ModelError> {
    let columns = query.output_columns(&table.columns)?;
    let rows = rows(query, table)?;
    let columns = columns.into_iter().map(|column| AnswerColumn::new(column.name, column.data_type)).collect();
    Ok(Answer { columns, rows, sorted_by: query.order_by.iter().map(|key| key.output).collect() })
}

/// The answer's rows.
pub(super) fn rows(query: &Query, table: &Table) -> Result<Vec<Row>, ModelError> {
    let (columns, source) = source(&query.source, table)?;
    let filter = query.filter.as_ref().map(|filter| subquery::resolved(filter, table)).transpose()?;
    let mut taken = Vec::new();
    for row in source.iter() {
        let scope = Scope::Row { columns: &columns, row };
        if filter.as_ref().map_or(Ok(true), |filter| scope.is_true(filter))? {
            taken.push(row);
        }
    }
    let mut rows = match &query.group_by {
        None => project(query, &columns, &taken)?,
        Some(keys) => aggregate(query, keys, &columns, &taken)?,
    };
    if query.distinct {
        rows.sort_unstable();
        rows.dedup();
    }
    rows.sort_by(|left, right| compare(&query.order_by, left, right));
    rows.drain(..query.offset.unwrap_or(0).min(rows.len()));
    rows.truncate(query.limit.unwrap_or(usize::MAX));
    Ok(rows)
}

type Rows<'a> = (Cow<'a, [Column]>, Cow<'a, [Row]>);

fn source<'a>(source: &Source, table: &'a Table) -> Result<Rows<'a>, ModelError> {
    match source {
        Source::Table(name) if *name == table.name => Ok((Cow::Borrowed(&table.columns), Cow::Borrowed(&table.rows))),
        Source::Table(name) => Err(ModelError::UnknownTable(name.clone())),
        Source::Nested { query, .. } => {
            Ok((Cow::Owned(query.output_columns(&table.columns)?), Cow::Owned(rows(query, table)?)))
        }
        Source::Join { kind, left, left_key, right, right_key } => {
            let (left, right) = (self::source(left, table)?, self::source(right, table)?);
            let rows = joined(*kind, (&left, left_key), (&right, right_key))?;
            Ok((left.0.iter().chain(right.0.iter()).cloned().collect(), Cow::Owned(rows)))
        }
    }
}

/// NULL is equal to nothing.
fn joined(kind: JoinKind, left: (&Rows<'_>, &str), right: (&Rows<'_>, &str)) -> Result<Vec<Row>, ModelError> {
    let position = |((columns, _), name): (&Rows<'_>, &str)| {
        let position = columns.iter().position(|column| column.name == name);
        position.ok_or_else(|| ModelError::UnknownColumn(name.to_owned()))
    };
    let (left_key, right_key) = (position(left)?, position(right)?);
    let ((_, left), (right_columns, right)) = (left.0, right.0);
    let mut rows = Vec::new();
    for row in left.iter() {
        let before = rows.len();
        for other in right.iter() {
            if operators::compare(Comparison::Equal, &row[left_key], &other[right_key])? == Some(true) {
                rows.push(row.iter().chain(other).cloned().collect());
            }
        }
        if rows.len() == before && kind == JoinKind::Left {
            let nulls = vec![Value::Null; right_columns.len()];
            rows.push(row.iter().cloned().chain(nulls).collect());
        }
    }
    Ok(rows)
}

fn project(query: &Query, columns: &[Column], rows: &[&Row]) -> Result<Vec<Row>, ModelError> {
    rows.iter().map(|row| outputs(query, Scope::Row { columns, row })).collect()
}

/// The groups of each grouping, or of the only one.
fn aggregate(query: &Query, keys: &[Expr], columns: &[Column], rows: &[&Row]) -> Result<Vec<Row>, ModelError> {
    let all = || vec![(0..keys.len()).collect()];
    let sets = query.grouping.as_ref().map_or_else(all, |grouping| grouping.sets(keys.len()));
    let mut result = Vec::new();
    for set in sets {
        result.extend(groups(query, keys, &set, columns, rows)?);
    }
    Ok(result)
}

/// One row for each group by the keys at these positions; without keys there is exactly one group, even of no rows.
fn groups(
    query: &Query,
    keys: &[Expr],
    set: &[usize],
    columns: &[Column],
    rows: &[&Row],
) -> Result<Vec<Row>, ModelError> {
    let mut groups = BTreeMap::<Row, Vec<&Row>>::new();
    if set.is_empty() {
        groups.insert(vec![Value::Null; keys.len()], Vec::new());
    }
    for &row in rows {
        let scope = Scope::Row { columns, row };
        let value = |(position, key)| if set.contains(&position) { scope.value(key) } else { Ok(Value::Null) };
        let key = keys.iter().enumerate().map(value).collect::<Result<Row, _>>()?;
        groups.entry(key).or_default().push(row);
    }
    let mut result = Vec::new();
    for (key, rows) in &groups {
        let scope = Scope::Group { columns, keys, key, rows };
        if query.having.as_ref().map_or(Ok(true), |having| scope.is_true(having))? {
            result.push(outputs(query, scope)?);
        }
    }
    Ok(result)
}

fn outputs(query: &Query, scope: Scope<'_>) -> Result<Row, ModelError> {
    query.outputs.iter().map(|output| scope.value(&output.expr)).collect()
}

/// NULL is the largest value unless the key says where it goes. Source: DataFusion 54.1 `default_null_ordering`.
fn compare(keys: &[SortKey], left: &Row, right: &Row) -> Ordering {
    keys.iter().fold(Ordering::Equal, |order, key| {
        order.then_with(|| {
            let (left, right) = (&left[key.output], &right[key.output]);
            let nulls_first = key.nulls_first.unwrap_or(key.descending);
            match (left.is_null(), right.is_null()) {
                (true, true) => Ordering::Equal,
                (true, false) if nulls_first => Ordering::Less,
                (true, false) => Ordering::Greater,
                (false, true) if nulls_first => Ordering::Greater,
                (false, true) => Ordering::Less,
                (false, false) if key.descending => right.cmp(left),
                (false, false) => left.cmp(right),
            }
        })
    })
}
