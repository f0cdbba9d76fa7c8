//! Oracle of the tests: derivatives by central differences in f64.

use super::weights::{Twins, Weights};
use hambo_base::network::Activation;
use hambo_base::network::reference;
use hambo_base::random::Random;

pub(super) fn wide(numbers: &[f32]) -> Vec<f64> {
    numbers.iter().map(|&number| f64::from(number)).collect()
}

/// Normal numbers.
pub(super) fn normals(random: &mut Random, count: usize) -> Vec<f32> {
    (0..count).map(|_| random.normal()).collect()
}

/// Outputs of a network for one row.
pub(super) fn outputs(widths: &[usize], parameters: &[f64], input: &[f64]) -> Vec<f64> {
    reference::outputs(widths, Activation::Relu, parameters, input)
}

/// Compares derivatives with differences of the loss. Stated error: 1e-3 of the
/// derivative, or of a hundredth of the largest one where it is smaller.
pub(super) fn assert_gradient(found: &[f32], at: &[f32], loss: &dyn Fn(&[f64]) -> f64) {
    let step = 1e-6;
    let mut point = wide(at);
    let expected: Vec<f64> = (0..point.len())
        .map(|i| {
            let middle = point[i];
            point[i] = middle + step;
            let above = loss(&point);
            point[i] = middle - step;
            let below = loss(&point);
            point[i] = middle;
            (above - below) / (2.0 * step)
        })
        .collect();
    let largest = expected.iter().fold(0.0, |most: f64, d| most.max(d.abs()));
    assert!(largest > 1e-3, "nothing to compare: {largest}");
    assert_eq!(found.len(), expected.len());
    for (i, (&found, expected)) in found.iter().zip(&expected).enumerate() {
        let error = (f64::from(found) - expected).abs() / expected.abs().max(0.01 * largest);
        assert!(error < 1e-3, "parameter {i}: {found} against {expected}");
    }
}

/// Away from special values, so that no derivative is 0 by chance.
pub(super) fn shake(weights: &mut Weights, random: &mut Random) {
    for parameter in &mut weights.parameters {
        *parameter += 0.3 * random.normal();
    }
}

/// Twins whose targets differ from them.
pub(super) fn shake_twins(twins: &mut Twins, random: &mut Random) {
    for critic in &mut twins.0 {
        shake(&mut critic.weights, random);
        for parameter in &mut critic.target {
            *parameter += 0.3 * random.normal();
        }
    }
}
