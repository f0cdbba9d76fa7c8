//! Numbers and tables in Markdown.

/// An integer with commas between thousands.
pub fn grouped(number: f64) -> String {
    let digits = format!("{number:.0}");
    let place = |at: usize| at > 0 && (digits.len() - at).is_multiple_of(3);
    let comma = |at: usize| if place(at) { "," } else { "" };
    let parts = digits.char_indices();
    parts
        .map(|(at, digit)| format!("{}{digit}", comma(at)))
        .collect()
}

/// A table in Markdown.
pub fn table<const N: usize>(header: [&str; N], rows: &[[String; N]]) -> String {
    let mut text = format!("| {} |\n{}|\n", header.join(" | "), "|---".repeat(N));
    for row in rows {
        text += &format!("| {} |\n", row.join(" | "));
    }
    text
}

/// The tables in a summary's text.
pub fn tables_of(text: &str) -> Vec<String> {
    let parts = text.split("\n\n");
    let tables = parts.filter(|part| part.starts_with('|'));
    tables.map(str::to_owned).collect()
}

/// Hyphens before digits as minus signs.
pub fn with_minus_signs(text: &str) -> String {
    let mut out = String::new();
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let begins = out.ends_with([' ', '(']) || out.is_empty();
        let number = letters.peek().is_some_and(char::is_ascii_digit);
        out.push(if letter == '-' && begins && number {
            '−'
        } else {
            letter
        });
    }
    out
}
