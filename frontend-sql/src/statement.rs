//! A workload's text as statements.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use asap_types::UnresolvedQuery;
use datafusion_common::DataFusionError;
use datafusion_sql::parser::{DFParserBuilder, Statement as ParsedStatement};
use datafusion_sql::sqlparser::dialect::GenericDialect;
use datafusion_sql::sqlparser::parser::ParserError;
use datafusion_sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan, Tokenizer, Whitespace};

use crate::nesting::{MAX_DEPTH, depth_bound};
use crate::own_stack::on_own_stack;
use crate::source::{LineIndex, Source};
use crate::{Catalog, FrontendError, line_ends, lower};

const BYTE_ORDER_MARK: char = '\u{feff}';
/// What a stock session's parser allows, so that no statement is refused here that it answers.
const PARSER_DEPTH: usize = 50;
/// What fits our own stack, to tell what is nested too deeply from what is wrong.
const DEEPER: usize = 1_000;
const TOO_DEEP: &str = "the statement is nested too deeply";

/// One statement of a workload.
#[derive(Debug, Clone)]
pub struct Statement {
    pub(crate) source: Source,
    pub(crate) parsed: ParsedStatement,
    name: Option<String>,
}

impl Statement {
    /// The statement's own text: as written, from its first to its last word, without the `;`. Only a CR that stands
    /// alone outside of quotes is an LF here, because DataFusion's tokenizer ends lines at LF only.
    #[must_use]
    pub fn sql(&self) -> &str {
        &self.source.text
    }

    /// The place of [`Statement::sql`] in the workload's text, as a byte range.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        self.source.whole()
    }

    /// The name that a comment `-- name: NAME` in front of the statement gives.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Lowers the statement to the IR. [`lower_workload`](crate::lower_workload) also resolves it.
    ///
    /// # Errors
    /// A name that the catalog or the scope does not know, a statement that does not type-check, or a construct that
    /// the IR does not hold.
    pub fn lower(&self, catalog: &dyn Catalog) -> Result<Arc<UnresolvedQuery>, FrontendError> {
        lower::lower(self, catalog).map(|(query, _)| query)
    }
}

/// Splits a workload into statements and parses each. Statements end with `;` or at the end of the text; comments, empty
/// statements, a byte order mark, and line ends of any system are understood.
///
/// # Errors
/// [`FrontendError::Syntax`] for the first statement that does not parse.
pub fn parse_workload(text: &str) -> Result<Vec<Statement>, FrontendError> {
    let body = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let base = text.len() - body.len();
    let body = line_ends::normalize(body);
    let lines = LineIndex::new(&body);
    let tokens = Tokenizer::new(&GenericDialect {}, &body).tokenize_with_location().map_err(|error| {
        let at = base + lines.offset(&body, error.location).unwrap_or(body.len());
        FrontendError::Syntax { message: error.message, span: at..text.len() }
    })?;
    tokens
        .split(|token| token.token == Token::SemiColon)
        .filter_map(|tokens| Some((tokens, split_statement(tokens, &body, &lines, base)?)))
        .map(|(tokens, (source, name))| {
            if depth_bound(tokens) > MAX_DEPTH {
                let message = format!("the statement has more than {MAX_DEPTH} operators, which may nest too deeply");
                return Err(FrontendError::Syntax { message, span: source.whole() });
            }
            let parsed = on_own_stack(|| parse(&source))?;
            Ok(Statement { source, parsed, name })
        })
        .collect()
}

/// The text from the first to the last token that is neither a space nor a comment; `None` if there is no such token.
fn split_statement(
    tokens: &[TokenWithSpan],
    body: &str,
    lines: &LineIndex,
    base: usize,
) -> Option<(Source, Option<String>)> {
    let is_word = |token: &TokenWithSpan| !matches!(token.token, Token::Whitespace(_) | Token::EOF);
    let first = tokens.iter().position(is_word)?;
    let last = tokens.iter().rposition(is_word)?;
    let (before, from) = tokens.split_at(first);
    let words = from.get(..=last - first)?;
    let start = lines.offset(body, words.first()?.span.start)?;
    let end = lines.offset(body, words.last()?.span.end)?;
    let parens = words.iter().filter_map(|token| {
        let opens = match token.token {
            Token::LParen => true,
            Token::RParen => false,
            _ => return None,
        };
        lines.offset(body, token.span.start).map(|at| (at - start, opens))
    });
    let source = Source::new(body.get(start..end)?.to_owned(), base + start, parens.collect());
    Some((source, before.iter().rev().find_map(name_comment)))
}

/// The name that a comment `-- name: NAME` gives.
fn name_comment(token: &TokenWithSpan) -> Option<String> {
    let Token::Whitespace(Whitespace::SingleLineComment { comment, .. }) = &token.token else { return None };
    let name = comment.trim().strip_prefix("name:")?.trim();
    (!name.is_empty()).then(|| name.to_owned())
}

fn parse(source: &Source) -> Result<ParsedStatement, FrontendError> {
    let mut parsed = statements(&source.text, PARSER_DEPTH).map_err(|error| why_not(&error, source))?;
    match (parsed.pop_front(), parsed.is_empty()) {
        (Some(statement), true) => Ok(statement),
        _ => Err(FrontendError::Syntax { message: "expected one statement".to_owned(), span: source.whole() }),
    }
}

fn statements(text: &str, depth: usize) -> Result<VecDeque<ParsedStatement>, DataFusionError> {
    DFParserBuilder::new(text).with_recursion_limit(depth).build()?.parse_statements()
}

/// Where the parser tries another reading, it drops the error of its limit and gives that of the other reading. With a
/// higher limit it then ends elsewhere, or well.
fn why_not(error: &DataFusionError, source: &Source) -> FrontendError {
    match statements(&source.text, DEEPER) {
        Err(deeper) if deeper.to_string() == error.to_string() => syntax_error(error, source),
        _ => FrontendError::Syntax { message: TOO_DEEP.to_owned(), span: source.whole() },
    }
}

fn syntax_error(error: &DataFusionError, source: &Source) -> FrontendError {
    let text = match error.find_root() {
        DataFusionError::SQL(parser, _) => match &**parser {
            ParserError::ParserError(message) | ParserError::TokenizerError(message) => message.clone(),
            ParserError::RecursionLimitExceeded => TOO_DEEP.to_owned(),
        },
        other => other.strip_backtrace(),
    };
    let (message, location) = split_location(&text);
    let end = source.whole().end;
    let span = match location.and_then(|location| source.offset(location)) {
        Some(start) if start < end => start..word_end(source, start),
        _ if text.contains("found: EOF") => end..end,
        _ => source.whole(),
    };
    FrontendError::Syntax { message: message.to_owned(), span }
}

/// The end of the word, or of the one character, at an offset.
fn word_end(source: &Source, start: usize) -> usize {
    let rest = source.text.get(start - source.base..).unwrap_or_default();
    let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    start + word.max(rest.chars().next().map_or(0, char::len_utf8))
}

/// The parser gives locations only as the end of its message: `… at Line: 1, Column: 8`.
fn split_location(message: &str) -> (&str, Option<Location>) {
    let parts = message.rsplit_once(" at Line: ").and_then(|(message, place)| {
        let (line, column) = place.split_once(", Column: ")?;
        Some((message, Location::new(line.trim().parse().ok()?, column.trim().parse().ok()?)))
    });
    parts.map_or((message, None), |(message, location)| (message, Some(location)))
}
