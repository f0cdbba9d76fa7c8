//! Where a decision lies in memory between the check and the pin, and what to write there.
//!
//! A firmware that has statics whose names hold `HAMBO_DECISION` keeps its decision in them:
//! they are attacked after every store to them. Any other firmware keeps it in what its functions
//! return: the places there whose values differ between deploy, reject and abstain.

use std::io;

use super::attack::{Change, Glitch, Moment};
use super::gdb::LR;
use super::program::Symbol;
use super::timeline::Timeline;
use super::victim::Victim;
use crate::fixture::Draw;

/// The most bytes of a returned value that are looked at.
const RETURNED: usize = 3072;
/// The most places that are attacked.
const PLACES: usize = 8;
/// The most bytes of a refusal that are attacked.
const REFUSAL_PLACES: usize = 4;
/// The most stores after which a static is attacked.
const STORES: usize = 8;
/// The most stores that are counted.
const MOST_STORES: usize = 1000;
/// Drawn words for a place of four bytes.
const DRAWN: usize = 256;

/// Runs of an image that are compared.
pub struct Compared<'v> {
    /// The board.
    pub victim: &'v mut Victim,
    /// The undisturbed run.
    pub timeline: &'v Timeline,
}

/// A place that holds a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    address: u32,
    /// What a deploy, a reject and an abstain have there.
    values: [Vec<u8>; 3],
}

