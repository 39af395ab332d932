//! Answers of every plan in one form, and exactly how two of them differ.

use std::fmt::{self, Display, Formatter};

use arrow::array::RecordBatch;
use arrow::datatypes::{DataType, Schema};

use crate::convert::{arrow_type, values};
use crate::value::{Row, Type, Value};
use crate::{OracleError, Result};

/// A column of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerColumn {
    /// The name.
    pub name: String,
    /// The Arrow type.
    pub data_type: DataType,
}

impl AnswerColumn {
    /// A column of one of the recipes' types.
    #[must_use]
    pub fn new(name: String, data_type: Type) -> Self {
        Self { name, data_type: arrow_type(data_type) }
    }
}

impl Display for AnswerColumn {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.data_type)
    }
}

/// An answer: its columns and its rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The columns.
    pub columns: Vec<AnswerColumn>,
    /// The rows, each with a value for each column.
    pub rows: Vec<Row>,
    /// Positions of the columns that ORDER BY names, the first one first. Empty: the rows' order says nothing.
    pub sorted_by: Vec<usize>,
}

/// The first way in which two answers differ, with at most [`Difference::SHOWN`] rows of each side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Difference {
    /// Names, types or the order of the columns.
    Columns {
        /// On the left.
        left: Vec<AnswerColumn>,
        /// On the right.
        right: Vec<AnswerColumn>,
    },
    /// The rows, as multisets.
    Rows {
        /// Rows that the left has and the right lacks.
        only_left: Vec<Row>,
        /// Rows that the right has and the left lacks.
        only_right: Vec<Row>,
        /// How many rows each side has.
        counts: (usize, usize),
    },
    /// The same rows in an order that ORDER BY does not allow.
    Order {
        /// The first position whose sort keys differ.
        position: usize,
        /// The keys there on the left.
        left: Row,
        /// The keys there on the right.
        right: Row,
    },
}

impl Difference {
    /// How many rows of each side a difference holds at most.
    pub const SHOWN: usize = 5;
}

impl Answer {
    /// The answer in these batches, all of `schema`.
    ///
    /// # Errors
    /// A column has a type that the oracle does not read.
    pub fn from_batches(schema: &Schema, batches: &[RecordBatch], sorted_by: Vec<usize>) -> Result<Self> {
        let column = |field: &std::sync::Arc<arrow::datatypes::Field>| AnswerColumn {
            name: field.name().clone(),
            data_type: field.data_type().clone(),
        };
        let mut rows = Vec::new();
        for batch in batches {
            let columns = batch.columns().iter().map(|array| values(array)).collect::<Result<Vec<_>, OracleError>>()?;
            rows.extend((0..batch.num_rows()).map(|row| columns.iter().map(|values| values[row].clone()).collect()));
        }
        Ok(Self { columns: schema.fields().iter().map(column).collect(), rows, sorted_by })
    }

    /// How the answers differ; `None` if they are equal. Exact: floats by bits, rows as a multiset, and if either side
    /// was sorted, sort keys position by position.
    #[must_use]
    pub fn difference(&self, other: &Self) -> Option<Difference> {
        if self.columns != other.columns {
            return Some(Difference::Columns { left: self.columns.clone(), right: other.columns.clone() });
        }
        self.row_difference(other).or_else(|| self.order_difference(other))
    }

    fn row_difference(&self, other: &Self) -> Option<Difference> {
        let (mut left, mut right) = (self.rows.clone(), other.rows.clone());
        left.sort_unstable();
        right.sort_unstable();
        if left == right {
            return None;
        }
        let only_left = without(&left, &right);
        let only_right = without(&right, &left);
        Some(Difference::Rows { only_left, only_right, counts: (left.len(), right.len()) })
    }

    fn order_difference(&self, other: &Self) -> Option<Difference> {
        let sorted_by = if self.sorted_by.is_empty() { &other.sorted_by } else { &self.sorted_by };
        let keys = |row: &Row| sorted_by.iter().filter_map(|&column| row.get(column).cloned()).collect::<Row>();
        let mut pairs = self.rows.iter().zip(&other.rows).map(|(left, right)| (keys(left), keys(right)));
        let position = pairs.position(|(left, right)| left != right)?;
        Some(Difference::Order { position, left: keys(&self.rows[position]), right: keys(&other.rows[position]) })
    }
}

/// The first rows of one sorted multiset that another lacks.
fn without(rows: &[Row], others: &[Row]) -> Vec<Row> {
    let mut others = others.iter().peekable();
    let mut missing = Vec::new();
    for row in rows {
        while others.next_if(|other| *other < row).is_some() {}
        if others.next_if(|other| *other == row).is_none() {
            missing.push(row.clone());
        }
        if missing.len() == Difference::SHOWN {
            break;
        }
    }
    missing
}

impl Display for Difference {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Columns { left, right } => {
                writeln!(f, "columns differ")?;
                writeln!(f, "  left : {}", listed(left))?;
                write!(f, "  right: {}", listed(right))
            }
            Self::Rows { only_left, only_right, counts: (left, right) } => {
                write!(f, "rows differ: {left} on the left, {right} on the right")?;
                for row in only_left {
                    write!(f, "\n  only left : {}", listed(&row.iter().map(Shown).collect::<Vec<_>>()))?;
                }
                for row in only_right {
                    write!(f, "\n  only right: {}", listed(&row.iter().map(Shown).collect::<Vec<_>>()))?;
                }
                Ok(())
            }
            Self::Order { position, left, right } => {
                write!(f, "order differs at row {position}: {left:?} on the left, {right:?} on the right")
            }
        }
    }
}

fn listed<T: Display>(items: &[T]) -> String {
    items.iter().map(T::to_string).collect::<Vec<_>>().join(", ")
}

struct Shown<'a>(&'a Value);

impl Display for Shown<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.0)
    }
}
