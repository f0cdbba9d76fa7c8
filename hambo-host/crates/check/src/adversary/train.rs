//! Training an adversary on the hallucinated system (section 4 of the paper):
//! soft actor-critic for CA, clipped double DQN for DA1.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hambo_core::task::Objective;
use hambo_core::task::Variant;

use super::learner::AdversaryLearner;
use super::units::units;
use crate::case::effort::Learning;
use crate::case::parsed_case::ParsedCase;
use crate::reinforcement::{AdversaryProblem, LearningOptions, RoundReport, Value};
use hambo_base::Error;
use hambo_task::image::TrainedAdversary;

/// Rewards are scaled so that a short search changes the return by this much:
/// then the entropy that soft actor-critic is paid for weighs less.
const EFFECT: f32 = 50.0;

/// The share of the return that an adversary is taken to be after at least.
const LEAST_SHARE: f32 = 0.1;

/// Steps of the transitions that networks learn from.
const STEPS: usize = 5;

/// The returns of a case before anybody learns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usual {
    /// Without an adversary.
    pub neutral: f32,
    /// What a short search finds.
    pub worst: f32,
}

impl Usual {
    /// How much there seems to be to take away. A search that found next to
    /// nothing says little: an end of the trajectory may lie beyond, which
    /// takes away much of the return.
    fn effect(self) -> f32 {
        let found = self.neutral - self.worst;
        found.max(LEAST_SHARE * self.neutral.abs()).max(1e-6)
    }
}

/// A network, and what it cost.
#[derive(Clone, Debug)]
pub struct Trained {
    /// The network, for an image.
    pub adversary: TrainedAdversary,
    /// Steps of the model, evaluations included.
    pub model_steps: u64,
    pub gradient_steps: u64,
    pub time: Duration,
}

/// Trains an adversary of a variant against an objective of a case. `usual` gives the size of its
/// returns; `watch` is told of every round and may break off with
/// [`Error::Interrupted`].
///
/// # Errors
/// If the variant has no adversary that learns, or a number is not finite.
pub fn train(
    case: &ParsedCase<'_>,
    variant: Variant,
    objective: Objective,
    usual: Usual,
    learning: &Learning,
    watch: &mut dyn FnMut(&RoundReport) -> ControlFlow<()>,
) -> Result<Trained, Error> {
    let start = Instant::now();
    let image = &case.image;
    let problem = AdversaryProblem::new(image, variant, learning.lanes, learning.seed)?;
    let problem = problem.against(objective);
    let mut problem = problem.with_baseline(usual.neutral);
    let horizon = image.task().horizon as usize;
    let options = LearningOptions {
        hidden: learning.hidden.clone(),
        value: Value::Finite { discount: 1.0 },
        rounds: learning.rounds.clone(),
        batch: learning.batch,
        steps: STEPS.min(horizon),
        waves: true,
        reward_scale: EFFECT / usual.effect(),
        units: Some(units(image, case.case.task.learns_reward())?),
        seed: learning.seed,
        ..LearningOptions::default()
    };
    let mut learner = AdversaryLearner::new(&problem, variant, options)?;
    let mut cost = Cost::new(learning, image.task().horizon);
    while let Some(report) = learner.round(&mut problem)? {
        cost.add(&report);
        if watch(&report).is_break() {
            return Err(Error::Interrupted);
        }
    }
    Ok(Trained {
        adversary: learner.adversary(),
        model_steps: cost.model_steps,
        gradient_steps: cost.gradient_steps,
        time: start.elapsed(),
    })
}

struct Cost {
    evaluation_steps: u64,
    gradient_steps_of_a_round: u64,
    model_steps: u64,
    gradient_steps: u64,
}

impl Cost {
    fn new(learning: &Learning, horizon: u32) -> Self {
        let rounds = &learning.rounds;
        Self {
            evaluation_steps: rounds.evaluation_episodes as u64 * u64::from(horizon),
            gradient_steps_of_a_round: rounds.gradient_steps as u64,
            model_steps: 0,
            gradient_steps: 0,
        }
    }

    fn add(&mut self, report: &RoundReport) {
        let rounds = report.round as u64;
        self.model_steps = report.steps + rounds * self.evaluation_steps;
        self.gradient_steps = rounds * self.gradient_steps_of_a_round;
    }
}
