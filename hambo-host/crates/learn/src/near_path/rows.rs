//! The rows that judged a calibration, as the model file keeps them.

use serde::{Deserialize, Serialize};

use crate::calibration::Withheld;
use hambo_base::Held;

/// The most rows that are kept. Of a robot with 3 inputs and 2 states they take 72 kB, of one
/// with 14 and 11 376 kB.
const MOST_ROWS: usize = 2000;

/// Withheld rows that chose nothing, evenly over all of them, without what is drawn beside white
/// noise: rare events are left out, and what stays is taken out of its episode. They enter no
/// estimate; a check looks at those near its controller's path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "WrittenRows", into = "WrittenRows")]
pub struct JudgingRows {
    /// The episode of each row, or its stretch for a task that is stationary.
    pub episodes: Vec<u32>,
    /// What the model sees of the state, and the action, row by row.
    pub inputs: Vec<f32>,
    /// What was observed less what was predicted, of each state that the model moves, row by row.
    pub residuals: Vec<f32>,
    /// sigma_e, in the same order.
    pub epistemic_std: Vec<f32>,
    /// The noise as it is simulated, in the same order.
    pub noise_std: Vec<f32>,
    /// Marks in the same order where a row says nothing of the state; none where all say something.
    pub held: Vec<bool>,
}

/// These rows in bytes: where one says nothing, sigma_e is infinite, so that others keep theirs.
#[derive(Serialize, Deserialize)]
struct WrittenRows {
    episodes: Vec<u32>,
    inputs: Vec<f32>,
    residuals: Vec<f32>,
    epistemic_std: Vec<f32>,
    noise_std: Vec<f32>,
}

impl From<WrittenRows> for JudgingRows {
    fn from(written: WrittenRows) -> Self {
        let stds = written.epistemic_std.iter();
        let mut held: Vec<bool> = stds.map(|std| *std == f32::INFINITY).collect();
        if !held.contains(&true) {
            held.clear();
        }
        Self {
            episodes: written.episodes,
            inputs: written.inputs,
            residuals: written.residuals,
            epistemic_std: written.epistemic_std,
            noise_std: written.noise_std,
            held,
        }
    }
}

impl From<JudgingRows> for WrittenRows {
    fn from(rows: JudgingRows) -> Self {
        let held = Held::new(&rows.held);
        let stds = rows.epistemic_std.iter().enumerate();
        let stds = stds.map(|(place, std)| match (held.at(place), *std) {
            (true, _) => f32::INFINITY,
            // A set that is really so wide is broken.
            (false, f32::INFINITY) => f32::NAN,
            (false, std) => std,
        });
        Self {
            epistemic_std: stds.collect(),
            episodes: rows.episodes,
            inputs: rows.inputs,
            residuals: rows.residuals,
            noise_std: rows.noise_std,
        }
    }
}

impl JudgingRows {
    /// At most 2,000 of the rows that judged; all if there are fewer.
    #[must_use]
    pub fn of(judging: &Withheld<'_>, inputs: &[f32], noise_scales: &[f32]) -> Self {
        let rows = judging.groups.len();
        let columns = inputs.len() / rows.max(1);
        let kept = rows.min(MOST_ROWS);
        let mut found = Self::default();
        for place in (0..kept).map(|number| number * rows / kept.max(1)) {
            found.episodes.extend(judging.groups.get(place));
            let own = inputs.iter().skip(place * columns).take(columns);
            found.inputs.extend(own);
            for (dimension, scale) in judging.dimensions.iter().zip(noise_scales) {
                let at = |values: &[f32]| values.get(place).copied().unwrap_or(f32::NAN);
                let residual = at(dimension.observed) - at(dimension.mean);
                found.residuals.push(residual);
                found.epistemic_std.push(at(dimension.epistemic_std));
                found.held.push(dimension.held.at(place));
                found.noise_std.push(scale * at(dimension.aleatoric_std));
            }
        }
        if !found.held.contains(&true) {
            found.held.clear();
        }
        found
    }

