//! Mean and variance of a sample, gathered in order, and the margin of its
//! mean.

use super::student_quantile;
use crate::arithmetic::elementary::{logarithm, maximum, minimum, square_root};

/// A running mean and sum of squared deviations (Welford), and the extremes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleMoments {
    count: u32,
    mean: f32,
    squares: f32,
    least: f32,
    greatest: f32,
}

impl Default for SampleMoments {
    fn default() -> Self {
        Self {
            count: 0,
            mean: 0.0,
            squares: 0.0,
            least: f32::INFINITY,
            greatest: f32::NEG_INFINITY,
        }
    }
}

/// Which inequality gives the margin.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Margin {
    /// Student's t: exact for normal returns, good for many trajectories.
    StudentT,
    /// Empirical Bernstein (Maurer and Pontil), for returns that are known to
    /// lie in an interval of the given width.
    Bernstein {
        /// The width of the interval.
        range: f32,
    },
}

impl SampleMoments {
    /// Takes in one more value.
    pub fn push(&mut self, value: f32) {
        self.count = self.count.saturating_add(1);
        let before = value - self.mean;
        self.mean += before / self.count as f32;
        self.squares += before * (value - self.mean);
        self.least = minimum(self.least, value);
        self.greatest = maximum(self.greatest, value);
    }

    /// The smallest value.
    #[must_use]
    pub fn least(&self) -> f32 {
        self.least
    }

    /// The largest value.
    #[must_use]
    pub fn greatest(&self) -> f32 {
        self.greatest
    }

    /// How many values were taken in.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// The mean.
    #[must_use]
    pub fn mean(&self) -> f32 {
        self.mean
    }

    /// The standard error of the mean; infinite for fewer than two values.
    #[must_use]
    pub fn standard_error(&self) -> f32 {
        square_root(self.variance() / self.count as f32)
    }

    fn variance(&self) -> f32 {
        match self.count.checked_sub(1) {
            None | Some(0) => f32::INFINITY,
            Some(freedom) => self.squares / freedom as f32,
        }
    }

    /// How far below the sample's mean the true mean may lie, except with
    /// probability `delta`.
    #[must_use]
    pub fn margin(&self, margin: Margin, delta: f32) -> f32 {
        let freedom = self.count.saturating_sub(1);
        match margin {
            Margin::StudentT => student_quantile(freedom, delta) * self.standard_error(),
            Margin::Bernstein { range } => {
                let log = logarithm(2.0 / delta);
                let spread = square_root(2.0 * self.variance() * log / self.count as f32);
                spread + 7.0 * range * log / (3.0 * freedom as f32)
            }
        }
    }
}
