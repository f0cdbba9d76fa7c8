//! What one column of a log holds.

use serde::Serialize;

use crate::table::Block;

/// Bars of a histogram.
const BARS: usize = 16;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnSummary {
    pub name: String,
    /// `state`, `action` or `reward`.
    pub role: &'static str,
    /// The least finite number; all of these are NaN (null) if there is none.
    pub min: f64,
    /// Of the finite numbers.
    pub mean: f64,
    /// Of the finite numbers, divided by n.
    pub std: f64,
    /// The largest finite number.
    pub max: f64,
    /// The count of numbers that are NaN or infinite.
    pub not_finite: usize,
    /// Counts in equal parts from min to max.
    pub histogram: Vec<usize>,
}

impl ColumnSummary {
    /// A column of a block.
    pub(super) fn new(name: &str, role: &'static str, block: &Block, index: usize) -> Self {
        let numbers = || {
            let all = (0..block.rows()).map(|row| block.at(row, index));
            all.filter(|number| number.is_finite())
        };
        // Welford's recurrence: no loss where the mean is large.
        let (mut count, mut mean, mut squares) = (0_usize, 0.0, 0.0);
        let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
        for number in numbers() {
            count += 1;
            let step = number - mean;
            mean += step / count as f64;
            squares += step * (number - mean);
            min = min.min(number);
            max = max.max(number);
        }
        let known = |number: f64| if count > 0 { number } else { f64::NAN };
        let mut histogram = vec![0; BARS];
        let scale = BARS as f64 / (max - min);
        for number in numbers() {
            let bar = ((number - min) * scale) as usize;
            if let Some(bar) = histogram.get_mut(bar.min(BARS - 1)) {
                *bar += 1;
            }
        }
        Self {
            name: name.to_owned(),
            role,
            min: known(min),
            mean: known(mean),
            std: known((squares / count.max(1) as f64).sqrt()),
            max: known(max),
            not_finite: block.rows() - count,
            histogram,
        }
    }
}
