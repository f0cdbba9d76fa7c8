//! Characters to tokens.

use super::error::ExpressionError;

/// A token; names are looked up in the source by their span.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f32),
    Name,
    Dot,
    Comma,
    Open,
    Close,
    Plus,
    Minus,
    Star,
    Slash,
    Caret,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    And,
    Or,
    Not,
    End,
}

/// A token and the bytes of the source that it covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

pub(super) fn starts_name(character: char) -> bool {
    character.is_alphabetic() || character == '_'
}

pub(super) fn continues_name(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

/// All tokens of an expression, with [`Kind::End`] last.
pub(super) fn tokens(source: &str) -> Result<Vec<Token>, ExpressionError> {
    let mut tokens = Vec::new();
    let mut start = 0;
    while let Some(character) = source[start..].chars().next() {
        if character.is_whitespace() {
            start += character.len_utf8();
            continue;
        }
        let (kind, end) = token(source, start, character)?;
        tokens.push(Token { kind, start, end });
        start = end;
    }
    tokens.push(Token {
        kind: Kind::End,
        start,
        end: start,
    });
    Ok(tokens)
}

/// The token that begins at `start`, and where it ends.
fn token(source: &str, start: usize, first: char) -> Result<(Kind, usize), ExpressionError> {
    let rest = &source[start..];
    let digit_follows = rest[first.len_utf8()..].starts_with(|c: char| c.is_ascii_digit());
    if first.is_ascii_digit() || (first == '.' && digit_follows) {
        return number(source, start);
    }
    if starts_name(first) {
        let length = rest
            .find(|character| !continues_name(character))
            .unwrap_or(rest.len());
        return Ok((Kind::Name, start + length));
    }
    let fail = |message: &str, help: &str| Err(ExpressionError::new(source, start, message, help));
    for (text, kind) in [
        ("<=", Kind::LessEqual),
        (">=", Kind::GreaterEqual),
        ("==", Kind::Equal),
        ("!=", Kind::NotEqual),
        ("&&", Kind::And),
        ("||", Kind::Or),
    ] {
        if rest.starts_with(text) {
            return Ok((kind, start + text.len()));
        }
    }
    if rest.starts_with("**") {
        return fail("`**` is not an operator", "write `^` for a power");
    }
    let kind = match first {
        '.' => Kind::Dot,
        ',' => Kind::Comma,
        '(' => Kind::Open,
        ')' => Kind::Close,
        '+' => Kind::Plus,
        '-' => Kind::Minus,
        '*' => Kind::Star,
        '/' => Kind::Slash,
        '^' => Kind::Caret,
        '<' => Kind::Less,
        '>' => Kind::Greater,
        '!' => Kind::Not,
        '=' => return fail("`=` is not an operator", "write `==` to compare"),
        '&' => return fail("`&` is not an operator", "write `&&` for and"),
        '|' => {
            return fail(
                "`|` is not an operator",
                "write `||` for or, `abs(x)` for a magnitude",
            );
        }
        '\u{2212}' | '\u{2013}' => {
            return fail("this dash is not a minus sign", "write `-`");
        }
        other => {
            return fail(
                &format!("unexpected character `{}`", other.escape_debug()),
                "expressions have numbers, names, + - * / ^, comparisons, && || !, \
                 parentheses and commas",
            );
        }
    };
    Ok((kind, start + first.len_utf8()))
}

fn number(source: &str, start: usize) -> Result<(Kind, usize), ExpressionError> {
    let bytes = source.as_bytes();
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let mut end = digits(start);
    if bytes.get(end) == Some(&b'.') {
        end = digits(end + 1);
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        let exponent_end = digits(end + 1 + sign);
        if exponent_end > end + 1 + sign {
            end = exponent_end;
        }
    }
    let text = &source[start..end];
    let nonzero = text
        .split(['e', 'E'])
        .next()
        .is_some_and(|mantissa| mantissa.contains(|digit: char| matches!(digit, '1'..='9')));
    match text.parse::<f32>() {
        // A guard like max(y, 1e-60) must not become max(y, 0) in silence.
        Ok(value) if value == 0.0 && nonzero => Err(ExpressionError::new(
            source,
            start,
            format!("the number {text} is too small"),
            format!(
                "numbers are 32-bit floats, at least {:e} in size",
                f32::MIN_POSITIVE
            ),
        )),
        Ok(value) if value.is_finite() => Ok((Kind::Number(value), end)),
        Ok(_) => Err(ExpressionError::new(
            source,
            start,
            format!("the number {text} is too large"),
            format!("numbers are 32-bit floats, at most {:e}", f32::MAX),
        )),
        Err(_) => Err(ExpressionError::new(
            source,
            start,
            format!("`{text}` is not a number"),
            "write numbers like 1, 1.5 or 2e-3",
        )),
    }
}
