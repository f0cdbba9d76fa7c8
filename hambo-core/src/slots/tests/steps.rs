//! The steps with power.

use super::super::record::{Kind, RECORD, Record};
use super::*;

fn fresh() -> Slots<Nor> {
    slots(Nor::new(2 * PLACE as usize))
}

#[test]
fn bundles_take_turns_and_the_last_one_is_active() {
    let mut slots = fresh();
    assert_eq!(slots.active(), Ok(None));
    assert_eq!(slots.least_counter(), Ok(0));
    for counter in 0..9 {
        let bytes = bundle(counter as u8, 700 + 200 * (counter as usize % 3));
        let active = push(&mut slots, &bytes, counter).unwrap();
        let wanted = Slot::BOTH[counter as usize % 2];
        assert_eq!((active.slot, active.counter), (wanted, counter));
        assert_eq!(slots.active(), Ok(Some(active)));
        assert_eq!(slots.least_counter(), Ok(u64::from(counter) + 1));
    }
    let nor = slots.into_flash();
    assert_eq!(found(&nor), Some((bundle(8, 1100), 8)));
}

#[test]
fn a_bundle_that_is_active_is_not_written_again() {
    let mut slots = fresh();
    let bytes = bundle(1, 900);
    push(&mut slots, &bytes, 3).unwrap();
    let begun = slots.begin(900, hash(&bytes));
    assert_eq!(begun, Ok(Begun::Already));
}

#[test]
fn a_counter_that_is_not_larger_is_refused_and_the_old_bundle_stays() {
    let mut slots = fresh();
    let old = bundle(1, 900);
    push(&mut slots, &old, 7).unwrap();
    for counter in [0, 6, 7] {
        let refused = push(&mut slots, &bundle(2, 800), counter);
        assert_eq!(refused, Err(SlotError::Counter { least: 8 }));
    }
    assert_eq!(found(&slots.into_flash()), Some((old, 7)));
    // The largest counter is the last.
    let mut slots = fresh();
    push(&mut slots, &bundle(1, 900), u32::MAX).unwrap();
    let refused = push(&mut slots, &bundle(2, 800), u32::MAX);
    let least = u64::from(u32::MAX) + 1;
    assert_eq!(refused, Err(SlotError::Counter { least }));
}

/// Another bundle's bytes came under this one's name: it cannot be gone on with.
#[test]
fn what_is_abandoned_is_written_anew() {
    let mut slots = fresh();
    let old = bundle(1, 900);
    push(&mut slots, &old, 7).unwrap();
    let (new, other) = (bundle(2, 900), bundle(3, 900));
    slots.begin(900, hash(&new)).unwrap();
    slots.write(0, &other[..PIECE]).unwrap();
    slots.write(PIECE as u32, &new[PIECE..2 * PIECE]).unwrap();
    assert_eq!(slots.written_whole(), Err(SlotError::Hash));
    assert_eq!(slots.in_writing(), Ok((900, hash(&new))));
    slots.abandon().unwrap();
    assert_eq!(slots.abandon(), Err(SlotError::NotBegun));
    assert_eq!(found(&slots.into_flash().clone()), Some((old, 7)));
    let mut slots = fresh();
    slots.begin(900, hash(&new)).unwrap();
    slots.write(0, &other[..PIECE]).unwrap();
    slots.abandon().unwrap();
    assert_eq!(slots.begin(900, hash(&new)), Ok(Begun::At(0)));
    push(&mut slots, &new, 8).unwrap();
}

#[test]
fn a_bundle_that_was_not_made_active_leaves_nothing_behind() {
    let mut slots = fresh();
    let old = bundle(1, 900);
    push(&mut slots, &old, 7).unwrap();
    let new = bundle(2, 900);
    slots.begin(900, hash(&new)).unwrap();
    for offset in (0..900).step_by(PIECE) {
        let end = (offset + PIECE).min(900);
        slots.write(offset as u32, &new[offset..end]).unwrap();
    }
    slots.written_whole().unwrap();
    // The gate rejects it. Another one comes, with a counter in between.
    assert_eq!(slots.least_counter(), Ok(8));
    push(&mut slots, &bundle(3, 400), 8).unwrap();
    assert_eq!(found(&slots.into_flash()), Some((bundle(3, 400), 8)));
}

