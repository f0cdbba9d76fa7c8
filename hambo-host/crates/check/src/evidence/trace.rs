//! The trajectories behind an estimate, step by step: the worst choices that
//! the check's own search kept, walked once more through the core's two half
//! steps. Nothing here computes a transition or a reward.

use hambo_core::adversary::Level;
use hambo_core::model::Prediction;
use hambo_core::numeric::CapacityError;
use hambo_core::numeric::Slices;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, Feedback, Rollout};
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use crate::case::system::System;
use crate::search::findings::{Choice, Findings};
use crate::search::rows_needed;

/// Of the comparisons in a derivative, in units of each one's own width.
const SOFTNESS: f32 = 0.1;

/// A trajectory of the model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// s_0 … s_n, where n is the number of steps that counted.
    pub states: Vec<Vec<f32>>,
    /// a_0 … a_{n−1}, clipped.
    pub actions: Vec<Vec<f32>>,
    /// What the model sees at each step: features of the state, then the action.
    pub inputs: Vec<Vec<f32>>,
    /// The discounted reward of each step.
    pub rewards: Vec<f32>,
    /// Whether the step began outside what the log covers.
    pub outside: Vec<bool>,
    /// Whether it began far outside.
    pub far_outside: Vec<bool>,
    /// What the push of each step takes from the return in each state that the model moves, to
    /// first order; no rows of variants that push by members.
    pub bought: Vec<Vec<f32>>,
    /// The return, as the core sums it.
    pub value: f32,
}

/// The set of next states that the adversary could choose from.
#[derive(Clone, Debug, PartialEq)]
pub struct StepSet {
    /// s + mu; NaN for a state that is known.
    pub center: Vec<f32>,
    /// beta · tau · sigma_e.
    pub half_width: Vec<f32>,
}

impl Trace {
    /// The model's set around each of its steps, for the actions that were really taken.
    #[must_use]
    pub fn sets(&self, system: &System<'_>) -> Vec<StepSet> {
        let dynamics = &system.model.dynamics;
        let lanes = |values: &[f32]| -> Vec<[f32; 1]> { values.iter().map(|x| [*x]).collect() };
        let mut scratch = vec![[0.0; 1]; dynamics.scratch_rows().unwrap_or(0)];
        let mut mean = vec![[0.0; 1]; dynamics.outputs()];
        let (mut epistemic_std, mut aleatoric_std) = (mean.clone(), mean.clone());
        let task = &system.task;
        let steps = self.states.iter().zip(&self.inputs);
        let sets = steps.map(|(state, inputs)| {
            let (features, action) = inputs.split_at(dynamics.features());
            let mut prediction = Prediction {
                mean: &mut mean,
                epistemic_std: &mut epistemic_std,
                aleatoric_std: &mut aleatoric_std,
            };
            dynamics.predict(
                &lanes(features),
                &lanes(action),
                &mut scratch,
                &mut prediction,
                &Slices::default(),
            );
            let radii = system.model.confidence.radii();
            // What is known has no set.
            let mut set = StepSet {
                center: vec![f32::NAN; state.len()],
                half_width: vec![f32::NAN; state.len()],
            };
            let moments = mean.iter().zip(&epistemic_std).zip(radii);
            for (place, (([mean], [std]), radius)) in task.physics.moved(state.len()).zip(moments) {
                set.center[place] = state[place] + mean;
                set.half_width[place] = radius * std;
            }
            set
        });
        sets.collect()
    }
}

/// The trajectories that a check kept of a variant, worst choice each.
///
/// # Errors
/// If the task is too large to be counted.
pub fn traces(system: &System<'_>, findings: &Findings) -> Result<Vec<Trace>, CapacityError> {
    let (variant, level) = (findings.variant, findings.level);
    walk_all(system, variant, level, findings.worst())
}

/// Mean propagation from where those trajectories start.
///
/// # Errors
/// If the task is too large to be counted.
pub fn neutral_traces(
    system: &System<'_>,
    findings: &Findings,
) -> Result<Vec<Trace>, CapacityError> {
    let none = Choice::none();
    let choices = findings.worst().map(|_| &none);
    walk_all(system, Variant::Mean, findings.level, choices)
}

