//! Numbers by their order: the median and other quantiles.

/// The number below which a share of all numbers lies; `None` for an empty slice.
pub fn quantile(values: &mut [f64], share: f64) -> Option<f64> {
    let place = (share * values.len() as f64) as usize;
    if place >= values.len() {
        return None;
    }
    Some(*values.select_nth_unstable_by(place, f64::total_cmp).1)
}

/// The middle one, of an even number the upper of the two in the middle; `None` for an
/// empty slice.
pub fn median(values: &mut [f64]) -> Option<f64> {
    quantile(values, 0.5)
}

/// The number that a share of all numbers lies above, at most; `None` for an empty slice.
pub fn exceeded_by(values: &mut [f64], share: f64) -> Option<f64> {
    let above = (share * values.len() as f64).floor() as usize;
    let place = values.len().checked_sub(above.saturating_add(1))?;
    Some(*values.select_nth_unstable_by(place, f64::total_cmp).1)
}

/// The quantile of sorted numbers, between neighbours in proportion; NaN of none.
#[must_use]
pub fn interpolated(sorted: &[f64], share: f64) -> f64 {
    let place = share * sorted.len().saturating_sub(1) as f64;
    let (below, part) = (place.floor() as usize, place.fract());
    match (sorted.get(below), sorted.get(below + 1)) {
        (Some(low), Some(high)) if part > 0.0 => low + part * (high - low),
        (Some(low), _) => *low,
        (None, _) => f64::NAN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_rounded_down() {
        let mut values: Vec<f64> = (0..10).rev().map(f64::from).collect();
        assert_eq!(quantile(&mut values, 0.0), Some(0.0));
        assert_eq!(quantile(&mut values, 0.29), Some(2.0));
        assert_eq!(quantile(&mut values, 0.9), Some(9.0));
        assert_eq!(quantile(&mut values, 1.0), None);
        assert_eq!(median(&mut values), Some(5.0));
        assert_eq!(median(&mut values[..9]), Some(4.0));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn a_share_lies_above_at_most() {
        let mut values: Vec<f64> = (1..=200).rev().map(f64::from).collect();
        assert_eq!(exceeded_by(&mut values, 0.0), Some(200.0));
        assert_eq!(exceeded_by(&mut values, 0.01), Some(198.0));
        assert_eq!(exceeded_by(&mut values, 1.0), None);
        assert_eq!(exceeded_by(&mut [], 0.01), None);
    }

    #[test]
    fn between_neighbours_in_proportion() {
        let sorted = [1.0, 2.0, 4.0];
        assert_eq!(interpolated(&sorted, 0.5), 2.0);
        assert_eq!(interpolated(&sorted, 0.75), 3.0);
        assert_eq!(interpolated(&sorted[..2], 0.5), 1.5);
        assert!(interpolated(&[], 0.5).is_nan());
    }
}