#[test]
fn bytes_that_were_not_announced_do_not_become_active() {
    let mut slots = fresh();
    let bytes = bundle(1, 600);
    assert_eq!(slots.activate(1), Err(SlotError::NotBegun));
    assert_eq!(slots.write(0, &bytes[..PIECE]), Err(SlotError::NotBegun));
    slots.begin(600, hash(&bytes)).unwrap();
    let mut other = bytes.clone();
    other[300] ^= 1;
    for offset in (0..600).step_by(PIECE) {
        let end = (offset + PIECE).min(600);
        assert_eq!(slots.activate(1), Err(SlotError::Hash));
        slots.write(offset as u32, &other[offset..end]).unwrap();
    }
    assert_eq!(slots.written_whole(), Err(SlotError::Hash));
    assert_eq!(slots.activate(1), Err(SlotError::Hash));
    // The right ones, over the wrong: the sector is written anew.
    push(&mut slots, &bytes, 1).unwrap();
    assert_eq!(found(&slots.into_flash()), Some((bytes, 1)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let mut slots = fresh();
    let bytes = bundle(1, 600);
    for length in [0, BUNDLE + 1, u32::MAX] {
        assert_eq!(slots.begin(length, [0; 32]), Err(SlotError::Length));
    }
    slots.begin(600, hash(&bytes)).unwrap();
    for (offset, length) in [(1, PIECE), (0, PIECE - 1), (0, 0), (512, 89), (768, 1)] {
        let written = slots.write(offset, &bytes[..length]);
        assert_eq!(written, Err(SlotError::Offset), "{offset} {length}");
    }
    let far = slots.write(u32::MAX - 255, &bytes[..PIECE]);
    assert_eq!(far, Err(SlotError::Offset));
}

#[test]
fn places_that_overlap_or_split_sectors_are_none() {
    let place = |bundle: core::ops::Range<u32>, records| Place { bundle, records };
    let of = |first, second| Layout::new::<Nor>(first, second, 6 * nor::SECTOR);
    let good = || place(0..1024, 1024..1536);
    assert!(of(good(), place(1536..2560, 2560..3072)).is_some());
    for second in [
        place(1024..2048, 2560..3072),
        place(1536..2560, 0..512),
        place(1536..2560, 2048..2560),
        place(1536..2500, 2560..3072),
        place(1536..2560, 3072..3584),
    ] {
        assert!(of(good(), second.clone()).is_none(), "{second:?}");
    }
}

#[test]
fn records_are_exact() {
    let record = Record {
        kind: Kind::Active,
        length: 1234,
        counter: 5,
        hash: hash(b"bundle"),
    };
    let bytes = record.bytes();
    assert_eq!(Record::of(&bytes), Some(record));
    for place in 0..RECORD * 8 {
        let mut other = bytes;
        other[place / 8] ^= 1 << (place % 8);
        assert_eq!(Record::of(&other), None, "{place}");
    }
    for value in [0, 0xFF] {
        assert_eq!(Record::of(&[value; RECORD]), None);
    }
}

#[test]
fn a_worn_memory_is_noticed() {
    let mut slots = fresh();
    let bytes = bundle(1, 600);
    slots.begin(600, hash(&bytes)).unwrap();
    let mut nor = slots.into_flash();
    // A bit that does not rise any more, where the bundle has a one.
    let place = (0..PIECE).find(|place| bytes[*place] & 1 == 1).unwrap();
    nor.stuck = Some(place);
    let mut slots = super::slots(nor);
    assert_eq!(slots.write(0, &bytes[..PIECE]), Err(SlotError::Worn));
}
