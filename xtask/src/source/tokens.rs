//! Words, strings and brackets of a Rust source, without its comments.

/// An identifier, a number, `::`, one other sign, or `"` for each line of a string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Token {
    pub line: usize,
    pub text: String,
}

/// Splits a text into tokens, without comments.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '"' => 1 + end_of_string(rest.split_at(1).1),
            '\'' => end_of_character(rest),
            'r' | 'b' if raw_string(rest).is_some() => raw_string(rest).unwrap_or(1),
            ':' if rest.starts_with("::") => 2,
            c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
            c => c.len_utf8(),
        };
        let (word, after) = rest.split_at(length);
        let is_comment = word.starts_with("//") || word.starts_with("/*");
        let is_string = word.len() > 1 && word.contains('"') && !is_comment;
        if is_string {
            let spanned = line..=line + word.matches('\n').count();
            tokens.extend(spanned.map(|line| Token {
                line,
                text: "\"".to_owned(),
            }));
        } else if !is_comment && !first.is_whitespace() && !word.starts_with('\'') {
            tokens.push(Token {
                line,
                text: word.to_owned(),
            });
        }
        line += word.matches('\n').count();
        rest = after;
    }
    tokens
}

pub(super) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Bytes up to and with the quote that ends a string.
fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    let end = text.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |end| end + 1)
}

/// Bytes of a character in quotes, or of a lifetime's quote alone.
fn end_of_character(text: &str) -> usize {
    let inner = text.split_at(1).1;
    let mut characters = inner.char_indices();
    match (characters.next(), characters.next()) {
        (Some((_, '\\')), Some((at, next))) => {
            let rest = inner.split_at(at + next.len_utf8()).1;
            rest.find('\'')
                .map_or(1, |end| 1 + at + next.len_utf8() + end + 1)
        }
        (Some(_), Some((end, '\''))) => 1 + end + 1,
        _ => 1,
    }
}

/// Bytes of `r"…"`, `r#"…"#` or `b"…"`.
fn raw_string(text: &str) -> Option<usize> {
    let prefix = ["br", "r", "b"]
        .into_iter()
        .find(|prefix| text.starts_with(prefix))?;
    let after = text.strip_prefix(prefix)?;
    let hashes = after.chars().take_while(|c| *c == '#').count();
    let body = after.get(hashes..)?.strip_prefix('"')?;
    let start = prefix.len() + hashes + 1;
    if !prefix.contains('r') {
        return (hashes == 0).then(|| start + end_of_string(body));
    }
    let end = format!("\"{}", "#".repeat(hashes));
    Some(start + body.find(&end).map_or(body.len(), |at| at + end.len()))
}

pub(super) fn text_at(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| token.text.as_str())
}

/// The index after the bracket that closes the one at `open`.
pub(super) fn after_group(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}
