//! The adjoint sweep: the derivative of the return in every choice of the
//! adversary, from one walk back along a stored trajectory. This is how the
//! minimum of equation (2) is searched for.

use super::transition::unlimited_next;
use super::{Buffers, Returns, Rollout};
use crate::adversary::CHOICE_ROWS;
use crate::arithmetic::random::Stream;
use crate::expression::{Comparison, Gradient, Inputs};
use crate::model::PredictionCotangent;
use crate::policy::Policy;
use crate::task::{Limits, Variant};

impl<P: Policy> Rollout<'_, P> {
    /// Walks back along the trajectories of the last [`Rollout::forward`].
    ///
    /// The continuous adversary: every component of eta is handed with its
    /// derivative to `update`, which may change it in place, since it is not
    /// read again on the way. The discrete one: the member that promises the
    /// lowest return at each step, and by how much, are handed to `update` as
    /// the two rows that follow the choice.
    ///
    /// Comparisons in the reward count as smooth steps here, and only here.
    ///
    /// ```
    /// use hambo_core::arithmetic::random::Stream;
    /// use hambo_core::rollout::{Buffers, Objective, Rollout};
    /// use hambo_core::task::Variant;
    /// let image = hambo_core::example::image()?;
    /// let rollout = Rollout {
    ///     model: &image.model,
    ///     policy: &image.policy,
    ///     task: &image.task,
    ///     variant: Variant::ContinuousAdversary,
    ///     objective: Objective::Return,
    /// };
    /// let mut rows = [[0.0; 2]; 128];
    /// let buffers = Buffers::carve(&mut rows, &image.model.dynamics, &image.task, &image.policy);
    /// let mut buffers = buffers.map_err(|_| "too few rows")?;
    /// let streams = [Stream::new(0, 0), Stream::new(0, 1)];
    /// rollout.start(&streams, &mut buffers);
    /// buffers.eta.fill([0.0; 2]);
    /// let returns = rollout.forward(&streams, &mut buffers);
    /// // A push away from the origin costs, except at the last step.
    /// let mut derivatives = Vec::new();
    /// rollout.backward(&streams, &returns, 1.0, &mut buffers, |_, gradient| {
    ///     derivatives.push(gradient[0]);
    /// });
    /// assert_eq!(derivatives[0], 0.0);
    /// assert!(derivatives[1..].iter().all(|derivative| *derivative < 0.0));
    /// # Ok::<(), &str>(())
    /// ```
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
        self.repeat_step(streams, step, buffers)?;
        self.reward_back(step, comparison, seed, buffers)?;
        // Through the limits, where they hold the state fast.
        stop_at_limits(
            buffers.next_cotangent,
            buffers.unlimited,
            &self.task.state_limits,
        );
        add(buffers.state_cotangent, buffers.next_cotangent);
        match self.variant {
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => {
                self.discrete_back(step, buffers, update)?;
            }
            _ => self.continuous_back(step, buffers, update)?,
        }
        // Through the clipped controller.
        stop_at_limits(
            buffers.action_cotangent,
            buffers.controller.wanted_action,
            &self.task.action_limits,
        );
        let dimension = self.model.dynamics.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        self.policy.pull_back(
            buffers.states.get(first..first.checked_add(dimension)?)?,
            buffers.noise.action,
            buffers.controller.scratch,
            buffers.action_cotangent,
            buffers.state_cotangent,
        );
        for (to, from) in buffers
            .next_cotangent
            .iter_mut()
            .zip(buffers.state_cotangent.iter())
        {
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
        let dimension = self.model.dynamics.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        let this = first..first.checked_add(dimension)?;
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
        self.transition(
            &buffers.prediction,
            buffers.scratch,
            eta,
            &Buffers::chosen(buffers.choices, step),
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

    /// The reward of this step.
    fn reward_back<const B: usize>(
        &self,
        step: u32,
        comparison: Comparison,
        seed: &[f32; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let dimension = self.model.dynamics.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        let middle = first.checked_add(dimension)?;
        let inputs = Inputs {
            state: buffers.states.get(first..middle)?,
            action: &*buffers.controller.action,
            next: buffers.states.get(middle..middle.checked_add(dimension)?)?,
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
            .ok()
    }

    /// Through mu + radius · sigma_e · eta + sigma_a · noise.
    fn continuous_back<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
        update: &mut impl FnMut(&mut [f32; B], &[f32; B]),
    ) -> Option<()> {
        let dimension = self.model.dynamics.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        let eta = buffers.eta.get_mut(first..first.checked_add(dimension)?)?;
        let next_cotangent = &*buffers.next_cotangent;
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
        let noise_weight = if self.task.method.aleatoric_noise {
            1.0
        } else {
            0.0
        };
        let radii = self.model.confidence.radii();
        for ((((mean, epistemic), aleatoric), ((c, eta), noise)), radius) in
            parts.zip(sources).zip(radii)
        {
            *mean = *c;
            for ((y, c), e) in epistemic.iter_mut().zip(c).zip(eta) {
                *y = *c * radius * *e;
            }
            for ((y, c), n) in aleatoric.iter_mut().zip(c).zip(noise) {
                *y = *c * *n * noise_weight;
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
        Some(())
    }

    /// Through h_k + nu_k · noise for the member k on trial, and what every
    /// other member would promise to first order.
    fn discrete_back<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
        update: &mut impl FnMut(&mut [f32; B], &[f32; B]),
    ) -> Option<()> {
        let chosen = Buffers::chosen(buffers.choices, step);
        let cotangent = &*buffers.next_cotangent;
        let noise_weight = if self.task.method.aleatoric_noise {
            1.0
        } else {
            0.0
        };
        let value = |centre: &[[f32; B]], spread: &[[f32; B]], noise: &[[f32; B]]| {
            let mut sum = [0.0; B];
            let rows = cotangent.iter().zip(centre).zip(spread.iter().zip(noise));
            for ((c, centre), (spread, noise)) in rows {
                let chance = spread.iter().zip(noise);
                for (((sum, c), m), (s, n)) in sum.iter_mut().zip(c).zip(centre).zip(chance) {
                    *sum += *c * (*m + *s * *n * noise_weight);
                }
            }
            sum
        };
        let noise = &*buffers.noise.state;
        let now = value(buffers.transition.centre, buffers.transition.spread, noise);
        let mut proposal = chosen.map(|member| member as f32);
        let mut gain = [0.0; B];
        // The prediction's rows are free by now.
        let (centre, spread) = (
            &mut *buffers.prediction.mean,
            &mut *buffers.prediction.aleatoric_std,
        );
        for member in 0..self.model.dynamics.members() {
            let all = [member; B];
            let dynamics = &self.model.dynamics;
            dynamics.member_moments(&all, buffers.scratch, centre, spread);
            let other = value(centre, spread, noise);
            let lanes = proposal.iter_mut().zip(gain.iter_mut());
            for ((proposal, gain), (other, now)) in lanes.zip(other.iter().zip(&now)) {
                if *other - *now < *gain {
                    *gain = *other - *now;
                    *proposal = member as f32;
                }
            }
        }
        let first = usize::try_from(step).ok()?.checked_mul(CHOICE_ROWS)?;
        let last = first.checked_add(CHOICE_ROWS)?;
        if let [_, _, proposals, gains] = buffers.choices.get_mut(first..last)? {
            update(proposals, &proposal);
            update(gains, &gain);
        }
        let by_std = &mut *buffers.prediction_cotangent.aleatoric_std;
        for ((row, c), noise) in by_std.iter_mut().zip(cotangent).zip(noise) {
            for ((y, c), n) in row.iter_mut().zip(c).zip(noise) {
                *y = *c * *n * noise_weight;
            }
        }
        self.model.dynamics.pull_back_members(
            &chosen,
            (cotangent, by_std),
            buffers.scratch,
            buffers.state_cotangent,
            buffers.action_cotangent,
        );
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
