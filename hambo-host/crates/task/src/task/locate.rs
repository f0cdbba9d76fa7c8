//! Where an error of a task file stands in it.

use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::error::TaskError;
use crate::expression::error::ExpressionError;
use hambo_base::place::Place;

/// The place of a key's value in a TOML text, or of one element of it: `state.low`,
/// `constraint[0].name`, `state.low[1]`. For a key that is missing, the table where it
/// belongs; none where that is the whole file.
pub(super) fn key(text: &str, key: &str) -> Option<Place> {
    span_of_key(text, key).map(|span| Place::at(text, span.start))
}

/// What the TOML reader says, printed as our own errors are.
pub(super) fn syntax(text: &str, origin: &str, problem: &toml::de::Error) -> TaskError {
    let place = problem.span().map(|span| Place::at(text, span.start));
    TaskError::Syntax {
        origin: origin.to_owned(),
        // Its hints are lines of their own.
        problem: problem.message().trim_end().replace('\n', "; "),
        place: place.map(Box::new),
    }
}

/// The error of a key's expression, moved to its place in the file.
pub(super) fn in_file(text: &str, key: &str, mut problem: ExpressionError) -> ExpressionError {
    let Some(span) = span_of_key(text, key) else {
        return problem;
    };
    let string = text.get(span.clone()).unwrap_or("");
    match offset_in(string, &problem) {
        Some(offset) => *problem.place = Place::at(text, span.start + offset),
        // The place stays that in the text without its escapes.
        None => {
            let line = Place::at(text, span.start).line;
            let message = &problem.message;
            problem.message = format!("in the expression of line {line}: {message}");
        }
    }
    problem
}

/// The bytes before the error in the TOML string that holds the expression; none where
/// escapes make them differ.
fn offset_in(string: &str, problem: &ExpressionError) -> Option<usize> {
    let (line, column) = (problem.place.line - 1, problem.place.column - 1);
    // TOML drops a line's end right after the three quotes.
    let body = ["\"\"\"", "'''"]
        .iter()
        .find_map(|quotes| string.strip_prefix(quotes));
    let dropped = body.is_some_and(|body| body.starts_with('\n') || body.starts_with("\r\n"));
    let line_in_string = line + usize::from(dropped);
    let before: usize = string
        .split_inclusive('\n')
        .take(line_in_string)
        .map(str::len)
        .sum();
    let written = string.get(before..)?.lines().next()?;
    let meant = problem.expression.lines().nth(line).unwrap_or("");
    let ahead: usize = meant.chars().take(column).map(char::len_utf8).sum();
    Some(before + written.find(meant)? + ahead)
}

/// The bytes of a key's value, as [`key`].
fn span_of_key(text: &str, key: &str) -> Option<Range<usize>> {
    let document = DeTable::parse(text).ok()?;
    let mut table = document.get_ref();
    let mut span = None;
    for part in key.split('.') {
        let mut words = part.split('[');
        let Some(mut value) = words.next().and_then(|name| table.get(name)) else {
            break;
        };
        span = Some(value.span());
        for index in words {
            let index = index.trim_end_matches(']').parse::<usize>().ok();
            let array = value.get_ref().as_array();
            let Some(element) = array.zip(index).and_then(|(array, index)| array.get(index)) else {
                return span;
            };
            value = element;
            span = Some(value.span());
        }
        let DeValue::Table(inner) = value.get_ref() else {
            break;
        };
        table = inner;
    }
    span
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_every_spelling() {
        for (text, key, offset) in [
            ("a = 1", "a", Some(4)),
            ("a.b = 1", "a.b", Some(6)),
            ("a = { b = [7, 8] }", "a.b[1]", Some(14)),
            ("a = { b = [7, 8] }", "a.c", Some(4)),
            ("[[c]]\n[[c]]\nd = 2", "c[1].d", Some(16)),
            ("[[c]]\n[[c]]\nd = 2", "c[0].d", Some(0)),
            ("[[c]]\nd = 2", "c[7].d", Some(0)),
            ("a = 1", "b", None),
            ("a = ", "a", None),
        ] {
            let found = span_of_key(text, key).map(|span| span.start);
            assert_eq!(found, offset, "{key} in {text}");
        }
    }
}
