//! Controller and adversary in turns, and the candidates between.

use hambo_core::image::Image;
use serde::{Deserialize, Serialize};

use super::log_rows::{LoggedRows, reward_scale};
use super::options::ImproveOptions;
use crate::adversary::{AdversaryLearner, AdversaryLearnerState, units};
use crate::case::Case;
use crate::evidence::fitness::Standing;
use crate::outcome::reasons::reasons;
use crate::reinforcement::{
    AdversaryProblem, ControllerProblem, InputUnits, LearningOptions, RoundReport, SoftActorCritic,
    SoftActorCriticState, TrainedActor,
};
use crate::search::parallel::{LANES, Watch, check};
use hambo_base::Error;
use hambo_base::observer::{Observer, Progress};
use hambo_data::Log;
use hambo_task::image::{Adversaries, AlignedBytes, encode_adversary, encode_policy};
use hambo_task::policy::{HostPolicy, PerceptronPolicy, without_return};
use hambo_task::task::{Initial, TaskFile};

/// A controller that was judged on the way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Candidate {
    /// The round after which it was judged.
    pub round: usize,
    /// Whether its check can be relied on.
    pub standing: Standing,
    /// Why not, in sentences; or why it does not reach the threshold.
    pub reasons: Vec<String>,
    /// Its lower bound, over fewer trajectories than the final one.
    pub bound: f32,
    /// Its mean under mean propagation.
    pub neutral: f32,
    /// Its network.
    pub actor: TrainedActor,
}

/// The work between two rounds, ready for `serde`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ImproveState {
    options: ImproveOptions,
    controller: SoftActorCriticState,
    adversary: AdversaryLearnerState,
    round: usize,
    average: Option<TrainedActor>,
    best: Option<Candidate>,
}

impl ImproveState {
    /// Rounds done.
    #[must_use]
    pub fn round(&self) -> usize {
        self.round
    }
}

/// What came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Improved {
    /// The controller with the best bound among those of the best standing, of the user's
    /// states.
    pub policy: PerceptronPolicy,
    /// It, as it was judged on the way.
    pub candidate: Candidate,
}

/// Improves a controller from a log. `case` holds the model, the task and the
/// effort by which candidates are judged; its own controller is not used.
///
/// # Errors
/// If the log or the task are unfit, a number is not finite, or the observer
/// stopped it.
pub fn improve(
    case: &Case,
    log: &Log,
    options: &ImproveOptions,
    observer: &mut dyn Observer,
) -> Result<Improved, Error> {
    // Model, task and initial states are encoded and parsed here, once: in the rounds
    // only the network that changed is.
    let any_controller = idle_controller(&case.task)?;
    let rollouts = rollouts(case, log, options, &any_controller).image(&Adversaries::default())?;
    let judged = Case {
        policy_part: any_controller,
        ..case.clone()
    };
    let judged = judged.image(&Adversaries::default())?;
    let images = Images {
        rollouts: Image::parse(rollouts.as_bytes())?,
        judged: Image::parse(judged.as_bytes())?,
    };
    let task = &case.task;
    let state = observer.resumed()?;
    let mut improvement = Improvement::begin(&images, task, log, options, state)?;
    observer.report(Progress {
        done: improvement.round,
        planned: options.rounds,
        message: "improving".to_owned(),
    })?;
    while improvement.round < options.rounds {
        let report = improvement.controller_round()?;
        improvement.adversary_round()?;
        improvement.round += 1;
        let last = improvement.round == options.rounds;
        if last || improvement.round.is_multiple_of(options.judge_every) {
            improvement.judge()?;
        }
        let progress = improvement.progress(&report);
        observer.report_with_state(progress, || improvement.state())?;
    }
    let candidate = improvement.best.take().ok_or_else(|| {
        Error::Usage("no controller had a finite bound: log more, or fit a better model".to_owned())
    })?;
    Ok(Improved {
        policy: without_return(
            candidate.actor.policy(&task.action_low, &task.action_high),
            task,
        ),
        candidate,
    })
}

/// Model and task, parsed.
struct Images<'a> {
    /// Short rollouts from states of the log.
    rollouts: Image<'a>,
    /// The task itself.
    judged: Image<'a>,
}

