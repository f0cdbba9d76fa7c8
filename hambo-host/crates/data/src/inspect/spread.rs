//! How far numbers lie apart.

/// The standard deviation of some numbers, divided by their count; 0 without any.
pub(crate) fn spread(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = numbers.clone().count().max(1) as f64;
    let mean = numbers.clone().sum::<f64>() / count;
    let squares = numbers.map(|x| (x - mean).powi(2)).sum::<f64>();
    (squares / count).sqrt()
}
