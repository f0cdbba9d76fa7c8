//! A timeline: every instruction of an undisturbed run, in order, and how a victim gets to one
//! of them.
//!
//! Under `-icount` a run repeats instruction by instruction, so a number of an instruction is a
//! moment of every run of the same image.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader};
use std::ops::Range;
use std::path::Path;
use std::process::Stdio;

use super::gdb::PC;
use super::pin;
use super::victim::{Bench, Victim};

/// States that are kept of a run: a moment is reached from the last one before it.
const STATES: usize = 48;
/// How far a moment may be put off for one that is reached sooner.
const WINDOW: usize = 300;
/// The most steps to a moment that depends on the clock.
const STEPS: usize = 20_000;
/// Stops beyond which the state is worth keeping.
const MANY: usize = 60;

/// An undisturbed run.
#[derive(Clone, Debug, Default)]
pub struct Timeline {
    /// The address of every instruction, from reset on.
    pub addresses: Vec<u32>,
    /// The number of the instruction before the one that raised the pin.
    pub raised: Option<usize>,
    /// The numbers at which states are kept, ascending.
    states: Vec<usize>,
    /// The numbers of the executions of an address.
    executions: HashMap<u32, Vec<usize>>,
}

impl Timeline {
    /// Runs an image once and records it. States are kept from the first execution of `start`
    /// on.
    ///
    /// # Errors
    /// If the emulator cannot be started, or never gets to `start`.
    pub fn record(bench: &Bench, image: &Path, start: u32) -> io::Result<Self> {
        let mut command = bench.emulator(image)?;
        command
            .args(["-singlestep", "-d", "exec,nochain,unimp"])
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let lines = child.stderr.take();
        let lines = lines.ok_or_else(|| io::Error::other("no log"))?;
        let mut timeline = Self::default();
        for line in BufReader::new(lines).lines() {
            timeline.note(&line?);
        }
        child.wait()?;
        for (number, address) in timeline.addresses.iter().enumerate() {
            timeline
                .executions
                .entry(*address)
                .or_default()
                .push(number);
        }
        let first = timeline.first(start, 0..timeline.addresses.len());
        let first = first.ok_or_else(|| io::Error::other("the run never starts"))?;
        timeline.states = vec![first];
        let length = timeline.addresses.len() - first;
        for part in 1..STATES {
            let number = timeline.easy(first + length * part / STATES);
            if timeline.states.last().is_some_and(|last| *last < number) {
                timeline.states.push(number);
            }
        }
        Ok(timeline)
    }

    /// One line of the emulator's log.
    fn note(&mut self, line: &str) {
        if line.starts_with("Trace ") {
            self.addresses.extend(address_of(line));
        } else if line.starts_with("Stopped execution") {
            // The instruction that was to be next has not been executed.
            self.addresses.pop();
        } else if self.raised.is_none() && pin::driven_high(line) {
            self.raised = self.addresses.len().checked_sub(1);
        }
    }

    /// The number of the first execution of an address within these.
    #[must_use]
    pub fn first(&self, address: u32, within: Range<usize>) -> Option<usize> {
        let all = self.executions.get(&address)?;
        let place = all.partition_point(|number| *number < within.start);
        all.get(place).copied().filter(|one| within.contains(one))
    }

    /// The moments whose states are kept.
    #[must_use]
    pub fn states(&self) -> &[usize] {
        &self.states
    }

    /// The number of the last execution of an address.
    #[must_use]
    pub fn last(&self, address: u32) -> Option<usize> {
        self.executions.get(&address)?.last().copied()
    }

    /// The addresses that are executed within these numbers, with the numbers of their first
    /// and last execution there, in the order of the first.
    #[must_use]
    pub fn visited(&self, within: Range<usize>) -> Vec<(u32, [usize; 2])> {
        let mut visited: HashMap<u32, [usize; 2]> = HashMap::new();
        for number in within {
            if let Some(address) = self.addresses.get(number) {
                visited.entry(*address).or_insert([number; 2])[1] = number;
            }
        }
        let mut visited: Vec<_> = visited.into_iter().collect();
        visited.sort_by_key(|(_, numbers)| *numbers);
        visited
    }

    /// A moment at or soon after this one that few stops lead to.
    #[must_use]
    pub fn easy(&self, number: usize) -> usize {
        let last = self.addresses.len().saturating_sub(1);
        let candidates = number.min(last)..=number.saturating_add(WINDOW).min(last);
        let stops = |number: &usize| self.stops(self.state_before(*number), *number);
        candidates.min_by_key(stops).unwrap_or(number)
    }

