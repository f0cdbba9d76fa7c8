//! Columns brought to mean 0 and standard deviation 1.

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

/// Mean and scale of every column, of the numbers that it has: what is not a number says nothing.
pub fn moments(table: &[f32], columns: usize) -> Vec<Moments> {
    (0..columns)
        .map(|column| {
            let values = || {
                table
                    .iter()
                    .skip(column)
                    .step_by(columns)
                    .map(|&v| f64::from(v))
                    .filter(|v| !v.is_nan())
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
