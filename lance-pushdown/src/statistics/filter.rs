//! The filters that column statistics can decide.
//!
//! ```text
//! p  =  x > 3 AND NOT (y IN ('a', 'b') OR z IS NULL)
//!
//! holds  =  x >  3 AND (y NOT IN ('a', 'b') AND z IS NOT NULL)      without NOT, TRUE exactly where p is TRUE
//! fails  =  x <= 3 OR  (y     IN ('a', 'b') OR  z IS NULL)          without NOT, TRUE exactly where p is FALSE
//! ```
//!
//! Where `holds` is TRUE for no row, no row passes. Where `fails` is TRUE for no row, every row passes for which `p`
//! is not NULL, and `p` is NULL at most where a compared column is: that column must be known to have no NULL.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::expr::{Between, InList};
use datafusion::logical_expr::{BinaryExpr, Expr, Operator, binary_expr};
use lance_core::datatypes::{Field, Schema};

use super::facts::{counts_nulls, orders_as_sql};
use crate::reasons::reasons;

/// What the statistics of a fragment prove about the filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Verdict {
    /// Every live row passes.
    FullyMatching,
    /// No live row passes.
    NotMatching,
    /// Neither is proven.
    Unknown(Undecided),
}

reasons! {
    /// Why statistics do not decide a filter for a fragment, or do not know a count of NULLs.
    Undecided {
        Off = "off", "statistics are switched off";
        Expression = "expression", "the filter is more than comparisons of a column with literals and NULL tests";
        Cast = "cast", "the filter casts a column or a literal";
        NullLiteral = "null_literal", "the filter compares with a NULL literal";
        LiteralType = "literal_type", "the filter compares a column with a literal of another type";
        Float = "float", "the column is of a floating-point type";
        ColumnType = "column_type", "extrema of this column's type are not used";
        NestedColumn = "nested_column", "the column is nested";
        SystemColumn = "system_column", "the column is not one of the dataset's";
        NotRead = "not_read", "no zone maps were read when the table was registered";
        NoStatistics = "no_statistics", "the column has no zone map";
        Uncovered = "uncovered", "the column's zone map does not cover the fragment";
        StableRowIds = "stable_row_ids", "zone maps are not trusted under stable row ids";
        FragmentReuse = "fragment_reuse", "a compaction left the zone maps to be remapped while reading";
        Overlays = "overlays", "the fragment has data overlays";
        ZoneSpan = "zone_span", "the zones do not cover every row of the fragment exactly once";
        ZoneType = "zone_type", "the zone map was built for another type";
        MissingExtrema = "missing_extrema", "a zone with values has no extrema";
        NullCount = "null_count", "the zone map does not count NULLs exactly";
        Deletions = "deletions", "the number of NULLs counts deleted rows too";
        AllNull = "all_null", "the column is NULL throughout the fragment";
        NullsPossible = "nulls_possible", "a compared column may be NULL";
        Inconclusive = "inconclusive", "some values within the extrema pass and some do not";
        Evaluation = "evaluation", "the statistics could not be evaluated";
    }
}

/// A filter in the two forms of the module's header.
#[derive(Debug, Clone)]
pub(crate) struct DecidableFilter {
    pub(super) holds: Expr,
    pub(super) fails: Expr,
    /// Each column once.
    pub(super) columns: Vec<FilterColumn>,
}

/// A column of the filter.
#[derive(Debug, Clone)]
pub(super) struct FilterColumn {
    pub(super) field: Field,
    /// It is compared, so that its NULLs make the filter NULL; otherwise it is only tested for NULL.
    pub(super) is_compared: bool,
}

impl DecidableFilter {
    /// Reads a filter over columns of the schema.
    ///
    /// # Errors
    /// Why statistics can decide no fragment.
    pub(crate) fn try_new(filter: &Expr, schema: &Schema) -> Result<Self, Undecided> {
        let mut reader = Reader { schema, columns: Vec::new() };
        let (holds, fails) = reader.read(filter)?;
        Ok(Self { holds, fails, columns: reader.columns })
    }
}

struct Reader<'a> {
    schema: &'a Schema,
    columns: Vec<FilterColumn>,
}

/// A predicate's `holds` and `fails`.
type Forms = (Expr, Expr);