    /// Brings a victim to the moment before an instruction. False if this run never gets there.
    ///
    /// At every stop QEMU moves the board's clock on to its next timer. The firmware reports what
    /// its clock says, so the few instructions that depend on its digits may be others than the
    /// recorded ones; those are reached step by step instead, which leaves the clock alone.
    ///
    /// # Errors
    /// If the emulator cannot be talked to, or does not get to a state that is to be kept.
    pub fn reach(&self, victim: &mut Victim, number: usize) -> io::Result<bool> {
        let state = self.state_before(number).max(self.states[0]);
        // One state more, of the last moment that took many stops.
        let nearer = victim.nearer.filter(|near| {
            *near <= number && self.stops(*near, number) < self.stops(state, number)
        });
        let from = match nearer {
            Some(near) => near,
            None => {
                self.prepare(victim, state)?;
                state
            }
        };
        let name = if nearer.is_some() { usize::MAX } else { from };
        victim.load(name)?;
        let (wanted, stops) = (self.stops(from, number), self.run(victim, from, number)?);
        if stops == wanted {
            if stops > MANY {
                victim.save(usize::MAX)?;
                victim.nearer = Some(number);
            }
            return Ok(true);
        }
        if self.reach_by_steps(victim, number)? {
            return Ok(true);
        }
        // A loop with fewer rounds than in the recorded run: its last one.
        victim.load(name)?;
        for _ in 0..stops {
            victim.run_to(self.addresses[number])?;
        }
        Ok(stops > 0)
    }

    /// From reset to a first execution shortly before the moment in one run, and the rest of the
    /// way instruction by instruction.
    fn reach_by_steps(&self, victim: &mut Victim, number: usize) -> io::Result<bool> {
        let mut near = (number.saturating_sub(STEPS)..=number).rev();
        let Some(near) = near.find(|near| self.stops(0, *near) == 1) else {
            return Ok(false);
        };
        victim.restart()?;
        if self.run(victim, 0, near)? == 0 {
            return Ok(false);
        }
        victim.steps(number - near)?;
        Ok(victim.gdb.register(PC)? == self.addresses[number])
    }

    /// Makes the states up to one of them, unless they are there.
    fn prepare(&self, victim: &mut Victim, state: usize) -> io::Result<()> {
        if victim.has(state) {
            return Ok(());
        }
        let place = self.states.partition_point(|one| *one < state);
        let reached = match place.checked_sub(1).map(|place| self.states[place]) {
            Some(before) => {
                self.prepare(victim, before)?;
                victim.load(before)?;
                self.run(victim, before, state)? == self.stops(before, state)
            }
            None => {
                victim.restart()?;
                self.run(victim, 0, state)? == self.stops(0, state)
            }
        };
        if reached {
            victim.save(state)
        } else {
            Err(io::Error::other(format!("no instruction {state}")))
        }
    }

    /// Runs from one moment to another, and says at how many of the stops on the way it came.
    fn run(&self, victim: &mut Victim, from: usize, to: usize) -> io::Result<usize> {
        let stops = self.stops(from, to);
        for stop in 0..stops {
            if !victim.run_to(self.addresses[to])? {
                return Ok(stop);
            }
        }
        Ok(stops)
    }

    /// How often the address of an instruction is executed after one moment and up to another.
    fn stops(&self, from: usize, to: usize) -> usize {
        let all = self
            .addresses
            .get(to)
            .and_then(|at| self.executions.get(at));
        let before = |number| all.map_or(0, |all| all.partition_point(|one| *one <= number));
        before(to).saturating_sub(before(from))
    }

    /// The last state at or before a moment; the first one if there is none.
    fn state_before(&self, number: usize) -> usize {
        let place = self.states.partition_point(|one| *one <= number);
        place.checked_sub(1).map_or(0, |place| self.states[place])
    }
}

/// The third number of a line such as
/// `Trace 0: 0x7f20 [00800408/0800040a/00000110/ff020201] Reset`, without the space.
pub(crate) fn address_of(line: &str) -> Option<u32> {
    let (_, numbers) = line.split_once('[')?;
    let address = numbers.split('/').nth(1)?;
    u32::from_str_radix(address, 16).ok()
}
