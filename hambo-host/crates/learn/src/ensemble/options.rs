//! The options of an ensemble; `presets` holds its usual sizes.

use serde::{Deserialize, Serialize};

use super::error::TrainingError;
use hambo_base::network::{Activation, Initial};

/// A training that needs more would take the memory of the machine; the paper's has a
/// hundredth of it.
const MOST_WEIGHTS: usize = 1 << 27;
/// SVGD compares every two of them.
const MOST_MEMBERS: usize = 1024;
const ABOVE_FLOOR: &str = "finite and above `std_floor`, which is 0.01 unless set";
const TOO_WIDE: &str = "narrower: all networks together may have 2^27 weights";

/// Rows below which training is refused.
pub const MINIMUM_ROWS: usize = 10;

/// How an ensemble is built and trained.
///
/// The objective is the paper's: the sum over all rows of the log likelihood,
/// plus `prior_weight` · log N(theta; 0, I). A minibatch's sum stands for it,
/// times rows / batch.
///
/// ```
/// use hambo_learn::ensemble::{EnsembleOptions, Inference};
///
/// let options = EnsembleOptions { members: 7, seed: 3, ..EnsembleOptions::default() };
/// assert_eq!(options.hidden, [256, 256, 256, 256]);
/// let plain = EnsembleOptions { inference: Inference::Ensemble, ..options };
/// assert_ne!(plain, EnsembleOptions::default());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnsembleOptions {
    /// Whether and how members know of each other.
    pub inference: Inference,
    /// Number of members, K.
    pub members: usize,
    /// Widths of the hidden layers.
    pub hidden: Vec<usize>,
    /// Activation of the hidden layers.
    pub activation: Activation,
    /// Where the weights start.
    pub initial: Initial,
    /// Adam updates per member, unless early stopping ends them.
    pub steps: usize,
    /// Rows per update; all rows where there are fewer.
    pub batch: usize,
    /// Learning rate of the first update.
    pub learning_rate: f32,
    /// How the learning rate goes on.
    pub schedule: Schedule,
    /// Weight of the prior against the likelihood, the paper's first tau.
    pub prior_weight: f32,
    /// Decoupled weight decay per update, as a fraction of the learning rate; biases are exempt.
    pub weight_decay: f32,
    /// Updates between two looks at the validation rows, and between two reports.
    pub check_every: usize,
    /// Looks without improvement after which training stops; only with validation rows. Under
    /// [`Schedule::Cosine`] at least a fifth of all looks.
    pub patience: usize,
    /// Standard deviation of the random function that is added to each member, in
    /// standardised target units; 0 adds none. Training does not change it, so members
    /// disagree by about as much where the log says nothing.
    pub random_prior: f32,
    /// Smallest predicted standard deviation, in standardised target units.
    pub std_floor: f32,
    /// Largest standard deviation that training lets a member predict, in standardised target
    /// units.
    pub std_cap: f32,
    /// Largest that the trained members predict, where it is below `std_cap`. Far from the log the
    /// noise of a member that was trained for long grows without reason. Training does not see
    /// this cap: beyond it there is no derivative that leads back.
    pub noise_cap: f32,
    /// Seed of the initial weights and of the order of the rows.
    pub seed: u64,
}

/// What joins the members.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Inference {
    /// Nothing: each member climbs alone to a mode (a deep ensemble).
    Ensemble,
    /// Stein variational gradient descent: members are particles of the
    /// posterior that push each other apart.
    Svgd(Bandwidth),
}

/// The l of the kernel exp(−‖theta − theta′‖² / (2 l)).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub enum Bandwidth {
    /// One value throughout; the paper's is 10.
    Fixed(f32),
    /// median(‖theta − theta′‖²) / (2 ln(K + 1)) at every update, so that the
    /// particles always feel each other.
    Median,
}

/// The learning rate's way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Schedule {
    /// Stays.
    Constant,
    /// Falls to 0 along half a cosine.
    Cosine,
}

impl EnsembleOptions {
    /// Learning rate of update `step`.
    pub(super) fn learning_rate_at(&self, step: usize) -> f32 {
        match self.schedule {
            Schedule::Constant => self.learning_rate,
            Schedule::Cosine => {
                let phase = step as f64 / self.steps as f64;
                let share = 0.5 * (1.0 + (std::f64::consts::PI * phase).cos());
                (f64::from(self.learning_rate) * share) as f32
            }
        }
    }