    /// Whether a row says anything of a state.
    pub(super) fn tells(&self, row: usize, state: usize) -> bool {
        !Held::new(&self.held).at(row * self.states() + state)
    }

    /// Inputs of a row.
    pub(super) fn columns(&self) -> usize {
        self.inputs.len() / self.episodes.len().max(1)
    }

    /// States that the model moves.
    pub(super) fn states(&self) -> usize {
        self.residuals.len() / self.episodes.len().max(1)
    }

    /// One number of a row and a state.
    pub(super) fn at(&self, values: &[f32], row: usize, state: usize) -> f64 {
        let place = row * self.states() + state;
        values.get(place).map_or(f64::NAN, |x| f64::from(*x))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::WithheldDimension;

    #[test]
    fn rows_are_kept_evenly_with_their_noise_as_simulated() {
        let count = 5000;
        let numbers: Vec<f32> = (0..count).map(|row| row as f32).collect();
        let inputs: Vec<f32> = (0..2 * count).map(|place| place as f32).collect();
        let groups: Vec<u32> = (0..count as u32).map(|row| row / 50).collect();
        let [mean, epistemic_std, aleatoric_std] = [1.0, 0.5, 0.25].map(|x| vec![x; count]);
        let withheld = Withheld {
            dimensions: vec![WithheldDimension {
                mean: &mean,
                epistemic_std: &epistemic_std,
                aleatoric_std: &aleatoric_std,
                observed: &numbers,
                held: Held::NONE,
            }],
            groups: &groups,
            follows: &vec![true; count],
        };
        let rows = JudgingRows::of(&withheld, &inputs, &[2.0]);
        assert_eq!(
            (rows.episodes.len(), rows.columns(), rows.states()),
            (2000, 2, 1)
        );
        // Row 1,000 of the kept is row 2,500.
        assert_eq!((rows.episodes[1000], rows.residuals[1000]), (50, 2499.0));
        assert_eq!(rows.inputs[2000..2002], [5000.0, 5001.0]);
        assert_eq!((rows.epistemic_std[7], rows.noise_std[7]), (0.5, 0.5));
        let none = Withheld {
            dimensions: Vec::new(),
            groups: &[],
            follows: &[],
        };
        assert_eq!(JudgingRows::of(&none, &[], &[]), JudgingRows::default());
    }
    /// Rows without marks have the bytes of rows that could have none.
    #[test]
    fn marks_are_kept_in_a_file() {
        let rows = |held: Vec<bool>| JudgingRows {
            episodes: vec![3, 4],
            inputs: vec![0.5, 0.25],
            residuals: vec![1.0, 2.0],
            epistemic_std: vec![0.5, 0.75],
            noise_std: vec![0.125, 0.25],
            held,
        };
        let plain = rows(Vec::new());
        let columns = (&plain.episodes, &plain.inputs, &plain.residuals);
        let columns = (columns, &plain.epistemic_std, &plain.noise_std);
        let bytes = postcard::to_allocvec(&plain).unwrap();
        assert_eq!(bytes, postcard::to_allocvec(&columns).unwrap());
        assert_eq!(postcard::from_bytes(&bytes), Ok(plain));
        let bytes = postcard::to_allocvec(&rows(vec![false, true])).unwrap();
        let read: JudgingRows = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(read.held, [false, true]);
        assert!(read.tells(0, 0) && !read.tells(1, 0));
        // A set without end is no mark.
        let mut endless = rows(Vec::new());
        endless.epistemic_std[0] = f32::INFINITY;
        let bytes = postcard::to_allocvec(&endless).unwrap();
        let read: JudgingRows = postcard::from_bytes(&bytes).unwrap();
        assert!(read.held.is_empty() && read.epistemic_std[0].is_nan());
    }
}
