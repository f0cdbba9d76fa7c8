//! A grid over a box of states, and values between its points.

use hambo_task::task::Wrap;

/// The most states of a grid.
pub const MOST_STATES: usize = 3;

/// Where a state lies among the points.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cell {
    /// The point at the cell's low corner.
    pub low: u32,
    /// How far along each axis the state lies, from 0 to 1.
    pub shares: [f32; MOST_STATES],
}

/// One axis: evenly spaced points. That of a state that wraps has points at both ends of its
/// interval, which are the same state seen from two sides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Axis {
    /// The first point.
    pub low: f32,
    /// Between two points.
    pub spacing: f32,
    /// How many.
    pub points: usize,
}

impl Axis {
    /// `points` from the first of `ends` to the second, or around a state that wraps.
    pub fn new(ends: [f32; 2], wrap: Option<Wrap>, points: usize) -> Self {
        let points = points.max(2);
        let [low, high] = match wrap {
            Some(Wrap { low, period }) => [low, low + period],
            None => ends,
        };
        Self {
            low,
            spacing: (high - low) / (points - 1) as f32,
            points,
        }
    }

    /// The point before `x` and how far beyond it `x` lies; none beyond the ends.
    fn before(&self, x: f32) -> Option<(usize, f32)> {
        let place = (x - self.low) / self.spacing;
        let last = (self.points - 1) as f32;
        // A state at its limit may be rounded beyond it.
        let rounding = 1e-4;
        if !(place >= -rounding && place <= last + rounding) {
            return None;
        }
        let place = place.clamp(0.0, last);
        let first = (place as usize).min(self.points - 2);
        Some((first, place - first as f32))
    }
}

/// Axes, the last one fastest.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// One for each state, at most [`MOST_STATES`].
    pub axes: Vec<Axis>,
}

impl Grid {
    pub fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.points).product()
    }

    /// The state at a point.
    pub fn state(&self, point: usize) -> Vec<f32> {
        let mut rest = point;
        let mut state: Vec<f32> = self
            .axes
            .iter()
            .rev()
            .map(|axis| {
                let place = rest % axis.points;
                rest /= axis.points;
                axis.low + axis.spacing * place as f32
            })
            .collect();
        state.reverse();
        state
    }

    /// The cell around a state; none beyond the grid.
    pub fn cell(&self, state: impl Iterator<Item = f32>) -> Option<Cell> {
        let mut cell = Cell {
            low: 0,
            shares: [0.0; MOST_STATES],
        };
        for ((axis, x), share) in self.axes.iter().zip(state).zip(&mut cell.shares) {
            let (first, beyond) = axis.before(x)?;
            cell.low = cell.low * axis.points as u32 + first as u32;
            *share = beyond;
        }
        Some(cell)
    }

    /// The value between the corners of a cell.
    pub fn between(&self, values: &[f32], cell: &Cell) -> f32 {
        let mut corners = [(cell.low as usize, 1.0_f32); 1 << MOST_STATES];
        let mut count = 1;
        let mut stride = 1;
        for (axis, share) in self.axes.iter().zip(cell.shares).rev() {
            for place in 0..count {
                let (point, weight) = corners[place];
                corners[place] = (point, weight * (1.0 - share));
                corners[place + count] = (point + stride, weight * share);
            }
            count *= 2;
            stride *= axis.points;
        }
        let corners = corners.iter().take(count);
        corners
            .map(|(point, weight)| match *weight {
                // A corner that does not count may be infinite.
                0.0 => 0.0,
                weight => weight * values.get(*point).copied().unwrap_or(f32::NAN),
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn linear_functions_are_exact_inside_and_nothing_is_beyond() {
        let wrap = Wrap {
            low: 0.0,
            period: 4.0,
        };
        let grid = Grid {
            axes: vec![
                Axis::new([-1.0, 1.0], None, 5),
                Axis::new([0.0, 0.0], Some(wrap), 5),
                Axis::new([0.0, 3.0], None, 4),
            ],
        };
        assert_eq!(grid.points(), 100);
        assert_eq!(grid.state(37), [-0.5, 4.0, 1.0]);
        let of = |state: &[f32]| 2.0 * state[0] + state[1] - 3.0 * state[2];
        let values: Vec<f32> = (0..100).map(|point| of(&grid.state(point))).collect();
        let at = |state: [f32; 3]| {
            let cell = grid.cell(state.into_iter())?;
            Some(grid.between(&values, &cell))
        };
        for state in [
            [0.3, 1.25, 0.5],
            [1.0, 4.0, 3.0],
            [-1.0, 0.0, 0.0],
            [-0.9, 3.9, 2.1],
        ] {
            assert!((at(state).unwrap() - of(&state)).abs() < 1e-5, "{state:?}");
        }
        for beyond in [
            [1.01, 0.0, 0.0],
            [-1.01, 0.0, 0.0],
            [0.0, 0.0, 3.1],
            [f32::NAN, 0.0, 0.0],
        ] {
            assert_eq!(at(beyond), None, "{beyond:?}");
        }
    }

    #[test]
    fn corners_without_weight_may_be_infinite() {
        let grid = Grid {
            axes: vec![Axis::new([0.0, 2.0], None, 3)],
        };
        let values = [1.0, 2.0, f32::NEG_INFINITY];
        let at = |x: f32| grid.between(&values, &grid.cell([x].into_iter()).unwrap());
        assert_eq!((at(0.5), at(1.0)), (1.5, 2.0));
        assert_eq!(at(1.5), f32::NEG_INFINITY);
    }
}
