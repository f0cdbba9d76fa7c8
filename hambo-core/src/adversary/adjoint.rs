//! The schedule of the adjoint search: projected sign steps with restarts.
//!
//! The return is close to linear in each eta_t, so the worst choice lies
//! mostly on the corners of the cube and only the derivative's sign matters.
//! Steps start as long as the cube is wide and shrink; the softness of
//! comparisons cycles, so that a wall is felt from far as well as from near.
//!
//! A push that pays only in rhythm (a swing) lies behind a hill that no
//! gradient crosses. So there are three rounds, each with its own pattern to
//! start from: the constant, the constant with its sign changing at every
//! step, and random signs. A last round changes the worst choice so far: see
//! [`Change`](super::Change).

use super::constant_component;
use super::scatter::sign;
use crate::arithmetic::elementary::{clamp, maximum};

/// The round that has no pattern: changes of the worst choice so far.
pub const REFINE: u32 = 3;

/// One sweep's place in the schedule.
///
/// ```
/// use hambo_core::adversary::turn;
/// // The second sweep of a search of 17: the first round has five.
/// let turn = turn(1, 16);
/// assert_eq!((turn.round, turn.sweep, turn.length), (0, 1, 5));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The round.
    pub round: u32,
    /// The sweep inside the round; 0 evaluates the round's pattern.
    pub sweep: u32,
    /// Sweeps of the round.
    pub length: u32,
}

/// The place of sweep `iteration` of a search that goes on for `iterations`
/// sweeps after the first: half of them change the worst choice so far, an
/// eighth each begins with alternating and random signs, and the first round
/// has what is left over.
///
/// ```
/// use hambo_core::adversary::{REFINE, turn};
/// let rounds: Vec<u32> = (0..=16).map(|i| turn(i, 16).round).collect();
/// assert_eq!(rounds, [0, 0, 0, 0, 0, 1, 1, 2, 2, 3, 3, 3, 3, 3, 3, 3, 3]);
/// assert_eq!(REFINE, 3);
/// ```
#[must_use]
pub fn turn(iteration: u32, iterations: u32) -> Turn {
    let total = iterations.saturating_add(1);
    let eighth = total / 8;
    let from_end = |eighths: u32| total.saturating_sub(eighth.saturating_mul(eighths));
    let starts = [0, from_end(6), from_end(5), from_end(4)];
    let ends = starts.iter().skip(1).chain(core::iter::once(&total));
    let mut turn = Turn {
        round: 0,
        sweep: iteration,
        length: total,
    };
    for (round, (start, end)) in (0_u32..).zip(starts.iter().zip(ends)) {
        if (*start..*end).contains(&iteration) {
            turn = Turn {
                round,
                sweep: iteration.saturating_sub(*start),
                length: end.saturating_sub(*start),
            };
        }
    }
    turn
}

/// Component `j` at step `step` of the pattern that a round starts from.
///
/// ```
/// use hambo_core::adversary::pattern;
/// // Start 2 of one dimension is eta = 1; in round 1 its sign changes.
/// let round = |round| [0, 1, 2].map(|step| pattern(round, 2, 1, step, 0));
/// assert_eq!(round(0), [1.0, 1.0, 1.0]);
/// assert_eq!(round(1), [1.0, -1.0, 1.0]);
/// ```
#[must_use]
pub fn pattern(round: u32, start: usize, dimension: usize, step: u32, j: usize) -> f32 {
    let constant = constant_component(start, dimension, j);
    let alternating = if step & 1 == 0 { 1.0 } else { -1.0 };
    match (round, start) {
        (0, _) => constant,
        // The neutral start has no sign to change: all components in step.
        (1, 0) => reach(start) * alternating,
        (1, _) => constant * alternating,
        _ => reach(start) * sign([start as u32, step, j as u32, 0]),
    }
}

/// How far a start strays at first: the neutral one looks around the mean,
/// where a large set has the same valleys as a small one, the others at the
/// corners.
fn reach(start: usize) -> f32 {
    if start == 0 { 0.25 } else { 1.0 }
}

/// The length of the sign step after a sweep.
///
/// ```
/// use hambo_core::adversary::{step_length, turn};
/// // As long as the cube is wide, then shorter.
/// assert_eq!(step_length(turn(0, 16), 1), 2.0);
/// assert!(step_length(turn(1, 16), 1) < 2.0);
/// ```
#[must_use]
pub fn step_length(turn: Turn, start: usize) -> f32 {
    let left = turn.length.saturating_sub(turn.sweep) as f32;
    let left = left / maximum(turn.length as f32, 1.0);
    2.0 * reach(start) * left * left
}

/// The softness of comparisons after a sweep, in units of each comparison's
/// own width.
///
/// ```
/// use hambo_core::adversary::{softness, turn};
/// let softness: Vec<f32> = (0..4).map(|sweep| softness(turn(sweep, 16))).collect();
/// assert_eq!(softness, [1.0, 0.3, 0.1, 1.0]);
/// ```
#[must_use]
pub fn softness(turn: Turn) -> f32 {
    match turn.sweep % 3 {
        0 => 1.0,
        1 => 0.3,
        _ => 0.1,
    }
}

/// Moves eta against the derivative and back into the cube. A derivative of
/// zero, or none at all (NaN), moves nothing.
///
/// ```
/// use hambo_core::adversary::update;
/// let mut eta = [0.0, 0.9, 0.5];
/// update(&mut eta, &[2.0, -0.1, f32::NAN], &[0.5; 3]);
/// assert_eq!(eta, [-0.5, 1.0, 0.5]);
/// ```
pub fn update<const B: usize>(eta: &mut [f32; B], gradient: &[f32; B], steps: &[f32; B]) {
    for ((e, g), step) in eta.iter_mut().zip(gradient).zip(steps) {
        if *g > 0.0 {
            *e = clamp(*e - step, -1.0, 1.0);
        } else if *g < 0.0 {
            *e = clamp(*e + step, -1.0, 1.0);
        }
    }
}
