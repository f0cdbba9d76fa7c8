//! The trajectories behind an estimate, step by step: the check's own search
//! is run again and its worst choices are kept, then walked once more through
//! the core's two half steps. Nothing here computes a transition or a reward.

use hambo_core::adversary::CHOICE_ROWS;
use hambo_core::arithmetic::random::Stream;
use hambo_core::check::Search;
use hambo_core::image::Image;
use hambo_core::model::Prediction;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, CapacityError, Objective, Rollout};
use hambo_core::variant::Variant;
use rayon::prelude::*;

use crate::trajectory::StepSet;

/// Candidates that are searched side by side, as in the check.
const LANES: usize = 32;

/// A trajectory of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct Trace {
    /// s_0 … s_n, where n is the number of steps that counted.
    pub states: Vec<Vec<f32>>,
    /// a_0 … a_{n−1}, clipped.
    pub actions: Vec<Vec<f32>>,
    /// The discounted reward of each step.
    pub rewards: Vec<f32>,
    /// Whether the step began outside the box around the log.
    pub outside: Vec<bool>,
    /// The return, as the core sums it.
    pub value: f32,
}

impl Trace {
    /// The model's set around each of its steps: the middle s + mu, and half
    /// the width beta · tau · sigma_e, for the actions that were really taken.
    #[must_use]
    pub fn sets(&self, image: &Image<'_>) -> Vec<StepSet> {
        let dynamics = &image.model.dynamics;
        let lanes = |values: &[f32]| -> Vec<[f32; 1]> { values.iter().map(|x| [*x]).collect() };
        let mut scratch = vec![[0.0; 1]; dynamics.scratch_rows().unwrap_or(0)];
        let mut mean = vec![[0.0; 1]; dynamics.state_dimension()];
        let (mut epistemic_std, mut aleatoric_std) = (mean.clone(), mean.clone());
        let steps = self.states.iter().zip(&self.actions);
        let sets = steps.map(|(state, action)| {
            let mut prediction = Prediction {
                mean: &mut mean,
                epistemic_std: &mut epistemic_std,
                aleatoric_std: &mut aleatoric_std,
            };
            dynamics.predict(&lanes(state), &lanes(action), &mut scratch, &mut prediction);
            let radii = image.model.confidence.radii();
            StepSet {
                center: state.iter().zip(&mean).map(|(s, [d])| s + d).collect(),
                half_width: radii.zip(&epistemic_std).map(|(r, [s])| r * s).collect(),
            }
        });
        sets.collect()
    }
}

/// What the adversary chose on one trajectory.
#[derive(Clone, Debug)]
struct Choice {
    least: f32,
    eta: Vec<f32>,
    members: Vec<f32>,
}

/// The trajectories of a variant, worst choice each, for the first
/// `trajectories` of a check. The mean of their returns is that of the check's
/// estimate if these are all of its trajectories.
///
/// # Errors
/// If the task is too large to be counted.
pub fn traces(
    image: &Image<'_>,
    variant: Variant,
    trajectories: u32,
) -> Result<Vec<Trace>, CapacityError> {
    let rollout = Rollout {
        model: &image.model,
        policy: &image.policy,
        task: &image.task,
        variant,
        objective: Objective::Return,
    };
    let starts = Search::<1>::start_total(&rollout).max(1);
    let candidates = trajectories.saturating_mul(starts as u32);
    let groups: Vec<u32> = (0..candidates).step_by(LANES).collect();
    let rows = Buffers::<LANES>::rows_needed(&image.model.dynamics, &image.task, &image.policy)?;
    let found: Vec<Vec<Choice>> = groups
        .par_iter()
        .map_init(
            || vec![[0.0; LANES]; rows],
            |rows, first| {
                let mut buffers =
                    Buffers::carve(rows, &image.model.dynamics, &image.task, &image.policy)?;
                Ok(search(&rollout, *first, &mut buffers))
            },
        )
        .collect::<Result<_, CapacityError>>()?;
    let found: Vec<Choice> = found.into_iter().flatten().collect();
    let of_trajectory: Vec<&[Choice]> = found
        .chunks_exact(starts)
        .take(trajectories as usize)
        .collect();
    // DAinf keeps one member for all trajectories.
    let member = (variant == Variant::DiscreteAdversaryInf).then(|| {
        let sum = |start: usize| -> f32 {
            let each = of_trajectory
                .iter()
                .filter_map(|choices| choices.get(start));
            each.map(|choice| choice.least).sum()
        };
        least((0..starts).map(sum)).unwrap_or(0)
    });
    let mut rows =
        vec![
            [0.0; 1];
            Buffers::<1>::rows_needed(&image.model.dynamics, &image.task, &image.policy)?
        ];
    let mut traces = Vec::new();
    for (trajectory, choices) in (0..).zip(&of_trajectory) {
        let worst = member.or_else(|| least(choices.iter().map(|choice| choice.least)));
        let Some(choice) = choices.get(worst.unwrap_or(0)) else {
            continue;
        };
        let mut buffers =
            Buffers::carve(&mut rows, &image.model.dynamics, &image.task, &image.policy)?;
        traces.extend(walk(&rollout, trajectory, choice, &mut buffers));
    }
    Ok(traces)
}

