//! The adjoint sweep: the derivative of the return in every eta_t, from one
//! walk back along a stored trajectory (DESIGN 3.11).

use super::{Buffers, Returns, Rollout};
use crate::arithmetic::random::Stream;
use crate::expression::{Comparison, Gradient, Inputs};
use crate::model::PredictionCotangent;
use crate::policy::Policy;
use crate::task::Limits;

impl<P: Policy> Rollout<'_, P> {
    /// Walks back along the trajectories of the last [`Rollout::forward`] and
    /// hands every component of eta with its derivative to `update`, which
    /// may change it in place: it is not read again on the way.
    ///
    /// Comparisons in the reward count as smooth steps here, and only here.
    pub fn backward<const B: usize>(
        &self,
        streams: &[Stream; B],
        returns: &Returns<B>,
        softness: f32,
        buffers: &mut Buffers<'_, B>,
        mut update: impl FnMut(&mut [f32; B], &[f32; B]),
    ) {
        let (_, discount) = self.objective();
        clear(buffers.next_cotangent);
        for step in (0..self.task.horizon).rev() {
            // The reward of a step counts until the trajectory ends.
            let weight = libm::powf(discount, step as f32);
            let seed = returns
                .steps
                .map(|steps| if step < steps { weight } else { 0.0 });
            let comparison = Comparison::Smooth(softness);
            let done = self.step_back(streams, step, comparison, &seed, buffers, &mut update);
            if done.is_none() {
                return;
            }
        }
    }

    /// `buffers.next_cotangent` holds the derivative of the later rewards in
    /// s_{t+1}, and afterwards that of all rewards from t on in s_t.
    fn step_back<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        comparison: Comparison,
        seed: &[f32; B],
        buffers: &mut Buffers<'_, B>,
        update: &mut impl FnMut(&mut [f32; B], &[f32; B]),
    ) -> Option<()> {
        let dimension = self.model.dynamics.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        let middle = first.checked_add(dimension)?;
        let state = buffers.states.get(first..middle)?;
        let next = buffers.states.get(middle..middle.checked_add(dimension)?)?;
        let eta = buffers.eta.get_mut(first..middle)?;

        self.draw_noise(streams, step, &mut buffers.noise);
        self.predict(
            state,
            &buffers.noise,
            &mut buffers.controller,
            buffers.scratch,
            &mut buffers.prediction,
        );
        self.unlimited_next(
            state,
            &buffers.prediction,
            eta,
            buffers.noise.state,
            buffers.unlimited,
        );

        // The reward of this step.
        let inputs = Inputs {
            state,
            action: &*buffers.controller.action,
            next,
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
                seed,
                buffers.adjoints,
                gradient,
            )
            .ok()?;

        // Through the limits, where they hold the state fast.
        stop_at_limits(
            buffers.next_cotangent,
            buffers.unlimited,
            &self.task.state_limits,
        );

        // Through s̃′ = s + mu + radius · sigma_e · eta + sigma_a · noise.
        let next_cotangent = &*buffers.next_cotangent;
        add(buffers.state_cotangent, next_cotangent);
        let cotangents = &mut buffers.prediction_cotangent;
        let parts = cotangents
            .mean
            .iter_mut()
            .zip(cotangents.epistemic_std.iter_mut())
            .zip(cotangents.aleatoric_std.iter_mut());
        let sources = next_cotangent
            .iter()
            .zip(eta.iter())
            .zip(buffers.noise.state.iter());
        let radii = self.model.confidence.radii();
        for ((((mean, epistemic), aleatoric), ((c, eta), noise)), radius) in
            parts.zip(sources).zip(radii)
        {
            *mean = *c;
            for ((y, c), e) in epistemic.iter_mut().zip(c).zip(eta) {
                *y = *c * radius * *e;
            }
            for ((y, c), n) in aleatoric.iter_mut().zip(c).zip(noise) {
                *y = *c * *n;
            }
        }
        self.model.dynamics.pull_back(
            &PredictionCotangent {
                mean: &*cotangents.mean,
                epistemic_std: &*cotangents.epistemic_std,
                aleatoric_std: &*cotangents.aleatoric_std,
            },
            buffers.scratch,
            buffers.state_cotangent,
            buffers.action_cotangent,
        );

        // Through the clipped controller.
        stop_at_limits(
            buffers.action_cotangent,
            buffers.controller.wanted_action,
            &self.task.action_limits,
        );
        self.policy.pull_back(
            state,
            buffers.noise.action,
            buffers.controller.scratch,
            buffers.action_cotangent,
            buffers.state_cotangent,
        );

        // The adversary's own derivative, last: eta was needed until here.
        let radii = self.model.confidence.radii();
        let stds = buffers.prediction.epistemic_std.iter();
        for (((eta, c), std), radius) in eta.iter_mut().zip(next_cotangent).zip(stds).zip(radii) {
            let mut gradient = [0.0; B];
            for ((g, c), s) in gradient.iter_mut().zip(c).zip(std) {
                *g = *c * radius * *s;
            }
            update(eta, &gradient);
        }
        for (to, from) in buffers
            .next_cotangent
            .iter_mut()
            .zip(buffers.state_cotangent.iter())
        {
            *to = *from;
        }
        Some(())
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
