//! Controller and adversary in turns, and the candidates between.

use hambo_core::image::Image;
use serde::{Deserialize, Serialize};

use super::{ImproveOptions, ImproveWatch};
use crate::Error;
use crate::check::adversary::{AdversaryLearner, AdversaryLearnerState, units};
use crate::check::case::Case;
use crate::check::in_lanes::check;
use crate::formats::image::{AlignedBytes, TrainedAdversary, encode_policy};
use crate::formats::log::Log;
use crate::formats::policy::without_return;
use crate::formats::policy::{HostPolicy, PerceptronPolicy};
use crate::formats::task::{Initial, TaskFile};
use crate::reinforcement::{
    AdversaryProblem, ControllerProblem, InputUnits, LearningOptions, SoftActorCritic,
    SoftActorCriticState, TrainedActor,
};

/// A controller that was judged on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The round after which it was judged.
    pub round: usize,
    /// Its lower bound, over fewer trajectories than the final one.
    pub bound: f32,
    /// Its mean under mean propagation.
    pub neutral: f32,
    /// Its network.
    pub actor: TrainedActor,
}

/// The work between two rounds, ready for `serde`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DuelState {
    options: ImproveOptions,
    controller: SoftActorCriticState,
    adversary: AdversaryLearnerState,
    round: usize,
    best: Option<Candidate>,
}

