//! The plainest evaluator of the IR that can be written: rows are vectors of optional integers, Booleans are 0 and 1, every
//! operator is a loop. It stands beside the tests that compare two plans for one answer.

use std::collections::BTreeMap;

use asap_types::{
    AggIntent, Aggregate, ArithmeticOp, CompareOp, Expr, LiteralValue, LogicalOp, MeasureFilters, Operator, Predicate,
    QueryExpr, Reduction, UnaryOp,
};

pub(crate) type Value = Option<i64>;
pub(crate) type Row = Vec<Value>;
pub(crate) type Rows = Vec<Row>;

/// An evaluation that fails: a division by zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Failure;

/// The rows of a query, where `source` gives the rows of the nodes that are not computed from their operator.
pub(crate) fn query(
    node: &QueryExpr,
    source: &dyn Fn(&QueryExpr) -> Option<Result<Rows, Failure>>,
) -> Result<Rows, Failure> {
    if let Some(rows) = source(node) {
        return rows;
    }
    let input = node.operator().input().map_or(Ok(Rows::new()), |input| query(input, source))?;
    operator(node.operator(), input)
}

/// The rows of an operator over the rows of its input; for a scan, those are the rows of its table.
pub(crate) fn operator<N>(operator: &Operator<N>, input: Rows) -> Result<Rows, Failure> {
    match operator {
        Operator::Scan { predicates, .. } => keep(predicates, input),
        Operator::Filter { predicate, .. } => keep(std::slice::from_ref(predicate), input),
        Operator::Project { columns, .. } => {
            input.iter().map(|row| columns.iter().map(|column| eval(&column.expr, row)).collect()).collect()
        }
        Operator::Aggregate(node) => aggregate(node, &input),
        Operator::Distinct { .. } => {
            let mut seen = Rows::new();
            for row in input {
                if !seen.contains(&row) {
                    seen.push(row);
                }
            }
            Ok(seen)
        }
        Operator::Sort { keys, .. } => {
            let mut keyed = Vec::new();
            for row in input {
                let mut key = Vec::new();
                for sort in keys {
                    let value = eval(&sort.expr, &row)?;
                    let null_rank = i64::from(value.is_none() != sort.nulls_first);
                    let value = value.unwrap_or_default();
                    key.push((null_rank, if sort.descending { -value } else { value }));
                }
                keyed.push((key, row));
            }
            keyed.sort_by(|left, right| left.0.cmp(&right.0));
            Ok(keyed.into_iter().map(|(_, row)| row).collect())
        }
        Operator::Limit { skip, fetch, .. } => {
            let skip = usize::try_from(*skip).expect("small");
            let fetch = fetch.map_or(usize::MAX, |fetch| usize::try_from(fetch).expect("small"));
            Ok(input.into_iter().skip(skip).take(fetch).collect())
        }
    }
}

/// The rows for which every conjunct is TRUE; a conjunct sees only the rows that those before it kept.
fn keep(predicates: &[Predicate], input: Rows) -> Result<Rows, Failure> {
    let conjuncts: Vec<Expr> = predicates.iter().flat_map(|predicate| predicate.0.clone().conjuncts()).collect();
    let mut kept = Rows::new();
    'rows: for row in input {
        for conjunct in &conjuncts {
            if eval(conjunct, &row)? != Some(1) {
                continue 'rows;
            }
        }
        kept.push(row);
    }
    Ok(kept)
}

/// Keys, then measures; over no rows, one row without keys and none with them.
pub(crate) fn aggregate<N>(node: &Aggregate<N>, input: &Rows) -> Result<Rows, Failure> {
    let Reduction::Reduce { by, .. } = &node.reduction else { panic!("no entities here") };
    let mut groups: BTreeMap<Row, Vec<&Row>> = BTreeMap::new();
    if by.is_empty() {
        groups.insert(Row::new(), Vec::new());
    }
    for row in input {
        let key = by.iter().map(|key| eval(key, row)).collect::<Result<Row, _>>()?;
        groups.entry(key).or_default().push(row);
    }
    let mut out = Rows::new();
    for (key, rows) in groups {
        let mut row = key;
        for (position, intent) in node.measures.iter().enumerate() {
            row.push(measure(intent, &node.filters, position, &rows)?);
        }
        out.push(row);
    }
    match &node.having {
        Some(having) => keep(std::slice::from_ref(having), out),
        None => Ok(out),
    }
}

