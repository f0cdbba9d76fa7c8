//! Options that both learners share: what is learnt, in which units, and for how long.

use serde::{Deserialize, Serialize};

use super::error::ReinforcementError;
use super::problem::decision::Problem;

/// What the critics predict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    /// The discounted sum without an end. The horizon only cuts the rollouts:
    /// the state after it still has a value (as Gymnasium's truncation).
    Endless {
        /// Below 1.
        discount: f32,
    },
    /// The sum to the end of the horizon, the paper's return. Critics see the
    /// time, and nothing follows the horizon. The actor does not see it: an
    /// adversary of the core is a function of (s, a) alone.
    Finite {
        /// 1 for the plain sum.
        discount: f32,
    },
}

impl Value {
    pub(super) fn discount(self) -> f32 {
        match self {
            Self::Endless { discount } | Self::Finite { discount } => discount,
        }
    }

    /// Inputs of the critics for the time.
    pub(super) fn time_inputs(self) -> usize {
        match self {
            Self::Endless { .. } => 0,
            Self::Finite { .. } => 1,
        }
    }

    /// 1 where the state after a step has a value.
    pub(super) fn bootstrap(self, terminated: bool, last: bool) -> f32 {
        let over = match self {
            Self::Endless { .. } => terminated,
            Self::Finite { .. } => terminated || last,
        };
        if over { 0.0 } else { 1.0 }
    }
}

/// How long learning lasts: rounds of whole episodes, then gradient steps.
///
/// ```
/// use hambo_check::reinforcement::Rounds;
/// // The paper's: 1000 episodes, then 1000 gradient steps.
/// let rounds = Rounds::default();
/// assert_eq!((rounds.episodes, rounds.gradient_steps), (1000, 1000));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// The most rounds.
    pub rounds: usize,
    /// Episodes of a round.
    pub episodes: usize,
    /// Gradient steps after them.
    pub gradient_steps: usize,
    /// Episodes of random actions before the first round.
    pub random_episodes: usize,
    /// Episodes without exploration after every round, always the same ones,
    /// that tell which weights to keep; 0 keeps the last.
    pub evaluation_episodes: usize,
    /// Evaluations without a better one after which learning stops.
    pub patience: usize,
    /// If given, steps are counted instead, which matters where episodes may end early: random
    /// ones go on until they fill as many horizons, a round takes one gradient step for each of
    /// its own steps, and no round begins that might lead beyond this many steps in all.
    pub most_steps: Option<u64>,
}

impl Default for Rounds {
    fn default() -> Self {
        Self {
            rounds: 50,
            episodes: 1000,
            gradient_steps: 1000,
            random_episodes: 0,
            evaluation_episodes: 1000,
            patience: 10,
            most_steps: None,
        }
    }
}

impl Rounds {
    pub(super) fn check(&self) -> Result<(), ReinforcementError> {
        let least = |value: usize, name| at_least_one(value, name);
        least(self.rounds, "rounds")?;
        least(self.episodes, "episodes")?;
        least(self.gradient_steps, "gradient_steps")?;
        least(self.patience, "patience")
    }
}

/// Fixed units of the observations: networks see (x − mean) / scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputUnits {
    /// Mean of each number.
    pub mean: Vec<f32>,
    /// Standard deviation of each number, or 1.
    pub scale: Vec<f32>,
}

impl InputUnits {
    /// Observations as they are.
    #[must_use]
    pub fn plain(size: usize) -> Self {
        Self {
            mean: vec![0.0; size],
            scale: vec![1.0; size],
        }
    }

    /// Brings rows of observations into these units, by the core's own formula.
    pub(super) fn apply(&self, observations: &mut [f32]) {
        for row in observations.chunks_exact_mut(self.mean.len()) {
            for ((x, mean), scale) in row.iter_mut().zip(&self.mean).zip(&self.scale) {
                *x = (*x - mean) * (1.0 / scale);
            }
        }
    }

    /// The given units, or plain ones, if they fit the problem.
    pub(super) fn of(
        given: Option<&Self>,
        problem: &dyn Problem,
    ) -> Result<Self, ReinforcementError> {
        let size = problem.observation_size();
        let units = given.cloned().unwrap_or_else(|| Self::plain(size));
        let sound = units.mean.len() == size
            && units.scale.len() == size
            && units.mean.iter().all(|mean| mean.is_finite())
            && units.scale.iter().all(|scale| positive(*scale));
        if sound {
            Ok(units)
        } else {
            Err(ReinforcementError::Option {
                name: "units",
                must_be: "a finite mean and a positive scale for each number of the observation",
            })
        }
    }
}

