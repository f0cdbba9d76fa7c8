//! The plane of the two states in which neutral and worst trajectories differ most.

use hambo_check::number::Number;
use hambo_check::paths::Paths;

use crate::range::Range;
use crate::words::readable;

/// Two states, and the path of the trajectory that is shown in their plane.
pub(super) struct Plane<'a> {
    pub names: [&'a str; 2],
    pub neutral: Vec<[f64; 2]>,
    pub worst: Vec<[f64; 2]>,
    states: [usize; 2],
}

impl<'a> Plane<'a> {
    /// `None` with one state.
    pub fn of(paths: &'a Paths) -> Option<Self> {
        let states: [usize; 2] = most_different(paths, 2).try_into().ok()?;
        let path = |rows: &[Vec<Number>]| -> Vec<[f64; 2]> {
            let [x, y] = states.map(|state| rows.get(state).map_or(&[][..], Vec::as_slice));
            x.iter().zip(y).map(|(x, y)| [x.0, y.0]).collect()
        };
        Some(Self {
            names: states.map(|state| paths.states.get(state).map_or("", String::as_str)),
            neutral: path(&paths.shown.neutral),
            worst: path(&paths.shown.worst),
            states,
        })
    }

    /// Where a state lies.
    pub fn place(&self, state: &[Number]) -> [f64; 2] {
        let part = |i: usize| state.get(i).map_or(f64::NAN, |x| x.0);
        self.states.map(part)
    }

    /// What both axes span, with these points beside the paths.
    pub fn spans(&self, points: &[[f64; 2]]) -> [Range; 2] {
        let all = || self.neutral.iter().chain(&self.worst).chain(points);
        [0, 1].map(|axis| Range::of(all().map(|point| point[axis])))
    }
}

/// At most `most` states, in their order: those in which neutral and worst differ most.
pub(super) fn most_different(paths: &Paths, most: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..paths.states.len()).collect();
    order.sort_by(|a, b| difference(paths, *b).total_cmp(&difference(paths, *a)));
    order.truncate(most);
    order.sort_unstable();
    order
}

/// The largest distance of the two means, in four standard deviations of the log.
fn difference(paths: &Paths, state: usize) -> f64 {
    let (Some(neutral), Some(worst)) = (paths.neutral.get(state), paths.worst.get(state)) else {
        return 0.0;
    };
    let pairs = neutral.mean.iter().zip(&worst.mean);
    let far = pairs.map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max);
    let sides = paths.low.get(state).zip(paths.high.get(state));
    let width = sides.map_or(f64::NAN, |(low, high)| high.0 - low.0);
    far / if width.is_nan() {
        1.0
    } else {
        width.max(1e-12)
    }
}

/// Names and values: `x = 1, v = 2`.
pub(super) fn named_values(names: &[String], values: &[Number]) -> String {
    let pairs = names.iter().zip(values);
    let pairs = pairs.map(|(name, value)| format!("{name} = {}", readable(value.0)));
    pairs.collect::<Vec<_>>().join(", ")
}