/// The place of the first least number.
fn least(numbers: impl Iterator<Item = f32>) -> Option<usize> {
    let mut worst = None;
    for (place, value) in numbers.enumerate() {
        if worst.is_none_or(|(_, least)| value < least) {
            worst = Some((place, value));
        }
    }
    worst.map(|(place, _)| place)
}

/// Searches a group of candidates and keeps the worst choice of each.
fn search(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    first: u32,
    buffers: &mut Buffers<'_, LANES>,
) -> Vec<Choice> {
    let mut search = Search::<LANES>::new(rollout, first);
    let nothing = Choice {
        least: f32::INFINITY,
        eta: Vec::new(),
        members: Vec::new(),
    };
    let mut worst = vec![nothing; LANES];
    loop {
        let last = search.sweep(rollout, buffers);
        for (lane, choice) in worst.iter_mut().enumerate() {
            let Some(least) = search.least.get(lane).copied() else {
                continue;
            };
            // The first sweep always counts: its value may not be finite.
            if least < choice.least || choice.eta.is_empty() {
                *choice = kept(least, lane, last, buffers);
            }
        }
        if last {
            return worst;
        }
    }
}

/// The choice that a sweep has just improved a lane with. The search keeps it
/// apart from what it tries next; after the last sweep nothing follows.
fn kept(least: f32, lane: usize, last: bool, buffers: &Buffers<'_, LANES>) -> Choice {
    let eta = if last || buffers.worst_eta.is_empty() {
        &buffers.eta
    } else {
        &buffers.worst_eta
    };
    let column = |rows: &[[f32; LANES]]| -> Vec<f32> {
        rows.iter()
            .filter_map(|row| row.get(lane).copied())
            .collect()
    };
    let row = usize::from(!last);
    let members = buffers.choices.as_chunks::<CHOICE_ROWS>().0.iter();
    let members = members.filter_map(|rows| rows.get(row)?.get(lane).copied());
    Choice {
        least,
        eta: column(eta),
        members: members.collect(),
    }
}

/// Walks one trajectory with a choice.
fn walk(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    trajectory: u32,
    choice: &Choice,
    buffers: &mut Buffers<'_, 1>,
) -> Option<Trace> {
    let streams = [Stream::new(rollout.task.effort.seed, trajectory)];
    rollout.start(&streams, buffers);
    buffers.trained = [false];
    for (row, eta) in buffers.eta.iter_mut().zip(&choice.eta) {
        *row = [*eta];
    }
    let steps = buffers.choices.as_chunks_mut::<CHOICE_ROWS>().0;
    for ([row, ..], member) in steps.iter_mut().zip(&choice.members) {
        *row = [*member];
    }
    let returns = rollout.forward(&streams, buffers);
    let ([value], [steps]) = (returns.value, returns.steps);
    let mut trace = Trace {
        states: Vec::new(),
        actions: Vec::new(),
        rewards: Vec::new(),
        outside: Vec::new(),
        value,
    };
    let column = |rows: &[[f32; 1]]| -> Vec<f32> { rows.iter().map(|[x]| *x).collect() };
    let mut weight = 1.0_f32;
    for step in 0..steps {
        let seen = rollout.look(&streams, step, buffers)?;
        trace.states.push(column(seen.state));
        trace.actions.push(column(seen.action));
        let landing = rollout.land(step, buffers)?;
        let ([reward], [outside]) = (landing.reward, landing.outside);
        trace.rewards.push(weight * reward);
        trace.outside.push(outside);
        weight *= rollout.task.discount;
    }
    let dimension = rollout.model.dynamics.state_dimension();
    let after = steps as usize * dimension;
    let end = buffers.states.get(after..after + dimension)?;
    trace.states.push(column(end));
    Some(trace)
}
