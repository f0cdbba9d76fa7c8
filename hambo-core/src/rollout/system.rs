//! The system that trajectories run on, and what the model says of one step.

use super::buffers::{Buffers, ControllerRows, StepNoise};
use crate::model::{Model, Noise};
use crate::numeric::elementary::clamp;
use crate::numeric::random::{Stream, standard_normals};
use crate::policy::{Policy, PolicyInputs};
use crate::task::{ConstraintKind, Objective, Task, Variant};

/// The system that trajectories run on.
///
/// ```
/// use hambo_core::numeric::random::Stream;
/// use hambo_core::rollout::{Buffers, Rollout};
/// use hambo_core::task::Objective;
/// use hambo_core::task::Variant;
/// let image = hambo_core::example::image()?;
/// let rollout = Rollout {
///     model: image.model(),
///     policy: image.policy(),
///     task: image.task(),
///     variant: Variant::ContinuousAdversary,
///     objective: Objective::Return,
/// };
/// let mut rows = [[0.0; 2]; 128];
/// let buffers = Buffers::carve(&mut rows, &image.model().dynamics, image.task(), image.policy());
/// let mut buffers = buffers.map_err(|_| "too few rows")?;
/// let streams = [Stream::new(0, 0), Stream::new(0, 1)];
/// rollout.start(&streams, &mut buffers);
/// // No push in the first lane, all the way up in the second.
/// buffers.eta.fill([0.0, 1.0]);
/// let returns = rollout.forward(&streams, &mut buffers);
/// assert!((returns.value[0] + 1.328).abs() < 1e-3);
/// assert!((returns.value[1] + 1.61).abs() < 1e-3);
/// // The constraint's mean over the visited steps: 2 - |s| for 1, 1/2, 1/4, 1/8.
/// let objective = Objective::Constraint(0);
/// let constraint = Rollout { objective, ..rollout }.forward(&streams, &mut buffers);
/// assert!((constraint.value[0] - (2.0 - 1.875 / 4.0)).abs() < 1e-5);
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug)]
pub struct Rollout<'a, P> {
    /// The dynamics and their confidence set.
    pub model: &'a Model<'a>,
    /// The controller under test.
    pub policy: &'a P,
    /// Reward, limits and horizon.
    pub task: &'a Task<'a>,
    /// Who fills in the uncertainty.
    pub variant: Variant,
    /// What is summed along a trajectory.
    pub objective: Objective,
}

impl<P> Clone for Rollout<'_, P> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<P> Copy for Rollout<'_, P> {}

impl<P: Policy> Rollout<'_, P> {
    /// The tape's slot of the objective. A constraint that the task does not
    /// have has a slot that no tape has.
    pub(super) fn objective_slot(&self) -> u16 {
        match self.objective {
            Objective::Return => self.task.reward,
            Objective::Constraint(_) => self
                .task
                .constraint(self.objective)
                .map_or(u16::MAX, |constraint| constraint.slot),
        }
    }

    /// gamma; a constraint's margins are not discounted.
    pub(super) fn discount(&self) -> f32 {
        match self.objective {
            Objective::Return => self.task.discount,
            Objective::Constraint(_) => 1.0,
        }
    }

    /// How steps make up the objective: the return is a sum, as is a mean before
    /// it is divided.
    pub(super) fn kind(&self) -> ConstraintKind {
        let constraint = self.task.constraint(self.objective);
        constraint.map_or(ConstraintKind::Mean, |constraint| constraint.kind)
    }

    /// The rows of s_t in `buffers.states`.
    pub(super) fn state_rows(&self, step: u32) -> Option<core::ops::Range<usize>> {
        let dimension = self.task.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        Some(first..first.checked_add(dimension)?)
    }

    /// The rows of eta_t in `buffers.eta`.
    pub(super) fn eta_rows(&self, step: u32) -> Option<core::ops::Range<usize>> {
        let dimension = self.task.moved_states();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        Some(first..first.checked_add(dimension)?)
    }

    /// The noise of a step, the controller's action, clipped, and what the model
    /// says of it. `None` if there is no such step, or it was stopped.
    pub(super) fn predict<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let slices = &buffers.slices;
        slices.next()?;
        let state = buffers.states.get(self.state_rows(step)?)?;
        self.draw_noise(streams, step, &mut buffers.noise);
        let ControllerRows {
            scratch,
            wanted_action,
            action,
        } = &mut buffers.controller;
        let noise = &*buffers.noise.action;
        let inputs = PolicyInputs {
            step,
            state,
            noise,
            scratch,
            slices,
        };
        self.policy.act(inputs, wanted_action);
        slices.next()?;
        let limits = &self.task.action_limits;
        let limits = limits.low.iter().zip(limits.high);
        for ((row, wanted), (low, high)) in action.iter_mut().zip(wanted_action.iter()).zip(limits)
        {
            for (x, wanted) in row.iter_mut().zip(wanted) {
                *x = clamp(*wanted, *low, *high);
            }
        }
        let (program, features) = (&self.task.program, &mut *buffers.features);
        let physics = &self.task.physics;
        let (features, finite) = physics.see(program, state, buffers.values, features);
        buffers.finite_features = finite;
        let (scratch, prediction) = (&mut *buffers.scratch, &mut buffers.prediction);
        let dynamics = &self.model.dynamics;
        dynamics.predict(features, action, scratch, prediction, slices);
        slices.next()
    }

    /// The random numbers of step `step` for every lane. Each step takes the
    /// same number of draws, whatever the variant and the controller use: the
    /// controller's, the transition's, one for a member, and one for a rare event if the
    /// model has any. The member of a whole trajectory is drawn before the first step, and
    /// after it what stays for the trajectory.
    fn draw_noise<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        noise: &mut StepNoise<'_, B>,
    ) {
        let members = self.model.dynamics.members() as u32;
        let numbers = noise.action.len().saturating_add(noise.state.len()) as u64;
        let first = self.task.initial.draws(self.task.state_dimension());
        let Noise {
            extremes, offsets, ..
        } = &self.model.noise;
        let per_step = numbers.wrapping_add(1).wrapping_add(extremes.draws());
        let before = u64::from(step).wrapping_mul(per_step);
        let (mut events, mut stays) = ([None; B], [None; B]);
        let mut streams = streams.clone();
        let own = streams.iter_mut().zip(&mut stays);
        for ((stream, stays), member) in own.zip(&mut noise.member) {
            stream.skip(first);
            *member = stream.index(members) as usize;
            *stays = offsets.draw(stream);
            stream.skip(before);
        }
        for row in noise.action.iter_mut().chain(noise.state.iter_mut()) {
            standard_normals(&mut streams, row);
        }
        let own = streams.iter_mut().zip(&mut events);
        for ((stream, event), member) in own.zip(&mut noise.member) {
            let of_step = stream.index(members) as usize;
            *event = extremes.draw(stream);
            if self.variant != Variant::TrajectorySamplingInf {
                *member = of_step;
            }
        }
        self.model.noise.shape(noise.state, &events, &stays);
    }
}