impl DuelState {
    /// Rounds done.
    #[must_use]
    pub fn round(&self) -> usize {
        self.round
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Improved {
    /// The controller with the best bound, of the user's states.
    pub policy: PerceptronPolicy,
    /// It, as it was judged on the way.
    pub candidate: Candidate,
}

/// Improves a controller from a log. `case` holds the model, the task and the
/// effort by which candidates are judged; its own controller is not used.
///
/// # Errors
/// If the log or the task are unfit, a number is not finite, or the watcher
/// broke off.
pub fn improve(
    case: &Case,
    log: &Log,
    options: &ImproveOptions,
    watch: &mut dyn ImproveWatch,
) -> Result<Improved, Error> {
    let mut duel = Duel::begin(case, log, options, watch.resume()?)?;
    while duel.round < options.rounds {
        let report = duel.controller_round()?;
        duel.adversary_round()?;
        duel.round += 1;
        if duel.round.is_multiple_of(options.judge_every) || duel.round == options.rounds {
            duel.judge(case)?;
        }
        let flow = watch.round(&report, duel.best.as_ref());
        watch.keep(&|| duel.state(), flow.is_break())?;
        if flow.is_break() {
            return Err(Error::Interrupted);
        }
    }
    let candidate = duel.best.take().ok_or_else(|| {
        Error::Usage("no controller had a finite bound: log more, or fit a better model".to_owned())
    })?;
    let task = &case.task;
    Ok(Improved {
        policy: without_return(
            candidate.actor.policy(&task.action_low, &task.action_high),
            task,
        ),
        candidate,
    })
}

struct Duel {
    options: ImproveOptions,
    /// Short rollouts from states of the log, under the controller of now.
    rollouts: Case,
    controller: SoftActorCritic,
    adversary: AdversaryLearner,
    round: usize,
    best: Option<Candidate>,
}

impl Duel {
    fn begin(
        case: &Case,
        log: &Log,
        options: &ImproveOptions,
        state: Option<DuelState>,
    ) -> Result<Self, Error> {
        let rollouts = rollouts(case, log, options)?;
        let bytes = rollouts.image(&[])?;
        let image = Image::parse(bytes.as_bytes())?;
        let seed = options.seed;
        let lanes = options.rollouts;
        let own = ControllerProblem::new(&image, options.variant, lanes, seed)?;
        let other = AdversaryProblem::new(&image, options.variant, lanes, seed)?;
        if let Some(state) = state {
            if state.options != *options {
                let text = "the checkpoint was made with other options: give the same ones, \
                            or begin anew without --resume";
                return Err(Error::Usage(text.to_owned()));
            }
            return Ok(Self {
                options: options.clone(),
                controller: SoftActorCritic::resume(&own, state.controller)?,
                adversary: AdversaryLearner::resume(&other, state.adversary)?,
                rollouts,
                round: state.round,
                best: state.best,
            });
        }
        let reward_scale = reward_scale(log);
        let all = units(&image);
        let states = case.task.state_names.len();
        let of_states = InputUnits {
            mean: all.mean.iter().take(states).copied().collect(),
            scale: all.scale.iter().take(states).copied().collect(),
        };
        let controller = options.controller(reward_scale, of_states);
        let adversary = LearningOptions {
            seed: seed.wrapping_add(1),
            ..options.learning(options.adversary_steps, reward_scale, all)
        };
        Ok(Self {
            options: options.clone(),
            controller: SoftActorCritic::new(&own, controller)?,
            adversary: AdversaryLearner::new(&other, options.variant, adversary)?,
            rollouts,
            round: 0,
            best: None,
        })
    }

    fn state(&self) -> DuelState {
        DuelState {
            options: self.options.clone(),
            controller: self.controller.state().clone(),
            adversary: self.adversary.state(),
            round: self.round,
            best: self.best.clone(),
        }
    }

    /// The controller learns against the adversary of now; in the first round
    /// there is none.
    fn controller_round(&mut self) -> Result<crate::reinforcement::RoundReport, Error> {
        let adversaries: Vec<TrainedAdversary> = match self.round {
            0 => Vec::new(),
            _ => vec![self.adversary.adversary()],
        };
        let bytes = self.rollouts.image(&adversaries)?;
        let image = Image::parse(bytes.as_bytes())?;
        let options = &self.options;
        let mut problem =
            ControllerProblem::new(&image, options.variant, options.rollouts, options.seed)?;
        let report = self.controller.round(&mut problem)?;
        report.ok_or_else(|| Error::Usage("the checkpoint's learner is at its end".to_owned()))
    }

    /// The adversary learns against the controller of now, with its chance.
    fn adversary_round(&mut self) -> Result<(), Error> {
        let task = &self.rollouts.task;
        let actor = self.controller.last_actor();
        let policy = actor.stochastic_policy(&task.action_low, &task.action_high);
        let policy_part = encode_policy(&HostPolicy::Perceptron(policy))?;
        self.rollouts.policy_part = policy_part;
        let bytes = self.rollouts.image(&[])?;
        let image = Image::parse(bytes.as_bytes())?;
        let options = &self.options;
        let mut problem =
            AdversaryProblem::new(&image, options.variant, options.rollouts, options.seed)?;
        self.adversary.round(&mut problem)?;
        Ok(())
    }

    /// Judges the controller of now on the task itself, and keeps the best.
    fn judge(&mut self, case: &Case) -> Result<(), Error> {
        let actor = self.controller.last_actor();
        let policy = actor.policy(&case.task.action_low, &case.task.action_high);
        let mut case = case.clone();
        case.policy_part = encode_policy(&HostPolicy::Perceptron(policy))?;
        let bytes: AlignedBytes = case.image(&[])?;
        let outcome = check(&Image::parse(bytes.as_bytes())?)?;
        let better = self
            .best
            .as_ref()
            .is_none_or(|best| outcome.bound > best.bound);
        if outcome.bound.is_finite() && better {
            self.best = Some(Candidate {
                round: self.round,
                bound: outcome.bound,
                neutral: outcome.neutral,
                actor,
            });
        }
        Ok(())
    }
}

/// The task on short rollouts from the states of the log.
fn rollouts(case: &Case, log: &Log, options: &ImproveOptions) -> Result<Case, Error> {
    let mut task: TaskFile = case.task.clone();
    task.horizon = options.horizon;
    task.initial = Initial::Data;
    task.method.variants.clear();
    task.method.variants.extend([options.variant]);
    // Some controller must stand in the image; nobody asks it.
    let idle = HostPolicy::parse(
        &format!(
            "kind = \"constant\"\nvalue = {:?}",
            vec![0.0; task.action_names.len()]
        ),
        "idle",
        &task,
    )?;
    Ok(Case {
        initial: log.rows().flat_map(|row| row.state.to_vec()).collect(),
        policy_part: encode_policy(&idle)?,
        task,
        ..case.clone()
    })
}

/// Rewards of about one learn well.
fn reward_scale(log: &Log) -> f32 {
    let (mut sum, mut count) = (0.0_f64, 0.0_f64);
    for row in log.rows() {
        sum += f64::from(row.reward.abs());
        count += 1.0;
    }
    let usual = (sum / count) as f32;
    if usual > 0.0 && usual.is_finite() {
        1.0 / usual
    } else {
        1.0
    }
}
