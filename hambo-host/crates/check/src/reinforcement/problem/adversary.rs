//! The adversary's problem: a fixed controller, and a choice inside the
//! model's uncertainty in every step.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hambo_core::adversary::searches;
use hambo_core::image::Image;
use hambo_core::numeric::CapacityError;
use hambo_core::policy::{Policy, StoredPolicy};
use hambo_core::rollout::Rollout;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use rayon::prelude::*;

use super::decision::{Actions, Problem};
use super::lane_group::{LaneGroup, WIDTH, gather, transpose};
use super::pay::Pay;
use hambo_base::Error;

/// Copies of the hallucinated system under an image's controller.
///
/// ```
/// use hambo_core::task::Variant;
/// use hambo_check::reinforcement::{Actions, AdversaryProblem, Problem};
///
/// let image = hambo_core::example::image()?;
/// let mut problem = AdversaryProblem::new(&image, Variant::ContinuousAdversary, 3, 0)?;
/// assert_eq!((problem.actions(), problem.observation_size()), (Actions::Continuous(1), 2));
/// let mut seen = [0.0; 6];
/// problem.observe(&mut seen);
/// assert_eq!(seen[..2], [1.0, -0.5]);
/// let (mut rewards, mut terminated) = ([0.0; 3], [true; 3]);
/// problem.step(&[0.0, 1.0, -1.0], &mut rewards, &mut terminated)?;
/// // The controller's reward is -1, and what the adversary chose shows in s'.
/// assert_eq!(rewards, [1.0; 3]);
/// problem.observe(&mut seen);
/// assert!(seen[2] > seen[0] && seen[0] > seen[4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct AdversaryProblem<'a> {
    rollout: Rollout<'a, StoredPolicy<'a>>,
    lanes: usize,
    seed: u64,
    pay: Pay,
    groups: Vec<Mutex<ObservedGroup>>,
}

/// A group, and what its adversary sees.
struct ObservedGroup {
    group: LaneGroup,
    /// (s, a), one row for each lane, once the controller has acted.
    seen: Option<Vec<f32>>,
}

impl<'a> AdversaryProblem<'a> {
    /// `lanes` copies; the seed decides their chance.
    ///
    /// # Errors
    /// If the variant has no adversary that learns, or is none of the task's.
    pub fn new(
        image: &'a Image<'a>,
        variant: Variant,
        lanes: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        if !searches(variant) || !image.task().plan.method.variants.contains(&variant) {
            let text = "an adversary can be trained for ca and da1, where the task has them";
            return Err(Error::Usage(text.to_owned()));
        }
        let rollout = Rollout {
            model: image.model(),
            policy: image.policy(),
            task: image.task(),
            variant,
            objective: Objective::Return,
        };
        let group = |_| {
            Ok(Mutex::new(ObservedGroup {
                group: LaneGroup::new(&rollout)?,
                seen: None,
            }))
        };
        let groups = (0..lanes.div_ceil(WIDTH)).map(group);
        Ok(Self {
            rollout,
            lanes,
            seed,
            pay: Pay::each_step(),
            groups: groups.collect::<Result<_, CapacityError>>()?,
        })
    }
}

impl AdversaryProblem<'_> {
    /// The same against another objective than the return. Of a constraint, whose mean
    /// over the visited steps counts, the adversary earns the sum.
    #[must_use]
    pub fn against(mut self, objective: Objective) -> Self {
        self.rollout.objective = objective;
        self
    }

    /// Pays the adversary what it takes off this return: over an episode it
    /// earns `baseline` minus the task's discounted return, however early the
    /// episode ends. Learners like small numbers, and ending an episode that
    /// earned the controller something must be worth as much.
    #[must_use]
    pub fn with_baseline(self, baseline: f32) -> Self {
        let pay = Pay::below(baseline, self.rollout.task);
        Self { pay, ..self }
    }
}

