//! The actor's head: a Gaussian whose draws pass through tanh.
//!
//! The network's outputs are the means, then the logarithms of the standard
//! deviations, as in the core's `Head::TanhGaussian(Spread::OfState)`. A draw is
//! a = tanh(u), u = mean + std · noise; with the noise held fixed it can be
//! differentiated in the outputs (the reparameterisation).

use hambo_core::policy::{LOG_STD_HIGH, LOG_STD_LOW};

/// Logged actions nearer to ±1 than this count as this near: at ±1 the likelihood has no bound.
const NEAREST: f32 = 0.01;

/// Adds the derivatives in the outputs of weight · Σ −ln density of these actions.
pub(super) fn add_likelihood_slopes(
    outputs: &[f32],
    actions: &[f32],
    count: usize,
    weight: f32,
    to: &mut [f32],
) {
    let rows = outputs
        .chunks_exact(2 * count)
        .zip(actions.chunks_exact(count));
    for (to, (outputs, actions)) in to.chunks_exact_mut(2 * count).zip(rows) {
        let (to_means, to_raws) = to.split_at_mut(count);
        let (means, raws) = outputs.split_at(count);
        for j in 0..count {
            let u = actions[j].clamp(NEAREST - 1.0, 1.0 - NEAREST).atanh();
            let std = raws[j].clamp(LOG_STD_LOW, LOG_STD_HIGH).exp();
            let away = (means[j] - u) / std;
            to_means[j] += weight * away / std;
            let free = (LOG_STD_LOW..=LOG_STD_HIGH).contains(&raws[j]);
            if free {
                to_raws[j] += weight * (1.0 - away * away);
            }
        }
    }
}

/// ln √(2π).
const NORMALISER: f32 = 0.918_938_5;

/// Draws for a batch of outputs, and what their derivatives need.
#[derive(Clone, Debug, Default)]
pub(super) struct Draws {
    /// Standard normal; the caller fills it, one number for each action.
    pub(super) noise: Vec<f32>,
    /// In (−1, 1).
    pub(super) actions: Vec<f32>,
    /// std · noise.
    spread: Vec<f32>,
    /// ln of the density of each row's actions.
    pub(super) log_densities: Vec<f32>,
}

impl Draws {
    pub(super) fn new(rows: usize, actions: usize) -> Self {
        Self {
            noise: vec![0.0; rows * actions],
            actions: vec![0.0; rows * actions],
            spread: vec![0.0; rows * actions],
            log_densities: vec![0.0; rows],
        }
    }

    /// Draws with the noise at hand.
    pub(super) fn draw(&mut self, outputs: &[f32], count: usize) {
        let rows = outputs
            .chunks_exact(2 * count)
            .zip(self.noise.chunks_exact(count));
        let made = self.actions.chunks_exact_mut(count);
        let made = made.zip(self.spread.chunks_exact_mut(count));
        let made = made.zip(&mut self.log_densities);
        for ((outputs, noise), ((actions, spreads), log_density)) in rows.zip(made) {
            let (means, raws) = outputs.split_at(count);
            *log_density = 0.0;
            for j in 0..count {
                let log_std = raws[j].clamp(LOG_STD_LOW, LOG_STD_HIGH);
                let moved = log_std.exp() * noise[j];
                let u = means[j] + moved;
                actions[j] = u.tanh();
                spreads[j] = moved;
                *log_density += -0.5 * noise[j] * noise[j] - log_std - NORMALISER - log_slope(u);
            }
        }
    }

    /// Derivative in the outputs of Σ weight · (temperature · log density) + L,
    /// from L's derivative in the actions; every row weighs `weight`.
    pub(super) fn pull_back(
        &self,
        outputs: &[f32],
        action_slopes: &[f32],
        temperature: f32,
        weight: f32,
        to: &mut [f32],
    ) {
        let count = self.actions.len() / self.log_densities.len().max(1);
        let entropy = temperature * weight;
        let rows = to
            .chunks_exact_mut(2 * count)
            .zip(outputs.chunks_exact(2 * count));
        for (row, (to, outputs)) in rows.enumerate() {
            let (to_means, to_raws) = to.split_at_mut(count);
            for j in 0..count {
                let place = row * count + j;
                let action = self.actions[place];
                // −ln(1 − tanh²u) grows by 2 tanh u.
                let slope = action_slopes[place] * (1.0 - action * action) + 2.0 * entropy * action;
                to_means[j] = slope;
                let raw = outputs[count + j];
                let free = (LOG_STD_LOW..=LOG_STD_HIGH).contains(&raw);
                to_raws[j] = if free {
                    slope * self.spread[place] - entropy
                } else {
                    0.0
                };
            }
        }
    }
}

/// ln(1 − tanh²u) without cancellation.
fn log_slope(u: f32) -> f32 {
    let twice = -2.0 * u;
    // softplus(twice), whose exponential cannot overflow.
    let softplus = twice.max(0.0) + (-twice.abs()).exp().ln_1p();
    2.0 * (std::f32::consts::LN_2 - u - softplus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn densities_are_those_of_the_squashed_normal() {
        // Mean 0.3, std e^−0.5, noise 0.7.
        let mut draws = Draws::new(1, 1);
        draws.noise = vec![0.7];
        draws.draw(&[0.3, -0.5], 1);
        let std = (-0.5_f64).exp();
        let u = 0.3 + std * 0.7;
        let normal = (-0.5 * 0.49_f64).exp() / (std * std::f64::consts::TAU.sqrt());
        let expected = (normal / (1.0 - u.tanh().powi(2))).ln();
        assert!((f64::from(draws.actions[0]) - u.tanh()).abs() < 1e-6);
        assert!((f64::from(draws.log_densities[0]) - expected).abs() < 1e-5);
    }

    #[test]
    fn likelihood_slopes_are_those_of_the_density() {
        let (actions, weight) = ([0.4_f32, -0.7], 0.5);
        // Less terms that do not depend on the outputs.
        let loss = |outputs: [f64; 4]| {
            let one = |j: usize| {
                let u = f64::from(actions[j]).atanh();
                let away = (outputs[j] - u) / outputs[2 + j].exp();
                0.5 * away * away + outputs[2 + j]
            };
            f64::from(weight) * (one(0) + one(1))
        };
        let outputs = [0.3_f32, -0.2, -0.5, 0.1];
        let mut slopes = [1.0_f32; 4];
        add_likelihood_slopes(&outputs, &actions, 2, weight, &mut slopes);
        for place in 0..4 {
            let at = |step: f64| {
                let mut moved = outputs.map(f64::from);
                moved[place] += step;
                loss(moved)
            };
            let expected = 1.0 + (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!(
                (f64::from(slopes[place]) - expected).abs() < 1e-4,
                "{place}"
            );
        }
    }

    #[test]
    fn far_out_the_slope_stays_finite() {
        assert!((log_slope(50.0) - (2.0 * std::f32::consts::LN_2 - 100.0)).abs() < 1e-4);
        assert!((log_slope(-50.0) - log_slope(50.0)).abs() < 1e-4);
        assert!(log_slope(0.0).abs() < 1e-6);
    }
}
