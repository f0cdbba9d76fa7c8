//! Which starts a focused estimate goes on with: on the sampled trajectories that are not complete
//! those that were the least in the pilot's mean, on each searched one those that its trial
//! brought lowest.

use heapless::Vec;

use crate::adversary::{Ends, MAX_STARTS, SearchResult, Shortlist, TRIAL_BLOCK};
use crate::numeric::redundant::{Redundant, Side};

/// The choice, and what it rests on.
#[derive(Clone, Debug)]
pub(super) struct Selection {
    /// Of each start the sum of its values on the pilot's trajectories.
    sums: Vec<f64, MAX_STARTS>,
    /// What the trial found from each start of the trajectory under way.
    tried: Vec<f32, MAX_STARTS>,
    /// The starts on the sampled trajectories.
    sampled: Redundant<u128>,
    /// The starts on each searched trajectory of a block.
    searched: [Redundant<u128>; TRIAL_BLOCK],
}

impl Selection {
    pub fn new() -> Self {
        Self {
            sums: Vec::new(),
            tried: Vec::new(),
            sampled: Redundant::of(0, 0),
            searched: [Redundant::of(0, 0); TRIAL_BLOCK],
        }
    }

    /// Begins an estimate with `starts` starts.
    pub fn begin(&mut self, starts: usize) {
        self.sums.clear();
        // More starts than places are refused before the check begins.
        let _ = self.sums.resize(starts, 0.0);
        self.tried.clear();
        self.sampled = Redundant::of(0, 0);
    }

    /// Adds a result of the pilot.
    pub fn add_pilot(&mut self, result: &SearchResult) {
        if let Some(sum) = self.sums.get_mut(result.start) {
            *sum += f64::from(result.start_value);
        }
    }

    /// Ends the pilot: `keep` starts are kept.
    pub fn end_pilot(&mut self, keep: usize) {
        let sum = |start: usize| self.sums.get(start).map(|sum| *sum as f32);
        let kept = Shortlist::lowest(self.sums.len(), keep, sum);
        self.sampled = Redundant::of(kept.bits(), kept.bits());
    }

    /// Adds a result of a trial, start by start; after the last, `keep` starts are kept for
    /// the trajectory at this place of its block.
    pub fn add_trial(&mut self, result: &SearchResult, place: usize, ends: Ends, keep: usize) {
        let _ = self.tried.push(result.least);
        if ends == Ends::Nothing {
            return;
        }
        let least = |start: usize| self.tried.get(start).copied();
        let kept = Shortlist::lowest(self.tried.len(), keep, least);
        self.tried.clear();
        if let Some(searched) = self.searched.get_mut(place) {
            *searched = Redundant::of(kept.bits(), kept.bits());
        }
    }

    /// The starts on the sampled trajectories.
    pub fn sampled(&self) -> Shortlist {
        Shortlist::of_bits(self.sampled.read(Side::Plain))
    }

    /// The starts on the searched trajectory at a place of its block.
    pub fn searched(&self, place: usize) -> Shortlist {
        let kept = self.searched.get(place);
        Shortlist::of_bits(kept.map_or(0, |kept| kept.read(Side::Plain)))
    }

    /// Whether both copies of every choice agree.
    pub fn agrees(&self) -> bool {
        self.sampled.agrees() && self.searched.iter().all(Redundant::agrees)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(kept: Shortlist) -> std::vec::Vec<usize> {
        (0..kept.len()).map(|place| kept.at(place)).collect()
    }

    #[test]
    fn the_pilot_keeps_the_lowest_means() {
        let mut selection = Selection::new();
        selection.begin(4);
        // Start 1 is the least once, start 3 the least in the mean, then 2.
        for values in [[0.0, -6.0, -2.0, -3.0], [0.0, 3.0, -2.0, -3.0]] {
            for (start, value) in values.into_iter().enumerate() {
                selection.add_pilot(&SearchResult::found(start, value, value));
            }
        }
        for (keep, kept) in [(1, &[3][..]), (2, &[2, 3]), (3, &[1, 2, 3])] {
            selection.end_pilot(keep);
            assert_eq!(numbers(selection.sampled()), kept);
        }
        // Another estimate knows nothing of it.
        selection.begin(2);
        assert!(selection.sampled().is_empty());
    }

    #[test]
    fn numbers_that_are_none_do_not_stop_a_choice() {
        let mut selection = Selection::new();
        selection.begin(4);
        for values in [
            [f32::NAN, f32::NEG_INFINITY, 1.0, f32::INFINITY],
            [f32::NAN, f32::INFINITY, f32::NAN, 2.0],
        ] {
            for (start, value) in values.into_iter().enumerate() {
                selection.add_pilot(&SearchResult::found(start, value, value));
            }
        }
        selection.end_pilot(3);
        assert_eq!(selection.sampled().len(), 3);
    }

    #[test]
    fn a_trial_keeps_the_lowest_on_each_trajectory() {
        let mut selection = Selection::new();
        selection.begin(3);
        for (place, least) in [[-1.0, -3.0, -2.0], [-5.0, 0.0, 0.0]]
            .into_iter()
            .enumerate()
        {
            for (start, least) in least.into_iter().enumerate() {
                let ends = [Ends::Nothing, Ends::Nothing, Ends::Block][start];
                selection.add_trial(&SearchResult::found(start, 0.0, least), place, ends, 2);
            }
        }
        assert_eq!(numbers(selection.searched(0)), [1, 2]);
        assert_eq!(numbers(selection.searched(1)), [0, 1]);
        assert!(selection.agrees());
        selection.searched[1] = Redundant::of(3, 2);
        assert!(!selection.agrees());
    }
}
