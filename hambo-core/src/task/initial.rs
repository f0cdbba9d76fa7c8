//! p0: where trajectories start.

use serde::{Deserialize, Serialize};

use crate::numeric::random::Stream;

/// How the initial state is distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InitialKind {
    /// Always the same.
    Point,
    /// Uniform in a box.
    Uniform,
    /// Independent normal coordinates.
    Gaussian,
    /// One of a list, drawn at random: the robot always starts from one of
    /// these.
    Listed,
    /// The first states of the log's episodes: a sample of where the robot
    /// starts. Trajectories start from each in turn, and the margin counts the
    /// starts.
    Logged,
    /// The worst that were found in a box, worst first. Trajectories start from
    /// each in turn, and the one with the least bound counts.
    Worst,
}

/// p0. `first` and `second` are value and nothing, low and high, mean and
/// standard deviation, or the listed states one after the other.
///
/// ```
/// use hambo_core::numeric::random::Stream;
/// use hambo_core::task::{InitialKind, InitialState};
/// let initial = InitialState { kind: InitialKind::Uniform, first: &[-1.0], second: &[1.0] };
/// let mut rows = [[0.0, 9.0]];
/// initial.draw(&mut Stream::new(1, 0), 0, &mut rows);
/// assert!(rows[0][0].abs() < 1.0);
/// // The other lane is left alone.
/// assert_eq!(rows[0][1], 9.0);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct InitialState<'a> {
    /// Which distribution.
    pub kind: InitialKind,
    /// First parameter of each dimension.
    pub first: &'a [f32],
    /// Second parameter of each dimension; empty for points and lists.
    pub second: &'a [f32],
}

impl InitialState<'_> {
    /// How many numbers of its stream the initial state takes.
    pub fn draws(&self, dimension: usize) -> u64 {
        match self.kind {
            InitialKind::Point => 0,
            InitialKind::Uniform | InitialKind::Gaussian => dimension as u64,
            InitialKind::Listed | InitialKind::Logged | InitialKind::Worst => 1,
        }
    }

    /// How many states are listed.
    pub fn listed(&self, dimension: usize) -> usize {
        self.first.len().checked_div(dimension).unwrap_or(0)
    }

    /// How many of the listed states differ.
    ///
    /// ```
    /// use hambo_core::task::{InitialKind, InitialState};
    /// let first = [0.0, 1.0, 0.0, 2.0, 0.0, 1.0];
    /// let initial = InitialState { kind: InitialKind::Logged, first: &first, second: &[] };
    /// assert_eq!(initial.distinct(2), 2);
    /// ```
    pub fn distinct(&self, dimension: usize) -> usize {
        let states = || self.first.chunks_exact(dimension.max(1));
        let new = |(place, state): &(usize, &[f32])| !states().take(*place).any(|s| s == *state);
        states().enumerate().filter(new).count()
    }

    /// Puts a listed state into one lane.
    pub(crate) fn put_listed<const B: usize>(
        &self,
        place: u32,
        lane: usize,
        rows: &mut [[f32; B]],
    ) {
        let first = (place as usize).saturating_mul(rows.len());
        for (row, value) in rows.iter_mut().zip(self.first.iter().skip(first)) {
            if let Some(x) = row.get_mut(lane) {
                *x = *value;
            }
        }
    }

    /// Draws the state of one lane into `rows`.
    pub fn draw<const B: usize>(&self, stream: &mut Stream, lane: usize, rows: &mut [[f32; B]]) {
        let dimension = rows.len();
        let skipped = match self.kind {
            InitialKind::Listed | InitialKind::Logged | InitialKind::Worst => {
                let count = self.listed(dimension) as u32;
                (stream.index(count) as usize).saturating_mul(dimension)
            }
            _ => 0,
        };
        let second = self.second.iter().copied().chain(core::iter::repeat(0.0));
        for ((row, first), second) in rows
            .iter_mut()
            .zip(self.first.iter().skip(skipped))
            .zip(second)
        {
            let value = match self.kind {
                InitialKind::Point
                | InitialKind::Listed
                | InitialKind::Logged
                | InitialKind::Worst => *first,
                InitialKind::Uniform => *first + (second - *first) * stream.uniform(),
                InitialKind::Gaussian => *first + second * stream.standard_normal(),
            };
            if let Some(x) = row.get_mut(lane) {
                *x = value;
            }
        }
    }
}