/// Glitches of the second run, the reject: every code at every place of what the last call of
/// a function returns through a pointer, which is its first argument.
///
/// # Errors
/// If an emulator cannot be talked to.
pub fn in_returned(runs: &mut [Compared<'_>; 3], function: u32) -> io::Result<Vec<Glitch>> {
    let mut all = Vec::new();
    for run in &mut *runs {
        all.extend(returned(run, function)?);
    }
    let [deploy, reject, abstain] = all.as_slice() else {
        return Ok(Vec::new());
    };
    let values = [&deploy.bytes, &reject.bytes, &abstain.bytes];
    Ok(glitches(reject.moment, &places(reject.place, values)))
}

/// Glitches of the second run, a refused image: every code at the first places of what a
/// function returns that differ from a deploy's, which is where it says that it refused.
///
/// # Errors
/// If an emulator cannot be talked to.
pub fn of_refusal(
    deploy: &mut Compared<'_>,
    refused: &mut Compared<'_>,
    function: u32,
) -> io::Result<Vec<Glitch>> {
    let both = [returned(deploy, function)?, returned(refused, function)?];
    let [Some(deploy), Some(refused)] = both else {
        return Ok(Vec::new());
    };
    let pairs = deploy.bytes.iter().zip(&refused.bytes).enumerate();
    let differing = pairs.filter(|(_, (one, other))| one != other);
    let places = differing
        .take(REFUSAL_PLACES)
        .map(|(number, (one, other))| Place {
            address: refused.place + number as u32,
            values: [vec![*one], vec![*other], vec![*other]],
        });
    Ok(glitches(refused.moment, &places.collect::<Vec<_>>()))
}

/// What a function returned.
struct Returned {
    /// When it had returned.
    moment: Moment,
    /// Where the value lies.
    place: u32,
    bytes: Vec<u8>,
}

/// What the last call of a function returns through a pointer.
fn returned(run: &mut Compared<'_>, function: u32) -> io::Result<Option<Returned>> {
    let Some(entry) = run.timeline.last(function) else {
        return Ok(None);
    };
    run.timeline.reach(run.victim, entry)?;
    let place = run.victim.gdb.register(0)?;
    let back = run.victim.gdb.register(LR)? & !1;
    let back = run.timeline.first(back, entry..usize::MAX);
    // In RAM, or it is no pointer.
    let (Some(back), 2) = (back, place >> 28) else {
        return Ok(None);
    };
    let moment = Moment::Before(back);
    moment.reach(run.victim, run.timeline)?;
    let bytes = run.victim.gdb.memory(place, RETURNED)?;
    Ok(Some(Returned {
        moment,
        place,
        bytes,
    }))
}

/// Glitches of the second run after every store to a static.
///
/// # Errors
/// If an emulator cannot be talked to.
pub fn in_static(
    runs: &mut [Compared<'_>; 3],
    start: usize,
    symbol: &Symbol,
) -> io::Result<Vec<Glitch>> {
    let mut last = Vec::new();
    let mut moments = Vec::new();
    for run in &mut *runs {
        moments = stores(run, start, symbol)?;
        let Some(moment) = moments.last() else {
            return Ok(Vec::new());
        };
        moment.reach(run.victim, run.timeline)?;
        last.push(
            run.victim
                .gdb
                .memory(symbol.address, symbol.size as usize)?,
        );
        if last.len() == 2 {
            // The reject's.
            break;
        }
    }
    let (Some(deploy), Some(reject)) = (last.first(), last.get(1)) else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for moment in moments {
        let words = deploy.chunks(4).zip(reject.chunks(4)).enumerate();
        let places: Vec<Place> = words
            .map(|(number, (deploy, reject))| Place {
                address: symbol.address + 4 * number as u32,
                values: [deploy.to_vec(), reject.to_vec(), reject.to_vec()],
            })
            .collect();
        found.extend(glitches(moment, &places));
        // All copies at once: the same code in each, and what a deploy has there.
        for code in codes(&[0; 4], u64::from(symbol.address)) {
            let bytes = code.iter().copied().cycle().take(reject.len()).collect();
            let change = Change::Write {
                address: symbol.address,
                bytes,
            };
            found.push(Glitch { moment, change });
        }
        let change = Change::Write {
            address: symbol.address,
            bytes: deploy.clone(),
        };
        found.push(Glitch { moment, change });
    }
    Ok(found)
}

/// The moments after the last stores to a static.
fn stores(run: &mut Compared<'_>, from: usize, symbol: &Symbol) -> io::Result<Vec<Moment>> {
    let (address, size) = (symbol.address, symbol.size);
    run.timeline.reach(run.victim, from)?;
    run.victim.gdb.set_watchpoint(address, size)?;
    let mut count = 0;
    while count < MOST_STORES && run.victim.run_to_stop()?.is_some() {
        count += 1;
    }
    run.victim.gdb.clear_watchpoint(address, size)?;
    let last = count.saturating_sub(STORES)..count;
    let moment = |number| Moment::AfterStore {
        from,
        address,
        size,
        number: number + 1,
    };
    Ok(last.map(moment).collect())
}

/// The places at which three returned values differ from each other: whole words where more
/// than the lowest byte differs.
fn places(address: u32, values: [&Vec<u8>; 3]) -> Vec<Place> {
    let differ = |range: std::ops::Range<usize>| {
        let [a, b, c] = values.map(|value| value.get(range.clone()));
        a != b && b != c && a != c
    };
    let mut found = Vec::new();
    for word in (0..RETURNED).step_by(4) {
        let bytes = (word..word + 4).filter(|byte| differ(*byte..byte + 1));
        let range = match bytes.collect::<Vec<_>>().as_slice() {
            [] if !differ(word..word + 4) => continue,
            [byte] => *byte..byte + 1,
            _ => word..word + 4,
        };
        let values = values.map(|value| value.get(range.clone()).unwrap_or_default().to_vec());
        found.push(Place {
            address: address + range.start as u32,
            values,
        });
    }
    // Small values are rather codes than numbers.
    found.sort_by_key(|place| place.values.iter().map(|value| value.len()).sum::<usize>());
    found.truncate(PLACES);
    found
}

/// Every code at every place.
fn glitches(moment: Moment, places: &[Place]) -> Vec<Glitch> {
    let mut found = Vec::new();
    for place in places {
        let [deploy, reject, _] = &place.values;
        let mut written = codes(reject, u64::from(place.address));
        if !written.contains(deploy) {
            written.push(deploy.clone());
        }
        found.extend(written.into_iter().map(|bytes| Glitch {
            moment,
            change: Change::Write {
                address: place.address,
                bytes,
            },
        }));
    }
    found
}

/// All values of a byte; of more bytes the numbers below 256, the present value with each bit
/// flipped, and drawn ones.
fn codes(present: &[u8], seed: u64) -> Vec<Vec<u8>> {
    let wide = present.len() > 1;
    let mut codes: Vec<Vec<u8>> = (0..=255_u8)
        .map(|low| {
            let mut code = vec![0; present.len()];
            code[0] = low;
            code
        })
        .collect();
    if wide {
        for bit in 0..8 * present.len() {
            let mut code = present.to_vec();
            code[bit / 8] ^= 1 << (bit % 8);
            codes.push(code);
        }
        let draw = &mut Draw::new(seed);
        for _ in 0..DRAWN {
            codes.push(present.iter().map(|_| draw.below(256) as u8).collect());
        }
    }
    codes
}