/// A measure over the rows of a group for which its filter is TRUE.
fn measure(intent: &AggIntent, filters: &MeasureFilters, position: usize, rows: &[&Row]) -> Result<Value, Failure> {
    let mut values = Vec::new();
    let mut count = 0;
    for row in rows {
        if let Some(filter) = filters.get(position)
            && eval(&filter.0, row)? != Some(1)
        {
            continue;
        }
        count += 1;
        if let [arg] = intent.args() {
            values.extend(eval(arg, row)?);
        }
    }
    let sum: i64 = values.iter().sum();
    let some_sum = (!values.is_empty()).then_some(sum);
    Ok(match intent {
        AggIntent::Count { .. } => Some(count),
        AggIntent::Sum { .. } => some_sum,
        AggIntent::Sum0 { .. } => Some(sum),
        AggIntent::Min { .. } => values.iter().min().copied(),
        AggIntent::Max { .. } => values.iter().max().copied(),
        AggIntent::Avg { .. } => average(some_sum, Some(i64::try_from(values.len()).expect("few rows"))),
        AggIntent::Rate { .. } | AggIntent::Named { .. } => panic!("{intent:?} has no meaning here"),
    })
}

/// The mean, in ten-thousandths, as a decimal average is.
fn average(sum: Value, count: Value) -> Value {
    let count = count.filter(|count| *count != 0)?;
    Some(sum? * 10_000 / count)
}

/// The value of an expression over a row.
pub(crate) fn eval(expr: &Expr, row: &Row) -> Result<Value, Failure> {
    let truth = |value: bool| Some(i64::from(value));
    Ok(match expr {
        Expr::Column(id) => row[id.index()],
        Expr::Literal(literal) => match &literal.value {
            LiteralValue::Null => None,
            LiteralValue::Boolean(value) => truth(*value),
            LiteralValue::Integer(value) => Some(i64::try_from(*value).expect("small")),
            other => panic!("{other:?} is no integer"),
        },
        Expr::Logical { op, left, right } => {
            let decides = truth(*op == LogicalOp::Or);
            let left = eval(left, row)?;
            if left == decides {
                return Ok(left);
            }
            let right = eval(right, row)?;
            if right == decides { right } else { left.and(right) }
        }
        Expr::Compare { op, left, right } => {
            let (left, right) = (eval(left, row)?, eval(right, row)?);
            match op {
                CompareOp::IsDistinctFrom => truth(left != right),
                CompareOp::IsNotDistinctFrom => truth(left == right),
                _ => match (left, right) {
                    (Some(left), Some(right)) => truth(match op {
                        CompareOp::Eq => left == right,
                        CompareOp::NotEq => left != right,
                        CompareOp::Lt => left < right,
                        CompareOp::LtEq => left <= right,
                        CompareOp::Gt => left > right,
                        _ => left >= right,
                    }),
                    _ => None,
                },
            }
        }
        Expr::Arithmetic { op, left, right, .. } => match (eval(left, row)?, eval(right, row)?) {
            (Some(left), Some(right)) => Some(match op {
                ArithmeticOp::Add => left + right,
                ArithmeticOp::Subtract => left - right,
                ArithmeticOp::Multiply => left * right,
                ArithmeticOp::Divide => left.checked_div(right).ok_or(Failure)?,
                ArithmeticOp::Modulo => left.checked_rem(right).ok_or(Failure)?,
            }),
            _ => None,
        },
        Expr::Unary { op, arg } => {
            let arg = eval(arg, row)?;
            match op {
                UnaryOp::Not => arg.map(|value| 1 - value),
                UnaryOp::Negative => arg.map(|value| -value),
                UnaryOp::IsNull | UnaryOp::IsUnknown => truth(arg.is_none()),
                UnaryOp::IsNotNull | UnaryOp::IsNotUnknown => truth(arg.is_some()),
                UnaryOp::IsTrue => truth(arg == Some(1)),
                UnaryOp::IsNotTrue => truth(arg != Some(1)),
                UnaryOp::IsFalse => truth(arg == Some(0)),
                UnaryOp::IsNotFalse => truth(arg != Some(0)),
            }
        }
        Expr::Cast { arg, .. } => eval(arg, row)?,
        Expr::InList { arg, list, negated } => {
            let arg = eval(arg, row)?;
            let list = list.iter().map(|item| eval(item, row)).collect::<Result<Vec<_>, _>>()?;
            let found = list.iter().any(|item| item.is_some() && *item == arg);
            match () {
                () if arg.is_none() => None,
                () if found => truth(!negated),
                () if list.contains(&None) => None,
                () => truth(*negated),
            }
        }
        Expr::Case { operand, branches, otherwise } => {
            let operand = operand.as_deref().map(|operand| eval(operand, row)).transpose()?;
            for (when, then) in branches {
                let when = eval(when, row)?;
                let taken = operand.map_or(when == Some(1), |operand| operand.is_some() && operand == when);
                if taken {
                    return eval(then, row);
                }
            }
            otherwise.as_deref().map_or(Ok(None), |otherwise| eval(otherwise, row))?
        }
        Expr::AverageFromParts { sum, count, .. } => average(eval(sum, row)?, eval(count, row)?),
        Expr::Like { .. } | Expr::Function { .. } => panic!("{expr:?} has no meaning here"),
    })
}