struct Improvement<'a> {
    images: &'a Images<'a>,
    task: &'a TaskFile,
    options: ImproveOptions,
    controller: SoftActorCritic,
    adversary: AdversaryLearner,
    round: usize,
    /// Of the controllers since they began to learn.
    average: Option<TrainedActor>,
    best: Option<Candidate>,
}

impl<'a> Improvement<'a> {
    fn begin(
        images: &'a Images<'a>,
        task: &'a TaskFile,
        log: &Log,
        options: &ImproveOptions,
        state: Option<ImproveState>,
    ) -> Result<Self, Error> {
        let (variant, lanes, seed) = (options.variant, options.rollouts, options.seed);
        let own = ControllerProblem::new(&images.rollouts, variant, lanes, seed)?;
        let other = AdversaryProblem::new(&images.rollouts, variant, lanes, seed)?;
        let (mut controller, adversary, round, average, best) = match state {
            Some(state) if state.options != *options => {
                let text = "the checkpoint was made with other options: give the same ones, \
                            or begin anew without --resume";
                return Err(Error::Usage(text.to_owned()));
            }
            Some(state) => (
                SoftActorCritic::resume(&own, state.controller)?,
                AdversaryLearner::resume(&other, state.adversary)?,
                state.round,
                state.average,
                state.best,
            ),
            None => {
                let reward_scale = reward_scale(log);
                let all = units(&images.rollouts, task.learns_reward())?;
                let states = task.state_names.len();
                let of_states = InputUnits {
                    mean: all.mean.iter().take(states).copied().collect(),
                    scale: all.scale.iter().take(states).copied().collect(),
                };
                let controller = options.controller(reward_scale, of_states);
                let adversary = LearningOptions {
                    seed: seed.wrapping_add(1),
                    ..options.learning(options.adversary_steps, reward_scale, all)
                };
                (
                    SoftActorCritic::new(&own, controller)?,
                    AdversaryLearner::new(&other, variant, adversary)?,
                    0,
                    None,
                    None,
                )
            }
        };
        if options.logged_share > 0.0 || options.imitation_steps > 0 {
            if options.logged_share > 0.0 && task.termination.is_some() {
                let text = "logged_share: the task terminates, and a log does not say which of \
                            its rows did; give 0";
                return Err(Error::Usage(text.to_owned()));
            }
            let rows = LoggedRows::of(log, task);
            controller.learn_from_log(rows.steps(), options.logged_share)?;
            if round == 0 {
                controller.imitate(options.imitation_steps);
            }
        }
        Ok(Self {
            images,
            task,
            options: options.clone(),
            controller,
            adversary,
            round,
            average,
            best,
        })
    }

    fn state(&self) -> ImproveState {
        ImproveState {
            options: self.options.clone(),
            controller: self.controller.state().clone(),
            adversary: self.adversary.state(),
            round: self.round,
            average: self.average.clone(),
            best: self.best.clone(),
        }
    }

    fn progress(&self, report: &RoundReport) -> Progress {
        let best = self.best.as_ref();
        let bound = best.map_or_else(String::new, |best| {
            format!(", best bound {:.1}", best.bound)
        });
        Progress {
            done: report.round,
            planned: report.rounds,
            message: format!("return {:.1}{bound}", report.training_return),
        }
    }

    /// The controller learns against the current adversary; in the first round
    /// there is none.
    fn controller_round(&mut self) -> Result<RoundReport, Error> {
        let options = &self.options;
        let (variant, lanes, seed) = (options.variant, options.rollouts, options.seed);
        let part;
        let image = match self.round {
            0 => self.images.rollouts.clone(),
            _ => {
                part = AlignedBytes::new(&encode_adversary(&self.adversary.adversary())?);
                self.images.rollouts.with_adversary(part.as_bytes())?
            }
        };
        let left = if options.anneal {
            1.0 - self.round as f32 / options.rounds as f32
        } else {
            1.0
        };
        let learns = self.round >= options.critic_rounds;
        let rate = left * options.actor_rate * options.learning_rate;
        self.controller.set_actor_rate(learns.then_some(rate));
        let mut problem = ControllerProblem::new(&image, variant, lanes, seed)?;
        let report = self.controller.round(&mut problem)?;
        let now = self.controller.last_actor();
        self.average = Some(
            match self
                .average
                .take()
                .filter(|_| learns && options.averaging > 0.0)
            {
                Some(average) => average.towards(&now, 1.0 - options.averaging),
                None => now,
            },
        );
        report.ok_or_else(|| Error::Usage("the checkpoint's learner is at its end".to_owned()))
    }

