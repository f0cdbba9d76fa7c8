//! A drive with a permit: what it may drive with, and what it says to the line.

use super::error::DriveError;
use super::mode::Stop;
use super::named::Named;
use super::period::{Drive, DriveSettings};
use super::reread::Rounds;
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
        let read = bundle.checksum() == Some(permit.read());
        if !(named && read && permit.opens()) {
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
            read: bundle,
            checksum: permit.read(),
            rounds: Rounds::new(bundle.bytes(), *image.hash()),
        });
        drive.seal = drive.checksum();
        Ok(drive)
    }

    /// Hashes a piece of the bundle's bytes once more: once in every period, after the action is on
    /// its way. The line wants it, and bytes that are not those that were checked end the drive.
    ///
    /// A round takes 48 periods, so that a byte that changes is found within 96. A piece is a
    /// 48th of the bundle, and a Cortex-M4F takes some 40 instructions for each of its bytes.
    #[inline(never)]
    pub fn reread(&mut self) {
        if self.mode.is_stopped() || self.permitted.is_none() {
            return;
        }
        if !self.is_remembered() {
            self.end(Stop::Memory);
        } else if let Some(permitted) = &mut self.permitted
            && !permitted.rounds.go_on(&permitted.bundle)
        {
            self.end(Stop::Flash);
        }
        self.seal = self.checksum();
    }

    /// What went on, for the line of the outputs; none of a drive without a permit, or one that
    /// has stopped.
    pub fn pulse(&self) -> Option<Pulse<'_>> {
        let Named {
            bundle,
            policy,
            rounds,
            ..
        } = self.permitted.as_ref()?;
        if self.mode.is_stopped() {
            return None;
        }
        Some(Pulse {
            ticks: self.ticks,
            observed: self.counts().steps,
            reread: rounds.progress(),
            bundle,
            policy,
        })
    }
}
