//! A bound on how deep a statement's tree can be, told from its tokens.
//!
//! Parser, planner and every later walk recurse over expressions. Parentheses are limited by the parser; a chain
//! `a OR b OR c …` is not, and nests by one level per operator. Lists are flat: their length does not matter.

use datafusion_sql::sqlparser::keywords::Keyword;
use datafusion_sql::sqlparser::tokenizer::{Token, TokenWithSpan};

/// Levels that [`depth_bound`] may reach. A level takes some 20 kB of stack in unoptimized builds.
pub(crate) const MAX_DEPTH: usize = 8_000;

/// What a sub-select or a join adds, in expression levels.
const RELATION_LEVELS: usize = 8;

/// The number of levels that the tokens of a statement could nest at most, but for parentheses.
pub(crate) fn depth_bound(words: &[TokenWithSpan]) -> usize {
    words.iter().map(|word| levels(&word.token)).sum()
}

fn levels(token: &Token) -> usize {
    match token {
        Token::Word(word) => match word.keyword {
            Keyword::AND
            | Keyword::OR
            | Keyword::XOR
            | Keyword::NOT
            | Keyword::IS
            | Keyword::BETWEEN
            | Keyword::LIKE
            | Keyword::ILIKE
            | Keyword::RLIKE
            | Keyword::REGEXP
            | Keyword::SIMILAR
            | Keyword::IN
            | Keyword::DIV
            | Keyword::COLLATE
            | Keyword::AT => 1,
            Keyword::SELECT | Keyword::JOIN | Keyword::UNION | Keyword::INTERSECT | Keyword::EXCEPT => RELATION_LEVELS,
            _ => 0,
        },
        Token::EOF
        | Token::Whitespace(_)
        | Token::Comma
        | Token::Period
        | Token::LParen
        | Token::RParen
        | Token::Number(..)
        | Token::SingleQuotedString(_)
        | Token::DoubleQuotedString(_) => 0,
        _ => 1,
    }
}