impl Reader<'_> {
    fn read(&mut self, expr: &Expr) -> Result<Forms, Undecided> {
        match expr {
            Expr::Not(inner) => self.read(inner).map(|(holds, fails)| (fails, holds)),
            Expr::BinaryExpr(BinaryExpr { left, op: op @ (Operator::And | Operator::Or), right }) => {
                let (left_holds, left_fails) = self.read(left)?;
                let (right_holds, right_fails) = self.read(right)?;
                let dual = if *op == Operator::And { Operator::Or } else { Operator::And };
                Ok((binary_expr(left_holds, *op, right_holds), binary_expr(left_fails, dual, right_fails)))
            }
            Expr::BinaryExpr(comparison) => self.comparison(&comparison.left, comparison.op, &comparison.right),
            Expr::Between(between) => self.between(between),
            Expr::InList(list) => self.membership(list),
            Expr::IsNull(column) => self.null_test(column),
            Expr::IsNotNull(column) => self.null_test(column).map(|(is_null, is_not)| (is_not, is_null)),
            other => Err(refuse_operand(other)),
        }
    }

    fn comparison(&mut self, left: &Expr, op: Operator, right: &Expr) -> Result<Forms, Undecided> {
        let (column, op, literal) = match matches!(left, Expr::Literal(..)) {
            false => (left, op, right),
            true => (right, op.swap().ok_or(Undecided::Expression)?, left),
        };
        let is_order = matches!(
            op,
            Operator::Eq | Operator::NotEq | Operator::Lt | Operator::LtEq | Operator::Gt | Operator::GtEq
        );
        let opposite = op.negate().filter(|_| is_order).ok_or(Undecided::Expression)?;
        self.compare(column, &[literal])?;
        let form = |op| binary_expr(column.clone(), op, literal.clone());
        Ok((form(op), form(opposite)))
    }

    fn between(&mut self, between: &Between) -> Result<Forms, Undecided> {
        self.compare(&between.expr, &[&between.low, &between.high])?;
        let form = |op, bound: &Expr| binary_expr(between.expr.as_ref().clone(), op, bound.clone());
        let inside =
            binary_expr(form(Operator::GtEq, &between.low), Operator::And, form(Operator::LtEq, &between.high));
        let outside = binary_expr(form(Operator::Lt, &between.low), Operator::Or, form(Operator::Gt, &between.high));
        Ok(if between.negated { (outside, inside) } else { (inside, outside) })
    }

    fn membership(&mut self, list: &InList) -> Result<Forms, Undecided> {
        let literals: Vec<&Expr> = list.list.iter().collect();
        self.compare(&list.expr, &literals)?;
        let form = |negated| Expr::InList(InList { negated, ..list.clone() });
        Ok((form(list.negated), form(!list.negated)))
    }

    fn null_test(&mut self, column: &Expr) -> Result<Forms, Undecided> {
        let field = self.field(column)?;
        self.note(field, false);
        Ok((Expr::IsNull(Box::new(column.clone())), Expr::IsNotNull(Box::new(column.clone()))))
    }

    /// Proves that a column is compared with literals of its own type, whose order its extrema keep.
    fn compare(&mut self, column: &Expr, literals: &[&Expr]) -> Result<(), Undecided> {
        let field = self.field(column)?;
        let data_type = field.data_type();
        if data_type.is_floating() {
            return Err(Undecided::Float);
        }
        if !orders_as_sql(&data_type) {
            return Err(Undecided::ColumnType);
        }
        for literal in literals {
            let value = literal_value(literal)?;
            if value.is_null() {
                return Err(Undecided::NullLiteral);
            }
            if value.data_type() != data_type {
                return Err(Undecided::LiteralType);
            }
        }
        self.note(field, true);
        Ok(())
    }

    fn field(&self, column: &Expr) -> Result<Field, Undecided> {
        let Expr::Column(column) = column else {
            return Err(refuse_operand(column));
        };
        let field = self.schema.fields.iter().find(|field| field.name == column.name);
        let field = field.ok_or(Undecided::SystemColumn)?;
        match counts_nulls(field) {
            true => Ok(field.clone()),
            false => Err(Undecided::NestedColumn),
        }
    }

    fn note(&mut self, field: Field, is_compared: bool) {
        match self.columns.iter_mut().find(|known| known.field.id == field.id) {
            Some(known) => known.is_compared |= is_compared,
            None => self.columns.push(FilterColumn { field, is_compared }),
        }
    }
}

fn literal_value(literal: &Expr) -> Result<&ScalarValue, Undecided> {
    match literal {
        Expr::Literal(value, _) => Ok(value),
        other => Err(refuse_operand(other)),
    }
}

fn refuse_operand(operand: &Expr) -> Undecided {
    match operand {
        Expr::Cast(_) | Expr::TryCast(_) => Undecided::Cast,
        Expr::ScalarFunction(call) if call.name() == "get_field" => Undecided::NestedColumn,
        _ => Undecided::Expression,
    }
}
