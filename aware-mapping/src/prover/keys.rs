//! The keys: each coarse key is a function of the fine keys.

use std::collections::BTreeSet;

use asap_types::{ColumnId, Expr, Schema};

use crate::Refusal;

/// The keys of a fine aggregate, which are the first columns of its output.
pub(crate) struct Keys<'a> {
    by: &'a [Expr],
    /// Whether the key is a float: its equal values may differ in bits.
    is_float: Vec<bool>,
}

impl<'a> Keys<'a> {
    pub(crate) fn new(by: &'a [Expr], input: &Schema) -> Self {
        let is_float = |key: &Expr| key.data_type(input).map_or(true, |data_type| holds_floats(&data_type));
        Self { by, is_float: by.iter().map(is_float).collect() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by.is_empty()
    }

    /// An expression over the fine input as an expression over the fine output, if the keys decide its value.
    pub(crate) fn express(&self, expr: &Expr) -> Result<Expr, Refusal> {
        if expr.is_volatile() {
            return Err(Refusal::Volatile);
        }
        self.express_operand(expr)
    }

    fn express_operand(&self, expr: &Expr) -> Result<Expr, Refusal> {
        if let Some(position) = self.by.iter().position(|key| key == expr) {
            let float = self.is_float.get(position).copied().unwrap_or(true);
            return if float { Err(Refusal::FloatKey) } else { Ok(Expr::column(position)) };
        }
        match expr {
            Expr::Column(_) => Err(Refusal::KeyNotDerivable),
            other => other.try_map_children(&mut |child| self.express_operand(child)),
        }
    }

    /// A coarse key: a fine key as it is, of any type, or a function of fine keys.
    fn express_key(&self, key: &Expr) -> Result<Expr, Refusal> {
        match self.by.iter().position(|fine| fine == key) {
            Some(position) => Ok(Expr::column(position)),
            None => self.express(key),
        }
    }

    /// Whether every fine key is, as it is, among the derived coarse keys, so that no two fine groups meet.
    pub(crate) fn are_covered_by(&self, derived: &[Expr]) -> bool {
        let is_covered = |(position, key): (usize, &Expr)| {
            let first = self.by.iter().position(|other| other == key).unwrap_or(position);
            derived.contains(&Expr::column(first))
        };
        let are_covered = self.by.iter().enumerate().all(is_covered);
        #[cfg(feature = "faults")]
        let are_covered = asap_faults::inject(asap_faults::Fault::RegroupingSkipped, are_covered, |_| {
            self.by.iter().enumerate().any(is_covered)
        });
        are_covered
    }
}

/// The coarse keys over the fine output.
pub(super) fn prove(coarse_by: &[Expr], keys: &Keys<'_>) -> Result<Vec<Expr>, Refusal> {
    if keys.is_empty() && !coarse_by.is_empty() {
        return Err(Refusal::GrandTotalSource);
    }
    coarse_by.iter().map(|key| keys.express_key(key)).collect()
}

/// The input columns that keys read.
pub(crate) fn key_columns(by: &[Expr]) -> BTreeSet<ColumnId> {
    let mut columns = BTreeSet::new();
    for key in by {
        key.for_each_column(&mut |column| {
            columns.insert(*column);
        });
    }
    columns
}

fn holds_floats(data_type: &arrow_schema::DataType) -> bool {
    use arrow_schema::DataType;
    match data_type {
        DataType::Dictionary(_, value) => holds_floats(value),
        other => other.is_floating() || other.is_nested(),
    }
}
