//! Where in RAM a flipped bit may matter: most of a stack is never looked at again.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use super::gdb::{LR, SP};
use super::program::Program;
use super::timeline::Timeline;
use super::victim::Victim;

/// Bits of RAM that flips are aimed at, each list ascending. A bit's place is eight times its
/// byte's address and its number in the byte.
#[derive(Clone, Debug, Default)]
pub struct Aim {
    /// Bits of the stack that the run changes and that are still in use at the decision: the
    /// check with its tally, and what called it.
    pub written: Arc<[u64]>,
    /// Bits of the stack that differ between a deploy and a reject when the check is over:
    /// thresholds, reasons and the verdict.
    pub outcome: Arc<[u64]>,
    /// Statics but the workspace.
    pub statics: Arc<[u64]>,
}

impl Aim {
    /// Compares the stack of a reject over time, from its decision down, and with that of a
    /// deploy where `function` returns.
    ///
    /// # Errors
    /// If an emulator cannot be talked to.
    pub fn new(
        program: &Program,
        [deploy, reject]: [(&mut Victim, &Timeline); 2],
        (function, decision): (u32, usize),
    ) -> io::Result<Self> {
        let statics = program.symbols.iter().filter(|symbol| {
            symbol.address >> 28 == 2 && symbol.size > 0 && !symbol.name.contains("WORKSPACE")
        });
        let statics = statics.flat_map(|symbol| symbol.address..symbol.address + symbol.size);
        let ends = ["_stack_end", "_stack_start"].map(|name| program.label(name));
        let [Some(low), Some(high)] = ends else {
            return Err(io::Error::other("no `_stack_start`"));
        };
        reject.1.reach(reject.0, decision)?;
        let used = reject.0.gdb.register(SP)?.clamp(low, high);
        Ok(Self {
            written: written(reject.0, reject.1, used..high)?,
            outcome: {
                let one = at_return(deploy.0, deploy.1, function, low..high)?;
                let other = at_return(reject.0, reject.1, function, low..high)?;
                differing(low, &one, &other).into()
            },
            statics: statics
                .flat_map(|address| 8 * u64::from(address)..8 * u64::from(address) + 8)
                .collect(),
        })
    }
}

/// The bits that differ between any two states that follow each other.
fn written(victim: &mut Victim, timeline: &Timeline, stack: Range<u32>) -> io::Result<Arc<[u64]>> {
    let (mut before, mut written) = (None::<Vec<u8>>, Vec::new());
    let last = timeline.addresses.len().saturating_sub(1);
    for state in timeline.states().iter().chain([&last]) {
        timeline.reach(victim, *state)?;
        let now = victim.gdb.memory(stack.start, stack.len())?;
        if let Some(before) = &before {
            written.extend(differing(stack.start, before, &now));
        }
        before = Some(now);
    }
    written.sort_unstable();
    written.dedup();
    Ok(written.into())
}

/// The stack where a function returns.
fn at_return(
    victim: &mut Victim,
    timeline: &Timeline,
    function: u32,
    stack: Range<u32>,
) -> io::Result<Vec<u8>> {
    let entry = timeline.last(function).unwrap_or(0);
    timeline.reach(victim, entry)?;
    let back = victim.gdb.register(LR)? & !1;
    if let Some(moment) = timeline.first(back, entry..usize::MAX) {
        timeline.reach(victim, moment)?;
    }
    victim.gdb.memory(stack.start, stack.len())
}

fn differing(address: u32, one: &[u8], other: &[u8]) -> Vec<u64> {
    let pairs = (u64::from(address)..).zip(one.iter().zip(other));
    let bits = pairs.flat_map(|(address, (one, other))| {
        let differ = move |bit: &u64| (one ^ other) >> bit & 1 == 1;
        (0..8).filter(differ).map(move |bit| 8 * address + bit)
    });
    bits.collect()
}
