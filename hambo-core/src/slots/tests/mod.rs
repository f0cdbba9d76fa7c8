//! The places under a flash memory whose power fails.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    reason = "tests"
)]

mod cuts;
pub(crate) mod nor;
mod steps;

use sha2::{Digest, Sha256};
use std::vec::Vec;

use nor::Nor;

use super::flash::PIECE;
use super::{Active, Begun, Layout, Place, Slot, SlotError, Slots};

/// Five sectors for a bundle and one for its records, twice.
pub(crate) const BUNDLE: u32 = 5 * nor::SECTOR as u32;
pub(crate) const PLACE: u32 = BUNDLE + nor::SECTOR as u32;

fn layout() -> Layout {
    let place = |start: u32| Place {
        bundle: start..start + BUNDLE,
        records: start + BUNDLE..start + PLACE,
    };
    Layout::new::<Nor>(place(0), place(PLACE), 2 * PLACE as usize).unwrap()
}

/// Both places of a memory.
pub(crate) fn slots(nor: Nor) -> Slots<Nor> {
    Slots::new(nor, layout()).unwrap()
}

/// Bytes of a bundle; some pieces are as blank as flash.
fn bundle(seed: u8, length: usize) -> Vec<u8> {
    let byte = |place: usize| match place / PIECE % 4 {
        2 => 0xFF,
        _ => (place as u32)
            .wrapping_mul(2_654_435_761)
            .wrapping_add(u32::from(seed) << 20)
            .to_be_bytes()[0],
    };
    (0..length).map(byte).collect()
}

fn hash(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

/// Sends a bundle as a host does, from the start or from where it is told, and makes it active.
fn push(slots: &mut Slots<Nor>, bytes: &[u8], counter: u32) -> Result<Active, SlotError<nor::Off>> {
    let mut offset = match slots.begin(bytes.len() as u32, hash(bytes))? {
        Begun::Already => return Ok(slots.active()?.unwrap()),
        Begun::At(offset) => offset,
    };
    while (offset as usize) < bytes.len() {
        let start = offset as usize;
        let end = (start + PIECE).min(bytes.len());
        offset = slots.write(offset, &bytes[start..end])?;
    }
    let (_, range) = slots.written_whole()?;
    assert_eq!(range.len(), bytes.len());
    slots.activate(counter)
}

/// What a robot finds at its start: the active bundle's bytes, which have their hash.
fn found(nor: &Nor) -> Option<(Vec<u8>, u32)> {
    let mut slots = slots(nor.clone());
    let active = slots.active().unwrap()?;
    let start = slots.range(active.slot).start as usize;
    let bytes = nor.bytes()[start..start + active.length as usize].to_vec();
    assert_eq!(
        hash(&bytes),
        active.hash,
        "the active bundle is another one"
    );
    Some((bytes, active.counter))
}
