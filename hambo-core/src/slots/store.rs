//! The steps from the first byte of a bundle to the active one.

use core::ops::Range;

use embedded_storage::nor_flash::NorFlash;

use super::error::SlotError;
use super::flash::{self, BLANK, PIECE};
use super::layout::{Layout, Slot};
use super::record::{Kind, RECORD, Record};

/// The active bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Active {
    /// Where it lies.
    pub slot: Slot,
    /// Its bytes.
    pub length: u32,
    /// Its counter.
    pub counter: u32,
    /// SHA-256 of its bytes when it was made active.
    pub hash: [u8; 32],
}

/// What comes next after [`Slots::begin`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Begun {
    /// These very bytes are active already.
    Already,
    /// Bytes from here on.
    At(u32),
}

/// Two places for bundles.
#[derive(Debug)]
pub struct Slots<F> {
    flash: F,
    layout: Layout,
    /// The place that is being written and with what, once it was looked up: a look reads all
    /// records of both places, which is more than a piece.
    work: Option<(Slot, Record)>,
}

impl<F: NorFlash> Slots<F> {
    /// In this flash memory.
    ///
    /// # Errors
    /// If a piece is no multiple of what the memory reads, writes and erases in.
    pub fn new(flash: F, layout: Layout) -> Result<Self, SlotError<F::Error>> {
        let sizes = [F::READ_SIZE, F::WRITE_SIZE];
        let pieces = sizes.iter().all(|size| PIECE.checked_rem(*size) == Some(0));
        let records = sizes
            .iter()
            .all(|size| RECORD.checked_rem(*size) == Some(0));
        if pieces && records && F::ERASE_SIZE.checked_rem(PIECE) == Some(0) {
            Ok(Self {
                flash,
                layout,
                work: None,
            })
        } else {
            Err(SlotError::Layout)
        }
    }

    /// The memory, for who reads the active bundle.
    pub fn into_flash(self) -> F {
        self.flash
    }

