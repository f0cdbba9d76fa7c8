//! Which of a source's tokens are tests.

use super::tokens::{Token, after_group, text_at};

/// The code without items under `#[cfg(test)]`, the lines of those, and the
/// modules among them that are files of their own.
pub(super) fn without_tests(tokens: Vec<Token>) -> (Vec<Token>, Vec<(usize, usize)>, Vec<String>) {
    let (mut code, mut ranges, mut modules) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        if !is_test_attribute(&tokens, at) {
            code.push(token.clone());
            at += 1;
            continue;
        }
        let start = token.line;
        while text_at(&tokens, at) == "#" {
            at = after_group(&tokens, at + 1);
        }
        let item = at;
        let ends_with_block = text_at(&tokens, item) != "use";
        at = loop {
            match text_at(&tokens, at) {
                "" => break at,
                ";" => break at + 1,
                "{" if ends_with_block => break after_group(&tokens, at),
                "(" | "[" | "{" => at = after_group(&tokens, at),
                _ => at += 1,
            }
        };
        let words: Vec<&str> = (item..at).map(|at| text_at(&tokens, at)).collect();
        if let [.., "mod", name, ";"] = words.as_slice() {
            modules.push((*name).to_owned());
        }
        let last = tokens
            .get(at.saturating_sub(1))
            .map_or(start, |token| token.line);
        ranges.push((start, last));
    }
    (code, ranges, modules)
}

fn is_test_attribute(tokens: &[Token], at: usize) -> bool {
    let starts = ["#", "[", "cfg", "("];
    let is_cfg = starts
        .iter()
        .enumerate()
        .all(|(i, word)| text_at(tokens, at + i) == *word);
    let inside = at + 3..after_group(tokens, at + 1);
    let has = |word: &str| inside.clone().any(|at| text_at(tokens, at) == word);
    is_cfg && has("test") && !has("not") && !has("any")
}