    /// The adversary learns against the current controller, with its random part.
    fn adversary_round(&mut self) -> Result<(), Error> {
        let options = &self.options;
        let (variant, lanes, seed) = (options.variant, options.rollouts, options.seed);
        let actor = self.controller.last_actor();
        let (low, high) = (&self.task.action_low, &self.task.action_high);
        let part = controller_part(actor.stochastic_policy(low, high))?;
        let image = self.images.rollouts.with_policy(part.as_bytes())?;
        let mut problem = AdversaryProblem::new(&image, variant, lanes, seed)?;
        self.adversary.round(&mut problem)?;
        Ok(())
    }

    /// Judges the current controller on the task itself, and keeps the best: no bound makes up
    /// for unfit evidence or a broken constraint.
    fn judge(&mut self) -> Result<(), Error> {
        let now = || self.controller.last_actor();
        let actor = self.average.clone().unwrap_or_else(now);
        let part = controller_part(actor.policy(&self.task.action_low, &self.task.action_high))?;
        let image = self.images.judged.with_policy(part.as_bytes())?;
        let outcome = check::<LANES>(&image, Watch::NONE)?.outcome;
        let standing = Standing::of(&outcome);
        let best = self.best.as_ref().map(|best| (best.standing, best.bound));
        if is_better((standing, outcome.bound), best) {
            self.best = Some(Candidate {
                round: self.round,
                standing,
                reasons: reasons(self.task, &outcome),
                bound: outcome.bound,
                neutral: outcome.neutral,
                actor,
            });
        }
        Ok(())
    }
}

/// Whether a candidate is to be kept instead of the best so far: by its standing, and among
/// equals by its bound.
fn is_better(new: (Standing, f32), best: Option<(Standing, f32)>) -> bool {
    new.1.is_finite() && best.is_none_or(|best| new > best)
}

fn controller_part(policy: PerceptronPolicy) -> Result<AlignedBytes, Error> {
    let part = encode_policy(&HostPolicy::Perceptron(policy))?;
    Ok(AlignedBytes::new(&part))
}

/// The part of a controller that does nothing. Some controller must stand in an image.
fn idle_controller(task: &TaskFile) -> Result<Vec<u8>, Error> {
    let zeros = vec![0.0; task.action_names.len()];
    let text = format!("kind = \"constant\"\nvalue = {zeros:?}");
    Ok(encode_policy(&HostPolicy::parse(&text, "idle", task)?)?)
}

/// The task on short rollouts from the states of the log.
fn rollouts(case: &Case, log: &Log, options: &ImproveOptions, controller: &[u8]) -> Case {
    let mut task: TaskFile = case.task.clone();
    task.horizon = options.horizon;
    task.initial = Initial::Data { always: false };
    Case {
        initial: log.rows().flat_map(|row| row.state.to_vec()).collect(),
        policy_part: controller.to_vec(),
        plan: case.plan.clone().with_variants([options.variant]),
        task,
        ..case.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_bound_makes_up_for_unfit_evidence_or_a_broken_constraint() {
        let sound = (Standing::Sound, -100.0);
        let breaking = (Standing::BreaksConstraint, 0.0);
        let unfit = (Standing::Unfit, 100.0);
        assert!(is_better(sound, Some(breaking)) && !is_better(breaking, Some(sound)));
        assert!(is_better(breaking, Some(unfit)) && !is_better(unfit, Some(breaking)));
        assert!(is_better((Standing::Sound, -99.0), Some(sound)));
        assert!(!is_better(sound, Some(sound)) && is_better(unfit, None));
        assert!(!is_better((Standing::Sound, f32::NAN), None));
    }
}
