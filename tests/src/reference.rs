//! The method in f64, as plainly as it can be written.

use hambo_core::image::PRIOR_ACTIVATION;
use hambo_core::numeric::network::Activation;
use hambo_core::policy::Leg;
use hambo_learn::ensemble::{Member, TrainedEnsemble};
use hambo_task::image::WidthRegion;

/// Mean and standard deviations of s′ − s.
#[derive(Clone, Debug, PartialEq)]
pub struct Moments {
    /// mu.
    pub mean: Vec<f64>,
    /// sigma_e.
    pub epistemic_std: Vec<f64>,
    /// sigma_a.
    pub aleatoric_std: Vec<f64>,
}

impl Moments {
    /// With what regions add to sigma_e.
    #[must_use]
    pub fn widened(mut self, regions: &[WidthRegion], state: &[f64], action: &[f64]) -> Self {
        let input: Vec<f64> = state.iter().chain(action).copied().collect();
        for region in regions {
            let x = input[region.input];
            let beyond = (f64::from(region.low) - x).max(x - f64::from(region.high));
            let share = (1.0 - beyond / f64::from(region.edge)).clamp(0.0, 1.0);
            for (std, height) in self.epistemic_std.iter_mut().zip(&region.heights) {
                *std += f64::from(*height) * share;
            }
        }
        self
    }
}

/// The activation in f64.
#[must_use]
pub fn activate(activation: Activation, x: f64) -> f64 {
    match activation {
        Activation::Relu => x.max(0.0),
        Activation::Tanh => x.tanh(),
        Activation::Silu => x / (1.0 + (-x).exp()),
        Activation::Gelu => 0.5 * x * libm::erfc(-x / std::f64::consts::SQRT_2),
        Activation::Elu => x.max(0.0) + x.min(0.0).exp_m1(),
        Activation::Softplus => x.max(0.0) + (-x.abs()).exp().ln_1p(),
    }
}

/// The outputs of a network.
fn network(member: &Member, activation: Activation, input: &[f64]) -> Vec<f64> {
    let mut values = input.to_vec();
    for (index, layer) in member.layers.iter().enumerate() {
        let last = index + 1 == member.layers.len();
        values = (0..layer.outputs)
            .map(|output| {
                let row = &layer.weights[output * layer.inputs..][..layer.inputs];
                let products = row.iter().zip(&values);
                let sum: f64 = products.map(|(w, x)| f64::from(*w) * x).sum();
                let sum = sum + f64::from(layer.bias[output]);
                if last { sum } else { activate(activation, sum) }
            })
            .collect();
    }
    values
}

/// The ensemble's moments at (s, a), its noise scaled.
#[must_use]
pub fn moments(
    ensemble: &TrainedEnsemble,
    noise_scale: &[f32],
    state: &[f64],
    action: &[f64],
) -> Moments {
    let units = &ensemble.standardisation;
    let input: Vec<f64> = state
        .iter()
        .chain(action)
        .zip(units.input_mean.iter().zip(&units.input_scale))
        .map(|(x, (mean, scale))| (x - f64::from(*mean)) / f64::from(*scale))
        .collect();
    let members = ensemble.members.iter().enumerate();
    let outputs: Vec<Vec<f64>> = members
        .map(|(number, member)| {
            let mut values = network(member, ensemble.activation, &input);
            if let Some(prior) = ensemble.priors.get(number) {
                let random = network(prior, PRIOR_ACTIVATION, &input);
                values.iter_mut().zip(random).for_each(|(y, x)| *y += x);
            }
            values
        })
        .collect();
    let count = outputs.len() as f64;
    let dimension = units.output_mean.len();
    let mut result = Moments {
        mean: Vec::new(),
        epistemic_std: Vec::new(),
        aleatoric_std: Vec::new(),
    };
    for j in 0..dimension {
        let scale = f64::from(units.output_scale[j]);
        let mean = outputs.iter().map(|output| output[j]).sum::<f64>() / count;
        let deviations = outputs.iter().map(|output| (output[j] - mean).powi(2));
        let epistemic = (deviations.sum::<f64>() / count).sqrt();
        let variances = outputs.iter().map(|output| {
            let raw = output[dimension + j];
            let softplus = raw.max(0.0) + (-raw.abs()).exp().ln_1p();
            let std = f64::from(ensemble.std_floor) + softplus;
            std.min(f64::from(ensemble.std_cap)).powi(2)
        });
        let aleatoric = (variances.sum::<f64>() / count).sqrt();
        result
            .mean
            .push(f64::from(units.output_mean[j]) + scale * mean);
        result.epistemic_std.push(scale * epistemic);
        let noise = f64::from(noise_scale[j]);
        result.aleatoric_std.push(noise * scale * aleatoric);
    }
    result
}

/// The waypoint controller's action, limited in 2-norm and then to the box.
#[must_use]
pub fn waypoint_action(legs: &[Leg], speed: f64, limit: f64, state: &[f64]) -> Vec<f64> {
    let counts = |leg: &&Leg| state[usize::from(leg.axis)] < f64::from(leg.below);
    let leg = legs.iter().find(counts).or(legs.last());
    let target = leg.map_or([0.0; 3], |leg| leg.target);
    let way: Vec<f64> = state
        .iter()
        .zip(target)
        .map(|(s, t)| f64::from(t) - s)
        .collect();
    let length = way.iter().map(|x| x * x).sum::<f64>().sqrt();
    let factor = if length > speed { speed / length } else { 1.0 };
    way.iter()
        .map(|x| (x * factor).clamp(-limit, limit))
        .collect()
}
