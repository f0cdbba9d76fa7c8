//! The adjoint sweep: one walk back along a stored trajectory that carries the
//! derivative of the return in the state. It is how the minimum of equation
//! (2) is searched for.
//!
//! At every step the sweep passes back through the reward, the limits, the
//! transition and the controller. Only the transition differs by adversary,
//! and with it what is found there: [`Rollout::eta_gradient`] for CA,
//! `member_gains` for DA1.
//!
//! Comparisons in the reward count as smooth steps here, and only here.

mod eta_gradient;
mod member_gains;

pub use eta_gradient::EtaDerivative;

use super::transition::unlimited_next;
use super::{Buffers, Returns, Rollout};
use crate::arithmetic::random::Stream;
use crate::expression::{Comparison, Gradient, Inputs};
use crate::policy::Policy;
use crate::task::Limits;

impl<P: Policy> Rollout<'_, P> {
    /// Walks back along the trajectories of the last [`Rollout::forward`].
    /// `through_transition` passes from `buffers.next_cotangent` to the
    /// cotangents of state and action at a step; `None` ends the sweep.
    fn sweep_back<const B: usize>(
        &self,
        streams: &[Stream; B],
        returns: &Returns<B>,
        softness: f32,
        buffers: &mut Buffers<'_, B>,
        mut through_transition: impl FnMut(u32, &mut Buffers<'_, B>) -> Option<()>,
    ) {
        let comparison = Comparison::Smooth(softness);
        clear(buffers.next_cotangent);
        for step in (0..self.task.horizon).rev() {
            let weights = self.reward_weights(returns, step);
            let through = &mut through_transition;
            let done = self.step_back(streams, step, comparison, &weights, buffers, through);
            if done.is_none() {
                return;
            }
        }
    }

    /// What the reward of a step counts: its discount, until the trajectory
    /// ends.
    fn reward_weights<const B: usize>(&self, returns: &Returns<B>, step: u32) -> [f32; B] {
        let (_, discount) = self.objective();
        let weight = libm::powf(discount, step as f32);
        returns
            .steps
            .map(|steps| if step < steps { weight } else { 0.0 })
    }

    /// `buffers.next_cotangent` holds the derivative of the later rewards in
    /// s_{t+1}, and afterwards that of all rewards from t on in s_t.
    fn step_back<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        comparison: Comparison,
        weights: &[f32; B],
        buffers: &mut Buffers<'_, B>,
        through_transition: &mut impl FnMut(u32, &mut Buffers<'_, B>) -> Option<()>,
    ) -> Option<()> {
        self.repeat_step(streams, step, buffers)?;
        self.reward_back(step, comparison, weights, buffers)?;
        stop_at_limits(
            buffers.next_cotangent,
            buffers.unlimited,
            &self.task.state_limits,
        );
        // s' = s + …: the state's own share.
        add(buffers.state_cotangent, buffers.next_cotangent);
        through_transition(step, buffers)?;
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
        let this = self.state_rows(step)?;
        let state = buffers.states.get(this.clone())?;
        let eta = buffers.eta.get(this)?;
        self.draw_noise(streams, step, &mut buffers.noise);
        self.predict(
            state,
            &buffers.noise,
            &mut buffers.controller,
            buffers.scratch,
            &mut buffers.prediction,
        );
        self.next_state_moments(
            &buffers.prediction,
            buffers.scratch,
            eta,
            &buffers.members.chosen_at(step),
            &buffers.noise.member,
            &mut buffers.transition,
        );
        unlimited_next(
            state,
            &buffers.transition,
            buffers.noise.state,
            buffers.unlimited,
        );
        Some(())
    }

    /// Through the reward of this step.
    fn reward_back<const B: usize>(
        &self,
        step: u32,
        comparison: Comparison,
        weights: &[f32; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let inputs = Inputs {
            state: buffers.states.get(self.state_rows(step)?)?,
            action: &*buffers.controller.action,
            next: buffers.states.get(self.state_rows(step.checked_add(1)?)?)?,
        };
        let program = &self.task.program;
        program.evaluate(comparison, inputs, buffers.values);
        clear(buffers.state_cotangent);
        clear(buffers.action_cotangent);
        let gradient = Gradient {
            state: &mut *buffers.state_cotangent,
            action: &mut *buffers.action_cotangent,
            next: &mut *buffers.next_cotangent,
        };
        let (objective, _) = self.objective();
        program
            .pull_back(
                comparison,
                buffers.values,
                objective,
                weights,
                buffers.adjoints,
                gradient,
            )
            .ok()
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
        );
        self.policy.pull_back(
            buffers.states.get(self.state_rows(step)?)?,
            buffers.noise.action,
            buffers.controller.scratch,
            buffers.action_cotangent,
            buffers.state_cotangent,
        );
        Some(())
    }

    /// 1 if the system's noise takes part, else 0.
    fn noise_weight(&self) -> f32 {
        if self.task.method.aleatoric_noise {
            1.0
        } else {
            0.0
        }
    }
}

/// Where a limit holds `x` fast, nothing gets through.
fn stop_at_limits<const B: usize>(cotangent: &mut [[f32; B]], x: &[[f32; B]], limits: &Limits<'_>) {
    let limits = limits.low.iter().zip(limits.high);
    for ((cotangent, x), (low, high)) in cotangent.iter_mut().zip(x).zip(limits) {
        for (c, x) in cotangent.iter_mut().zip(x) {
            if *x < *low || *x > *high {
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

fn add<const B: usize>(sums: &mut [[f32; B]], rows: &[[f32; B]]) {
    for (sum, row) in sums.iter_mut().zip(rows) {
        for (s, x) in sum.iter_mut().zip(row) {
            *s += *x;
        }
    }
}
