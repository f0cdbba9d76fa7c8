//! Numbers and sentences as the files hold them.

/// A number as the files hold it: six significant digits.
///
/// ```
/// use hambo_base::study::digits;
///
/// assert_eq!((digits(1.0 / 3.0), digits(-2e7)), ("0.333333".to_owned(), "-20000000".to_owned()));
/// ```
#[must_use]
pub fn digits(number: f64) -> String {
    match format!("{number:.5e}").parse::<f64>() {
        Ok(rounded) if rounded.is_finite() => rounded.to_string(),
        _ => number.to_string(),
    }
}

/// A sentence as the files hold it: without the separator of fields.
#[must_use]
pub fn field(text: &str) -> String {
    text.replace(',', ";").replace('\n', " ")
}
