//! What is wrong with an expression, where, and what to do.

use std::fmt;

use thiserror::Error;

use hambo_base::place::Place;

/// An expression that does not compile. Its `Display` shows the line, a caret under the
/// bad column, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub struct ExpressionError {
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
    /// The whole expression.
    pub expression: String,
    /// Where in it the bad character is.
    pub place: Box<Place>,
}

impl ExpressionError {
    /// An error at a byte offset of the expression.
    pub(super) fn new(
        expression: &str,
        offset: usize,
        message: impl Into<String>,
        help: impl Into<String>,
    ) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
            expression: expression.to_owned(),
            place: Box::new(Place::at(expression, offset)),
        }
    }
}

impl fmt::Display for ExpressionError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, place, .. } = self;
        write!(formatter, "{message} {place}\nhelp: {}", self.help)
    }
}

/// The known word nearest to `word`, if it is near enough to be what was meant.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().count();
    // A pasted essay is no typing mistake, and the distance takes quadratic time.
    if length > 64 {
        return None;
    }
    known
        .into_iter()
        .filter(|candidate| candidate.chars().count() <= 64)
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(distance, _)| *distance <= 1.max(length / 3))
        // Of two that are as near, the one with the same first letter: atan is atan2, not tan.
        .min_by_key(|(distance, candidate)| {
            (*distance, candidate.chars().next() != word.chars().next())
        })
        .map(|(_, candidate)| candidate)
}

/// Damerau-Levenshtein distance (adjacent swaps count once), without regard to case.
fn edit_distance(left: &str, right: &str) -> usize {
    let left: Vec<char> = left.to_lowercase().chars().collect();
    let right: Vec<char> = right.to_lowercase().chars().collect();
    let mut before_last: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, b) in right.iter().enumerate() {
            let replaced = last[j] + usize::from(a != b);
            let mut best = replaced.min(last[j + 1] + 1).min(row[j] + 1);
            if i > 0 && j > 0 && *a == right[j - 1] && left[i - 1] == *b {
                best = best.min(before_last[j - 1] + 1);
            }
            row.push(best);
        }
        before_last = std::mem::replace(&mut last, row);
    }
    last.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edit_distances() {
        for (left, right, distance) in [
            ("", "", 0),
            ("omega", "omega", 0),
            ("omgea", "omega", 1),
            ("Omega", "omega", 0),
            ("sin", "asin", 1),
            ("kitten", "sitting", 3),
            ("", "abc", 3),
        ] {
            assert_eq!(edit_distance(left, right), distance, "{left} {right}");
            assert_eq!(edit_distance(right, left), distance, "{right} {left}");
        }
    }

    #[test]
    fn nearest_wants_a_likeness() {
        assert_eq!(nearest("omgea", ["theta", "omega"]), Some("omega"));
        assert_eq!(nearest("atan", ["tan", "atan2"]), Some("atan2"));
        assert_eq!(nearest("banana", ["theta", "omega"]), None);
        assert_eq!(nearest(&"x".repeat(1_000_000), ["theta"]), None);
    }
}
