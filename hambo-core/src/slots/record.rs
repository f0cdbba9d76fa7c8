//! What is noted beside a bundle.

use crate::numeric::checksum::CRC;

/// Bytes of a record.
pub const RECORD: usize = 64;

/// What a record says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Kind {
    /// The bundle is being written.
    Begun = 0x5AC3_69F0,
    /// The bundle is whole, was checked, and is to drive.
    Active = 0xA53C_960F,
}

/// A record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Record {
    /// What it says.
    pub kind: Kind,
    /// Bytes of the bundle.
    pub length: u32,
    /// Of the bundle; 0 as long as it is not active.
    pub counter: u32,
    /// SHA-256 of the bundle's bytes.
    pub hash: [u8; 32],
}

impl Record {
    /// Its bytes; the last ones are a checksum of the others.
    pub fn bytes(&self) -> [u8; RECORD] {
        let mut bytes = [0; RECORD];
        let words = [self.kind as u32, self.length, self.counter, !self.counter];
        let numbers = words.into_iter().flat_map(u32::to_le_bytes);
        let all = numbers.chain(self.hash);
        for (to, byte) in bytes.iter_mut().zip(all) {
            *to = byte;
        }
        if let Some((body, sum)) = bytes.split_last_chunk_mut::<4>() {
            *sum = CRC.checksum(body).to_le_bytes();
        }
        bytes
    }

    /// The record of these bytes; none if they are not exactly one.
    pub fn of(bytes: &[u8; RECORD]) -> Option<Self> {
        let word = |place: usize| {
            let bytes = bytes.get(4 * place..)?.first_chunk::<4>()?;
            Some(u32::from_le_bytes(*bytes))
        };
        let kinds = [Kind::Begun, Kind::Active].into_iter();
        let mut kinds = kinds.filter(|kind| word(0) == Some(*kind as u32));
        let record = Self {
            kind: kinds.next()?,
            length: word(1)?,
            counter: word(2)?,
            hash: *bytes.get(16..)?.first_chunk()?,
        };
        (record.bytes() == *bytes).then_some(record)
    }
}
