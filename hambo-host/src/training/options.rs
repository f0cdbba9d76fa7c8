//! The options of an ensemble and their defaults.

use super::{Activation, TrainingError};

/// Rows below which training is refused.
pub const MINIMUM_ROWS: usize = 10;

/// How an ensemble is built and trained.
///
/// ```
/// use hambo_host::training::EnsembleOptions;
///
/// let options = EnsembleOptions { members: 7, seed: 3, ..EnsembleOptions::default() };
/// assert_eq!(options.hidden, [32, 32]);
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct EnsembleOptions {
    /// Number of members, K.
    pub members: usize,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// Activation of the hidden layers.
    pub activation: Activation,
    /// Adam updates per member.
    pub steps: usize,
    /// Rows per update; all rows where there are fewer.
    pub batch: usize,
    /// Learning rate of the first update; it falls to 0 along a cosine.
    pub learning_rate: f32,
    /// Decoupled weight decay per update, as a fraction of the learning rate; biases are exempt.
    pub weight_decay: f32,
    /// Smallest predicted standard deviation, in standardised target units.
    pub std_floor: f32,
    /// Largest predicted standard deviation, in standardised target units.
    pub std_cap: f32,
    /// Seed of the initial weights and of the order of the rows.
    pub seed: u64,
}

impl Default for EnsembleOptions {
    fn default() -> Self {
        Self {
            members: 5,
            hidden: vec![32, 32],
            activation: Activation::Relu,
            steps: 1000,
            batch: 64,
            learning_rate: 3e-3,
            weight_decay: 1e-4,
            std_floor: 0.01,
            std_cap: 10.0,
            seed: 0,
        }
    }
}

impl EnsembleOptions {
    /// Learning rate of update `step`: from `learning_rate` down to 0 along half a cosine.
    pub(super) fn learning_rate_at(&self, step: usize) -> f32 {
        let phase = step as f64 / self.steps as f64;
        (f64::from(self.learning_rate) * 0.5 * (1.0 + (std::f64::consts::PI * phase).cos())) as f32
    }

    pub(super) fn check(&self) -> Result<(), TrainingError> {
        let positive = |value: f32| value.is_finite() && value > 0.0;
        let not_negative = self.weight_decay.is_finite() && self.weight_decay >= 0.0;
        let caps = positive(self.std_cap) && self.std_cap > self.std_floor;
        let rules = [
            (self.members > 0, "members", "at least 1"),
            (!self.hidden.contains(&0), "hidden", "widths of at least 1"),
            (self.steps > 0, "steps", "at least 1"),
            (self.batch > 0, "batch", "at least 1"),
            (positive(self.learning_rate), "learning_rate", "positive"),
            (not_negative, "weight_decay", "0 or positive"),
            (positive(self.std_floor), "std_floor", "positive"),
            (caps, "std_cap", "finite and above `std_floor`"),
        ];
        match rules.into_iter().find(|(holds, _, _)| !holds) {
            Some((_, name, must_be)) => Err(TrainingError::Option { name, must_be }),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learning_rate_falls_to_zero() {
        let options = EnsembleOptions {
            steps: 100,
            ..EnsembleOptions::default()
        };
        assert_eq!(options.learning_rate_at(0), options.learning_rate);
        assert!((options.learning_rate_at(50) / options.learning_rate - 0.5).abs() < 1e-6);
        assert!(options.learning_rate_at(99) < 1e-3 * options.learning_rate);
    }

    #[test]
    fn names_the_wrong_option() {
        assert_eq!(EnsembleOptions::default().check(), Ok(()));
        let wrong = EnsembleOptions {
            std_floor: 20.0,
            ..EnsembleOptions::default()
        };
        let name = match wrong.check() {
            Err(TrainingError::Option { name, .. }) => name,
            other => unreachable!("{other:?}"),
        };
        assert_eq!(name, "std_cap");
    }
}
