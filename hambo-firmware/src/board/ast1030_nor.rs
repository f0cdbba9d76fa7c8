//! The NOR flash memory behind the AST1030's first memory controller (FMC), chip select 0: 4 MiB in
//! sectors of 4 KiB, and the two places for bundles in it.
//!
//! In the controller's user mode every access to its window shifts bytes out or in, lowest byte
//! first; a command lasts as long as the chip is selected.

use super::{read, write, write_byte};
use core::hint::spin_loop;
use embedded_storage::nor_flash::{
    ErrorType, NorFlash, NorFlashError, NorFlashErrorKind, ReadNorFlash,
};
use hambo_core::slots::{Layout, Place, Slots};

const FMC_CONFIGURATION: usize = 0x7e62_0000;
const FMC_CE0_CONTROL: usize = 0x7e62_0010;
const WINDOW: usize = 0x8000_0000;

/// Writes to chip 0 are let through.
const WRITABLE: u32 = 1 << 16;
/// User mode with the chip selected, and not.
const SELECTED: u32 = 0b11;
const RELEASED: u32 = 0b11 | 1 << 2;

/// Commands of the chip.
const READ: u32 = 0x03;
const PROGRAM: u32 = 0x02;
const ERASE: u32 = 0x20;
const ENABLE: u8 = 0x06;
const STATUS: u8 = 0x05;

const CAPACITY: usize = 4 << 20;
const SECTOR: usize = 4096;
/// Bytes that one command programs at most.
const PAGE: usize = 256;

/// Polls until a sector must be erased: seconds.
const POLLS: u32 = 1_000_000;

/// A place for a bundle: 256 KiB, and a sector for its records.
const fn place(start: u32) -> Place {
    Place {
        bundle: start..start + 0x4_0000,
        records: start + 0x4_0000..start + 0x4_1000,
    }
}

/// The two places for bundles. `None` never happens: they fit the memory.
pub fn slots() -> Option<Slots<Nor>> {
    let layout = Layout::new::<Nor>(place(0), place(0x8_0000), CAPACITY)?;
    Slots::new(Nor::new(), layout).ok()
}

/// The memory.
#[derive(Debug)]
pub struct Nor(());

/// Why the memory does not do what it is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NorError {
    /// Outside of it, or not at a border.
    Range,
    /// It did not come to an end in time.
    Busy,
}

impl NorFlashError for NorError {
    fn kind(&self) -> NorFlashErrorKind {
        match self {
            Self::Range => NorFlashErrorKind::OutOfBounds,
            Self::Busy => NorFlashErrorKind::Other,
        }
    }
}

impl Nor {
    fn new() -> Self {
        write(FMC_CE0_CONTROL, RELEASED);
        write(FMC_CONFIGURATION, read(FMC_CONFIGURATION) | WRITABLE);
        Self(())
    }

    /// Begins a command at an address: its byte, then the address, highest byte first.
    fn begin(&mut self, command: u32, address: u32) {
        let [_, high, middle, low] = address.to_be_bytes();
        write(FMC_CE0_CONTROL, SELECTED);
        let bytes = [command as u8, high, middle, low];
        write(WINDOW, u32::from_le_bytes(bytes));
    }

    fn end(&mut self) {
        write(FMC_CE0_CONTROL, RELEASED);
    }

    /// What follows may change the memory.
    fn enable(&mut self) {
        write(FMC_CE0_CONTROL, SELECTED);
        write_byte(WINDOW, ENABLE);
        self.end();
    }

    /// Waits for the end of a change.
    fn settle(&mut self) -> Result<(), NorError> {
        for _ in 0..POLLS {
            write(FMC_CE0_CONTROL, SELECTED);
            write_byte(WINDOW, STATUS);
            let is_busy = read(WINDOW) & 1 != 0;
            self.end();
            if !is_busy {
                return Ok(());
            }
            spin_loop();
        }
        Err(NorError::Busy)
    }
}

impl ErrorType for Nor {
    type Error = NorError;
}

/// Whether a range lies in the memory, at borders of this size.
fn ensure(from: u32, length: usize, border: usize) -> Result<(), NorError> {
    let end = (from as usize).checked_add(length).ok_or(NorError::Range)?;
    let fits = [from as usize, length].map(|place| place.checked_rem(border) == Some(0));
    if end <= CAPACITY && fits == [true; 2] {
        Ok(())
    } else {
        Err(NorError::Range)
    }
}

impl ReadNorFlash for Nor {
    const READ_SIZE: usize = 4;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorError> {
        ensure(offset, bytes.len(), Self::READ_SIZE)?;
        self.begin(READ, offset);
        let (words, _) = bytes.as_chunks_mut::<4>();
        for word in words {
            *word = read(WINDOW).to_le_bytes();
        }
        self.end();
        Ok(())
    }

    fn capacity(&self) -> usize {
        CAPACITY
    }
}

impl NorFlash for Nor {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = SECTOR;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorError> {
        let length = to.checked_sub(from).ok_or(NorError::Range)?;
        ensure(from, length as usize, SECTOR)?;
        for sector in (from..to).step_by(SECTOR) {
            self.enable();
            self.begin(ERASE, sector);
            self.end();
            self.settle()?;
        }
        Ok(())
    }

    /// Within one page, as every piece of a bundle and every record lies.
    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorError> {
        ensure(offset, bytes.len(), Self::WRITE_SIZE)?;
        let start = (offset as usize).checked_rem(PAGE).unwrap_or(0);
        if start.saturating_add(bytes.len()) > PAGE {
            return Err(NorError::Range);
        }
        self.enable();
        self.begin(PROGRAM, offset);
        let (words, _) = bytes.as_chunks::<4>();
        for word in words {
            write(WINDOW, u32::from_le_bytes(*word));
        }
        self.end();
        self.settle()
    }
}
