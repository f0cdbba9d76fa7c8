//! The adjoint sweep against differences of an f64 rollout.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_core::image::Image;
use hambo_core::model::NoiseFactor;
use hambo_core::numeric::network::Activation;
use hambo_core::numeric::random::Stream;
use hambo_core::policy::{Leg, Waypoints};
use hambo_core::rollout::{Buffers, Rollout};
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Effort, Variant};
use hambo_learn::ensemble::TrainedEnsemble;
use hambo_learn::ensemble::encode_ensemble;
use hambo_task::image::{AlignedBytes, Uncertainty, encode_image, encode_policy};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::fixture::{self, Draw};
use hambo_tests::reference::{moments, waypoint_action};

const HORIZON: usize = 6;
const SOFTNESS: f64 = 0.4;
const DISCOUNT: f64 = 0.95;
const LIMIT: f64 = 1.6;
const SPEED: f32 = 0.5;
const TASK: &str = r#"
name = "smooth"
horizon = 6
discount = 0.95
[state]
names = ["x", "y"]
low = [-1.6, -1.6]
high = [1.6, 1.6]
[action]
names = ["u", "v"]
low = [-0.4, -0.4]
high = [0.4, 0.4]
[reward]
expr = "-(next.x^2) - 0.5 * next.y * x - 0.2 * u * v - 3 * (next.x^2 + y < 0.7)"
[initial]
kind = "gaussian"
mean = [-1, 0.5]
std = [0.3, 0.3]
"#;

fn reward(state: &[f64], action: &[f64], next: &[f64]) -> f64 {
    let inside = 1.0 / (1.0 + (-(0.7 - (next[0].powi(2) + state[1])) / SOFTNESS).exp());
    -next[0].powi(2) - 0.5 * next[1] * state[0] - 0.2 * action[0] * action[1] - 3.0 * inside
}

struct Case {
    ensemble: TrainedEnsemble,
    uncertainty: Uncertainty,
    legs: [Leg; 2],
    noise: Vec<[f64; 2]>,
    start: [f64; 2],
}

impl Case {
    /// The return for the adversary's choices, with smooth comparisons.
    fn value(&self, eta: &[[f64; 2]]) -> f64 {
        let mut state = self.start.to_vec();
        let (mut sum, mut weight) = (0.0, 1.0);
        for (eta, noise) in eta.iter().zip(&self.noise) {
            let action = waypoint_action(&self.legs, f64::from(SPEED), 0.4, &state);
            let noise_scale = &self.uncertainty.noise_scale;
            let regions = &self.uncertainty.width_regions;
            let prediction = moments(&self.ensemble, noise_scale, &state, &action)
                .widened(regions, &state, &action);
            let next: Vec<f64> = (0..2)
                .map(|j| {
                    let tau = f64::from(self.uncertainty.calibration_scale[j]);
                    let radius = f64::from(self.uncertainty.beta) * tau;
                    let next = state[j]
                        + prediction.mean[j]
                        + radius * prediction.epistemic_std[j] * eta[j]
                        + prediction.aleatoric_std[j] * noise[j];
                    next.clamp(-LIMIT, LIMIT)
                })
                .collect();
            sum += weight * reward(&state, &action, &next);
            weight *= DISCOUNT;
            state = next;
        }
        sum
    }
}

fn pair(numbers: &[[f32; 1]]) -> [f64; 2] {
    [f64::from(numbers[0][0]), f64::from(numbers[1][0])]
}

