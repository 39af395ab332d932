/// `text LIKE pattern`: `%` is any text, `_` any one character, every other character itself.
pub(super) fn matches(text: &str, pattern: &str) -> bool {
    let mut rest = pattern.chars();
    match rest.next() {
        None => text.is_empty(),
        Some('%') => {
            let pattern = rest.as_str();
            let tails = text.char_indices().map(|(start, _)| &text[start..]);
            tails.chain([""]).any(|tail| matches(tail, pattern))
        }
        Some(expected) => {
            let mut characters = text.chars();
            characters.next().is_some_and(|first| {
                (expected == '_' || expected == first) && matches(characters.as_str(), rest.as_str())
            })
        }
    }
}