impl ObservedGroup {
    /// Lets the controller act, unless it has.
    fn observe<P: Policy>(&mut self, rollout: &Rollout<'_, P>, seed: u64) -> Option<&[f32]> {
        if self.seen.is_none() {
            let streams = self.group.streams(seed);
            let mut buffers = self.group.buffers(rollout).ok()?;
            let observed = rollout.observe(&streams, 0, &mut buffers)?;
            let columns = observed.state.len() + observed.action.len();
            let mut rows = vec![0.0; WIDTH * columns];
            transpose(observed.state, &mut rows, columns, 0);
            transpose(observed.action, &mut rows, columns, observed.state.len());
            self.seen = Some(rows);
        }
        self.seen.as_deref()
    }

    /// One step with these choices; false if there was no room for it.
    fn step<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        seed: u64,
        pay: &Pay,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Option<()> {
        self.observe(rollout, seed)?;
        self.seen = None;
        let (dimension, moved) = (rollout.task.state_dimension(), rollout.task.moved_states());
        let mut buffers = self.group.buffers(rollout).ok()?;
        if rollout.variant == Variant::ContinuousAdversary {
            gather(actions, moved, buffers.eta.get_mut(..moved)?);
        } else {
            let chosen = buffers.members.chosen.first_mut()?;
            for (member, action) in chosen.iter_mut().zip(actions) {
                *member = *action as u16;
            }
        }
        let result = rollout.transition(0, &mut buffers)?;
        let lanes = rewards.iter_mut().zip(terminated).zip(self.group.times());
        let found = result.reward.iter().zip(&result.terminal);
        for (((reward, terminated), time), ((found, terminal), finite)) in
            lanes.zip(found.zip(&result.finite))
        {
            *reward = if *finite {
                pay.of(*time, *found, *terminal)
            } else {
                f32::NAN
            };
            *terminated = *terminal;
        }
        self.group.advance(dimension);
        Some(())
    }
}

fn lock(group: &Mutex<ObservedGroup>) -> MutexGuard<'_, ObservedGroup> {
    group.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Problem for AdversaryProblem<'_> {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn observation_size(&self) -> usize {
        let Rollout { model, task, .. } = &self.rollout;
        task.state_dimension() + model.dynamics.action_dimension()
    }

    fn actions(&self) -> Actions {
        let dynamics = &self.rollout.model.dynamics;
        match self.rollout.variant {
            Variant::ContinuousAdversary => Actions::Continuous(dynamics.outputs()),
            _ => Actions::Discrete(dynamics.members()),
        }
    }

    fn horizon(&self) -> usize {
        self.rollout.task.horizon as usize
    }

    fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error> {
        if let Some(group) = self.groups.get_mut(lane / WIDTH) {
            let group = group.get_mut().unwrap_or_else(PoisonError::into_inner);
            group
                .group
                .start(&self.rollout, lane % WIDTH, episode, self.seed);
            group.seen = None;
        }
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        let chunk = WIDTH * self.observation_size();
        let parts = observations.par_chunks_mut(chunk);
        parts.zip(&self.groups).for_each(|(part, group)| {
            if let Some(seen) = lock(group).observe(&self.rollout, self.seed) {
                part.copy_from_slice(seen.get(..part.len()).unwrap_or_default());
            } else {
                part.fill(f32::NAN);
            }
        });
    }

    fn step(
        &mut self,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        let parts = actions.par_chunks(WIDTH * self.actions().numbers());
        let parts = parts
            .zip(rewards.par_chunks_mut(WIDTH))
            .zip(terminated.par_chunks_mut(WIDTH));
        let (rollout, seed, pay) = (&self.rollout, self.seed, &self.pay);
        parts
            .zip(&self.groups)
            .for_each(|(((actions, rewards), terminated), group)| {
                let mut group = lock(group);
                let done = group.step(rollout, seed, pay, actions, rewards, terminated);
                if done.is_none() {
                    rewards.fill(f32::NAN);
                }
            });
        Ok(())
    }
}
