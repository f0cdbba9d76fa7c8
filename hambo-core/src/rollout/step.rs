//! One step of the hallucinated system (equation (1) of the paper), in two
//! halves. [`Rollout::observe`]: what the controller does and the model says
//! of it. [`Rollout::transition`]: where the adversary's choice then leads,
//! what that is worth, and whether the trajectory ends. Between them whoever
//! plays the adversary has observed (s, a), and may write `buffers.eta` or
//! `buffers.members`.

use super::buffers::Buffers;
use super::system::Rollout;
use crate::model::{LogPlace, Prediction};
use crate::numeric::elementary::clamp;
use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::task::expression::{Comparison, Inputs};
use crate::task::{Objective, Variant};

/// (s, a): what the adversary observes of a step.
#[derive(Clone, Copy, Debug)]
pub struct StateAction<'r, const B: usize> {
    /// s.
    pub state: &'r [[f32; B]],
    /// a, clipped to the task's limits.
    pub action: &'r [[f32; B]],
}

/// Where a step led, lane by lane.
#[derive(Clone, Copy, Debug)]
pub struct StepResult<const B: usize> {
    /// The objective's share of this step, undiscounted.
    pub reward: [f32; B],
    /// Whether the task's termination holds.
    pub terminal: [bool; B],
    /// False if a number was not finite.
    pub finite: [bool; B],
    /// True if the reward overflowed to minus infinity.
    pub overflow: [bool; B],
    /// True if the lane is watched and its state or action lay outside the data's
    /// support.
    pub outside: [bool; B],
    /// True if it lay far outside.
    pub far_outside: [bool; B],
    /// False if the reward lay outside the bounds that the task states.
    pub within_bounds: [bool; B],
    /// True if the model is uncertain of any state.
    pub width: [bool; B],
}

impl<P: Policy> Rollout<'_, P> {
    /// The first half of step `step`: the noise, the controller's action and
    /// the model's prediction. `None` if `buffers` hold no such step, or a pause
    /// stopped it.
    pub fn observe<'s, const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        buffers: &'s mut Buffers<'_, B>,
    ) -> Option<StateAction<'s, B>> {
        self.predict(streams, step, buffers)?;
        Some(StateAction {
            state: buffers.states.get(self.state_rows(step)?)?,
            action: buffers.controller.action,
        })
    }

    /// The second half, right after [`Rollout::observe`]: the next state, by the
    /// adversary's choice for this step, and what it is worth.
    pub fn transition<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<StepResult<B>> {
        let this = self.state_rows(step)?;
        let (states, later) = buffers.states.split_at_mut_checked(this.end)?;
        let state = states.get(this.start..)?;
        let next = later.get_mut(..state.len())?;
        let action = &*buffers.controller.action;
        self.next_state_moments(
            &buffers.prediction,
            buffers.scratch,
            buffers.eta.get(self.eta_rows(step)?)?,
            &buffers.members.chosen_at(step),
            &buffers.noise.member,
            &mut buffers.transition,
        );
        self.unlimited_next(state, &buffers.transition, buffers.noise.state, next);
        self.task.keep_in_range(next);
        let limits = &self.task.state_limits;
        for (row, (low, high)) in next.iter_mut().zip(limits.low.iter().zip(limits.high)) {
            for x in row.iter_mut() {
                *x = clamp(*x, *low, *high);
            }
        }
        let task = self.task;
        let known = task.compute_known((state, action), step as f32, next, buffers.values);
        let inputs = Inputs {
            state,
            action,
            next: &*next,
            step: step as f32,
        };
        let (program, physics) = (&self.task.program, &self.task.physics);
        let rest = physics.known_ops().end..program.len();
        let mut finite = program.evaluate_ops(rest, Comparison::Exact, inputs, buffers.values);
        for (good, earlier) in finite
            .iter_mut()
            .zip(known.iter().zip(&buffers.finite_features))
        {
            *good &= *earlier.0 && *earlier.1;
        }
        for row in next.iter() {
            for (good, x) in finite.iter_mut().zip(row) {
                *good &= x.is_finite();
            }
        }
        let mut places = [LogPlace::Inside; B];
        if buffers.watch_support.contains(&true) {
            let support = &self.model.support;
            let seen = physics.seen(state, buffers.features);
            places = support.places(seen, action, buffers.whitened);
            for (place, watched) in places.iter_mut().zip(buffers.watch_support) {
                if !watched {
                    *place = LogPlace::Inside;
                }
            }
        }
        let value = |slot: u16| buffers.values.get(usize::from(slot));
        // A slot that is not there counts as not finite.
        let mut reward = value(self.objective_slot())
            .copied()
            .unwrap_or([f32::NAN; B]);
        let within_bounds = match self.task.step_bounds(self.objective) {
            Some([low, high]) => reward.map(|reward| reward >= low && reward <= high),
            None => [true; B],
        };
        if self.variant == Variant::Penalised && self.objective == Objective::Return {
            for (reward, penalty) in reward.iter_mut().zip(self.penalty(&buffers.prediction)) {
                *reward -= penalty;
            }
        }
        let terminal = match self.task.termination {
            Some(slot) => value(slot).map_or([true; B], |row| row.map(|x| x != 0.0)),
            None => [false; B],
        };
        let earned = value(self.task.reward).copied().unwrap_or([f32::NAN; B]);
        Some(StepResult {
            overflow: earned.map(|reward| reward == f32::NEG_INFINITY),
            reward,
            terminal,
            finite,
            outside: places.map(|place| place != LogPlace::Inside),
            far_outside: places.map(|place| place == LogPlace::FarOutside),
            within_bounds,
            width: self.has_width(&buffers.prediction),
        })
    }

    /// The lanes in which the confidence set has any width.
    fn has_width<const B: usize>(&self, prediction: &Prediction<'_, B>) -> [bool; B] {
        let mut width = [false; B];
        let radii = self.model.confidence.radii();
        for (row, radius) in prediction.epistemic_std.iter().zip(radii) {
            for (width, std) in width.iter_mut().zip(row) {
                *width |= radius * *std > 0.0;
            }
        }
        width
    }
}
