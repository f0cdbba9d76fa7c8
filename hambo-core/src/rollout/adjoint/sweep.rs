//! One walk back, step by step: through reward, limits, transition and controller.

use heapless::Vec;

use crate::numeric::elementary::clamp;
use crate::numeric::random::Stream;
use crate::policy::{Policy, PolicyInputs};
use crate::rollout::buffers::Buffers;
use crate::rollout::forward::Returns;
use crate::rollout::system::Rollout;
use crate::task::expression::{Comparison, Gradient, Inputs};
use crate::task::{ConstraintKind, Limits, ModelInputs, Objective};

/// Derivatives of V_t in slots of the tape: the objective's and the
/// termination's.
type Seeds<const B: usize> = Vec<(u16, [f32; B]), 2>;

impl<P: Policy> Rollout<'_, P> {
    /// Walks back along the trajectories of the last [`Rollout::forward`].
    /// `through_transition` passes from `buffers.moved_cotangent` to the cotangents
    /// of what the model sees, state or features and action; `None` ends the sweep.
    pub(super) fn sweep_back<const B: usize>(
        &self,
        streams: &[Stream; B],
        returns: &Returns<B>,
        softness: f32,
        buffers: &mut Buffers<'_, B>,
        mut through_transition: impl FnMut(u32, &mut Buffers<'_, B>) -> Option<()>,
    ) {
        let comparison = Comparison::Smooth(softness);
        clear(buffers.next_cotangent);
        let of_no_step = self.kind().of_no_step();
        let mut later = [of_no_step; B];
        for step in (0..self.task.horizon).rev() {
            let through = &mut through_transition;
            let done = self.step_back(
                streams, step, comparison, returns, &mut later, buffers, through,
            );
            if done.is_none() {
                return;
            }
            let cotangent = &mut *buffers.next_cotangent;
            forget_overflow(step, returns, of_no_step, &mut later, cotangent);
        }
    }

    /// `later` is V_{t+1} and `buffers.next_cotangent` its derivative in
    /// s_{t+1}; afterwards V_t and its derivative in s_t.
    #[expect(
        clippy::too_many_arguments,
        reason = "one step of the recursion: its inputs, its state and its buffers"
    )]
    fn step_back<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        comparison: Comparison,
        returns: &Returns<B>,
        later: &mut [f32; B],
        buffers: &mut Buffers<'_, B>,
        through_transition: &mut impl FnMut(u32, &mut Buffers<'_, B>) -> Option<()>,
    ) -> Option<()> {
        self.repeat_step(streams, step, buffers)?;
        self.reward_back(step, comparison, returns, later, buffers)?;
        self.known_back(step, comparison, buffers)?;
        self.limits_back(buffers)?;
        clear(buffers.feature_cotangent);
        buffers.slices.next()?;
        through_transition(step, buffers)?;
        buffers.slices.next()?;
        self.features_back(comparison, buffers)?;
        self.controller_back(step, buffers)?;
        let rows = buffers.next_cotangent.iter_mut();
        for (to, from) in rows.zip(buffers.state_cotangent.iter()) {
            *to = *from;
        }
        Some(())
    }

    /// Computes again what the forward sweep did not keep.
    fn repeat_step<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        self.predict(streams, step, buffers)?;
        let state = buffers.states.get(self.state_rows(step)?)?;
        let eta = buffers.eta.get(self.eta_rows(step)?)?;
        self.next_state_moments(
            &buffers.prediction,
            buffers.scratch,
            eta,
            &buffers.members.chosen_at(step),
            &buffers.noise.member,
            &mut buffers.transition,
        );
        self.unlimited_next(
            state,
            &buffers.transition,
            buffers.noise.state,
            buffers.unlimited,
        );
        self.task.wraps.wrap(buffers.unlimited);
        Some(())
    }

    /// Through the reward and the termination of this step.
    fn reward_back<const B: usize>(
        &self,
        step: u32,
        comparison: Comparison,
        returns: &Returns<B>,
        later: &mut [f32; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let inputs = Inputs {
            state: buffers.states.get(self.state_rows(step)?)?,
            action: &*buffers.controller.action,
            next: buffers.states.get(self.state_rows(step.checked_add(1)?)?)?,
            step: step as f32,
        };
        let program = &self.task.program;
        program.evaluate(comparison, inputs, buffers.values);
        clear(buffers.state_cotangent);
        clear(buffers.action_cotangent);
        let seeds = match self.kind() {
            ConstraintKind::Mean => self.sum_back(step, returns, later, buffers)?,
            kind => self.extreme_back(kind, later, buffers)?,
        };
        let gradient = Gradient {
            state: &mut *buffers.state_cotangent,
            action: &mut *buffers.action_cotangent,
            next: &mut *buffers.next_cotangent,
        };
        let (values, adjoints) = (&*buffers.values, &mut *buffers.adjoints);
        program
            .pull_back(
                comparison,
                values,
                seeds.iter().copied(),
                adjoints,
                gradient,
            )
            .ok()
    }

    /// From the cotangent of s′ to that of what the model moved it by: through the limits
    /// and the circles. The state has its own share, for s′ = s + ….
    fn limits_back<const B: usize>(&self, buffers: &mut Buffers<'_, B>) -> Option<()> {
        let physics = &self.task.physics;
        let (cotangent, unlimited) = (&mut *buffers.next_cotangent, &*buffers.unlimited);
        stop_at_limits(cotangent, unlimited, &self.task.state_limits, |state| {
            !physics.on_circle(state)
        });
        physics.circles_back(unlimited, cotangent);
        let moved = physics.moved(cotangent.len());
        for (to, place) in buffers.moved_cotangent.iter_mut().zip(moved) {
            *to = *cotangent.get(place)?;
            let own = buffers.state_cotangent.get_mut(place)?;
            for (sum, x) in own.iter_mut().zip(to.iter()) {
                *sum += *x;
            }
        }
        Some(())
    }

    /// Where derivatives in what the model sees of the state are added up.
    pub(super) fn seen_cotangent<'r, const B: usize>(
        &self,
        state: &'r mut [[f32; B]],
        features: &'r mut [[f32; B]],
    ) -> &'r mut [[f32; B]] {
        match &self.task.physics.inputs {
            ModelInputs::States(count) => state.get_mut(..usize::from(*count)).unwrap_or_default(),
            ModelInputs::Features(_) => features,
        }
    }

    /// From the features to the states that they were computed from.
    fn features_back<const B: usize>(
        &self,
        comparison: Comparison,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let ModelInputs::Features(slots) = &self.task.physics.inputs else {
            return Some(());
        };
        let seeds = slots.iter().zip(buffers.feature_cotangent.iter());
        let gradient = Gradient {
            state: &mut *buffers.state_cotangent,
            action: &mut [],
            next: &mut [],
        };
        let seeds = seeds.map(|(slot, seed)| (*slot, *seed));
        let (values, adjoints) = (&*buffers.values, &mut *buffers.adjoints);
        let program = &self.task.program;
        let done = program.pull_back(comparison, values, seeds, adjoints, gradient);
        done.ok()
    }

    /// A sum: goes from V_{t+1} to V_t, and weighs what comes later by the share
    /// that goes on, where the task ends trajectories. Returns the derivatives of
    /// V_t in the reward and in the termination, with their slots.
    fn sum_back<const B: usize>(
        &self,
        step: u32,
        returns: &Returns<B>,
        later: &mut [f32; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Option<Seeds<B>> {
        let weight = libm::powf(self.discount(), step as f32);
        let mut seeds = Seeds::new();
        seeds.push((self.objective_slot(), [weight; B])).ok()?;
        let Some(termination) = self.task.termination else {
            return Some(seeds);
        };
        let reward = buffers.values.get(usize::from(self.objective_slot()))?;
        let ends = buffers.values.get(usize::from(termination))?;
        let survival = ends.map(|m| 1.0 - clamp(m, 0.0, 1.0));
        for row in buffers.next_cotangent.iter_mut() {
            for (c, survival) in row.iter_mut().zip(&survival) {
                *c *= *survival;
            }
        }
        let by_end = later.map(|later| -later);
        // A mean over the visited steps grows by what lies above it.
        let usual = match self.objective {
            Objective::Return => [0.0; B],
            Objective::Constraint(_) => returns.value,
        };
        let lanes = later.iter_mut().zip(&survival);
        for ((later, survival), (reward, usual)) in lanes.zip(reward.iter().zip(&usual)) {
            *later = weight * (*reward - *usual) + *survival * *later;
        }
        seeds.push((termination, by_end)).ok()?;
        Some(seeds)
    }

    /// The least, the last or the greatest margin: with c_t for the margin,
    /// V_t = m_t c_t + (1 − m_t) c_t or V_{t+1}, whichever counts. Every step
    /// feels the margin that counts among those to come, also where an earlier
    /// one counts for the whole trajectory.
    fn extreme_back<const B: usize>(
        &self,
        kind: ConstraintKind,
        later: &mut [f32; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Option<Seeds<B>> {
        let margin = buffers.values.get(usize::from(self.objective_slot()))?;
        let ends = match self.task.termination {
            Some(slot) => buffers.values.get(usize::from(slot))?,
            None => &[0.0; B],
        };
        let (mut by_margin, mut by_later, mut by_end) = ([0.0; B], [0.0; B], [0.0; B]);
        let derivatives = by_margin.iter_mut().zip(&mut by_later).zip(&mut by_end);
        let lanes = later.iter_mut().zip(margin.iter().zip(ends));
        for (((by_margin, by_later), by_end), (later, (margin, ends))) in derivatives.zip(lanes) {
            let later_counts = match kind {
                ConstraintKind::Always => *later < *margin,
                ConstraintKind::Eventually => *later > *margin,
                // NaN stands for no later step.
                ConstraintKind::Finally => !later.is_nan(),
                ConstraintKind::Mean => false,
            };
            let survival = 1.0 - clamp(*ends, 0.0, 1.0);
            if later_counts {
                *by_margin = 1.0 - survival;
                *by_later = survival;
                *by_end = *margin - *later;
                *later = *margin + survival * (*later - *margin);
            } else {
                *by_margin = 1.0;
                *later = *margin;
            }
        }
        for row in buffers.next_cotangent.iter_mut() {
            for (c, by_later) in row.iter_mut().zip(&by_later) {
                *c = if *by_later > 0.0 { *c * *by_later } else { 0.0 };
            }
        }
        let mut seeds = Seeds::new();
        seeds.push((self.objective_slot(), by_margin)).ok()?;
        if let Some(termination) = self.task.termination {
            seeds.push((termination, by_end)).ok()?;
        }
        Some(seeds)
    }

    /// Through the clipped controller.
    fn controller_back<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        stop_at_limits(
            buffers.action_cotangent,
            buffers.controller.wanted_action,
            &self.task.action_limits,
            |_| true,
        );
        let inputs = PolicyInputs {
            step,
            state: buffers.states.get(self.state_rows(step)?)?,
            noise: buffers.noise.action,
            scratch: buffers.controller.scratch,
            slices: &buffers.slices,
        };
        self.policy
            .pull_back(inputs, buffers.action_cotangent, buffers.state_cotangent);
        buffers.slices.next()
    }

    /// 1 if the system's noise takes part, else 0.
    pub(super) fn noise_weight(&self) -> f32 {
        if self.task.plan.method.aleatoric_noise {
            1.0
        } else {
            0.0
        }
    }
}

/// Where a limit holds `x` fast, nothing gets through, in the rows that have limits.
fn stop_at_limits<const B: usize>(
    cotangent: &mut [[f32; B]],
    x: &[[f32; B]],
    limits: &Limits<'_>,
    has_limits: impl Fn(usize) -> bool,
) {
    let limits = limits.low.iter().zip(limits.high);
    let rows = cotangent.iter_mut().zip(x).zip(limits).enumerate();
    for (_, ((cotangent, x), (low, high))) in rows.filter(|(place, _)| has_limits(*place)) {
        for (c, x) in cotangent.iter_mut().zip(x) {
            if *x < *low || *x > *high {
                *c = 0.0;
            }
        }
    }
}

/// A trajectory that has ended may run anywhere; where its numbers overflow,
/// it tells nothing of the steps before its end.
fn forget_overflow<const B: usize>(
    step: u32,
    returns: &Returns<B>,
    of_no_step: f32,
    later: &mut [f32; B],
    cotangent: &mut [[f32; B]],
) {
    for (lane, (steps, later)) in returns.steps.iter().zip(later).enumerate() {
        let mut column = cotangent.iter().filter_map(|row| row.get(lane));
        if step >= *steps && !(later.is_finite() && column.all(|c| c.is_finite())) {
            *later = of_no_step;
            for c in cotangent.iter_mut().filter_map(|row| row.get_mut(lane)) {
                *c = 0.0;
            }
        }
    }
}

fn clear<const B: usize>(rows: &mut [[f32; B]]) {
    for row in rows {
        *row = [0.0; B];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_gets_through_beyond_a_limit_and_all_at_it() {
        let limits = Limits {
            low: &[-1.0],
            high: &[1.0],
        };
        let mut cotangent = [[3.0; 5]];
        stop_at_limits(
            &mut cotangent,
            &[[-1.5, -1.0, 0.0, 1.0, 1.5]],
            &limits,
            |_| true,
        );
        assert_eq!(cotangent, [[0.0, 3.0, 3.0, 3.0, 0.0]]);
    }

    #[test]
    fn what_overflows_after_the_end_is_forgotten() {
        let returns = Returns {
            value: [0.0; 5],
            steps: [2, 2, 2, 2, 3],
            finite: [true; 5],
            outside: [0; 5],
            far_outside: [false; 5],
            within_bounds: [true; 5],
            width: [true; 5],
            smooth: [0.0; 5],
        };
        let infinite = f32::INFINITY;
        let mut later = [4.0, infinite, 4.0, infinite, infinite];
        let mut cotangent = [[5.0; 5], [5.0, 5.0, f32::NAN, infinite, 5.0]];
        // The last lane ends only after this step: what it says is not forgotten.
        forget_overflow(2, &returns, 0.0, &mut later, &mut cotangent);
        assert_eq!(later, [4.0, 0.0, 0.0, 0.0, infinite]);
        let rest = [5.0, 0.0, 0.0, 0.0, 5.0];
        assert_eq!(cotangent, [rest; 2]);
    }
}
