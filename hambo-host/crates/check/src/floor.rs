//! A robot's floor: what its owner's task asks, and transitions of the robot itself.

use hambo_core::drive::monitor::{Measured, Monitor};
use hambo_core::floor::{Floor, FloorManifest, Shortfall, constraint_identity, question};
use hambo_core::image::{Bundle, Image, MonitorSettings};
use hambo_core::task::Effort;

use hambo_base::Error;
use hambo_data::{Log, Transition};
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
    /// How many times as wide as the given model's the noise of a bundle's model may be.
    pub noise_factor: f32,
    /// The blindest monitor that a bundle may bring; none asks for no monitor.
    pub monitor: Option<MonitorSettings>,
}

/// The blindest monitor beside one that a model's withheld rows give: another model of the same
/// robot, just as calibrated, has other numbers. A calibrated model takes a tenth of the rows for
/// surprises at most, apart from rare events.
#[must_use]
pub fn blindest(own: MonitorSettings, least_alpha: f32) -> MonitorSettings {
    MonitorSettings {
        noise_width: MARGIN * own.noise_width,
        surprise_rate: (MARGIN * own.surprise_rate).clamp(0.1, 0.5),
        alpha: least_alpha,
    }
}

/// How far another model's monitor may go beyond the given one's.
const MARGIN: f32 = 1.25;

/// Of the robot's own transitions this share has a noise below what is multiplied.
const USUAL: f64 = 0.9;

/// A floor, and what it keeps.
pub struct RobotFloor {
    pub bytes: AlignedBytes,
    /// Transitions of the robot.
    pub transitions: usize,
    /// The least beta · tau of any state.
    pub beta: f32,
    /// The largest aleatoric standard deviation of each state that the model moves.
    pub noise_limits: Vec<f32>,
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
    let mut lent = vec![[0.0]; Monitor::rows_needed(image.model(), asked)?];
    let mut noise = Noise::new(&image, &mut lent)?;
    let mut numbers = Vec::new();
    let mut kept = 0_u16;
    for (place, row) in log.rows().enumerate() {
        if rows.contains(&place) {
            noise.look(&row);
            numbers.extend([row.state, row.action, row.next_state].concat());
            kept += 1;
        }
    }
    let noise_limits = noise.limits(options.noise_factor);
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
        monitor: options.monitor,
        noise_width: noise_width(asked.moved_states()),
        noise_limits: small(noise_limits.len())?,
        transitions: kept,
    };
    let floor = encode_floor(&manifest, &noise_limits, &numbers)?;
    let about = BundleAbout {
        board: options.board.clone(),
        robot: options.robot.clone(),
        counter: options.counter,
        period: task.time_step,
        monitor: options.monitor,
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
        noise_limits,
        shortfall,
    })
}

/// The noise that a model predicts at transitions.
struct Noise<'n> {
    monitor: Monitor<'n>,
    /// Of each state that the model moves, at each transition.
    stds: Vec<Vec<f32>>,
}

impl<'n> Noise<'n> {
    fn new(image: &'n Image<'n>, rows: &'n mut [[f32; 1]]) -> Result<Self, Error> {
        // Nothing is asked of this monitor but what the model predicts.
        let settings = MonitorSettings {
            noise_width: 1.0,
            surprise_rate: 0.5,
            alpha: 0.5,
        };
        let monitor = Monitor::new(image.model(), image.task(), settings, rows);
        let monitor = monitor.map_err(|error| Error::Usage(format!("the monitor: {error:?}")))?;
        Ok(Self {
            stds: vec![Vec::new(); image.task().moved_states()],
            monitor,
        })
    }

    fn look(&mut self, row: &Transition<'_>) {
        self.monitor.observe(&Measured {
            state: row.state,
            action: row.action,
            next_state: row.next_state,
            is_fresh: true,
        });
        for (stds, [std]) in self.stds.iter_mut().zip(self.monitor.aleatoric()) {
            stds.push(*std);
        }
    }

    /// A multiple of what the noise stays below at nine of ten transitions; none without any.
    fn limits(self, factor: f32) -> Vec<f32> {
        let usual = self.stds.into_iter().filter_map(|mut stds| {
            stds.sort_by(f32::total_cmp);
            let place = (USUAL * stds.len() as f64).ceil() as usize;
            stds.get(place.saturating_sub(1)).copied()
        });
        usual.map(|std| factor * std).collect()
    }
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
