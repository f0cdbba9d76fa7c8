//! The schedule of the adjoint search: which round a sweep belongs to, how
//! long its sign step is and how soft its comparisons are.
//!
//! The return is close to linear in each eta_t, so the worst choice lies
//! mostly on the corners of the cube and only the derivative's sign matters.
//! Steps start as long as the cube is wide and shrink; the softness of
//! comparisons cycles, so that a wall is felt from far as well as from near,
//! and gets smaller as the search goes on.
//!
//! A push that pays only in rhythm (a swing) lies behind a hill that no
//! gradient crosses. So there are three rounds of descent, each with its own
//! pattern to start from, and a last one that perturbs the worst choice found.
//!
//! What was found on other trajectories lies in a valley of its own, which the first long step
//! would leave for good. In the first round a search after a trial stays near it, with short
//! steps.

use super::start::Start;
use super::{constant, hash};
use crate::numeric::elementary::maximum;
use crate::task::Allocation;

/// Half periods of alternating starts: 1 to 32 steps.
const WAVES: u32 = 6;

/// How far a search strays in the first round that stays near its start.
const NEAR: f32 = 0.05;

/// The rounds of the search, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Round {
    /// Descent from the start's constant eta.
    Constant,
    /// Descent from the constant with its sign changing every 1, 2, 4 … steps.
    Alternating,
    /// Descent from random signs.
    Random,
    /// Perturbations of the worst choice so far, see
    /// [`Perturbation`](super::perturbation::Perturbation).
    Perturb,
}

const ROUNDS: [Round; 4] = [
    Round::Constant,
    Round::Alternating,
    Round::Random,
    Round::Perturb,
];

/// One sweep's place in the schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ScheduledSweep {
    /// The round.
    pub round: Round,
    /// The sweep inside the round; 0 evaluates the round's pattern.
    pub sweep: u32,
    /// Sweeps of the round.
    pub length: u32,
}

impl ScheduledSweep {
    /// The place of sweep `iteration` of a search that goes on for
    /// `iterations` sweeps after the first: half of them perturb the worst
    /// choice so far, an eighth each descends from alternating and random
    /// signs, and the first round has what is left over.
    pub fn new(iteration: u32, iterations: u32) -> Self {
        let total = iterations.saturating_add(1);
        let eighth = total / 8;
        let from_end = |eighths: u32| total.saturating_sub(eighth.saturating_mul(eighths));
        let starts = [0, from_end(6), from_end(5), from_end(4)];
        let ends = starts.iter().skip(1).chain(core::iter::once(&total));
        let mut place = Self {
            round: Round::Constant,
            sweep: iteration,
            length: total,
        };
        for (round, (start, end)) in ROUNDS.into_iter().zip(starts.iter().zip(ends)) {
            if (*start..*end).contains(&iteration) {
                place = Self {
                    round,
                    sweep: iteration.saturating_sub(*start),
                    length: end.saturating_sub(*start),
                };
            }
        }
        place
    }

    /// The length of the sign step after this sweep: as long as the cube is
    /// wide at first, near what was found elsewhere a part of it, then shorter.
    pub fn step_length(self, start: Start, allocation: Allocation) -> f32 {
        let left = self.length.saturating_sub(self.sweep) as f32;
        let left = left / maximum(self.length as f32, 1.0);
        let reach = match (self.round, start, allocation) {
            (Round::Constant, Start::Found(_), Allocation::Tried | Allocation::Focused) => NEAR,
            _ => reach(start),
        };
        2.0 * reach * left * left
    }

    /// The softness of comparisons after this sweep, in units of each
    /// comparison's own width.
    pub fn softness(self) -> f32 {
        let cycle: &[f32] = match self.round {
            Round::Constant | Round::Alternating => &[1.0, 0.3, 0.1],
            Round::Random => &[0.3, 0.1, 0.03],
            Round::Perturb => &[0.3, 0.1, 0.03, 0.01],
        };
        let place = self.sweep.checked_rem(cycle.len() as u32).unwrap_or(0);
        cycle.get(place as usize).copied().unwrap_or(1.0)
    }
}

/// Component `j` at step `step` of the pattern that a round starts from.
/// `wave` numbers the starts, so that each alternates with another period;
/// `place` is that of the trajectory and the start.
pub(super) fn pattern(
    round: Round,
    start: Start,
    (wave, place): (u32, u32),
    dimension: usize,
    step: u32,
    j: usize,
) -> f32 {
    let half_period = 1_u32.checked_shl(wave % WAVES).unwrap_or(1);
    let half = step.checked_div(half_period).unwrap_or(0);
    let alternating = if half & 1 == 0 { 1.0 } else { -1.0 };
    match (round, start) {
        (Round::Constant, Start::Constant(number)) => constant::component(number, dimension, j),
        // What these begin with is not a pattern.
        (Round::Constant, _) => 0.0,
        (Round::Alternating, Start::Constant(number)) if number > 0 => {
            constant::component(number, dimension, j) * alternating
        }
        // A start without a sign of its own: all components in step.
        (Round::Alternating, _) => reach(start) * alternating,
        (Round::Random | Round::Perturb, _) => {
            reach(start) * hash::sign([place, step, j as u32, 0])
        }
    }
}

