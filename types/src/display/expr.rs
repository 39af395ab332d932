use std::fmt;

use crate::{AggIntent, ArithmeticOp, CompareOp, Expr, LogicalOp, Schema, UnaryOp};

/// An expression with column names taken from the schema that it reads.
#[derive(Clone, Copy, Debug)]
pub struct ExprDisplay<'a> {
    expr: &'a Expr,
    input: &'a Schema,
}

impl Expr {
    /// SQL-like text, with the names of a schema.
    #[must_use]
    pub fn display<'a>(&'a self, input: &'a Schema) -> ExprDisplay<'a> {
        ExprDisplay { expr: self, input }
    }
}

impl AggIntent {
    /// SQL-like text, with the names of a schema.
    #[must_use]
    pub fn display(&self, input: &Schema) -> String {
        let args: Vec<String> = self.args().iter().map(|arg| arg.display(input).to_string()).collect();
        match self {
            Self::Count { accuracy: crate::AccuracyTarget::Exact } => "count(*)".to_owned(),
            Self::Count { .. } => "approx_count(*)".to_owned(),
            Self::Named { distinct: true, name, .. } => format!("{name}(DISTINCT {})", args.join(", ")),
            _ => format!("{}({})", self.name(), args.join(", ")),
        }
    }
}

impl fmt::Display for ExprDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = |expr| ExprDisplay { expr, input: self.input };
        let operand = |expr| Operand(of(expr));
        match self.expr {
            Expr::Column(id) => match self.input.field(*id) {
                Some(field) => f.write_str(&field.name),
                None => write!(f, "{id}"),
            },
            Expr::Literal(literal) => write!(f, "{literal}"),
            Expr::Logical { op, left, right } => {
                let op = if *op == LogicalOp::And { "AND" } else { "OR" };
                write!(f, "{} {op} {}", operand(left), operand(right))
            }
            Expr::Compare { op, left, right } => {
                write!(f, "{} {} {}", operand(left), compare_symbol(*op), operand(right))
            }
            Expr::Arithmetic { op, left, right, .. } => {
                write!(f, "{} {} {}", operand(left), arithmetic_symbol(*op), operand(right))
            }
            Expr::Unary { op: UnaryOp::Not, arg } => write!(f, "NOT {}", operand(arg)),
            Expr::Unary { op: UnaryOp::Negative, arg } => write!(f, "-{}", operand(arg)),
            Expr::Unary { op, arg } => write!(f, "{} {}", operand(arg), test_name(*op)),
            Expr::Cast { arg, to, null_on_failure } => {
                write!(f, "{}({} AS {to})", if *null_on_failure { "TRY_CAST" } else { "CAST" }, of(arg))
            }
            Expr::InList { arg, list, negated } => {
                write!(f, "{}{} IN ({})", operand(arg), not(*negated), List(list, self.input))
            }
            Expr::Like { arg, pattern, escape, case_insensitive, negated } => {
                let like = if *case_insensitive { "ILIKE" } else { "LIKE" };
                write!(f, "{}{} {like} {}", operand(arg), not(*negated), operand(pattern))?;
                escape.map_or(Ok(()), |escape| write!(f, " ESCAPE '{escape}'"))
            }
            Expr::Case { operand: compared, branches, otherwise } => {
                f.write_str("CASE")?;
                compared.iter().try_for_each(|compared| write!(f, " {}", of(compared)))?;
                branches.iter().try_for_each(|(when, then)| write!(f, " WHEN {} THEN {}", of(when), of(then)))?;
                otherwise.iter().try_for_each(|otherwise| write!(f, " ELSE {}", of(otherwise)))?;
                f.write_str(" END")
            }
            Expr::Function { name, args, .. } => write!(f, "{name}({})", List(args, self.input)),
            Expr::AverageFromParts { sum, count, .. } => write!(f, "average({} / {})", operand(sum), operand(count)),
        }
    }
}

/// An operand, in parentheses when it is an operator itself.
struct Operand<'a>(ExprDisplay<'a>);

impl fmt::Display for Operand<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let atom = matches!(
            self.0.expr,
            Expr::Column(_)
                | Expr::Literal(_)
                | Expr::Cast { .. }
                | Expr::Case { .. }
                | Expr::Function { .. }
                | Expr::AverageFromParts { .. }
        );
        if atom { self.0.fmt(f) } else { write!(f, "({})", self.0) }
    }
}

struct List<'a>(&'a [Expr], &'a Schema);

impl fmt::Display for List<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .enumerate()
            .try_for_each(|(index, item)| write!(f, "{}{}", if index == 0 { "" } else { ", " }, item.display(self.1)))
    }
}

fn not(negated: bool) -> &'static str {
    if negated { " NOT" } else { "" }
}

fn compare_symbol(op: CompareOp) -> &'static str {
    match op {
        CompareOp::Eq => "=",
        CompareOp::NotEq => "<>",
        CompareOp::Lt => "<",
        CompareOp::LtEq => "<=",
        CompareOp::Gt => ">",
        CompareOp::GtEq => ">=",
        CompareOp::IsDistinctFrom => "IS DISTINCT FROM",
        CompareOp::IsNotDistinctFrom => "IS NOT DISTINCT FROM",
    }
}

fn arithmetic_symbol(op: ArithmeticOp) -> &'static str {
    match op {
        ArithmeticOp::Add => "+",
        ArithmeticOp::Subtract => "-",
        ArithmeticOp::Multiply => "*",
        ArithmeticOp::Divide => "/",
        ArithmeticOp::Modulo => "%",
    }
}

fn test_name(op: UnaryOp) -> &'static str {
    match op {
        UnaryOp::Not => "NOT",
        UnaryOp::Negative => "-",
        UnaryOp::IsNull => "IS NULL",
        UnaryOp::IsNotNull => "IS NOT NULL",
        UnaryOp::IsTrue => "IS TRUE",
        UnaryOp::IsNotTrue => "IS NOT TRUE",
        UnaryOp::IsFalse => "IS FALSE",
        UnaryOp::IsNotFalse => "IS NOT FALSE",
        UnaryOp::IsUnknown => "IS UNKNOWN",
        UnaryOp::IsNotUnknown => "IS NOT UNKNOWN",
    }
}
