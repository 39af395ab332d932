//! Queries as SQL text, for DataFusion; predicates also for Lance's `delete`.

use std::fmt::{self, Display, Formatter, Write as _};

use super::literal::quoted;
use super::{
    Aggregate, Arithmetic, Comparison, Expr, Function, Grouping, JoinKind, Nesting, Output, Query, SortKey, Source,
    Spelling,
};
use crate::value::Type;

/// The SQL text.
impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mut common_tables = Vec::new();
        collect_common_tables(self, &mut common_tables);
        for (position, (name, query)) in common_tables.iter().enumerate() {
            let word = if position == 0 { "WITH " } else { ", " };
            write!(f, "{word}{name} AS (")?;
            write_select(query, f)?;
            f.write_char(')')?;
        }
        if !common_tables.is_empty() {
            f.write_char(' ')?;
        }
        write_select(self, f)
    }
}

/// Innermost first: a common table may read only those before it.
fn collect_common_tables<'a>(query: &'a Query, tables: &mut Vec<(&'a str, &'a Query)>) {
    collect_of_source(&query.source, tables);
}

fn collect_of_source<'a>(source: &'a Source, tables: &mut Vec<(&'a str, &'a Query)>) {
    match source {
        Source::Table(_) => {}
        Source::Nested { name, nesting, query } => {
            collect_common_tables(query, tables);
            if *nesting == Nesting::CommonTable {
                tables.push((name, query));
            }
        }
        Source::Join { left, right, .. } => {
            collect_of_source(left, tables);
            collect_of_source(right, tables);
        }
    }
}

fn write_source(source: &Source, f: &mut Formatter<'_>) -> fmt::Result {
    match source {
        Source::Table(name) | Source::Nested { name, nesting: Nesting::CommonTable, .. } => f.write_str(name),
        Source::Nested { name, nesting: Nesting::SubSelect, query } => {
            f.write_char('(')?;
            write_select(query, f)?;
            write!(f, ") AS {name}")
        }
        Source::Join { kind, left, left_key, right, right_key } => {
            write_source(left, f)?;
            f.write_str(match kind {
                JoinKind::Inner => " JOIN ",
                JoinKind::Left => " LEFT JOIN ",
            })?;
            write_source(right, f)?;
            write!(f, " ON ({left_key} = {right_key})")
        }
    }
}

fn write_select(query: &Query, f: &mut Formatter<'_>) -> fmt::Result {
    f.write_str(if query.distinct { "SELECT DISTINCT " } else { "SELECT " })?;
    write_list(&query.outputs, f)?;
    f.write_str(" FROM ")?;
    write_source(&query.source, f)?;
    if let Some(filter) = &query.filter {
        write!(f, " WHERE {filter}")?;
    }
    if let Some(keys) = query.group_by.as_ref().filter(|keys| !keys.is_empty()) {
        write_group_by(query, keys, f)?;
    }
    if let Some(having) = &query.having {
        write!(f, " HAVING {having}")?;
    }
    for (position, key) in query.order_by.iter().enumerate() {
        f.write_str(if position == 0 { " ORDER BY " } else { ", " })?;
        write_sort_key(key, &query.outputs, f)?;
    }
    if let Some(limit) = query.limit {
        write!(f, " LIMIT {limit}")?;
    }
    match query.offset {
        Some(offset) => write!(f, " OFFSET {offset}"),
        None => Ok(()),
    }
}

fn write_group_by(query: &Query, keys: &[Expr], f: &mut Formatter<'_>) -> fmt::Result {
    let keys: Vec<String> = keys.iter().map(|key| key_text(key, query)).collect();
    match &query.grouping {
        None => write!(f, " GROUP BY {}", keys.join(", ")),
        Some(Grouping::Rollup) => write!(f, " GROUP BY ROLLUP ({})", keys.join(", ")),
        Some(Grouping::Cube) => write!(f, " GROUP BY CUBE ({})", keys.join(", ")),
        Some(Grouping::Sets(sets)) => {
            let set = |set: &Vec<usize>| {
                let keys = set.iter().filter_map(|&key| keys.get(key).cloned()).collect::<Vec<_>>();
                format!("({})", keys.join(", "))
            };
            let sets = sets.iter().map(set).collect::<Vec<_>>();
            write!(f, " GROUP BY GROUPING SETS ({})", sets.join(", "))
        }
    }
}

/// A key that is no output can only be spelled out.
fn key_text(key: &Expr, query: &Query) -> String {
    match (query.key_spelling, query.outputs.iter().position(|output| output.expr == *key)) {
        (Spelling::Position, Some(position)) => (position + 1).to_string(),
        (Spelling::Other, Some(position)) => query.outputs[position].name.clone(),
        // A bare number is a position.
        _ if matches!(key, Expr::Literal(literal) if literal.data_type == Type::Int64) => {
            format!("CAST({key} AS BIGINT)")
        }
        _ => key.to_string(),
    }
}

