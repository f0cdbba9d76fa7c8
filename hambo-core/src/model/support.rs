//! The region that the log covers, as some of its rows in whitened
//! coordinates: a query is as far outside as its nearest row is away.
//!
//! Whitening measures distances in standard deviations along the principal
//! directions of (s, a), so a log whose actions follow from its states is thin
//! across that relation, and another controller is far away at once. The rows
//! themselves show holes that no box and no ellipsoid shows. But a few hundred
//! rows see only holes that are large in all inputs together; a stretch of one
//! input in which the log has no row at all is listed as a gap.

use crate::numeric::elementary::{maximum, minimum, sqrt};
use crate::numeric::vectors::{LaneLoop, Vectors};

/// A state and action are far outside what the log covers if they are this many times as far from
/// it as the limit, or as many standard deviations less one deep in a gap.
pub const FAR_OUTSIDE: f32 = 1.5;

/// Where a state and action lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogPlace {
    /// Within the limit of a row, and in no gap.
    Inside,
    /// Beyond the limit from every row, or in a gap.
    Outside,
    /// So far that the log's own rows hardly ever are: [`FAR_OUTSIDE`].
    FarOutside,
}

/// Rows of the log, whitened, and how far from the nearest of them a query may
/// lie.
///
/// ```
/// use hambo_core::model::Support;
/// // Two inputs that the log ties together: x1 = x0 but for a hundredth.
/// let support = Support {
///     centre: &[0.0, 0.0],
///     scale: &[1.0, 1.0],
///     whitening: &[1.0, -100.0, 100.0],
///     rows: &[-1.0, 0.0, 0.0, 0.0, 1.0, 0.0],
///     limit: 2.0,
///     gaps: &[],
///     exit_rate: 0.0,
/// };
/// let mut scratch = [[0.0; 4]; 2];
/// let (state, action) = ([[0.5, 0.5, 9.0, f32::NAN]], [[0.51, 0.6, 9.0, 0.0]]);
/// let outside = support.outside(&state, &action, &mut scratch);
/// assert_eq!(outside, [false, true, true, true]);
/// // The edge is at 1.
/// let distance = support.distance(&[[0.5]], &[[0.51]], &mut [[0.0]; 2]);
/// assert!((distance[0] - (0.25_f32 + 1.0).sqrt() / 2.0).abs() < 1e-3);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Support<'a> {
    /// The mean of (s, a).
    pub centre: &'a [f32],
    /// One over the standard deviation of each input.
    pub scale: &'a [f32],
    /// The lower triangle of the matrix W with z = W ((x − centre) · scale), row by
    /// row.
    pub whitening: &'a [f32],
    /// Whitened rows of the log, one after the other.
    pub rows: &'a [f32],
    /// The largest distance from the nearest row that counts as inside, in
    /// whitened units.
    pub limit: f32,
    /// Stretches of single inputs without a row of the log, one after the other:
    /// the input's index, the lower and the upper end.
    pub gaps: &'a [f32],
    /// How often per step the log's own withheld rows go far outside: q of their windows of L
    /// steps have such a row, and this is −ln(1 − q) / L.
    pub exit_rate: f32,
}

/// Numbers of a gap.
pub const GAP: usize = 3;

