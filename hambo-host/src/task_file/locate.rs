//! Where an error of a task file stands in it.

use super::TaskError;
use crate::expression::ExpressionError;
use crate::place::{Place, span_of_key};

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