fn write_sort_key(key: &SortKey, outputs: &[Output], f: &mut Formatter<'_>) -> fmt::Result {
    let Some(output) = outputs.get(key.output) else { return Ok(()) };
    match key.spelling {
        Spelling::Usual => f.write_str(&output.name)?,
        Spelling::Position => write!(f, "{}", key.output + 1)?,
        Spelling::Other => write!(f, "{}", output.expr)?,
    }
    if key.descending {
        f.write_str(" DESC")?;
    }
    match key.nulls_first {
        Some(true) => f.write_str(" NULLS FIRST"),
        Some(false) => f.write_str(" NULLS LAST"),
        None => Ok(()),
    }
}

fn write_list<T: Display>(items: &[T], f: &mut Formatter<'_>) -> fmt::Result {
    for (position, item) in items.iter().enumerate() {
        if position > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{item}")?;
    }
    Ok(())
}

impl Display for Output {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.expr {
            Expr::Column(name) if *name == self.name => f.write_str(name),
            expr => write!(f, "{expr} AS {}", self.name),
        }
    }
}

/// The SQL text, in parentheses wherever a reader could doubt how it binds.
impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Column(name) => f.write_str(name),
            Self::Literal(literal) => write!(f, "{literal}"),
            Self::Arithmetic { operator, left, right } => write!(f, "({left} {operator} {right})"),
            Self::Compare { operator, left, right } => write!(f, "({left} {operator} {right})"),
            Self::And(operands) => write_connected(operands, "AND", "true", f),
            Self::Or(operands) => write_connected(operands, "OR", "false", f),
            Self::Not(operand) => write!(f, "(NOT {operand})"),
            Self::IsNull { operand, negated } => write!(f, "({operand} IS {}NULL)", not(*negated)),
            Self::IsTruth { operand, truth, negated } => {
                let truth = truth.map_or("UNKNOWN", |truth| if truth { "TRUE" } else { "FALSE" });
                write!(f, "({operand} IS {}{truth})", not(*negated))
            }
            Self::InList { operand, list, negated } => {
                write!(f, "({operand} {}IN (", not(*negated))?;
                write_list(list, f)?;
                f.write_str("))")
            }
            Self::InQuery { operand, query, negated } => write!(f, "({operand} {}IN ({query}))", not(*negated)),
            Self::Exists { query, negated } => write!(f, "({}EXISTS ({query}))", not(*negated)),
            Self::Scalar { query, .. } => write!(f, "({query})"),
            Self::Between { operand, low, high, negated } => {
                write!(f, "({operand} {}BETWEEN {low} AND {high})", not(*negated))
            }
            Self::Like { operand, pattern, negated } => {
                write!(f, "({operand} {}LIKE {})", not(*negated), quoted(pattern))
            }
            Self::Case { when, then, otherwise } => {
                write!(f, "CASE WHEN {when} THEN {then}")?;
                if let Some(otherwise) = otherwise {
                    write!(f, " ELSE {otherwise}")?;
                }
                f.write_str(" END")
            }
            Self::DateTrunc { unit, operand } => write!(f, "date_trunc('{}', {operand})", unit.name()),
            Self::Aggregate(aggregate) => write!(f, "{aggregate}"),
        }
    }
}

impl Display for Aggregate {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.argument {
            Some(argument) if self.distinct => write!(f, "{}(DISTINCT {argument})", self.function)?,
            Some(argument) => write!(f, "{}({argument})", self.function)?,
            None => write!(f, "{}(*)", self.function)?,
        }
        match &self.filter {
            Some(filter) => write!(f, " FILTER (WHERE {filter})"),
            None => Ok(()),
        }
    }
}

fn not(negated: bool) -> &'static str {
    if negated { "NOT " } else { "" }
}

fn write_connected(operands: &[Expr], word: &str, empty: &str, f: &mut Formatter<'_>) -> fmt::Result {
    if operands.is_empty() {
        return f.write_str(empty);
    }
    for (position, operand) in operands.iter().enumerate() {
        if position == 0 {
            write!(f, "({operand}")?;
        } else {
            write!(f, " {word} {operand}")?;
        }
    }
    f.write_char(')')
}

impl Display for Arithmetic {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Modulo => "%",
        })
    }
}

impl Display for Comparison {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Equal => "=",
            Self::NotEqual => "<>",
            Self::Less => "<",
            Self::LessOrEqual => "<=",
            Self::Greater => ">",
            Self::GreaterOrEqual => ">=",
        })
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Count => "count",
            Self::Sum => "sum",
            Self::Min => "min",
            Self::Max => "max",
            Self::Avg => "avg",
        })
    }
}
