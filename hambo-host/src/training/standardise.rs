//! Inputs and targets brought to mean 0 and standard deviation 1.

use super::{MINIMUM_ROWS, TrainingError};

/// Logged transitions as two row-major tables.
#[derive(Debug, Clone, Copy)]
pub struct TrainingSet<'a> {
    /// States and actions, (s, a): `input_columns` values per row.
    pub inputs: &'a [f32],
    /// Dimensions of state and action together.
    pub input_columns: usize,
    /// State differences, s′ − s: `target_columns` values per row.
    pub targets: &'a [f32],
    /// Dimensions of the state.
    pub target_columns: usize,
}

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

/// A training set in standardised units, owned, row-major.
pub(super) struct StandardisedSet {
    pub(super) rows: usize,
    pub(super) input_columns: usize,
    pub(super) target_columns: usize,
    pub(super) inputs: Vec<f32>,
    pub(super) targets: Vec<f32>,
}

/// Spread, relative to the largest value, below which a column is only rounding.
const CONSTANT: f64 = 1e-6;
/// Smallest scale, so that a division by it stays finite.
const SMALLEST_SCALE: f64 = 1e-12;

impl TrainingSet<'_> {
    /// Number of rows, once the tables are known to be whole, long enough and finite.
    pub(super) fn checked_rows(&self) -> Result<usize, TrainingError> {
        if self.input_columns == 0 || self.target_columns == 0 || self.inputs.is_empty() {
            return Err(TrainingError::Empty);
        }
        let rows = self.inputs.len() / self.input_columns;
        for (table, values, columns) in [
            ("inputs", self.inputs, self.input_columns),
            ("targets", self.targets, self.target_columns),
        ] {
            if values.len() % columns != 0 || values.len() / columns != rows {
                return Err(TrainingError::Mismatch {
                    table,
                    length: values.len(),
                    rows,
                    columns,
                });
            }
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                return Err(TrainingError::NotFinite {
                    table,
                    row: at / columns,
                    column: at % columns,
                });
            }
        }
        if rows < MINIMUM_ROWS {
            return Err(TrainingError::TooFewRows {
                rows,
                needed: MINIMUM_ROWS,
            });
        }
        Ok(rows)
    }

    /// The standardisation of these rows, and the rows in its units.
    pub(super) fn standardise(&self) -> Result<(Standardisation, StandardisedSet), TrainingError> {
        let rows = self.checked_rows()?;
        let (input_mean, input_scale) = moments(self.inputs, self.input_columns);
        let (output_mean, output_scale) = moments(self.targets, self.target_columns);
        let set = StandardisedSet {
            rows,
            input_columns: self.input_columns,
            target_columns: self.target_columns,
            inputs: scaled(self.inputs, &input_mean, &input_scale),
            targets: scaled(self.targets, &output_mean, &output_scale),
        };
        let standardisation = Standardisation {
            input_mean,
            input_scale,
            output_mean,
            output_scale,
        };
        Ok((standardisation, set))
    }
}

/// Mean and scale of every column.
fn moments(table: &[f32], columns: usize) -> (Vec<f32>, Vec<f32>) {
    (0..columns)
        .map(|column| {
            let values = || {
                table
                    .iter()
                    .skip(column)
                    .step_by(columns)
                    .map(|&v| f64::from(v))
            };
            let count = (table.len() / columns) as f64;
            let mean = values().sum::<f64>() / count;
            let std = (values().map(|v| (v - mean).powi(2)).sum::<f64>() / count).sqrt();
            let largest = values().fold(0.0, |largest: f64, v| largest.max(v.abs()));
            let scale = if std <= CONSTANT * largest {
                1.0
            } else {
                std.max(SMALLEST_SCALE)
            };
            (mean as f32, scale as f32)
        })
        .unzip()
}

fn scaled(table: &[f32], mean: &[f32], scale: &[f32]) -> Vec<f32> {
    let columns = mean.iter().zip(scale).cycle();
    table
        .iter()
        .zip(columns)
        .map(|(value, (mean, scale))| (value - mean) / scale)
        .collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::*;

    fn set<'a>(inputs: &'a [f32], targets: &'a [f32]) -> TrainingSet<'a> {
        TrainingSet {
            inputs,
            input_columns: 2,
            targets,
            target_columns: 1,
        }
    }

    #[test]
    fn hand_computed_columns() {
        // Column 0 alternates 1, 3: mean 2, std 1. Column 1 is constant.
        let inputs: Vec<f32> = (0..10)
            .flat_map(|i| [1.0 + 2.0 * (i % 2) as f32, 7.1])
            .collect();
        let targets: Vec<f32> = (0..10).map(|i| 4.0 * (i % 2) as f32).collect();
        let (map, rows) = set(&inputs, &targets).standardise().unwrap();
        assert_eq!(map.input_mean, [2.0, 7.1]);
        assert_eq!(map.input_scale, [1.0, 1.0]);
        assert_eq!((map.output_mean[0], map.output_scale[0]), (2.0, 2.0));
        assert_eq!(rows.inputs[..4], [-1.0, 0.0, 1.0, 0.0]);
        assert_eq!(rows.targets[..2], [-1.0, 1.0]);
    }

    #[test]
    fn refuses_what_cannot_be_trained_on() {
        let good = [0.0; 20];
        let error =
            |inputs: &[f32], targets: &[f32]| set(inputs, targets).checked_rows().unwrap_err();
        assert_eq!(error(&[], &[]), TrainingError::Empty);
        assert_eq!(
            error(&good[..8], &good[..4]),
            TrainingError::TooFewRows {
                rows: 4,
                needed: MINIMUM_ROWS
            }
        );
        assert!(matches!(
            error(&good, &good[..9]),
            TrainingError::Mismatch {
                table: "targets",
                length: 9,
                rows: 10,
                columns: 1
            }
        ));
        assert!(matches!(
            error(&good[..19], &good[..9]),
            TrainingError::Mismatch {
                table: "inputs",
                ..
            }
        ));
        let mut bad = good;
        bad[7] = f32::NAN;
        assert_eq!(
            error(&bad, &good[..10]),
            TrainingError::NotFinite {
                table: "inputs",
                row: 3,
                column: 1
            }
        );
    }
}
