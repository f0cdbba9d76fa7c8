//! What a verdict rests on, every number kept redundantly.

use super::limits::MAX_ESTIMATES;
use crate::numeric::elementary::maximum;
use crate::numeric::redundant::{Redundant, Side};

/// What a check notes on its way that makes the evidence unfit, or fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Note {
    /// A number on the way was not finite.
    NotFinite = 1,
    /// A derivative did not exist, so that the search was blind.
    SearchFailed = 2,
    /// A reward lay outside the bounds that the task states.
    OutsideRewardBounds = 4,
    /// The model left an adversary a choice.
    Width = 8,
    /// The copies of a counter disagreed.
    Corrupted = 16,
}

/// Paths that no adversary touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Paths {
    /// Of mean propagation.
    Mean,
    /// With noise.
    Noisy,
}

/// A path whose distance from the log was measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WatchedPath {
    pub steps: u32,
    /// Steps that begin outside the data's support.
    pub outside: u32,
    /// Whether one begins far outside.
    pub far_outside: bool,
}

/// The estimates of a check in the plan's order, and what else decides.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tally {
    /// The bits of the mean and of the lower bound of each estimate.
    estimates: [[Redundant<u32>; 2]; MAX_ESTIMATES],
    count: Redundant<u32>,
    /// [`Note`]s, one bit each.
    notes: Redundant<u32>,
    mean_paths: PathShare,
    noisy_paths: PathShare,
    /// Steps of the model that the whole check takes.
    steps: Redundant<u64>,
}

impl Tally {
    /// The empty tally of a check that takes `steps` steps of the model.
    pub fn new(steps: u64) -> Self {
        Self {
            estimates: [[Redundant::of(0, 0); 2]; MAX_ESTIMATES],
            count: Redundant::of(0, 0),
            notes: Redundant::of(0, 0),
            mean_paths: PathShare::default(),
            noisy_paths: PathShare::default(),
            steps: Redundant::of(steps, steps),
        }
    }

    /// Adds an estimate as two computations found it: its mean and lower bound.
    pub fn add_estimate(&mut self, [mean, lower]: [f32; 2], [twin_mean, twin_lower]: [f32; 2]) {
        let place = self.count.read(Side::Plain) as usize;
        if let Some(estimate) = self.estimates.get_mut(place) {
            *estimate = [
                Redundant::of(mean.to_bits(), twin_mean.to_bits()),
                Redundant::of(lower.to_bits(), twin_lower.to_bits()),
            ];
            self.count.update(|count| count.saturating_add(1));
        }
    }

    /// The mean and the lower bound of the estimate at a place of the plan.
    pub fn estimate(&self, place: usize, side: Side) -> Option<[f32; 2]> {
        if place >= self.count(side) {
            return None;
        }
        let both = self.estimates.get(place)?;
        Some(both.map(|bits| f32::from_bits(bits.read(side))))
    }

    /// How many estimates there are.
    pub fn count(&self, side: Side) -> usize {
        self.count.read(side) as usize
    }

    pub fn note(&mut self, note: Note) {
        self.notes.update(|notes| notes | note as u32);
    }

    pub fn has(&self, note: Note, side: Side) -> bool {
        self.notes.read(side) & note as u32 != 0
    }

    /// Adds a path. One of no steps was not watched.
    pub fn add_path(&mut self, paths: Paths, path: WatchedPath) {
        match paths {
            Paths::Mean => self.mean_paths.add(path),
            Paths::Noisy => self.noisy_paths.add(path),
        }
    }

    /// The largest share of steps outside the data's support, in per cent, rounded up.
    pub fn percent_outside(&self, side: Side) -> u8 {
        let [mean, noisy] = [self.mean_paths, self.noisy_paths];
        mean.steps.percent(side).max(noisy.steps.percent(side))
    }

    /// The largest share of trajectories with a step far outside, in per cent, rounded up.
    pub fn percent_of_far_paths(&self, side: Side) -> u8 {
        let [mean, noisy] = [self.mean_paths, self.noisy_paths];
        mean.paths.percent(side).max(noisy.paths.percent(side))
    }

    /// The largest shares of steps outside and of trajectories with such a step.
    pub fn shares_outside(&self) -> [f32; 2] {
        let [mean, noisy] = [self.mean_paths, self.noisy_paths];
        [
            maximum(mean.steps.value(), noisy.steps.value()),
            maximum(mean.paths.value(), noisy.paths.value()),
        ]
    }

    pub fn steps(&self, side: Side) -> u64 {
        self.steps.read(side)
    }

