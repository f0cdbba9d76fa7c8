//! Single trajectories for pictures and reports: where the neutral model and
//! the adversary go. They are the core's own rollouts with one lane.

use hambo_core::adversary::{Search, constant_starts};
use hambo_core::arithmetic::random::Stream;
use hambo_core::image::Image;
use hambo_core::model::Prediction;
use hambo_core::policy::{Policy, StoredPolicy};
use hambo_core::rollout::{Buffers, CapacityError, Objective, Rollout};
use hambo_core::task::Variant;

/// A trajectory of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelPath {
    /// s_0 … s_T, each of ds numbers.
    pub states: Vec<Vec<f32>>,
    /// The return.
    pub value: f32,
}

/// The set of next states the adversary could choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSet {
    /// s + mu.
    pub center: Vec<f32>,
    /// beta · tau · sigma_e.
    pub half_width: Vec<f32>,
}

fn rollout<'a>(image: &'a Image<'a>, variant: Variant) -> Rollout<'a, StoredPolicy<'a>> {
    Rollout {
        model: &image.model,
        policy: &image.policy,
        task: &image.task,
        variant,
        objective: Objective::Return,
    }
}

fn path(image: &Image<'_>, buffers: &Buffers<'_, 1>, value: f32) -> ModelPath {
    let dimension = image.model.dynamics.state_dimension();
    let states = buffers.states.chunks_exact(dimension);
    ModelPath {
        states: states
            .map(|rows| rows.iter().map(|[x]| *x).collect())
            .collect(),
        value,
    }
}

/// Mean propagation of the first trajectory.
///
/// # Errors
/// If the task is too large to be counted.
pub fn neutral_path(image: &Image<'_>) -> Result<ModelPath, CapacityError> {
    let dynamics = &image.model.dynamics;
    let mut rows = vec![[0.0; 1]; Buffers::<1>::rows_needed(dynamics, &image.task, &image.policy)?];
    let mut buffers = Buffers::carve(&mut rows, dynamics, &image.task, &image.policy)?;
    let rollout = rollout(image, Variant::Mean);
    let streams = [Stream::new(image.task.effort.seed, 0)];
    rollout.start(&streams, &mut buffers);
    let returns = rollout.forward(&streams, &mut buffers);
    let [value] = returns.value;
    Ok(path(image, &buffers, value))
}

/// The worst path that the adversary finds for the first trajectory: the
/// search that the check runs, repeated up to the sweep that found it.
///
/// # Errors
/// If the task is too large to be counted.
pub fn adversarial_path(image: &Image<'_>) -> Result<ModelPath, CapacityError> {
    let dynamics = &image.model.dynamics;
    let mut rows = vec![[0.0; 1]; Buffers::<1>::rows_needed(dynamics, &image.task, &image.policy)?];
    let mut buffers = Buffers::carve(&mut rows, dynamics, &image.task, &image.policy)?;
    let rollout = rollout(image, Variant::ContinuousAdversary);
    let mut worst = (f32::INFINITY, 0, 0);
    for candidate in 0..constant_starts(rollout.variant, dynamics) as u32 {
        let mut search = Search::new(&rollout, [candidate]);
        while !search.sweep(&rollout, &mut buffers) {}
        let ([least], [iteration]) = (*search.least(), *search.least_iteration());
        if least < worst.0 {
            worst = (least, candidate, iteration);
        }
    }
    let (value, candidate, iteration) = worst;
    let mut search = Search::new(&rollout, [candidate]);
    for _ in 0..=iteration {
        search.sweep(&rollout, &mut buffers);
    }
    Ok(path(image, &buffers, value))
}

/// The sets along a path, one for each step.
#[must_use]
pub fn confidence_sets(image: &Image<'_>, path: &ModelPath) -> Vec<StepSet> {
    let dynamics = &image.model.dynamics;
    let mut scratch = vec![[0.0; 1]; dynamics.scratch_rows().unwrap_or(0)];
    let mut mean = vec![[0.0; 1]; dynamics.state_dimension()];
    let (mut epistemic_std, mut aleatoric_std) = (mean.clone(), mean.clone());
    let mut action = vec![[0.0; 1]; dynamics.action_dimension()];
    // A stochastic controller shows its mean here.
    let quiet = action.clone();
    let mut own = vec![[0.0; 1]; image.policy.scratch_rows().unwrap_or(0)];
    let steps = path.states.len().saturating_sub(1);
    let states = path.states.iter().take(steps);
    states
        .map(|state| {
            let rows: Vec<[f32; 1]> = state.iter().map(|x| [*x]).collect();
            image.policy.act(&rows, &quiet, &mut own, &mut action);
            let limits = &image.task.action_limits;
            let limits = limits.low.iter().zip(limits.high);
            for ([a], (low, high)) in action.iter_mut().zip(limits) {
                *a = a.clamp(*low, *high);
            }
            let mut prediction = Prediction {
                mean: &mut mean,
                epistemic_std: &mut epistemic_std,
                aleatoric_std: &mut aleatoric_std,
            };
            dynamics.predict(&rows, &action, &mut scratch, &mut prediction);
            let radii = image.model.confidence.radii();
            StepSet {
                center: state
                    .iter()
                    .zip(&mean)
                    .map(|(s, [delta])| s + delta)
                    .collect(),
                half_width: radii
                    .zip(&epistemic_std)
                    .map(|(r, [std])| r * std)
                    .collect(),
            }
        })
        .collect()
}
