//! A date for people from seconds since 1970.

/// The day and the minute in UTC, as `2026-11-15 08:37 UTC`.
pub(super) fn date(seconds: u64) -> String {
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
    use super::date;

    #[test]
    fn known_days() {
        assert_eq!(date(0), "1970-01-01 00:00 UTC");
        assert_eq!(date(951_782_400), "2000-02-29 00:00 UTC");
        assert_eq!(date(1_709_251_199), "2024-02-29 23:59 UTC");
        assert_eq!(date(1_709_251_200), "2024-03-01 00:00 UTC");
        assert_eq!(date(4_107_542_400), "2100-03-01 00:00 UTC");
    }
}
