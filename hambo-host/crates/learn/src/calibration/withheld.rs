//! Withheld rows, as predicted and as observed.

use thiserror::Error;

use hambo_base::Held;
use hambo_base::error::Explained;

/// Predictions and observations of one state dimension, one value per withheld row.
#[derive(Debug, Clone, Copy)]
pub struct WithheldDimension<'a> {
    /// Predicted mean, mu.
    pub mean: &'a [f32],
    /// Predicted epistemic standard deviation.
    pub epistemic_std: &'a [f32],
    /// Predicted aleatoric standard deviation.
    pub aleatoric_std: &'a [f32],
    /// What happened, in the units of `mean`.
    pub observed: &'a [f32],
    /// The rows that say nothing of this state.
    pub held: Held<'a>,
}

/// One row of a dimension, in f64.
#[derive(Debug, Clone, Copy)]
pub(super) struct WithheldRow {
    pub(super) residual: f64,
    pub(super) epistemic: f64,
    pub(super) aleatoric: f64,
    /// Whether the row says nothing of this state.
    pub(super) held: bool,
}

impl WithheldDimension<'_> {
    pub(super) fn rows(&self) -> impl Iterator<Item = WithheldRow> + '_ {
        let stds = self.epistemic_std.iter().zip(self.aleatoric_std);
        let rows = self.mean.iter().zip(self.observed).zip(stds);
        rows.enumerate().map(
            |(row, ((mean, observed), (epistemic, aleatoric)))| WithheldRow {
                residual: f64::from(*observed) - f64::from(*mean),
                epistemic: f64::from(*epistemic),
                aleatoric: f64::from(*aleatoric),
                held: self.held.at(row),
            },
        )
    }

    /// The rows that say something.
    pub(super) fn told(&self) -> impl Iterator<Item = WithheldRow> + '_ {
        self.rows().filter(|row| !row.held)
    }
}

/// Withheld rows of all dimensions.
#[derive(Debug, Clone)]
pub struct Withheld<'a> {
    /// One entry for each state dimension.
    pub dimensions: Vec<WithheldDimension<'a>>,
    /// The independent sample that each row belongs to: its recording, or a stretch of one where
    /// the task says that nothing changes between recordings.
    pub groups: &'a [u32],
    /// Whether a row is the step after the one before it.
    pub follows: &'a [bool],
}

/// What can be wrong with withheld predictions.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum CalibrationError {
    /// There is no state dimension.
    #[error("there is no state dimension to calibrate")]
    NoDimensions,
    /// The columns differ in length.
    #[error("dimension {dimension} has columns that are not {rows} rows long")]
    Mismatch {
        /// Dimension, from 0.
        dimension: usize,
        /// Rows of the first column.
        rows: usize,
    },
    /// A value is NaN or infinite, or a standard deviation is negative.
    #[error("dimension {dimension}, row {row}: the {column} is not finite or is negative")]
    BadValue {
        /// Dimension, from 0.
        dimension: usize,
        /// Row, from 0.
        row: usize,
        /// Name of the column.
        column: &'static str,
    },
}

impl Explained for CalibrationError {
    const ABOUT: &'static str = "calibration: ";
}

impl Withheld<'_> {
    /// The rows that say something of the state of which the fewest do.
    pub(super) fn least_told(&self) -> usize {
        let told = self.dimensions.iter().map(|columns| columns.told().count());
        told.min().unwrap_or(0)
    }

    /// Which rows say something of every state.
    pub(super) fn whole_rows(&self) -> Vec<bool> {
        let mut whole = vec![true; self.groups.len()];
        for columns in &self.dimensions {
            for (row, whole) in whole.iter_mut().enumerate() {
                *whole &= !columns.held.at(row);
            }
        }
        whole
    }

    /// The number of rows, once the columns are known to fit together.
    pub(super) fn checked_rows(&self) -> Result<usize, CalibrationError> {
        let first = self.dimensions.first();
        let rows = first.ok_or(CalibrationError::NoDimensions)?.mean.len();
        if self.groups.len() != rows || self.follows.len() != rows {
            return Err(CalibrationError::Mismatch { dimension: 0, rows });
        }
        for (dimension, columns) in self.dimensions.iter().enumerate() {
            if !columns.held.fits(rows) {
                return Err(CalibrationError::Mismatch { dimension, rows });
            }
            for (column, values, may_be_negative) in [
                ("mean", columns.mean, true),
                ("epistemic std", columns.epistemic_std, false),
                ("aleatoric std", columns.aleatoric_std, false),
                ("observation", columns.observed, true),
            ] {
                if values.len() != rows {
                    return Err(CalibrationError::Mismatch { dimension, rows });
                }
                let bad = |value: &f32| !value.is_finite() || (!may_be_negative && *value < 0.0);
                if let Some(row) = values.iter().position(bad) {
                    return Err(CalibrationError::BadValue {
                        dimension,
                        row,
                        column,
                    });
                }
            }
        }
        Ok(rows)
    }
}
