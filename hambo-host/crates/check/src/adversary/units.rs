//! The units in which adversaries and controllers that learn see states and actions.

use hambo_core::adversary::Level;
use hambo_core::image::Image;
use hambo_core::numeric::CapacityError;
use hambo_core::rollout::Buffers;
use hambo_core::task::ModelInputs;
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use crate::case::system::System;
use crate::reinforcement::InputUnits;

/// In these units any return is nothing, and a network learns nothing of it.
const VAST: f32 = 1e36;
/// Trajectories that show where states are which the model does not see.
const LANES: usize = 16;

/// Means and standard deviations of states and actions: those of the data where the model sees
/// a state as it is, and else those of mean propagation. The return so far, the last state of a
/// task whose reward is learned, is not looked at.
///
/// # Errors
/// If the task is too large to be counted.
pub(crate) fn units(image: &Image<'_>, learned_reward: bool) -> Result<InputUnits, CapacityError> {
    let (support, task) = (&image.model().support, image.task());
    let features = task.physics.features();
    let logged = || support.centre.iter().copied().zip(support.scale);
    let logged = || logged().map(|(mean, scale)| (mean, 1.0 / scale));
    let states = task.state_dimension();
    let mut units: Vec<(f32, f32)> = match &task.physics.inputs {
        ModelInputs::States(count) => logged().take(usize::from(*count)).collect(),
        ModelInputs::Features(_) => Vec::new(),
    };
    if units.len() < states {
        let others = visited(image)?.into_iter().skip(units.len());
        units.extend(others);
    }
    if let Some(last) = units.last_mut().filter(|_| learned_reward) {
        *last = (0.0, VAST);
    }
    units.extend(logged().skip(features));
    let (mean, scale) = units.into_iter().unzip();
    Ok(InputUnits { mean, scale })
}

/// Mean and standard deviation of each state along mean propagation.
fn visited(image: &Image<'_>) -> Result<Vec<(f32, f32)>, CapacityError> {
    let (model, task, policy) = (image.model(), image.task(), image.policy());
    let system = System::from(image);
    let rollout = system.rollout(Variant::Mean, Objective::Return);
    let needed = Buffers::<LANES>::rows_needed(&model.dynamics, task, policy)?;
    let mut rows = vec![[0.0; LANES]; needed];
    let mut buffers = Buffers::carve(&mut rows, &model.dynamics, task, policy)?;
    let states = task.state_dimension();
    let trajectories: [u32; LANES] = std::array::from_fn(|lane| lane as u32);
    let first = buffers.states.get_mut(..states).unwrap_or_default();
    for (lane, trajectory) in trajectories.iter().enumerate() {
        Level::Searched.start(task, *trajectory, lane, first);
    }
    let streams = trajectories.map(|trajectory| Level::Searched.stream(task, trajectory));
    rollout.forward(&streams, &mut buffers);
    let of = |state: usize| {
        let rows = buffers.states.iter().skip(state).step_by(states.max(1));
        let values = rows.flatten().filter(|x| x.is_finite());
        let values: Vec<f64> = values.map(|x| f64::from(*x)).collect();
        let count = values.len().max(1) as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
        let least = (1e-3 * mean.abs()).max(1e-6);
        (mean as f32, (squares / count).sqrt().max(least) as f32)
    };
    Ok((0..states).map(of).collect())
}
