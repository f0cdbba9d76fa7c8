//! Places in files and expressions that a user wrote: errors show the line, with a caret
//! under what is wrong.

use std::fmt;

/// How many characters of a long line are shown on each side of the caret.
const SHOWN: usize = 60;

/// A place in a text. Its `Display` names line and column, and shows the line with a
/// caret under the place.
///
/// ```
/// use hambo_base::place::Place;
///
/// let place = Place::at("a = 1\nb = 2\n", 10);
/// assert_eq!((place.line, place.column), (2, 5));
/// assert_eq!(place.to_string(), "(line 2, column 5)\n  b = 2\n      ^");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Its line, from 1.
    pub line: usize,
    /// Its column, counted in characters from 1.
    pub column: usize,
    /// The line, cut around the place where it is long.
    shown: String,
    /// What stands before the caret.
    margin: String,
}

impl Place {
    /// The place after `offset` bytes of a text.
    #[must_use]
    pub fn at(text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = text.get(line_start..).and_then(|rest| rest.lines().next());
        let line = line.unwrap_or("");
        let ahead = before.get(line_start..).unwrap_or("").chars().count();
        let skipped = ahead.saturating_sub(SHOWN);
        let lead = if skipped > 0 { "…" } else { "" };
        // A binary file must not command the terminal.
        let plain = |letter: char| match letter {
            '\t' => letter,
            _ if letter.is_control() => char::REPLACEMENT_CHARACTER,
            _ => letter,
        };
        let kept = line.chars().skip(skipped).take(2 * SHOWN);
        let kept: String = kept.map(plain).collect();
        let more = line.chars().nth(skipped + 2 * SHOWN).is_some();
        let tail = if more { "…" } else { "" };
        // Tabs stay tabs, so that the caret stands under its column.
        let margin = lead.chars().chain(kept.chars());
        let margin = margin.take(lead.chars().count() + ahead - skipped);
        Self {
            line: before.matches('\n').count() + 1,
            column: ahead + 1,
            margin: margin
                .map(|letter| if letter == '\t' { '\t' } else { ' ' })
                .collect(),
            shown: format!("{lead}{kept}{tail}"),
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            line,
            column,
            shown,
            margin,
        } = self;
        write!(
            formatter,
            "(line {line}, column {column})\n  {shown}\n  {margin}^"
        )
    }
}

/// A place after the message of an error, or nothing.
pub fn shown(place: Option<&Place>) -> String {
    place.map_or_else(String::new, |place| format!(" {place}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("{} ? {}", "x + ".repeat(100), "y + ".repeat(100));
        let shown = Place::at(&text, 401).to_string();
        let lines: Vec<Vec<char>> = shown.lines().map(|line| line.chars().collect()).collect();
        let caret = lines[2].iter().position(|character| *character == '^');
        assert_eq!(caret.map(|caret| lines[1][caret]), Some('?'));
        assert!(lines[1].len() < 150, "{shown}");
    }

    #[test]
    fn carets_stand_under_tabs_and_wide_letters() {
        let place = Place::at("a\r\n\tä = 1\r\n", 9);
        assert_eq!((place.line, place.column), (2, 6));
        assert_eq!(
            place.to_string(),
            "(line 2, column 6)\n  \tä = 1\n  \t    ^"
        );
        // Past the end, and inside a letter: no panic.
        assert_eq!(Place::at("", 7).to_string(), "(line 1, column 1)\n  \n  ^");
        assert_eq!(Place::at("ä", 1).column, 2);
        assert!(!Place::at("\u{1b}[2J", 0).to_string().contains('\u{1b}'));
    }
}
