//! Columns brought to mean 0 and standard deviation 1.

use crate::held::Held;

/// The linear map between physical and standardised units, column by column:
/// standardised = (physical − mean) / scale.
#[derive(Debug, Clone, PartialEq)]
pub struct Standardisation {
    /// Mean of each input column.
    pub input_mean: Vec<f32>,
    /// Standard deviation of each input column; 1 where the column is constant.
    pub input_scale: Vec<f32>,
    /// Mean of each target column.
    pub output_mean: Vec<f32>,
    /// Standard deviation of each target column; 1 where the column is constant.
    pub output_scale: Vec<f32>,
}

/// Spread, relative to the largest value, below which a column is only rounding.
const CONSTANT: f64 = 1e-6;
/// Smallest scale, so that a division by it stays finite.
const SMALLEST_SCALE: f64 = 1e-12;

/// Mean and scale of one column.
pub struct Moments {
    pub mean: f32,
    pub scale: f32,
    /// Whether its spread is only rounding; then the scale is 1.
    pub constant: bool,
}

/// Mean and scale of every column, of the entries that say something.
pub fn moments(table: &[f32], columns: usize, held: Held<'_>) -> Vec<Moments> {
    (0..columns)
        .map(|column| {
            let values = || {
                table
                    .iter()
                    .enumerate()
                    .skip(column)
                    .step_by(columns)
                    .filter(|(place, _)| !held.at(*place))
                    .map(|(_, &v)| f64::from(v))
            };
            let count = values().count() as f64;
            let mean = values().sum::<f64>() / count;
            let std = (values().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
            let largest = values().fold(0.0, |largest: f64, v| largest.max(v.abs()));
            let constant = std <= CONSTANT * largest;
            let scale = if constant {
                1.0
            } else {
                std.max(SMALLEST_SCALE)
            };
            Moments {
                mean: mean as f32,
                scale: scale as f32,
                constant,
            }
        })
        .collect()
}

/// A row-major table in standardised units.
pub fn scaled(table: &[f32], mean: &[f32], scale: &[f32]) -> Vec<f32> {
    let columns = mean.iter().zip(scale).cycle();
    table
        .iter()
        .zip(columns)
        .map(|(value, (mean, scale))| (value - mean) / scale)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_has_no_part_in_mean_and_scale_and_no_number_is_broken() {
        let table = [1.0, 1.0, 3.0, 900.0, 1.0, 5.0, 3.0, 1.0, 1.0, 5.0];
        let of = |table: &[f32], marks: &[bool]| {
            let found = moments(table, 2, Held::new(marks));
            let found = found.iter().map(|of| (of.mean, of.scale));
            found.collect::<Vec<_>>()
        };
        let marks: Vec<bool> = (0..10).map(|place| place == 3).collect();
        let found = of(&table, &marks);
        assert_eq!(found[1], (3.0, 2.0));
        assert_eq!(found[0], of(&table, &[])[0]);
        let mut broken = table;
        broken[5] = f32::NAN;
        assert!(of(&broken, &marks)[1].0.is_nan());
    }
}
