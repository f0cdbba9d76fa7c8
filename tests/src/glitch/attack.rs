//! One glitch: a moment, a change, and what came of it.

use std::io;
use std::sync::Arc;

use super::gdb::{Gdb, PC, SP, XPSR};
use super::thumb;
use super::timeline::Timeline;
use super::victim::{End, Seen, Victim};

/// What is done at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing: the control.
    Nothing,
    /// The instruction is not executed.
    Skip,
    /// Bytes of RAM or flash have other values.
    Write {
        /// The first byte's place.
        address: u32,
        /// The values.
        bytes: Vec<u8>,
    },
    /// One bit of RAM or flash is flipped.
    Flip {
        /// The byte's place.
        address: u32,
        /// The bit, 0 to 7.
        bit: u8,
    },
    /// One of these bits is flipped, but none below the stack pointer, which nobody reads
    /// again.
    FlipOne {
        /// Says which: the remainder after division by the number of bits.
        choice: u32,
        /// The bits' places, ascending: eight times the byte's address and the bit's number.
        among: Arc<[u64]>,
    },
}

/// When something is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Moment {
    /// Before the instruction of this number.
    Before(usize),
    /// After a store to some bytes.
    AfterStore {
        /// Stores count from this instruction on.
        from: usize,
        /// The first byte's place.
        address: u32,
        /// Bytes.
        size: u32,
        /// Which store, from 1 on.
        number: usize,
    },
}

impl Moment {
    /// Brings a victim there. False if its run does not get there.
    ///
    /// # Errors
    /// If the emulator cannot be talked to.
    pub fn reach(self, victim: &mut Victim, timeline: &Timeline) -> io::Result<bool> {
        match self {
            Self::Before(number) => timeline.reach(victim, number),
            Self::AfterStore {
                from,
                address,
                size,
                number,
            } => {
                timeline.reach(victim, from)?;
                victim.gdb.set_watchpoint(address, size)?;
                let mut reached = true;
                for _ in 0..number {
                    reached &= victim.run_to_stop()?.is_some();
                }
                victim.gdb.clear_watchpoint(address, size)?;
                Ok(reached)
            }
        }
    }
}

/// A change at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Glitch {
    /// When it is done.
    pub moment: Moment,
    /// What is done.
    pub change: Change,
}

impl Glitch {
    /// Does it, runs to the end and tells what was done, in words, and seen.
    ///
    /// A run may close the host's files, which no earlier state opens again. So a run without a
    /// closing message counts only if an undisturbed one behind it has a message.
    ///
    /// # Errors
    /// If the emulator cannot be talked to; a firmware that dies is seen, not an error.
    pub fn on(&self, victim: &mut Victim, timeline: &Timeline) -> io::Result<(String, Seen)> {
        let (done, seen) = self.once(victim, timeline)?;
        if seen.verdict.is_empty() && !is_sound(victim, timeline)? {
            victim.restart_with_files()?;
            return self.once(victim, timeline);
        }
        Ok((done, seen))
    }

    fn once(&self, victim: &mut Victim, timeline: &Timeline) -> io::Result<(String, Seen)> {
        if !self.moment.reach(victim, timeline)? {
            let seen = Seen {
                pin: false,
                end: End::Unreached,
                verdict: "",
                bound: None,
            };
            return Ok(("nothing".to_owned(), seen));
        }
        let done = match &self.change {
            Change::Nothing => "nothing".to_owned(),
            Change::Skip => {
                skip(&mut victim.gdb)?;
                "skip".to_owned()
            }
            Change::Write { address, bytes } => {
                victim.gdb.set_memory(*address, bytes)?;
                let digits = bytes.iter().map(|byte| format!("{byte:02x}"));
                format!("{address:08x} = {}", digits.collect::<String>())
            }
            Change::Flip { address, bit } => flip(victim, *address, *bit)?,
            Change::FlipOne { choice, among } => {
                let pointer = victim.gdb.register(SP)?;
                let first = among.partition_point(|place| *place < 8 * u64::from(pointer));
                let used = &among[first..];
                match used.get(*choice as usize % used.len().max(1)) {
                    Some(place) => flip(victim, (place / 8) as u32, (place % 8) as u8)?,
                    None => "nothing".to_owned(),
                }
            }
        };
        Ok((done, victim.finish()?))
    }
}

/// Whether an undisturbed run from the last state on ends with a message.
fn is_sound(victim: &mut Victim, timeline: &Timeline) -> io::Result<bool> {
    let last = timeline.states().last().copied().unwrap_or(0);
    let reached = timeline.reach(victim, last)?;
    Ok(reached && !victim.finish()?.verdict.is_empty())
}

/// Goes on behind the next instruction. In an IT block the block's state goes on too, so that
/// the instructions behind it keep their own conditions.
///
/// # Errors
/// If the emulator cannot be talked to.
pub fn skip(gdb: &mut Gdb) -> io::Result<()> {
    let address = gdb.register(PC)?;
    let first = gdb.memory(address, 2)?;
    let first = first.first_chunk().copied().unwrap_or_default();
    let length = thumb::length(u16::from_le_bytes(first));
    let status = gdb.register(XPSR)?;
    let past = thumb::past_one(status);
    if past != status {
        gdb.set_register(XPSR, past)?;
    }
    gdb.set_register(PC, address + length)
}

fn flip(victim: &mut Victim, address: u32, bit: u8) -> io::Result<String> {
    let byte = victim.gdb.memory(address, 1)?;
    let byte = byte.first().copied().unwrap_or(0);
    victim.gdb.set_memory(address, &[byte ^ 1 << bit])?;
    Ok(format!("{address:08x} ^ {:02x}", 1_u8 << bit))
}