impl Support<'_> {
    /// Rows of scratch that a query takes.
    pub fn scratch_rows(&self) -> usize {
        self.centre.len()
    }

    /// Whether every gap is one of an input, and has a width.
    pub(crate) fn has_sound_gaps(&self) -> bool {
        let is_input = |input: f32| (0..self.centre.len()).any(|index| index as f32 == input);
        self.gaps.chunks(GAP).all(|gap| match *gap {
            [input, low, high] => is_input(input) && low < high,
            _ => false,
        })
    }

    /// The lanes whose state and action lie beyond the limit from every row or in a gap. A NaN
    /// does, and so does everything if there is no row.
    pub fn outside<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
    ) -> [bool; B] {
        let places = self.places(state, action, scratch);
        places.map(|place| place != LogPlace::Inside)
    }

    /// Where each lane's state and action lie.
    pub fn places<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
    ) -> [LogPlace; B] {
        let squares = self.squared_distance(state, action, scratch);
        let far = FAR_OUTSIDE * self.limit;
        // Written so that a NaN counts as far outside.
        let mut places = squares.map(|square| {
            if square <= self.limit * self.limit {
                LogPlace::Inside
            } else if square <= far * far {
                LogPlace::Outside
            } else {
                LogPlace::FarOutside
            }
        });
        for (row, low, high, scale) in self.gaps(state, action) {
            for (place, x) in places.iter_mut().zip(row) {
                if *x > low && *x < high {
                    let depth = minimum(*x - low, high - *x) * scale;
                    let own = if depth <= FAR_OUTSIDE - 1.0 {
                        LogPlace::Outside
                    } else {
                        LogPlace::FarOutside
                    };
                    *place = own.max(*place);
                }
            }
        }
        places
    }

    /// The distance from the nearest row in units of the limit, or 1 and the
    /// standard deviations to the nearer end of a gap: beyond 1 is outside.
    pub fn distance<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
    ) -> [f32; B] {
        let squares = self.squared_distance(state, action, scratch);
        let mut distances = squares.map(|square| sqrt(square) / self.limit);
        for (row, low, high, scale) in self.gaps(state, action) {
            for (distance, x) in distances.iter_mut().zip(row) {
                let depth = minimum(*x - low, high - *x);
                if depth > 0.0 {
                    *distance = maximum(*distance, 1.0 + depth * scale);
                }
            }
        }
        distances
    }

    /// The rows of inputs with a gap, its ends, and one over the input's standard
    /// deviation.
    fn gaps<'b, const B: usize>(
        &self,
        state: &'b [[f32; B]],
        action: &'b [[f32; B]],
    ) -> impl Iterator<Item = (&'b [f32; B], f32, f32, f32)> {
        let gaps = self.gaps.chunks_exact(GAP);
        gaps.filter_map(move |gap| {
            let [input, low, high] = *gap else {
                return None;
            };
            let input = input as usize;
            let row = state.iter().chain(action).nth(input)?;
            Some((row, low, high, *self.scale.get(input)?))
        })
    }

    /// In whitened units.
    fn squared_distance<const B: usize>(
        &self,
        state: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
    ) -> [f32; B] {
        let columns = self.centre.len();
        let units = || self.centre.iter().zip(self.scale);
        let inputs = || state.iter().chain(action).zip(units());
        let known = columns > 0
            && inputs().count() == columns
            && scratch.len() >= columns
            && self.rows.len().checked_rem(columns) == Some(0);
        if !known {
            return [f32::INFINITY; B];
        }
        Vectors::widest().run(Nearest {
            support: self,
            state,
            action,
            scratch,
        })
    }
}

/// How far the nearest row is, squared, in whitened units.
struct Nearest<'q, 'a, const B: usize> {
    support: &'q Support<'a>,
    state: &'q [[f32; B]],
    action: &'q [[f32; B]],
    scratch: &'q mut [[f32; B]],
}

impl<const B: usize> LaneLoop for Nearest<'_, '_, B> {
    type Output = [f32; B];

    #[inline(always)]
    fn run<const GROUP: usize>(self) -> [f32; B] {
        let Self {
            support,
            state,
            action,
            scratch,
        } = self;
        let columns = support.centre.len();
        let mut weights = support.whitening.iter();
        for (index, row) in scratch.iter_mut().take(columns).enumerate() {
            let mut sum = [0.0; B];
            let units = support.centre.iter().zip(support.scale);
            let inputs = state.iter().chain(action).zip(units);
            let inputs = inputs.take(index.saturating_add(1));
            for ((x, (centre, scale)), weight) in inputs.zip(weights.by_ref()) {
                for (sum, x) in sum.iter_mut().zip(x) {
                    *sum += *weight * ((*x - *centre) * *scale);
                }
            }
            *row = sum;
        }
        let mut least = [f32::INFINITY; B];
        for logged in support.rows.chunks_exact(columns) {
            let mut square = [0.0; B];
            for (row, own) in scratch.iter().zip(logged) {
                for (sum, z) in square.iter_mut().zip(row) {
                    let difference = *z - *own;
                    *sum += difference * difference;
                }
            }
            for (least, square) in least.iter_mut().zip(&square) {
                *least = minimum(*least, *square);
            }
        }
        least
    }
}

