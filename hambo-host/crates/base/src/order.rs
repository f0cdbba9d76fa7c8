//! Numbers by their order: the median and other quantiles, without interpolation.

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
}
