//! The ranges of states and actions: limits, and periods.
//!
//! Some states come back to where they were after a period, such as angles:
//! each stays in [low, low + period).
//!
//! A model predicts differences, so s + (s′ − s) walks past the end of the
//! interval; the rollout moves it back by whole periods before anything else
//! looks at it. The derivative of that is 1.

use crate::numeric::elementary::floor;

/// Lower and upper limits; infinite where there is none.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Lower limits.
    pub low: &'a [f32],
    /// Upper limits.
    pub high: &'a [f32],
}

/// Which states wrap, and where. Both slices are empty if none does.
///
/// ```
/// use hambo_core::task::Wraps;
/// // A position, and an angle in degrees.
/// let wraps = Wraps { low: &[0.0, -180.0], period: &[0.0, 360.0] };
/// let mut states = [[500.0, 7.0], [190.0, 20.0]];
/// wraps.wrap(&mut states);
/// assert_eq!(states, [[500.0, 7.0], [-170.0, 20.0]]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wraps<'a> {
    /// The lower end of each state's interval.
    pub low: &'a [f32],
    /// The length of each state's interval; 0 for a state that does not wrap.
    pub period: &'a [f32],
}

impl Wraps<'static> {
    /// No state wraps.
    pub const NONE: Self = Self {
        low: &[],
        period: &[],
    };
}

impl Wraps<'_> {
    /// Moves every state of every lane into its interval. One that is there
    /// already keeps its bits.
    pub fn wrap<const B: usize>(&self, states: &mut [[f32; B]]) {
        for (state, row) in states.iter_mut().enumerate() {
            self.wrap_row(state, row);
        }
    }

    /// Moves one state of every lane into its interval.
    pub(crate) fn wrap_row<const B: usize>(&self, state: usize, row: &mut [f32; B]) {
        let (Some(low), Some(period)) = (self.low.get(state), self.period.get(state)) else {
            return;
        };
        if *period > 0.0 {
            for x in row {
                *x = wrap(*x, *low, *period);
            }
        }
    }
}

/// `x` moved by whole periods into [low, low + period). What is not finite
/// becomes NaN.
pub fn wrap(x: f32, low: f32, period: f32) -> f32 {
    let high = low + period;
    if x >= low && x < high {
        return x;
    }
    let moved = x - period * floor((x - low) / period);
    // Rounding may leave it a little outside, at the end that is the start.
    if moved < low || moved >= high {
        low
    } else {
        moved
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::f32::consts::{PI, TAU};

    #[test]
    fn stays_inside_and_moves_by_whole_turns() {
        let mut x = -40.0_f32;
        while x < 40.0 {
            let wrapped = wrap(x, -PI, TAU);
            assert!((-PI..PI).contains(&wrapped), "{x}: {wrapped}");
            let turns = (x - wrapped) / TAU;
            assert!((turns - libm::roundf(turns)).abs() < 1e-5, "{x}: {wrapped}");
            assert_eq!(wrap(wrapped, -PI, TAU).to_bits(), wrapped.to_bits());
            x += 0.0137;
        }
        // A little below the lower end is, rounded, the upper one: the same place.
        assert_eq!(wrap(-1e-9, 0.0, 360.0), 0.0);
        // Both sides of each end, and numbers of which a turn is a rounding.
        for x in [PI, -PI, PI.next_down(), (-PI).next_down(), TAU, 1e9, -1e30] {
            assert!((-PI..PI).contains(&wrap(x, -PI, TAU)), "{x}");
        }
    }

    #[test]
    fn what_is_not_finite_is_not_hidden() {
        for x in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
            assert!(wrap(x, -PI, TAU).is_nan());
        }
    }
}