/// Numbers in the lower triangle of a square matrix.
pub fn triangle(size: usize) -> Option<usize> {
    size.checked_mul(size.checked_add(1)?)?.checked_div(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [f32; 6] = [-1.0, 0.0, 0.0, 0.0, 1.0, 0.0];

    fn support(rows: &[f32]) -> Support<'_> {
        Support {
            centre: &[1.0, -1.0],
            scale: &[4.0, 1.0],
            whitening: &[0.5, 0.0, 1.0],
            rows,
            limit: 0.5,
            gaps: &[],
            exit_rate: 0.0,
        }
    }

    fn outside(x: f32, u: f32, rows: &[f32]) -> bool {
        support(rows).outside(&[[x]], &[[u]], &mut [[0.0]; 2])[0]
    }

    #[test]
    fn both_sides_and_holes_are_outside() {
        // In whitened coordinates z = (2 (x − 1), u + 1).
        assert!(!outside(1.0, -1.0, &ROWS));
        assert!(!outside(1.5, -1.0, &ROWS) && !outside(0.5, -1.0, &ROWS));
        assert!(outside(1.76, -1.0, &ROWS) && outside(0.24, -1.0, &ROWS));
        assert!(outside(1.0, -0.49, &ROWS) && outside(1.0, -1.51, &ROWS));
        // Between two rows that are farther apart than twice the limit.
        let apart = [-1.0, 0.0, 1.0, 0.0];
        assert!(outside(1.0, -1.0, &apart) && !outside(1.4, -1.0, &apart));
    }

    #[test]
    fn a_gap_of_one_input_is_outside() {
        let support = Support {
            gaps: &[1.0, -1.1, -0.9, 0.0, 1.3, 1.4],
            ..support(&ROWS)
        };
        let states = [[1.0, 1.0, 1.0, 1.35, 1.3]];
        let actions = [[-1.0, -0.9, -1.2, -1.2, -1.2]];
        let outside = support.outside(&states, &actions, &mut [[0.0; 5]; 2]);
        assert_eq!(outside, [true, false, false, true, false]);
        let distances = support.distance(&states, &actions, &mut [[0.0; 5]; 2]);
        assert_eq!(distances.map(|distance| distance > 1.0), outside);
        assert!((distances[0] - 1.1).abs() < 1e-5 && (distances[3] - 1.2).abs() < 1e-5);
    }

    #[test]
    fn far_is_half_again_as_far() {
        let support = Support {
            gaps: &[1.0, 3.0, 5.0],
            ..support(&ROWS)
        };
        let nan = f32::NAN;
        // In whitened coordinates z = (2 (x − 1), u + 1): 1.5 · 0.5 beyond the row at 1.
        let states = [[1.0, 1.5, 1.74, 1.76, 1.87, 1.88, nan]];
        let actions = [[-1.0; 7]];
        let places = support.places(&states, &actions, &mut [[0.0; 7]; 2]);
        let [inside, outside, far] = [LogPlace::Inside, LogPlace::Outside, LogPlace::FarOutside];
        assert_eq!(places, [inside, inside, inside, outside, outside, far, far]);
        // Half a standard deviation deep in a gap; no row is near it.
        let near = Support {
            limit: 100.0,
            ..support
        };
        let actions = [[2.9, 3.1, 3.5, 3.51, 4.49, 4.6]];
        let places = near.places(&[[1.0; 6]], &actions, &mut [[0.0; 6]; 2]);
        assert_eq!(places, [inside, outside, outside, far, far, outside]);
    }

    #[test]
    fn gaps_that_no_host_writes_are_unsound() {
        fn sound(gaps: &[f32]) -> bool {
            let support = Support {
                gaps,
                ..support(&ROWS)
            };
            support.has_sound_gaps()
        }
        assert!(sound(&[]) && sound(&[0.0, -1.0, 1.0, 1.0, 0.5, 0.6]));
        let nan = f32::NAN;
        for gap in [
            [2.0, 0.0, 1.0],
            [0.5, 0.0, 1.0],
            [-1.0, 0.0, 1.0],
            [nan, 0.0, 1.0],
        ] {
            assert!(!sound(&gap), "{gap:?}");
        }
        for gap in [
            [0.0, 1.0, 1.0],
            [0.0, 1.0, 0.0],
            [0.0, nan, 1.0],
            [0.0, 0.0, nan],
        ] {
            assert!(!sound(&gap), "{gap:?}");
        }
        assert!(!sound(&[0.0, 1.0]));
    }

    #[test]
    fn what_cannot_be_measured_is_outside() {
        assert!(outside(f32::NAN, -1.0, &ROWS) && outside(1.0, f32::INFINITY, &ROWS));
        assert!(outside(1.0, -1.0, &[]) && outside(1.0, -1.0, &ROWS[..3]));
        let short = support(&ROWS).outside(&[[1.0]], &[[-1.0]], &mut [[0.0]; 1]);
        let missing = support(&ROWS).outside(&[[1.0]], &[], &mut [[0.0]; 2]);
        assert!(short[0] && missing[0]);
    }
}
