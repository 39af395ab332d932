//! Places: the parser's lines and columns as byte ranges of the workload's text.

use std::collections::HashMap;
use std::ops::Range;

use datafusion_sql::sqlparser::tokenizer::{Location, Span};

/// Where each line of a text starts, and each character of lines that are not ASCII.
#[derive(Debug, Clone)]
pub(crate) struct LineIndex {
    starts: Vec<usize>,
    wide: HashMap<usize, Vec<usize>>,
}

impl LineIndex {
    /// The lines of a text; only LF ends a line, as in the tokenizer.
    pub(crate) fn new(text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        let starts: Vec<usize> = std::iter::once(0).chain(after_breaks).collect();
        let lines = text.split('\n').enumerate().filter(|(_, line)| !line.is_ascii());
        let wide = lines.map(|(number, line)| (number, line.char_indices().map(|(at, _)| at).collect())).collect();
        Self { starts, wide }
    }

    /// The byte offset of a location, whose line and column count from 1 and whose column counts characters. `None` for
    /// line 0, which means that there is no location.
    pub(crate) fn offset(&self, text: &str, location: Location) -> Option<usize> {
        let line = usize::try_from(location.line.checked_sub(1)?).ok()?;
        let column = usize::try_from(location.column.checked_sub(1)?).ok()?;
        let start = *self.starts.get(line)?;
        let end = self.starts.get(line + 1).map_or(text.len(), |next| next - 1);
        let within = match self.wide.get(&line) {
            None => Some(column),
            Some(characters) => characters.get(column).copied(),
        };
        Some(within.map_or(end, |bytes| (start + bytes).min(end)))
    }
}

/// One statement's text and where it stands in the workload.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// The text that is parsed.
    pub(crate) text: String,
    /// The byte offset of the text in the workload.
    pub(crate) base: usize,
    lines: LineIndex,
    /// Parentheses outside of quotes and comments: byte offset in `text`, and whether it opens.
    parens: Vec<(usize, bool)>,
}

impl Source {
    pub(crate) fn new(text: String, base: usize, parens: Vec<(usize, bool)>) -> Self {
        Self { lines: LineIndex::new(&text), text, base, parens }
    }

    /// The whole statement in the workload's text.
    pub(crate) fn whole(&self) -> Range<usize> {
        self.base..self.base + self.text.len()
    }

    /// A location in the workload's text.
    pub(crate) fn offset(&self, location: Location) -> Option<usize> {
        self.lines.offset(&self.text, location).map(|offset| self.base + offset)
    }

    /// A span in the workload's text, up to the parenthesis that closes what opens inside it; the whole statement when
    /// the span is unknown.
    pub(crate) fn span(&self, span: Option<Span>) -> Range<usize> {
        let bytes = |span: Span| {
            let start = self.lines.offset(&self.text, span.start)?;
            let end = self.lines.offset(&self.text, span.end)?;
            (start < end).then(|| self.base + start..self.base + self.closed(start, end))
        };
        span.and_then(bytes).unwrap_or_else(|| self.whole())
    }

    fn closed(&self, start: usize, end: usize) -> usize {
        let mut depth = 0_usize;
        for &(at, opens) in self.parens.iter().filter(|(at, _)| *at >= start) {
            if at >= end && depth == 0 {
                break;
            }
            match (opens, at >= end) {
                (true, _) => depth += 1,
                (false, inside_is_past) => {
                    depth = depth.saturating_sub(1);
                    if inside_is_past && depth == 0 {
                        return at + 1;
                    }
                }
            }
        }
        end
    }
}

/// DataFusion's spans are the parser's by another name.
pub(crate) fn parser_span(span: datafusion_common::Span) -> Span {
    let location = |at: datafusion_common::Location| Location::new(at.line, at.column);
    Span::new(location(span.start), location(span.end))
}
