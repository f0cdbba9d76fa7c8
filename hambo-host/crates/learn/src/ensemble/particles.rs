//! Points in parameter space that move towards high density, alone or pushing
//! each other apart.
//!
//! The density is anything with a gradient: a network's posterior in training,
//! a Gaussian in the tests. Every result is the same on any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use super::svgd::Svgd;
use hambo_base::network::adam::{Adam, decay};

/// A density p over parameters, or an unbiased guess of it from a minibatch.
pub(super) trait Density: Send + Sync {
    /// Writes the gradient of −log p / n at `parameters` and returns −log p / n,
    /// but for a constant. The n is that of [`Svgd::new`].
    fn descend(&mut self, parameters: &[f32], gradient: &mut [f32]) -> f32;
}

/// One point with what it needs to move.
pub(super) struct Particle<D> {
    pub(super) density: D,
    pub(super) parameters: Vec<f32>,
    pub(super) adam: Adam,
    gradient: Vec<f32>,
    /// Sum of −log p / n over the updates since it was last asked for.
    loss: f64,
}

impl<D: Density> Particle<D> {
    pub(super) fn new(density: D, parameters: Vec<f32>) -> Self {
        Self {
            density,
            adam: Adam::new(parameters.len()),
            gradient: vec![0.0; parameters.len()],
            parameters,
            loss: 0.0,
        }
    }

    fn measure(&mut self) {
        let loss = self.density.descend(&self.parameters, &mut self.gradient);
        self.loss += f64::from(loss);
    }
}

/// Decoupled decay of some parameters.
#[derive(Debug, Clone, Default)]
pub(super) struct Decay {
    pub(super) rate: f32,
    pub(super) ranges: Vec<Range<usize>>,
}

impl Decay {
    fn apply(&self, parameters: &mut [f32], learning_rate: f32) {
        if self.rate > 0.0 {
            for range in &self.ranges {
                decay(&mut parameters[range.clone()], learning_rate * self.rate);
            }
        }
    }
}

/// All particles and what joins them.
pub(super) struct Particles<D> {
    pub(super) all: Vec<Particle<D>>,
    svgd: Option<Svgd>,
    decay: Decay,
}

impl<D: Density> Particles<D> {
    /// Particles joined by `svgd`, or each on its own.
    pub(super) fn new(all: Vec<Particle<D>>, svgd: Option<Svgd>, decay: Decay) -> Self {
        Self { all, svgd, decay }
    }

    /// One update for each learning rate.
    pub(super) fn advance(&mut self, learning_rates: &[f32]) {
        let decay = &self.decay;
        let Some(svgd) = &mut self.svgd else {
            // Nothing joins them, so none waits for another.
            self.all.par_iter_mut().for_each(|particle| {
                for &rate in learning_rates {
                    particle.measure();
                    let Particle {
                        adam,
                        parameters,
                        gradient,
                        ..
                    } = particle;
                    adam.step(parameters, gradient, rate);
                    decay.apply(parameters, rate);
                }
            });
            return;
        };
        for &rate in learning_rates {
            self.all.par_iter_mut().for_each(Particle::measure);
            let places: Vec<_> = self.all.iter().map(|p| &p.parameters[..]).collect();
            let gradients: Vec<_> = self.all.iter().map(|p| &p.gradient[..]).collect();
            let directions = svgd.directions(&places, &gradients);
            let moves = self.all.par_iter_mut().zip(directions);
            moves.for_each(|(particle, direction)| {
                particle
                    .adam
                    .step(&mut particle.parameters, direction, rate);
                decay.apply(&mut particle.parameters, rate);
            });
        }
    }

    /// Mean of −log p / n of every particle over the last `updates` updates.
    pub(super) fn take_losses(&mut self, updates: usize) -> Vec<f32> {
        let particles = self.all.iter_mut();
        particles
            .map(|particle| (std::mem::take(&mut particle.loss) / updates as f64) as f32)
            .collect()
    }
}
