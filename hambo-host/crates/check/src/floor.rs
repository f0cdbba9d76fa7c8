//! A robot's floor: what its owner's task asks, and transitions of the robot itself.

use hambo_core::drive::monitor::Monitor;
use hambo_core::floor::{Floor, FloorManifest, Shortfall, constraint_identity, question};
use hambo_core::image::{Bundle, Image};
use hambo_core::task::Effort;

use hambo_base::Error;
use hambo_data::Log;
use hambo_learn::calibration::noise_width;
use hambo_learn::replay_image::image_without_controller;
use hambo_task::image::{AlignedBytes, BundleAbout, encode_bundle, encode_floor, name};
use hambo_task::task::TaskFile;

/// Transitions that a floor keeps.
pub const TRANSITIONS: usize = 256;

/// What a robot's owner asks beside the task.
#[derive(Clone, Debug)]
pub struct FloorOptions {
    pub board: String,
    pub robot: String,
    /// The least counter of a bundle.
    pub counter: u32,
    /// The least beta · tau of any state; none for that of the model itself.
    pub beta: Option<f32>,
    /// The least effort of the device's check.
    pub effort: Effort,
    /// Whether a bundle must bring a fallback controller.
    pub fallback: bool,
}

/// A floor, and what it keeps.
pub struct RobotFloor {
    pub bytes: AlignedBytes,
    /// Transitions of the robot.
    pub transitions: usize,
    /// The least beta · tau of any state.
    pub beta: f32,
    /// In what a bundle of this very model falls short, if it does.
    pub shortfall: Option<Shortfall>,
}

/// The floor of the robot that wrote a log, for controllers that are to be checked by a task.
///
/// # Errors
/// If task, model and log do not fit together, the task states no threshold, or a name is
/// too long.
pub fn robot_floor(
    task: &TaskFile,
    model_part: &[u8],
    log: &Log,
    options: &FloorOptions,
) -> Result<RobotFloor, Error> {
    let Some(threshold) = task.threshold else {
        return Err(Error::Usage(
            "the task states no threshold, and a floor needs one\n\
             help: write threshold = ... into the task: the least return that may deploy"
                .into(),
        ));
    };
    let bytes = image_without_controller(task, model_part, options.effort)?;
    let image = Image::parse(bytes.as_bytes())?;
    let asked = image.task();
    let too_large = || Error::Usage("the task has more expressions than a floor keeps".into());
    let mut constraints = heapless::Vec::new();
    for constraint in &asked.constraints {
        let identity = constraint_identity(asked, constraint).ok_or_else(too_large)?;
        constraints.push(identity).map_err(|_| too_large())?;
    }
    let rows = spread(log.len(), TRANSITIONS);
    let mut numbers = Vec::new();
    let mut kept = 0_u16;
    for (place, row) in log.rows().enumerate() {
        if rows.contains(&place) {
            numbers.extend([row.state, row.action, row.next_state].concat());
            kept += 1;
        }
    }
    let small = |count: usize| u16::try_from(count).map_err(|_| too_large());
    let own_radii = image.model().confidence.radii();
    let beta = options
        .beta
        .unwrap_or_else(|| own_radii.fold(f32::INFINITY, f32::min));
    let manifest = FloorManifest {
        board: name("the board's name", &options.board)?,
        robot: name("the robot's name", &options.robot)?,
        counter: options.counter,
        period: task.time_step,
        states: small(task.state_names.len())?,
        actions: small(task.action_names.len())?,
        threshold: Some(threshold),
        delta: task.delta,
        horizon: task.horizon,
        beta,
        trajectories: options.effort.trajectories,
        searched: options.effort.searched,
        sweeps: options.effort.iterations,
        allocation: options.effort.allocation,
        distribution_free: asked.distribution_free,
        noise: true,
        fallback: options.fallback,
        calibration: true,
        continuous_adversary: true,
        question: question(asked).ok_or_else(too_large)?,
        constraints,
        noise_width: noise_width(asked.moved_states()),
        transitions: kept,
    };
    let floor = encode_floor(&manifest, &numbers)?;
    let about = BundleAbout {
        board: options.board.clone(),
        robot: options.robot.clone(),
        counter: options.counter,
        period: task.time_step,
        monitor: None,
    };
    let bundle = encode_bundle(bytes.as_bytes(), &about, None)?;
    let shortfall = {
        let bundle = Bundle::parse(bundle.as_bytes())?;
        let mut rows = vec![[0.0]; Monitor::rows_needed(image.model(), asked)?];
        let admitted = Floor::parse_prefix(floor.as_bytes())?.admit(&bundle, &mut rows);
        // The bundle of this test has no fallback, which says nothing about the model.
        admitted
            .err()
            .filter(|shortfall| *shortfall != Shortfall::Fallback)
    };
    Ok(RobotFloor {
        bytes: floor,
        transitions: usize::from(kept),
        beta,
        shortfall,
    })
}

/// At most `count` of `all` places, evenly spread.
fn spread(all: usize, count: usize) -> std::collections::BTreeSet<usize> {
    let count = count.min(all);
    (0..count).map(|number| number * all / count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_spread_evenly() {
        assert_eq!(
            spread(10, 5).into_iter().collect::<Vec<_>>(),
            [0, 2, 4, 6, 8]
        );
        assert_eq!((spread(3, 5).len(), spread(0, 5).len()), (3, 0));
        assert_eq!(spread(5000, TRANSITIONS).len(), TRANSITIONS);
    }
}