    /// Reads bytes of a bundle, at most a piece.
    ///
    /// # Errors
    /// If flash cannot be read.
    pub fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), SlotError<F::Error>> {
        flash::read(&mut self.flash, offset, bytes)
    }

    /// Where a place's bundle lies.
    pub fn range(&self, slot: Slot) -> Range<u32> {
        self.layout.place(slot).bundle.clone()
    }

    /// The active bundle; none before the first one.
    ///
    /// # Errors
    /// If flash cannot be read.
    pub fn active(&mut self) -> Result<Option<Active>, SlotError<F::Error>> {
        let mut best: Option<Active> = None;
        for slot in Slot::BOTH {
            let found = self.active_in(slot)?;
            if let Some(found) = found
                && best.is_none_or(|best| found.counter > best.counter)
            {
                best = Some(found);
            }
        }
        Ok(best)
    }

    /// The least counter that a new bundle must have.
    ///
    /// # Errors
    /// If flash cannot be read.
    pub fn least_counter(&mut self) -> Result<u64, SlotError<F::Error>> {
        let active = self.active()?;
        Ok(active.map_or(0, |active| u64::from(active.counter) + 1))
    }

    /// Begins to write a bundle, or goes on where power failed if it was this one.
    ///
    /// # Errors
    /// If it is too long or empty, or flash fails.
    pub fn begin(&mut self, length: u32, hash: [u8; 32]) -> Result<Begun, SlotError<F::Error>> {
        self.work = None;
        let active = self.active()?;
        if active.is_some_and(|active| active.length == length && active.hash == hash) {
            return Ok(Begun::Already);
        }
        let slot = self.target()?;
        let place = self.layout.place(slot);
        let (bundle, records) = (place.bundle.clone(), place.records.clone());
        if length == 0 || length as usize > bundle.len() {
            return Err(SlotError::Length);
        }
        let begun = Record {
            kind: Kind::Begun,
            length,
            counter: 0,
            hash,
        };
        // A place that is active, or has no record left, is not gone on with.
        let same = self.begun(slot)? == Some(begun) && self.active_in(slot)?.is_none();
        if same && self.free_record(slot)?.is_some() {
            return Ok(Begun::At(self.written(slot, length)?));
        }
        // The records first: from here on nothing says that there is a bundle.
        self.erase(records.clone())?;
        // Always: a sector whose erasure was cut off may read as blank and not last.
        self.erase(bundle)?;
        flash::write(&mut self.flash, records.start, &begun.bytes())?;
        Ok(Begun::At(0))
    }

    /// Writes bytes of the bundle that was begun, at most a piece, and returns where the next ones
    /// belong: behind these, or further in front where flash holds other bytes than these.
    ///
    /// # Errors
    /// If nothing was begun, the bytes do not begin with a piece or leave the bundle, or flash
    /// fails.
    pub fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<u32, SlotError<F::Error>> {
        let (slot, begun) = self.in_work()?;
        let length = u32::try_from(bytes.len()).map_err(|_| SlotError::Offset)?;
        let end = offset.checked_add(length).ok_or(SlotError::Offset)?;
        let piece = offset.checked_rem(PIECE as u32) == Some(0) && bytes.len() <= PIECE;
        let whole = bytes.len() == PIECE || end == begun.length;
        if !piece || !whole || bytes.is_empty() || end > begun.length {
            return Err(SlotError::Offset);
        }
        let bundle = self.range(slot);
        let at = bundle.start.checked_add(offset).ok_or(SlotError::Offset)?;
        let piece_end = at.saturating_add(PIECE as u32).min(bundle.end);
        if flash::blank(&mut self.flash, at..piece_end)? {
            // Bytes that are blank themselves are written too: a piece that power cut off may
            // read as blank and not last.
            flash::write(&mut self.flash, at, bytes)?;
            return Ok(end);
        }
        if flash::same(&mut self.flash, at, bytes)? {
            return Ok(end);
        }
        // Power failed within this piece. Its sector is written anew.
        let sector = F::ERASE_SIZE as u32;
        let within = offset.checked_rem(sector).unwrap_or(0);
        let start = at.saturating_sub(within);
        let next = start.saturating_add(sector).min(bundle.end);
        self.erase(start..next)?;
        Ok(offset.saturating_sub(within))
    }

    /// Whether the bytes in flash are those that were announced; returns where they lie.
    ///
    /// # Errors
    /// If nothing was begun, they are others, or flash fails.
    pub fn written_whole(&mut self) -> Result<(Slot, Range<u32>), SlotError<F::Error>> {
        let (slot, begun) = self.in_work()?;
        let range = self.bytes_of(slot, begun.length);
        if flash::hash(&mut self.flash, range.clone())? == begun.hash {
            Ok((slot, range))
        } else {
            Err(SlotError::Hash)
        }
    }

    /// Makes the bundle that was written the active one, after the gate has deployed it.
    ///
    /// # Errors
    /// If it is not whole, its counter is not larger than that of the active bundle, or flash
    /// fails.
    pub fn activate(&mut self, counter: u32) -> Result<Active, SlotError<F::Error>> {
        let (slot, _) = self.written_whole()?;
        let (_, begun) = self.in_work()?;
        let least = self.least_counter()?;
        if u64::from(counter) < least {
            return Err(SlotError::Counter { least });
        }
        let record = Record {
            kind: Kind::Active,
            counter,
            ..begun
        };
        self.work = None;
        let at = self.free_record(slot)?.ok_or(SlotError::Records)?;
        flash::write(&mut self.flash, at, &record.bytes())?;
        Ok(active_by(slot, record))
    }

    /// Gives up what was begun: whoever begins it again writes it anew. For bytes that are not
    /// those that were announced.
    ///
    /// # Errors
    /// If nothing was begun, or flash fails.
    pub fn abandon(&mut self) -> Result<(), SlotError<F::Error>> {
        let (slot, _) = self.in_work()?;
        self.work = None;
        self.erase(self.layout.place(slot).records.clone())
    }

    /// Length and hash of the bundle that was begun.
    ///
    /// # Errors
    /// If nothing was begun, or flash fails.
    pub fn in_writing(&mut self) -> Result<(u32, [u8; 32]), SlotError<F::Error>> {
        let (_, begun) = self.in_work()?;
        Ok((begun.length, begun.hash))
    }

    /// The place that is being written, and with what.
    fn in_work(&mut self) -> Result<(Slot, Record), SlotError<F::Error>> {
        if let Some(work) = self.work {
            return Ok(work);
        }
        let slot = self.target()?;
        let begun = self.begun(slot)?.ok_or(SlotError::NotBegun)?;
        if self.active_in(slot)?.is_some() {
            // An older bundle that nothing was written over.
            return Err(SlotError::NotBegun);
        }
        self.work = Some((slot, begun));
        Ok((slot, begun))
    }

    /// The place that is not active. Without an active one, the first.
    fn target(&mut self) -> Result<Slot, SlotError<F::Error>> {
        let active = self.active()?;
        Ok(active.map_or(Slot::First, |active| active.slot.other()))
    }

    fn begun(&mut self, slot: Slot) -> Result<Option<Record>, SlotError<F::Error>> {
        let at = self.layout.place(slot).records.start;
        let record = self.record(at)?;
        Ok(record.filter(|record| record.kind == Kind::Begun))
    }

    pub(super) fn active_in(&mut self, slot: Slot) -> Result<Option<Active>, SlotError<F::Error>> {
        let mut found = None;
        for at in self.places_of_active(slot) {
            let record = self.record(at)?;
            let record = record.filter(|record| record.kind == Kind::Active);
            found = record.map(|record| active_by(slot, record)).or(found);
        }
        Ok(found)
    }

    /// Where the record of an active bundle may lie: behind the one that says what was begun.
    fn places_of_active(&self, slot: Slot) -> impl Iterator<Item = u32> + use<F> {
        let records = self.layout.place(slot).records.clone();
        let whole = records.end.saturating_sub(RECORD as u32 - 1);
        (records.start..whole).step_by(RECORD).skip(1)
    }

    /// The first place for a record in which nothing was written, not even by half.
    fn free_record(&mut self, slot: Slot) -> Result<Option<u32>, SlotError<F::Error>> {
        for at in self.places_of_active(slot) {
            let end = at.saturating_add(RECORD as u32);
            if flash::blank(&mut self.flash, at..end)? {
                return Ok(Some(at));
            }
        }
        Ok(None)
    }

    fn record(&mut self, at: u32) -> Result<Option<Record>, SlotError<F::Error>> {
        let mut bytes = [BLANK; RECORD];
        flash::read(&mut self.flash, at, &mut bytes)?;
        Ok(Record::of(&bytes))
    }

    /// Where to go on: at the last piece that is not blank, which power may have cut off.
    fn written(&mut self, slot: Slot, length: u32) -> Result<u32, SlotError<F::Error>> {
        let bundle = self.bytes_of(slot, length);
        let mut last = bundle.start;
        for at in bundle.clone().step_by(PIECE) {
            let end = at.saturating_add(PIECE as u32).min(bundle.end);
            if !flash::blank(&mut self.flash, at..end)? {
                last = at;
            }
        }
        Ok(last.saturating_sub(bundle.start))
    }

    fn bytes_of(&self, slot: Slot, length: u32) -> Range<u32> {
        let start = self.range(slot).start;
        start..start.saturating_add(length)
    }

    fn erase(&mut self, range: Range<u32>) -> Result<(), SlotError<F::Error>> {
        Ok(self.flash.erase(range.start, range.end)?)
    }
}

fn active_by(slot: Slot, record: Record) -> Active {
    Active {
        slot,
        length: record.length,
        counter: record.counter,
        hash: record.hash,
    }
}