    /// Looks without improvement after which training stops. While a falling learning rate is
    /// still high, the loss goes up and down without being at its end.
    #[must_use]
    pub fn patient_looks(&self) -> usize {
        match self.schedule {
            Schedule::Constant => self.patience,
            Schedule::Cosine => self.patience.max(self.steps / self.check_every.max(1) / 5),
        }
    }

    /// Weights between the hidden layers and their biases, of all members.
    fn weights(&self) -> usize {
        let pairs = self.hidden.iter().zip(self.hidden.iter().skip(1));
        let between = pairs.map(|(from, to)| from.saturating_mul(*to));
        let sum = between.chain(self.hidden.iter().copied());
        sum.fold(0, usize::saturating_add)
            .saturating_mul(self.members)
    }

    pub(super) fn check(&self) -> Result<(), TrainingError> {
        let positive = |value: f32| value.is_finite() && value > 0.0;
        let not_negative = |value: f32| value.is_finite() && value >= 0.0;
        let cap = |value: f32| positive(value) && value > self.std_floor;
        let bandwidth = match self.inference {
            Inference::Svgd(Bandwidth::Fixed(bandwidth)) => positive(bandwidth),
            Inference::Ensemble | Inference::Svgd(Bandwidth::Median) => true,
        };
        let decay = not_negative(self.weight_decay);
        let prior = not_negative(self.prior_weight);
        let random = not_negative(self.random_prior);
        let rules = [
            (self.members > 0, "members", "at least 1"),
            (self.members <= MOST_MEMBERS, "members", "at most 1024"),
            (!self.hidden.contains(&0), "hidden", "widths of at least 1"),
            (self.weights() <= MOST_WEIGHTS, "hidden", TOO_WIDE),
            (self.steps > 0, "steps", "at least 1"),
            (self.batch > 0, "batch", "at least 1"),
            (positive(self.learning_rate), "learning_rate", "positive"),
            (bandwidth, "bandwidth", "positive"),
            (prior, "prior_weight", "0 or positive"),
            (random, "random_prior", "0 or positive"),
            (decay, "weight_decay", "0 or positive"),
            (self.check_every > 0, "check_every", "at least 1"),
            (self.patience > 0, "patience", "at least 1"),
            (positive(self.std_floor), "std_floor", "positive"),
            (cap(self.std_cap), "std_cap", ABOVE_FLOOR),
            (cap(self.noise_cap), "noise_cap", ABOVE_FLOOR),
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
    fn learning_rate_falls_to_zero_or_stays() {
        let options = EnsembleOptions {
            steps: 100,
            ..EnsembleOptions::default()
        };
        assert_eq!(options.learning_rate_at(0), options.learning_rate);
        assert!((options.learning_rate_at(50) / options.learning_rate - 0.5).abs() < 1e-6);
        assert!(options.learning_rate_at(99) < 1e-3 * options.learning_rate);
        let schedule = Schedule::Constant;
        let constant = EnsembleOptions {
            schedule,
            ..options
        };
        assert_eq!(constant.learning_rate_at(99), constant.learning_rate);
    }

    #[test]
    fn long_trainings_are_patient_for_a_fifth_of_their_looks() {
        let looks = |steps, schedule| {
            let options = EnsembleOptions {
                steps,
                schedule,
                ..EnsembleOptions::default()
            };
            options.patient_looks()
        };
        assert_eq!(looks(1000, Schedule::Cosine), 10);
        assert_eq!(looks(5000, Schedule::Cosine), 10);
        assert_eq!(looks(40_000, Schedule::Cosine), 80);
        assert_eq!(looks(40_000, Schedule::Constant), 10);
    }

    #[test]
    fn names_the_wrong_option() {
        let name = |change: fn(&mut EnsembleOptions)| {
            let mut options = EnsembleOptions::default();
            change(&mut options);
            match options.check() {
                Err(TrainingError::Option { name, .. }) => name,
                _ => "none",
            }
        };
        assert_eq!(name(|_| ()), "none");
        assert_eq!(name(|options| options.std_floor = 20.0), "std_cap");
        assert_eq!(name(|options| options.noise_cap = 0.01), "noise_cap");
        assert_eq!(name(|options| options.noise_cap = f32::NAN), "noise_cap");
        assert_eq!(name(|options| options.prior_weight = -1.0), "prior_weight");
        assert_eq!(name(|options| options.patience = 0), "patience");
        assert_eq!(
            name(|options| options.inference = Inference::Svgd(Bandwidth::Fixed(0.0))),
            "bandwidth"
        );
    }
}
