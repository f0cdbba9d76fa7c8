//! Numbers, shares, counts and dates for the reader.

/// Four digits that matter, and a true minus sign.
pub(crate) fn readable(value: f64) -> String {
    if value.is_nan() {
        return "not a number".to_owned();
    }
    let size = value.abs();
    let text = if !value.is_finite() {
        "∞".to_owned()
    } else if size == 0.0 {
        "0".to_owned()
    } else if !(1e-3..1e7).contains(&size) {
        format!("{size:.2e}")
    } else {
        let decimals = (3 - size.log10().floor() as i32).clamp(0, 4);
        let text = format!("{size:.0$}", decimals as usize);
        if text.contains('.') {
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        } else {
            text
        }
    };
    if value < 0.0 {
        format!("−{text}")
    } else {
        text
    }
}

/// A share in per cent. Little is not none, and nearly all is not all.
pub(crate) fn percent(share: f64) -> String {
    match 100.0 * share {
        part if part > 0.0 && part < 0.1 => "below 0.1 %".to_owned(),
        part if part > 99.9 && part < 100.0 => "above 99.9 %".to_owned(),
        part if part.is_finite() => format!("{part:.1} %"),
        _ => "unknown".to_owned(),
    }
}

/// A count with thin spaces between thousands.
pub(crate) fn count(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

/// Day and minute in UTC, as `2026-11-15 08:37 UTC`, from seconds since 1970.
pub(crate) fn date(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    // Years begin in March here, so that the leap day comes last. Day 0 is
    // the first of March of the year 0; 719 468 days later is 1970.
    let day = days + 719_468;
    let (era, in_era) = (day / 146_097, day % 146_097);
    let year = (in_era - in_era / 1_460 + in_era / 36_524 - in_era / 146_096) / 365;
    let in_year = in_era - (365 * year + year / 4 - year / 100);
    let month = (5 * in_year + 2) / 153;
    let day = in_year - (153 * month + 2) / 5 + 1;
    let (year, month) = match month {
        0..10 => (year, month + 3),
        _ => (year + 1, month - 9),
    };
    let (hour, minute) = (rest / 3_600, rest % 3_600 / 60);
    format!(
        "{:04}-{month:02}-{day:02} {hour:02}:{minute:02} UTC",
        era * 400 + year
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_by_hand() {
        let cases = [
            (0.0, "0"),
            (-0.0, "0"),
            (-1234.56, "−1235"),
            (12.3456, "12.35"),
            (-400.0, "−400"),
            (0.999_999_9, "1"),
            (1e6, "1000000"),
            (0.012_345, "0.0123"),
            (1e-5, "1.00e-5"),
            (-3e9, "−3.00e9"),
            (f64::NEG_INFINITY, "−∞"),
            (f64::NAN, "not a number"),
        ];
        for (value, text) in cases {
            assert_eq!(readable(value), text);
        }
        assert_eq!(count(1_234_567), "1\u{202f}234\u{202f}567");
        assert_eq!(percent(0.0001), "below 0.1 %");
        assert_eq!(percent(0.0), "0.0 %");
        assert_eq!(percent(0.9999), "above 99.9 %");
    }

    #[test]
    fn known_days() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_709_251_199), "2024-02-29 23:59 UTC");
        assert_eq!(date(1_709_251_200), "2024-03-01 00:00 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
