//! Line ends of any system.
//!
//! The tokenizer ends a line, and so a `--` comment, only at LF. Texts whose lines end in CR alone would lose everything
//! after their first comment.

use std::borrow::Cow;

/// The text with every lone CR outside of quotes replaced by LF. Byte offsets stay what they are; CR LF and everything
/// inside quotes stays as written.
pub(crate) fn normalize(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let lone = |at: usize| bytes.get(at) == Some(&b'\r') && bytes.get(at + 1) != Some(&b'\n');
    if !(0..bytes.len()).any(lone) {
        return Cow::Borrowed(text);
    }
    let mut state = State::Plain;
    let mut out = String::with_capacity(text.len());
    let mut skip_until = 0;
    for (at, character) in text.char_indices() {
        if at >= skip_until {
            let (next, consumed) = state.step(&bytes[at..]);
            state = next;
            skip_until = at + consumed;
        }
        let replace = lone(at) && !matches!(state, State::Quoted(_));
        out.push(if replace { '\n' } else { character });
    }
    Cow::Owned(out)
}

#[derive(Clone, Copy)]
enum State {
    Plain,
    Quoted(u8),
    LineComment,
    /// With the number of open comments: block comments nest.
    BlockComment(u32),
}

impl State {
    /// The state after the next token, and how many bytes that takes.
    fn step(self, rest: &[u8]) -> (Self, usize) {
        let first = rest.first().copied().unwrap_or_default();
        match self {
            Self::Plain if rest.starts_with(b"--") => (Self::LineComment, 2),
            Self::Plain if rest.starts_with(b"/*") => (Self::BlockComment(1), 2),
            Self::Plain if matches!(first, b'\'' | b'"' | b'`') => (Self::Quoted(first), 1),
            Self::Quoted(quote) if first == quote => (Self::Plain, 1),
            Self::LineComment if matches!(first, b'\n' | b'\r') => (Self::Plain, 1),
            Self::BlockComment(depth) if rest.starts_with(b"/*") => (Self::BlockComment(depth + 1), 2),
            Self::BlockComment(1) if rest.starts_with(b"*/") => (Self::Plain, 2),
            Self::BlockComment(depth) if rest.starts_with(b"*/") => (Self::BlockComment(depth - 1), 2),
            same => (same, 1),
        }
    }
}
