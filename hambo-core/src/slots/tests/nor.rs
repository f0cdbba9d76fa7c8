//! A flash memory whose power fails after some operations, and in which no word is written twice.

use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use std::vec;
use std::vec::Vec;

/// Bytes of a sector.
pub const SECTOR: usize = 512;
/// Bytes that are programmed at once.
pub const WORD: usize = 4;

/// What a memory says without power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Off;

impl NorFlashError for Off {
    fn kind(&self) -> NorFlashErrorKind {
        NorFlashErrorKind::Other
    }
}

/// Bits fall from 1 to 0 word by word, and rise sector by sector.
#[derive(Clone, Debug)]
pub struct Nor {
    bytes: Vec<u8>,
    /// Words and sectors that are changed before power fails; none if it does not.
    left: Option<u64>,
    /// Words and sectors that were changed.
    pub changed: u64,
    on: bool,
    random: u64,
    /// A byte whose last bit is 0 whatever is written.
    pub stuck: Option<usize>,
}

impl Nor {
    pub fn new(length: usize) -> Self {
        Self {
            bytes: vec![0xFF; length],
            left: None,
            changed: 0,
            on: true,
            random: 1,
            stuck: None,
        }
    }

    /// Power comes back, and fails after some more changes; what it leaves then follows from
    /// the seed.
    pub fn power(&mut self, left: Option<u64>, seed: u64) {
        (self.on, self.left, self.changed) = (true, left, 0);
        self.random = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    fn draw(&mut self) -> u8 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 33) as u8
    }

    /// Whether this change is whole.
    fn counts(&mut self) -> Result<bool, Off> {
        if !self.on {
            return Err(Off);
        }
        self.changed += 1;
        match &mut self.left {
            Some(0) => {
                self.on = false;
                Ok(false)
            }
            Some(left) => {
                *left -= 1;
                Ok(true)
            }
            None => Ok(true),
        }
    }
}

impl ErrorType for Nor {
    type Error = Off;
}

impl ReadNorFlash for Nor {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), Off> {
        if !self.on {
            return Err(Off);
        }
        let start = offset as usize;
        bytes.copy_from_slice(&self.bytes[start..start + bytes.len()]);
        Ok(())
    }

    fn capacity(&self) -> usize {
        self.bytes.len()
    }
}

impl NorFlash for Nor {
    const WRITE_SIZE: usize = WORD;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), Off> {
        let (from, to) = (from as usize, to as usize);
        assert!(from.is_multiple_of(SECTOR) && to.is_multiple_of(SECTOR));
        for start in (from..to).step_by(SECTOR) {
            if self.counts()? {
                self.bytes[start..start + SECTOR].fill(0xFF);
                continue;
            }
            // Some of its bits have risen: few, half of them, or nearly all.
            let kind = self.draw() % 3;
            for place in start..start + SECTOR {
                let bits = match kind {
                    0 => self.draw() & self.draw() & self.draw(),
                    1 => self.draw(),
                    _ => self.draw() | self.draw() | self.draw(),
                };
                self.bytes[place] |= bits;
            }
            return Err(Off);
        }
        Ok(())
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), Off> {
        let start = offset as usize;
        assert!(start.is_multiple_of(WORD) && bytes.len().is_multiple_of(WORD));
        for (place, word) in bytes.chunks(WORD).enumerate() {
            let at = start + place * WORD;
            let before = &self.bytes[at..at + WORD];
            assert!(
                before.iter().all(|byte| *byte == 0xFF),
                "{at} is written twice"
            );
            let whole = self.counts()?;
            for (place, byte) in word.iter().enumerate() {
                // A word that power cut off has some of its bits.
                let kept = if whole { 0 } else { self.draw() };
                self.bytes[at + place] &= byte | kept;
                if self.stuck == Some(at + place) {
                    self.bytes[at + place] &= 0xFE;
                }
            }
            if !whole {
                return Err(Off);
            }
        }
        Ok(())
    }
}
