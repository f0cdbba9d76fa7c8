//! Pairs of states that stay on the unit circle, as the cosine and the sine of an angle do.

use super::rows::LoggedRows;
use super::steps::at;
use crate::inspect::spread;

/// How far c² + s² may be from 1, in every row.
const TOLERANCE: f64 = 1e-3;
/// Both states move by more than this, as a standard deviation.
const LEAST_SPREAD: f64 = 1e-3;
/// Rows away from the axes that it takes: 0 and 1 in turns, as two flags have them, are on the
/// circle too.
const FEWEST_ROWS: usize = 10;
/// A row is away from the axes if both numbers are larger than this.
const OFF_AXIS: f64 = 1e-2;

/// Two states that seem to be on the unit circle.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Circle {
    /// Their columns, in the log's order.
    pub(super) columns: [usize; 2],
    pub(super) names: [String; 2],
    /// The largest distance of c² + s² from 1.
    pub(super) residual: f64,
    /// The rows that show it.
    pub(super) rows: usize,
}

impl Circle {
    /// The finding in words.
    pub(super) fn seen(&self) -> String {
        let [first, second] = &self.names;
        format!(
            "`{first}` and `{second}` stay on the unit circle: {first}^2 + {second}^2 is 1 to {:.1e} in all {} rows",
            self.residual, self.rows
        )
    }
}

/// The line of the task file that says what is on a circle.
pub(super) fn circle_line(circles: &[Circle]) -> String {
    let pairs: Vec<String> = circles
        .iter()
        .map(|circle| {
            let [first, second] = &circle.names;
            format!("[\"{first}\", \"{second}\"]")
        })
        .collect();
    format!("circle = [{}]", pairs.join(", "))
}

impl LoggedRows {
    /// Pairs of states that seem to be on the unit circle, each state in one of them at most.
    pub(super) fn circles(&self) -> Vec<Circle> {
        let mut circles: Vec<Circle> = Vec::new();
        for second in 0..self.states.len() {
            let free = |column: &usize| {
                let mut taken = circles.iter().flat_map(|circle| circle.columns);
                !taken.any(|other| other == *column)
            };
            let found = (0..second)
                .filter(free)
                .find_map(|first| self.circle([first, second]));
            circles.extend(found);
        }
        circles.sort_by_key(|circle| circle.columns);
        circles
    }

    fn circle(&self, columns: [usize; 2]) -> Option<Circle> {
        let both = |numbers: &[f32]| Some([at(numbers, columns[0])?, at(numbers, columns[1])?]);
        let (mut residual, mut off_axis) = (0.0_f64, 0);
        for row in &self.rows {
            let [c, s] = both(&row.state)?;
            off_axis += usize::from(c.abs() > OFF_AXIS && s.abs() > OFF_AXIS);
            for [c, s] in [Some([c, s]), row.next_state.as_deref().and_then(both)]
                .into_iter()
                .flatten()
            {
                residual = residual.max((c * c + s * s - 1.0).abs());
            }
            if residual > TOLERANCE {
                return None;
            }
        }
        let moves = columns.iter().all(|column| {
            let values = self.rows.iter().filter_map(|row| at(&row.state, *column));
            spread(values) > LEAST_SPREAD
        });
        let names = columns.map(|column| self.states.get(column).cloned().unwrap_or_default());
        (moves && off_axis >= FEWEST_ROWS).then_some(Circle {
            columns,
            names,
            residual,
            rows: self.rows.len(),
        })
    }
}
