//! The same drive on the host, over the samples that the device got.

use std::convert::Infallible;

use hambo_core::drive::{Actuator, Drive, DriveError, DriveSettings, Sensor};
use hambo_core::image::Bundle;
use hambo_core::link::drive::{Acted, Begin, DriveSummary, SensorSample};

use super::drive::DeviceDrive;
use hambo_base::Error;
use hambo_task::image::AlignedBytes;

/// What the host's own [`Drive`] does.
#[derive(Clone, Debug, PartialEq)]
pub struct HostDrive {
    /// One for each sample, without a count of instructions.
    pub acted: Vec<Acted>,
    /// How it ended, without a count of instructions.
    pub summary: DriveSummary,
}

impl HostDrive {
    /// Whether a device did the same in every bit: modes, actions, observations and the
    /// digest.
    #[must_use]
    pub fn equals(&self, device: &DeviceDrive) -> bool {
        let Some(summary) = device.summary else {
            return false;
        };
        let own = (self.summary.ticks, self.summary.digest, self.summary.counts);
        let same = own == (summary.ticks, summary.digest, summary.counts)
            && self.summary.trip == summary.trip
            && self.acted.len() == device.periods.len();
        let mut periods = self.acted.iter().zip(&device.periods);
        same && periods.all(|(own, period)| bits(own) == bits(&period.acted))
    }
}

/// All of a period but its count of instructions, with numbers as bits.
fn bits(acted: &Acted) -> (u32, &'static str, Vec<u32>, Option<(u32, String)>) {
    let action = acted.action.iter().map(|number| number.to_bits()).collect();
    let seen = acted.observation.map(|seen| {
        let marks = (seen.state, seen.surprise, seen.outside, seen.trip);
        (seen.residual.to_bits(), format!("{marks:?}"))
    });
    (acted.tick, acted.mode.name(), action, seen)
}

struct Replayed<'s>(&'s SensorSample);

impl Sensor for Replayed<'_> {
    type Error = ();

    fn read(&mut self, state: &mut [f32]) -> Result<bool, ()> {
        if self.0.state.len() != state.len() {
            return Err(());
        }
        if self.0.is_fresh {
            state.copy_from_slice(&self.0.state);
        }
        Ok(self.0.is_fresh)
    }
}

struct Nowhere;

impl Actuator for Nowhere {
    type Error = Infallible;

    fn apply(&mut self, _action: &[f32]) -> Result<(), Infallible> {
        Ok(())
    }
}

/// Drives over samples with the bundle's controller and its fallback.
///
/// # Errors
/// If the bundle is bad, or nothing can drive with it.
pub fn drive_on_host<'s>(
    bundle: &AlignedBytes,
    begin: Begin,
    samples: impl IntoIterator<Item = &'s SensorSample>,
) -> Result<HostDrive, Error> {
    let bundle = Bundle::parse_prefix(bundle.as_bytes())?;
    let (image, fallback) = (bundle.image(), bundle.fallback());
    let monitor = bundle.monitor().ok_or_else(|| {
        Error::Usage("the bundle does not say when the monitor trips; export it again".into())
    })?;
    let settings = DriveSettings {
        monitor,
        measured: usize::from(begin.measured),
        seed: begin.seed,
    };
    let mut rows = vec![[0.0]; Drive::rows_needed(image, fallback)?];
    let drive = Drive::new(image, fallback, settings, &mut rows);
    let mut drive = drive.map_err(|error| match error {
        DriveError::Capacity(error) => Error::from(error),
        DriveError::Parameter(error) => Error::Usage(format!("the drive: {error:?}")),
        DriveError::NotPermitted | DriveError::NoMonitor => {
            Error::Usage(format!("the drive: {error:?}"))
        }
        DriveError::Fallback => Error::Usage("the fallback has other sizes than the task".into()),
        DriveError::NotMeasured(state) => Error::Usage(format!(
            "state {state} of the image's task is not measured, and no [known] says how it moves"
        )),
    })?;
    let mut acted = Vec::new();
    for sample in samples {
        let tick = drive.tick(&mut Replayed(sample), &mut Nowhere);
        let period = Acted::of(&tick, 0);
        acted.push(period.ok_or_else(|| Error::Usage("too many actions for a message".into()))?);
    }
    let summary = DriveSummary::of(&drive, 0);
    Ok(HostDrive { acted, summary })
}