#[test]
fn gradients_agree_with_differences() {
    let mut compared = 0;
    for seed in 0..40 {
        let draw = &mut Draw::new(seed);
        let activation = [Activation::Tanh, Activation::Silu][seed as usize % 2];
        let ensemble = fixture::ensemble(draw, 2, activation);
        let uncertainty = fixture::uncertainty(draw, &ensemble);
        let legs = [
            Leg {
                target: [0.1, 1.2, 0.0],
                axis: 0,
                below: 0.0,
            },
            Leg {
                target: [1.4, 0.0, 0.0],
                axis: 0,
                below: f32::MAX,
            },
        ];
        let policy = HostPolicy::Waypoints(Waypoints::new(2, SPEED, &legs).unwrap());
        let policy = encode_policy(&policy).unwrap();
        let task = TaskFile::parse(TASK, "smooth.toml").unwrap();
        let effort = Effort {
            trajectories: 1,
            searched: 1,
            iterations: 1,
            seed,
            allocation: Allocation::Even,
        };
        let model = encode_ensemble(&ensemble, &uncertainty).unwrap();
        let bytes = encode_image(&model, &task, effort, &[], &policy).unwrap();
        let bytes = AlignedBytes::new(&bytes);
        let image = Image::parse(bytes.as_bytes()).unwrap();
        let rollout = Rollout {
            model: image.model(),
            policy: image.policy(),
            task: image.task(),
            variant: Variant::ContinuousAdversary,
            objective: Objective::Return,
        };
        let dynamics = &image.model().dynamics;
        let mut rows = vec![
            [0.0; 1];
            Buffers::<1>::rows_needed(dynamics, image.task(), image.policy())
                .unwrap()
        ];
        let mut buffers =
            Buffers::carve(&mut rows, dynamics, image.task(), image.policy()).unwrap();
        let streams = [Stream::new(seed, 0)];
        rollout.start(&streams, &mut buffers);
        for row in buffers.eta.iter_mut() {
            *row = [draw.between(-1.0, 1.0)];
        }
        let eta: Vec<[f64; 2]> = buffers.eta.chunks(2).map(pair).collect();
        let start = pair(&buffers.states[..2]);
        let returns = rollout.forward(&streams, &mut buffers);
        assert_eq!(returns.finite, [true]);
        let mut found = [[f64::NAN; 2]; HORIZON];
        rollout.eta_gradient(&streams, &returns, SOFTNESS as f32, &mut buffers, |row| {
            found[row.step as usize][row.component] = f64::from(row.derivative[0]);
        });

        let mut stream = Stream::new(seed, 0);
        stream.skip(2 + 1); // the initial state and a member for the trajectory
        let pools = &uncertainty.noise_pools;
        let stays: &[f32] = if pools.offsets.is_empty() {
            &[0.0; 2]
        } else {
            let row = 2 * stream.index(pools.offsets.len() as u32 / 2) as usize;
            &pools.offsets[row..row + 2]
        };
        let noise = (0..HORIZON)
            .map(|_| {
                stream.skip(2); // the controller's
                let mut noise = [0; 2].map(|_| [stream.standard_normal()]);
                if !uncertainty.noise_factor.is_empty() {
                    let factor = NoiseFactor::new(&uncertainty.noise_factor, 2).unwrap();
                    factor.correlate(&mut noise);
                }
                stream.skip(1); // a member for the step
                if !pools.ends.is_empty() {
                    let place = stream.uniform();
                    let event = pools.ends.iter().position(|end| place < *end);
                    for (j, [noise]) in noise.iter_mut().enumerate() {
                        *noise = match event {
                            Some(event) => pools.extremes[2 * event + j],
                            None => *noise + pools.centre[j],
                        };
                    }
                }
                let rows = noise.iter().zip(stays);
                let rows = rows.map(|([noise], stays)| f64::from(noise + stays));
                rows.collect::<Vec<_>>().try_into().unwrap()
            })
            .collect();
        let case = Case {
            ensemble,
            uncertainty,
            legs,
            noise,
            start,
        };
        for step in 0..HORIZON {
            for j in 0..2 {
                let derivative = found[step][j];
                let difference = |h: f64| {
                    let shifted = |by: f64| {
                        let mut eta = eta.clone();
                        eta[step][j] += by;
                        case.value(&eta)
                    };
                    (shifted(h) - shifted(-h)) / (2.0 * h)
                };
                let (fine, coarse) = (difference(1e-6), difference(1e-4));
                if (fine - coarse).abs() > 1e-3 * fine.abs().max(0.05) {
                    continue; // a kink of the controller or a limit in between
                }
                let error = (derivative - fine).abs() / fine.abs().max(0.05);
                assert!(
                    error < 5e-3,
                    "seed {seed}, step {step}, {j}: {derivative} {fine}"
                );
                compared += 1;
            }
        }
    }
    assert!(
        compared > 400,
        "only {compared} of 480 were smooth enough to compare"
    );
}
