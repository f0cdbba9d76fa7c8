//! Where a column of steps or times jumps: rows on either side are not a transition.

use hambo_base::order::median;

/// More than this many usual steps to the next row are a gap.
const GAP: f64 = 1.5;

/// Whether the row after each is not its successor; `None` if the column does not go up in most
/// rows, so that it is no clock.
fn gaps(clock: &[f64]) -> Option<Vec<bool>> {
    let differences = || clock.windows(2).map(|pair| pair[1] - pair[0]);
    let mut forward: Vec<f64> = differences().filter(|step| *step > 0.0).collect();
    if 2 * forward.len() < clock.len().saturating_sub(1) {
        return None;
    }
    let usual = median(&mut forward)?;
    // A NaN is a gap.
    let follows = |step: f64| step > 0.0 && step <= GAP * usual;
    let gaps = differences().map(|step| !follows(step));
    Some(gaps.chain(std::iter::once(true)).collect())
}

/// Where any of these clocks, or an index that begins again, has a gap.
pub(super) fn all_gaps(clocks: &[Vec<f64>], indices: &[Vec<f64>]) -> Option<Vec<bool>> {
    let clocks = clocks.iter().filter_map(|clock| gaps(clock));
    let indices = indices.iter().filter_map(|index| gaps(index));
    // A number for each row of the file says nothing if it never begins again.
    let telling = |gaps: &Vec<bool>| gaps.iter().rev().skip(1).any(|gap| *gap);
    let all = clocks.chain(indices.filter(telling));
    all.reduce(|mut all, gaps| {
        for (all, gap) in all.iter_mut().zip(gaps) {
            *all |= gap;
        }
        all
    })
}

/// A number, or a date and time of day as pandas and ISO 8601 write it, in seconds.
pub(super) fn seconds(field: &str) -> Option<f64> {
    if let Ok(number) = field.parse::<f64>() {
        return number.is_finite().then_some(number);
    }
    let (date, time) = field.split_once(['T', ' '])?;
    let mut date = date.split('-').map(|part| part.parse::<i64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    if date.next().is_some() || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (time, offset) = match time.find(['Z', '+', '-']) {
        Some(at) => {
            let (time, zone) = time.split_at(at);
            (time, zone_seconds(zone)?)
        }
        None => (time, 0.0),
    };
    let days = days(year, month, day) as f64;
    Some(86_400.0 * days + of_day(time)? - offset)
}

/// `hh:mm`, `hh:mm:ss` or `hh:mm:ss.sss`.
fn of_day(time: &str) -> Option<f64> {
    let mut parts = time.trim().split(':');
    let hours: f64 = parts.next()?.parse().ok()?;
    let minutes: f64 = parts.next()?.parse().ok()?;
    let seconds: f64 = parts.next().map_or(Ok(0.0), str::parse).ok()?;
    let inside = (0.0..24.0).contains(&hours)
        && (0.0..60.0).contains(&minutes)
        && (0.0..61.0).contains(&seconds);
    (parts.next().is_none() && inside).then_some(3600.0 * hours + 60.0 * minutes + seconds)
}

/// `Z`, `+hh:mm` or `-hh:mm`.
fn zone_seconds(zone: &str) -> Option<f64> {
    if zone == "Z" {
        return Some(0.0);
    }
    let size = of_day(zone.get(1..)?)?;
    Some(if zone.starts_with('-') { -size } else { size })
}

/// Days since 1970, of the Gregorian calendar.
fn days(year: i64, month: i64, day: i64) -> i64 {
    // Years from March on, so that the leap day is the last.
    let (year, month) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    365 * year + leaps + (153 * month + 2) / 5 + day - 719_469
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_back_and_a_missing_row_are_gaps() {
        let found = gaps(&[0.0, 0.1, 0.2, 0.4, 0.5, 0.0, 0.09, 0.21, f64::NAN]).unwrap();
        let rows: Vec<usize> = (0..found.len()).filter(|row| found[*row]).collect();
        assert_eq!(rows, [2, 4, 7, 8]);
        // A temperature is no clock, nor is a constant.
        assert_eq!(gaps(&[20.0, 20.5, 20.1, 19.8, 19.7, 20.0]), None);
        assert_eq!(gaps(&[1.0; 5]), None);
    }

    #[test]
    fn dates_are_seconds() {
        assert_eq!(seconds("1970-01-01 00:00:00"), Some(0.0));
        assert_eq!(seconds("2026-11-16T19:00:00.05Z"), Some(1_794_855_600.05));
        assert_eq!(seconds("2024-03-01 00:00:00+01:00"), Some(1_709_247_600.0));
        assert_eq!(seconds("2024-02-29 12:30"), Some(1_709_209_800.0));
        assert_eq!(seconds("0.25"), Some(0.25));
        for bad in [
            "",
            "now",
            "2024-13-01 00:00:00",
            "2024-01-01 25:00:00",
            "12:00:00",
        ] {
            assert_eq!(seconds(bad), None, "{bad}");
        }
    }
}
