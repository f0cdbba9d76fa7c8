//! The rows that judged a calibration, as the model file keeps them.

use serde::{Deserialize, Serialize};

use crate::calibration::Withheld;

/// The most rows that are kept. Of a robot with 3 inputs and 2 states they take 72 kB, of one
/// with 14 and 11 376 kB.
const MOST_ROWS: usize = 2000;

/// Withheld rows that chose nothing, evenly over all of them, without what is drawn beside white
/// noise: rare events are left out, and what stays is taken out of its episode. They enter no
/// estimate; a check looks at those near its controller's path.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JudgingRows {
    /// The episode of each row, or its stretch for a task that is stationary.
    pub episodes: Vec<u32>,
    /// What the model sees of the state, and the action, row by row.
    pub inputs: Vec<f32>,
    /// What was observed less what was predicted, of each state that the model moves, row by row.
    pub residuals: Vec<f32>,
    /// sigma_e, in the same order; infinite where a row says nothing of the state.
    pub epistemic_std: Vec<f32>,
    /// The noise as it is simulated, in the same order.
    pub noise_std: Vec<f32>,
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
                let held = dimension.held.get(place) == Some(&true);
                let epistemic_std = at(dimension.epistemic_std);
                let wide = if held { f32::INFINITY } else { epistemic_std };
                found.epistemic_std.push(wide);
                found.noise_std.push(scale * at(dimension.aleatoric_std));
            }
        }
        found
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
                held: &[],
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
}
