//! A controller in plain Rust, checked by the core: the very code that will drive.
//! `cargo run --release -p hambo-host --example custom_controller`.
//!
//! The example `own_firmware` of `hambo-core` does the same on a microcontroller.

use hambo_host::Error;
use hambo_host::base::observer::Unobserved;
use hambo_host::check::CheckOptions;
use hambo_host::check::case::Case;
use hambo_host::core::check::{Check, Outcome, Progress};
use hambo_host::core::image::Image;
use hambo_host::core::rollout::Buffers;
use hambo_host::core::{Controller, LaneByLane, SVector};
use hambo_host::lab::environment::{named, rollout};
use hambo_host::learn::fit::{FitOptions, fit};
use hambo_host::task::image::Adversaries;
use hambo_host::task::policy::HostPolicy;

/// The controller that was logged.
const LOGGER: &str = include_str!("../tasks/pi_1.6.toml");

/// Walks to (0, height) and from there to (2, 0), at most 0.5 a step.
struct Around {
    height: f32,
}

impl Controller<2, 2> for Around {
    fn action(&self, position: &SVector<f32, 2>) -> SVector<f32, 2> {
        let target = if position.x < 0.0 {
            SVector::from([0.0, self.height])
        } else {
            SVector::from([2.0, 0.0])
        };
        let way = target - position;
        let length = (way.x * way.x + way.y * way.y).sqrt();
        way * (0.5_f32.min(length) / length.max(1e-6))
    }
}

pub(crate) fn check(height: f32) -> Result<Outcome, Error> {
    let system = named("point_safety")?;
    let task = system.task();
    let logger = HostPolicy::parse(LOGGER, "pi_1.6.toml", task)?;
    let log = rollout(&*system, &logger, 60, 0.2, 0)?.log;
    let (model, _) = fit(task, &log, &FitOptions::demo(), &mut Unobserved)?;

    // Model and task as a device would get them; the image's own controller is not used.
    let options = CheckOptions {
        log: Some(&log),
        trajectories: Some(100),
        sweeps: Some(10),
        ..CheckOptions::default()
    };
    let bytes = Case::new(task, &model, &logger, &options)?.image(&Adversaries::default())?;
    let image = Image::parse(bytes.as_bytes())?;

    let controller = LaneByLane::new(Around { height });
    let mut rows =
        vec![
            [0.0; 8];
            Buffers::<8>::rows_needed(&image.model().dynamics, image.task(), &controller)?
        ];
    let mut check = Check::with_policy(&image, &controller, &mut rows)?;
    loop {
        if let Progress::Finished(outcome) = check.advance(1000) {
            return Ok(outcome);
        }
    }
}

fn main() -> Result<(), Error> {
    for height in [1.6, 1.1] {
        let outcome = check(height)?;
        println!(
            "over (0, {height}): bound {:.1}, {}",
            outcome.bound,
            outcome.verdict.name()
        );
    }
    Ok(())
}
