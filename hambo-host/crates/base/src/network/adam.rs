//! Adam with bias correction and decoupled weight decay (AdamW).

use serde::{Deserialize, Serialize};

use super::vectors::with_vectors;

const FIRST_DECAY: f32 = 0.9;
const SECOND_DECAY: f32 = 0.999;
const EPSILON: f32 = 1e-8;
/// First moments below this move nothing. Those of dead units would fade into
/// subnormal numbers, which processors compute a hundred times slower.
const TINY: f32 = 1e-30;

/// Running moments of the gradient.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Adam {
    updates: i32,
    first: Vec<f32>,
    second: Vec<f32>,
}

impl Adam {
    pub fn new(parameters: usize) -> Self {
        Self {
            updates: 0,
            first: vec![0.0; parameters],
            second: vec![0.0; parameters],
        }
    }

    /// Whether the moments belong to this number of parameters.
    pub fn fits(&self, parameters: usize) -> bool {
        self.first.len() == parameters && self.second.len() == parameters
    }

    /// One update of the parameters.
    pub fn step(&mut self, parameters: &mut [f32], gradient: &[f32], learning_rate: f32) {
        self.updates = self.updates.saturating_add(1);
        let first_missing = 1.0 - FIRST_DECAY.powi(self.updates);
        let second_missing = 1.0 - SECOND_DECAY.powi(self.updates);
        let rate = learning_rate / first_missing;
        let moments = self.first.iter_mut().zip(&mut self.second);
        let each = parameters.iter_mut().zip(gradient).zip(moments);
        with_vectors(|| {
            for ((parameter, g), (first, second)) in each {
                let moment = FIRST_DECAY * *first + (1.0 - FIRST_DECAY) * g;
                *first = if moment.abs() < TINY { 0.0 } else { moment };
                *second = SECOND_DECAY * *second + (1.0 - SECOND_DECAY) * g * g;
                *parameter -= rate * *first / ((*second / second_missing).sqrt() + EPSILON);
            }
        });
    }
}

/// Decoupled weight decay of some weights.
pub fn decay(weights: &mut [f32], rate: f32) {
    with_vectors(|| {
        for weight in weights {
            *weight -= rate * *weight;
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_step_has_the_learning_rates_size() {
        // With bias correction the first step is lr · sign(gradient).
        let mut parameters = [1.0, 1.0];
        Adam::new(2).step(&mut parameters, &[1e-3, -50.0], 0.1);
        assert!((parameters[0] - 0.9).abs() < 1e-4);
        assert!((parameters[1] - 1.1).abs() < 1e-4);
    }

    #[test]
    fn second_step_by_hand() {
        // g = 1 then 0: m = 0.09 / 0.19, v = 0.000999 / 0.001999.
        let mut parameters = [0.0];
        let mut adam = Adam::new(1);
        adam.step(&mut parameters, &[1.0], 0.1);
        let after_one = parameters[0];
        adam.step(&mut parameters, &[0.0], 0.1);
        let expected = 0.1 * (0.09 / 0.19) / (0.000_999_f32 / 0.001_999).sqrt();
        assert!((after_one - parameters[0] - expected).abs() < 1e-5);
    }

    #[test]
    fn moments_of_a_dead_unit_end_at_zero() {
        let mut adam = Adam::new(1);
        adam.step(&mut [0.5], &[1.0], 0.1);
        for _ in 0..1000 {
            adam.step(&mut [0.5], &[0.0], 0.1);
        }
        assert_eq!(adam.first, [0.0]);
    }

    #[test]
    fn decay_shrinks() {
        let mut weights = [2.0, -4.0];
        decay(&mut weights, 0.25);
        assert_eq!(weights, [1.5, -3.0]);
    }
}