/// What both learners are told; the defaults are the paper's.
///
/// ```
/// use hambo_check::reinforcement::LearningOptions;
/// let options = LearningOptions { seed: 3, ..LearningOptions::default() };
/// assert_eq!((options.hidden.as_slice(), options.batch), (&[256, 256][..], 1024));
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LearningOptions {
    /// Widths of the hidden layers of all networks.
    pub hidden: Vec<usize>,
    /// What the critics predict.
    pub value: Value,
    /// How many episodes and gradient steps, in which order.
    pub rounds: Rounds,
    /// Transitions of a gradient step.
    pub batch: usize,
    /// The most transitions that are kept to learn from.
    pub replay: usize,
    /// Adam's rate.
    pub learning_rate: f32,
    /// How far the targets move towards the critics in each step.
    pub polyak: f32,
    /// Steps of a transition: 1, or more where the horizon ends values. More
    /// bring what happens late to early states sooner, and trust older actions.
    pub steps: usize,
    /// Whether square waves take the place of random actions before the first
    /// round, and of some episodes in every later one.
    pub waves: bool,
    /// Factor of all rewards; values of order 1 to 100 learn best.
    pub reward_scale: f32,
    /// Units of the observations; as they are if none.
    pub units: Option<InputUnits>,
    /// Seed of all random numbers of the learner.
    pub seed: u64,
}

impl Default for LearningOptions {
    fn default() -> Self {
        Self {
            hidden: vec![256; 2],
            value: Value::Finite { discount: 1.0 },
            rounds: Rounds::default(),
            batch: 1024,
            replay: 1_000_000,
            learning_rate: 1e-3,
            polyak: 0.005,
            steps: 1,
            waves: false,
            reward_scale: 1.0,
            units: None,
            seed: 0,
        }
    }
}

impl LearningOptions {
    /// Of the value after a transition.
    pub(super) fn later_discount(&self) -> f32 {
        self.value.discount().powf(self.steps as f32)
    }

    pub(super) fn check(&self) -> Result<(), ReinforcementError> {
        let discount = self.value.discount();
        let discounted = match self.value {
            Value::Endless { .. } => (0.0..1.0).contains(&discount),
            Value::Finite { .. } => discount > 0.0 && discount <= 1.0,
        };
        at_least_one(self.batch, "batch")?;
        at_least_one(self.replay, "replay")?;
        let endless = matches!(self.value, Value::Endless { .. });
        let steps = self.steps == 1 || (self.steps > 1 && !endless);
        ensure_option(steps, "steps", "1, or more where the horizon ends values")?;
        let widths = !self.hidden.is_empty() && !self.hidden.contains(&0);
        ensure_option(widths, "hidden", "at least one width, all of them positive")?;
        let must_be = "in [0, 1) without an end, in (0, 1] with a horizon";
        ensure_option(discounted, "discount", must_be)?;
        ensure_option(positive(self.learning_rate), "learning_rate", "positive")?;
        let polyak = positive(self.polyak) && self.polyak <= 1.0;
        ensure_option(polyak, "polyak", "in (0, 1]")?;
        ensure_option(positive(self.reward_scale), "reward_scale", "positive")?;
        self.rounds.check()
    }
}

pub(super) fn positive(value: f32) -> bool {
    value.is_finite() && value > 0.0
}

pub(super) fn ensure_option(
    rule: bool,
    name: &'static str,
    must_be: &'static str,
) -> Result<(), ReinforcementError> {
    if rule {
        Ok(())
    } else {
        Err(ReinforcementError::Option { name, must_be })
    }
}

fn at_least_one(value: usize, name: &'static str) -> Result<(), ReinforcementError> {
    ensure_option(value > 0, name, "at least 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_horizon_ends_finite_values_only() {
        let endless = Value::Endless { discount: 0.9 };
        let finite = Value::Finite { discount: 1.0 };
        let case = |value: Value| {
            [(false, false), (false, true), (true, false)]
                .map(|(terminated, last)| value.bootstrap(terminated, last))
        };
        assert_eq!(case(endless), [1.0, 1.0, 0.0]);
        assert_eq!(case(finite), [1.0, 0.0, 0.0]);
    }

    #[test]
    fn units_are_applied_row_by_row() {
        let units = InputUnits {
            mean: vec![1.0, 0.0],
            scale: vec![2.0, 0.5],
        };
        let mut rows = [3.0, 1.0, 1.0, -1.0];
        units.apply(&mut rows);
        assert_eq!(rows, [1.0, 2.0, 0.0, -2.0]);
    }
}