/// Mean propagation of `count` of the sampled trajectories, evenly over them: where each start of
/// a list has its turn, over the list.
///
/// # Errors
/// If the task is too large to be counted.
pub fn neutral_paths(system: &System<'_>, count: u32) -> Result<Vec<Trace>, CapacityError> {
    let all = Level::Sampled.trajectories(&system.task).max(count);
    let none = Choice::none();
    let numbers =
        (0..count).map(|number| (u64::from(number) * u64::from(all) / u64::from(count)) as u32);
    let chosen = numbers.map(|number| (number, &none));
    walk_these(system, Variant::Mean, Level::Sampled, chosen)
}

fn walk_all<'c>(
    system: &System<'_>,
    variant: Variant,
    level: Level,
    choices: impl Iterator<Item = &'c Choice>,
) -> Result<Vec<Trace>, CapacityError> {
    walk_these(system, variant, level, (0..).zip(choices))
}

/// Walks trajectories by their numbers.
fn walk_these<'c>(
    system: &System<'_>,
    variant: Variant,
    level: Level,
    choices: impl Iterator<Item = (u32, &'c Choice)>,
) -> Result<Vec<Trace>, CapacityError> {
    let rollout = system.rollout(variant, Objective::Return);
    let (dynamics, task, policy) = (&rollout.model.dynamics, rollout.task, rollout.policy);
    let rows = rows_needed::<1>(dynamics, task, policy)?;
    let mut rows = vec![[0.0; 1]; rows];
    let mut traces = Vec::new();
    for (trajectory, choice) in choices {
        let mut buffers = Buffers::carve(&mut rows, dynamics, task, policy)?;
        traces.extend(walk(&rollout, level, trajectory, choice, &mut buffers));
    }
    Ok(traces)
}

/// Walks one trajectory with a choice.
fn walk(
    rollout: &Rollout<'_, StoredPolicy<'_>>,
    level: Level,
    trajectory: u32,
    choice: &Choice,
    buffers: &mut Buffers<'_, 1>,
) -> Option<Trace> {
    let streams = [level.stream(rollout.task, trajectory)];
    let (task, moved) = (rollout.task, rollout.task.moved_states());
    let dimension = task.state_dimension();
    let first = buffers.states.get_mut(..dimension)?;
    level.start(rollout.task, trajectory, 0, first);
    buffers.feedback = [Feedback::Given];
    for (row, eta) in buffers.eta.iter_mut().zip(&choice.eta) {
        *row = [*eta];
    }
    for (row, member) in buffers.members.chosen.iter_mut().zip(&choice.members) {
        *row = [*member];
    }
    buffers.watch_support = [true];
    let returns = rollout.forward(&streams, buffers);
    let ([value], [steps]) = (returns.value, returns.steps);
    let mut trace = Trace {
        value,
        ..Trace::default()
    };
    if rollout.variant == Variant::ContinuousAdversary {
        trace.bought = vec![vec![0.0; moved]; steps as usize];
        rollout.eta_gradient(&streams, &returns, SOFTNESS, buffers, |one| {
            let ([eta], [derivative]) = (*one.eta, one.derivative);
            let step = trace.bought.get_mut(one.step as usize);
            if let Some(bought) = step.and_then(|step| step.get_mut(one.component)) {
                *bought = -eta * derivative;
            }
        });
    }
    let column = |rows: &[[f32; 1]]| -> Vec<f32> { rows.iter().map(|[x]| *x).collect() };
    let mut weight = 1.0_f32;
    for step in 0..steps {
        let observed = rollout.observe(&streams, step, buffers)?;
        trace.states.push(column(observed.state));
        trace.actions.push(column(observed.action));
        let mut values = vec![[0.0; 1]; task.program.len()];
        let mut features = vec![[0.0; 1]; task.physics.features()];
        let physics = &task.physics;
        let (seen, _) = physics.see(&task.program, observed.state, &mut values, &mut features);
        let mut inputs = column(seen);
        inputs.extend(column(observed.action));
        trace.inputs.push(inputs);
        let result = rollout.transition(step, buffers)?;
        let ([reward], [outside]) = (result.reward, result.outside);
        let [far_outside] = result.far_outside;
        trace.rewards.push(weight * reward);
        trace.outside.push(outside);
        trace.far_outside.push(far_outside);
        weight *= rollout.task.discount;
    }
    let after = steps as usize * dimension;
    let end = buffers.states.get(after..after + dimension)?;
    trace.states.push(column(end));
    Some(trace)
}
