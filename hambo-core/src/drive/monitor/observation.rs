//! A measured transition, and what the monitor says of it.

use serde::{Deserialize, Serialize};

use crate::numeric::checksum::CRC;

/// A transition that was measured.
#[derive(Clone, Copy, Debug)]
pub struct Measured<'t> {
    /// s.
    pub state: &'t [f32],
    /// a, as the actuators got it.
    pub action: &'t [f32],
    /// s′, one period later.
    pub next_state: &'t [f32],
    /// Whether both states are of their own period.
    pub is_fresh: bool,
}

/// Why the monitor tripped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Trip {
    /// A number of the transition, or of what the model says of it, is not finite,
    /// or the transition has another size than the task.
    NotFinite,
    /// This state moved farther than three times what set and noise allow.
    Far(u8),
    /// Surprises come too often.
    Surprises,
    /// The robot is too often where the log has no data.
    OutsideSupport,
}

/// What one transition says.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The largest difference from the prediction, in units of what set and noise
    /// allow: above 1 is a surprise. Not a number where it could not be told.
    pub residual: f32,
    /// The state in which it was.
    pub state: u8,
    /// Whether it was a surprise.
    pub surprise: bool,
    /// Whether state and action lie outside the data's support.
    pub outside: bool,
    /// Whether the monitor has tripped, now or before, and why.
    pub trip: Option<Trip>,
}

impl Observation {
    /// One number for this and all observations before it, of which `before` is the
    /// digest, and the wealth after it: equal bits, equal digests. The first has 0
    /// before it.
    pub fn digest(&self, before: u32, wealth: f32) -> u32 {
        let bits = |number: f32| if number.is_nan() { f32::NAN } else { number }.to_bits();
        let marks = [self.surprise, self.outside, self.trip.is_some()];
        let marks = marks.iter().fold(u32::from(self.state), |sum, mark| {
            2 * sum + u32::from(*mark)
        });
        let mut bytes = [0; 16];
        let words = [before, bits(self.residual), bits(wealth), marks];
        for (place, word) in bytes.chunks_exact_mut(4).zip(words) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        CRC.checksum(&bytes)
    }
}

/// How many transitions were what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MonitorCounts {
    /// All.
    pub steps: u32,
    /// Outside set and noise, or not fresh.
    pub surprises: u32,
    /// Of these, those that were not fresh.
    pub stale: u32,
    /// Of these, those beyond three radii.
    pub far: u32,
    /// Outside the data's support.
    pub outside: u32,
}