    /// Whether both copies of every number agree.
    pub fn agrees(&self) -> bool {
        self.estimates.iter().flatten().all(Redundant::agrees)
            && self.count.agrees()
            && self.notes.agrees()
            && self.mean_paths.agrees()
            && self.noisy_paths.agrees()
            && self.steps.agrees()
    }
}

/// Paths that no adversary touches, and their steps.
#[derive(Clone, Copy, Debug, Default)]
struct PathShare {
    steps: Share,
    paths: Share,
}

impl PathShare {
    fn add(&mut self, path: WatchedPath) {
        self.steps.add(path.outside, path.steps);
        let watched = u32::from(path.steps > 0);
        self.paths.add(u32::from(path.far_outside), watched);
    }

    fn agrees(&self) -> bool {
        self.steps.agrees() && self.paths.agrees()
    }
}

/// How many of all are outside.
#[derive(Clone, Copy, Debug)]
struct Share {
    all: Redundant<u64>,
    outside: Redundant<u64>,
}

impl Default for Share {
    fn default() -> Self {
        Self {
            all: Redundant::of(0, 0),
            outside: Redundant::of(0, 0),
        }
    }
}

impl Share {
    fn add(&mut self, outside: u32, all: u32) {
        self.all.update(|sum| sum.saturating_add(u64::from(all)));
        self.outside
            .update(|sum| sum.saturating_add(u64::from(outside)));
    }

    /// In per cent, rounded up.
    fn percent(&self, side: Side) -> u8 {
        let all = self.all.read(side);
        let scaled = self.outside.read(side).saturating_mul(100);
        match scaled.checked_add(all.saturating_sub(1)) {
            Some(scaled) => scaled.checked_div(all).unwrap_or(0).min(100) as u8,
            None => 100,
        }
    }

    /// To be shown; 0 of none.
    fn value(&self) -> f32 {
        let [outside, all] = [self.outside, self.all].map(|count| count.read(Side::Plain));
        outside as f32 / all.max(1) as f32
    }

    fn agrees(&self) -> bool {
        self.all.agrees() && self.outside.agrees()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_steps_are_rounded_up() {
        let percent = |parts: &[(u32, u32)]| {
            let mut share = Share::default();
            for (outside, all) in parts {
                share.add(*outside, *all);
            }
            assert_eq!(share.percent(Side::Plain), share.percent(Side::Complement));
            share.percent(Side::Plain)
        };
        assert_eq!((percent(&[]), percent(&[(0, 9)])), (0, 0));
        assert_eq!((percent(&[(5, 100)]), percent(&[(51, 1000)])), (5, 6));
        assert_eq!((percent(&[(1, 3), (0, 3)]), percent(&[(7, 7)])), (17, 100));
    }

    #[test]
    fn one_step_far_outside_is_a_path_far_outside() {
        let mut tally = Tally::new(0);
        // Nobody watched the first.
        let path = |steps, outside, far_outside| WatchedPath {
            steps,
            outside,
            far_outside,
        };
        for (steps, outside, far) in [(0, 0, false), (50, 0, false), (50, 1, true), (50, 50, true)]
        {
            tally.add_path(Paths::Noisy, path(steps, outside, far));
        }
        // Not far.
        tally.add_path(Paths::Mean, path(50, 9, false));
        for side in [Side::Plain, Side::Complement] {
            assert_eq!(tally.percent_outside(side), 34);
            assert_eq!(tally.percent_of_far_paths(side), 67);
        }
        assert_eq!(tally.shares_outside(), [51.0 / 150.0, 2.0 / 3.0]);
        // The mean paths are held apart.
        tally.add_path(Paths::Mean, path(50, 1, true));
        assert_eq!(tally.percent_of_far_paths(Side::Plain), 67);
        for _ in 0..9 {
            tally.add_path(Paths::Mean, path(50, 1, true));
        }
        assert_eq!(tally.percent_of_far_paths(Side::Plain), 91);
        assert!(tally.agrees());
        tally.mean_paths.paths.outside = Redundant::of(10, 9);
        assert!(!tally.agrees());
    }

    #[test]
    fn two_computations_that_differ_are_seen() {
        let mut tally = Tally::new(0);
        tally.add_estimate([1.0, f32::NAN], [1.0, f32::NAN]);
        assert!(tally.agrees());
        assert_eq!(
            tally.estimate(0, Side::Complement).map(|both| both[0]),
            Some(1.0)
        );
        assert_eq!(tally.estimate(1, Side::Plain), None);
        tally.add_estimate([-628.0, -628.0], [628.0, -628.0]);
        assert!(!tally.agrees());
    }
}