/// How far a start strays at first: the neutral one looks around the mean,
/// where a large set has the same valleys as a small one, the others at the
/// corners.
fn reach(start: Start) -> f32 {
    if start == Start::Constant(0) {
        0.25
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_the_sweeps_perturb_and_an_eighth_each_alternates_and_is_random() {
        let rounds: Vec<usize> = (0..=16)
            .map(|i| ScheduledSweep::new(i, 16).round as usize)
            .collect();
        assert_eq!(rounds, [0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
        let second = ScheduledSweep::new(1, 16);
        assert_eq!((second.sweep, second.length), (1, 5));
    }

    #[test]
    fn steps_begin_as_long_as_the_cube_is_wide_and_shrink() {
        let lengths = [0, 1, 2]
            .map(|i| ScheduledSweep::new(i, 16).step_length(Start::Constant(1), Allocation::Even));
        assert_eq!(lengths[0], 2.0);
        assert!(lengths[1] < lengths[0] && lengths[2] < lengths[1]);
        let softness = [0, 1, 2, 3].map(|i| ScheduledSweep::new(i, 16).softness());
        assert_eq!(softness, [1.0, 0.3, 0.1, 1.0]);
    }

    #[test]
    fn the_second_round_changes_the_sign_in_turn() {
        // Start 2 of one dimension is eta = 1.
        let start = Start::Constant(2);
        let steps = |round| [0, 1, 2].map(|step| pattern(round, start, (0, 0), 1, step, 0));
        assert_eq!(steps(Round::Constant), [1.0, 1.0, 1.0]);
        assert_eq!(steps(Round::Alternating), [1.0, -1.0, 1.0]);
        // The third start changes it every four steps.
        let slow = [3, 4, 8].map(|step| pattern(Round::Alternating, start, (2, 0), 1, step, 0));
        assert_eq!(slow, [1.0, -1.0, 1.0]);
    }

    #[test]
    fn random_signs_differ_from_trajectory_to_trajectory() {
        let signs = |trajectory| -> Vec<f32> {
            let (start, place) = (Start::Constant(1), hash::place(trajectory, 1));
            let signs = (0..64).map(|step| pattern(Round::Random, start, (1, place), 1, step, 0));
            signs.collect()
        };
        assert_eq!(signs(3), signs(3));
        assert_ne!(signs(3), signs(4));
    }

    #[test]
    fn a_step_shrinks_with_the_square_of_what_is_left() {
        let second = ScheduledSweep {
            round: Round::Random,
            sweep: 1,
            length: 4,
        };
        // Three quarters are left; the neutral start goes a quarter as far.
        assert_eq!(
            second.step_length(Start::Constant(1), Allocation::Even),
            1.125
        );
        assert_eq!(second.step_length(Start::Network, Allocation::Even), 1.125);
        assert_eq!(
            second.step_length(Start::Constant(0), Allocation::Even),
            0.281_25
        );
    }

    #[test]
    fn a_focused_search_stays_near_what_was_found_in_its_first_round() {
        let first = |round, start, allocation| {
            let sweep = ScheduledSweep {
                round,
                sweep: 0,
                length: 4,
            };
            sweep.step_length(start, allocation)
        };
        let (found, focused) = (Start::Found(1), Allocation::Focused);
        assert_eq!(first(Round::Constant, found, focused), 0.1);
        assert_eq!(first(Round::Constant, found, Allocation::Tried), 0.1);
        assert_eq!(first(Round::Constant, found, Allocation::Even), 2.0);
        for round in [Round::Alternating, Round::Random, Round::Perturb] {
            assert_eq!(first(round, found, focused), 2.0);
        }
        for start in [Start::Constant(1), Start::Member(0), Start::Network] {
            assert_eq!(first(Round::Constant, start, focused), 2.0);
        }
    }

    #[test]
    fn every_round_has_its_cycle_of_softness() {
        let softness = |round| {
            [0, 1, 2, 3, 4].map(|sweep| {
                let place = ScheduledSweep {
                    round,
                    sweep,
                    length: 8,
                };
                place.softness()
            })
        };
        assert_eq!(softness(Round::Alternating), [1.0, 0.3, 0.1, 1.0, 0.3]);
        assert_eq!(softness(Round::Random), [0.3, 0.1, 0.03, 0.3, 0.1]);
        assert_eq!(softness(Round::Perturb), [0.3, 0.1, 0.03, 0.01, 0.3]);
    }

    #[test]
    fn patterns_by_hand() {
        let at = |round, start, step| pattern(round, start, (7, 0), 1, step, 0);
        // The eighth start alternates as the second: every two steps.
        let down = Start::Constant(1);
        let steps = [0, 1, 2, 3, 4].map(|step| at(Round::Alternating, down, step));
        assert_eq!(steps, [-1.0, -1.0, 1.0, 1.0, -1.0]);
        // What has no sign of its own begins upwards, and the neutral one near zero.
        let ups = [Start::Constant(0), Start::Member(3), Start::Network];
        assert_eq!(
            ups.map(|up| at(Round::Alternating, up, 0)),
            [0.25, 1.0, 1.0]
        );
        assert_eq!(
            ups.map(|up| at(Round::Alternating, up, 2)),
            [-0.25, -1.0, -1.0]
        );
        assert_eq!(ups.map(|up| at(Round::Constant, up, 0)), [0.0; 3]);
        // The hash of nothing is odd.
        assert_eq!(ups.map(|up| at(Round::Random, up, 0)), [-0.25, -1.0, -1.0]);
    }
}
