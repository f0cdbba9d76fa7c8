//! Many numbers in one.

use crate::check::outcome::Outcome;
use crate::estimate::LevelEstimate;
use crate::numeric::checksum::CRC;

/// Numbers one after the other, and their checksum.
#[derive(Default)]
pub(super) struct Fingerprint {
    bytes: Vec<u8>,
}

impl Fingerprint {
    /// The bits of a number; every NaN is the same.
    pub fn number(&mut self, x: f32) {
        let x = if x.is_nan() { f32::NAN } else { x };
        self.count(x.to_bits());
    }

    pub fn count(&mut self, x: u32) {
        self.bytes.extend(x.to_le_bytes());
    }

    pub fn numbers<const B: usize>(&mut self, rows: &[[f32; B]]) {
        for x in rows.as_flattened() {
            self.number(*x);
        }
    }

    pub fn members<const B: usize>(&mut self, rows: &[[u16; B]]) {
        for x in rows.as_flattened() {
            self.count(u32::from(*x));
        }
    }

    pub fn flags<const B: usize>(&mut self, flags: [bool; B]) {
        for flag in flags {
            self.count(u32::from(flag));
        }
    }

    fn level(&mut self, level: &LevelEstimate) {
        self.count(level.count);
        for x in [level.mean, level.standard_error, level.lower] {
            self.number(x);
        }
    }

    /// Everything that a check found.
    pub fn outcome(&mut self, outcome: &Outcome) {
        for estimate in &outcome.estimates {
            self.bytes
                .extend(format!("{:?}{:?}", estimate.adversary, estimate.margin).bytes());
            self.level(&estimate.sampled);
            if let Some(correction) = &estimate.correction {
                self.level(correction);
            }
            let found = &estimate.found;
            let single = [found.constant, found.member, found.elsewhere, found.network];
            for x in single.map(|x| x.unwrap_or(f32::NAN)) {
                self.number(x);
            }
            self.number(found.search);
            for x in found.course {
                self.number(x);
            }
            for x in [estimate.mean, estimate.standard_error, estimate.lower] {
                self.number(x);
            }
        }
        self.number(outcome.bound);
        self.number(outcome.neutral);
    }

    pub fn checksum(&self) -> u32 {
        CRC.checksum(&self.bytes)
    }
}
