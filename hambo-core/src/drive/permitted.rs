//! A drive with a permit: what it may drive with, and what it says to the line.

use super::error::DriveError;
use super::named::Named;
use super::period::{Drive, DriveSettings};
use crate::gate::{Permit, Pulse};
use crate::image::Bundle;

impl<'d> Drive<'d> {
    /// A drive with the very controller that a permit names, the fallback that passed beside it and
    /// the monitor that its bundle asks for.
    ///
    /// # Errors
    /// If the bundle is not the permit's, or as [`Drive::new`].
    #[inline(never)]
    pub fn permitted(
        permit: &Permit,
        bundle: &'d Bundle<'d>,
        measured: usize,
        seed: u64,
        rows: &'d mut [[f32; 1]],
    ) -> Result<Self, DriveError> {
        let image = bundle.image();
        let named = permit.image_hash() == image.hash()
            && permit.policy_hash() == Some(bundle.policy_hash())
            && permit.fallback_hash() == bundle.fallback_hash();
        if !(named && permit.opens()) {
            return Err(DriveError::NotPermitted);
        }
        let settings = DriveSettings {
            monitor: bundle.monitor().ok_or(DriveError::NoMonitor)?,
            measured,
            seed,
        };
        let mut drive = Self::new(image, bundle.fallback(), settings, rows)?;
        drive.permitted = Some(Named {
            bundle: *image.hash(),
            policy: *bundle.policy_hash(),
        });
        drive.seal = drive.checksum();
        Ok(drive)
    }

    /// What went on, for the line of the outputs; none of a drive without a permit, or one that
    /// has stopped.
    pub fn pulse(&self) -> Option<Pulse<'_>> {
        let Named { bundle, policy } = self.permitted.as_ref()?;
        if self.mode.is_stopped() {
            return None;
        }
        Some(Pulse {
            ticks: self.ticks,
            observed: self.counts().steps,
            bundle,
            policy,
        })
    }
}
