//! The model's side: an input on which no output depends, to the bit.
//!
//! Models are trained without it. Afterwards networks get a column of zeros in
//! their first layer: 0 · c adds nothing. Gaussian processes get a coordinate
//! that is 0 in every point, and in every query as well, since its unit is so
//! large that the core cuts it off to 0 and its square is 0 in f32.

use crate::formats::task::TaskFile;
use crate::foundation::network::Standardisation;
use crate::learn::ensemble::TrainedEnsemble;
use crate::learn::gaussian_process::GaussianProcessFit;

/// In these units any return is nothing. Both stay within f32, and so does
/// the quotient that the core multiplies with: at least 2¹⁶ / 1e39.
const VAST_SCALE: f32 = 1e36;
const VAST_LENGTHSCALE: f64 = 1e3;

/// The place in (s, a) of an input that a model does not see.
///
/// ```
/// use hambo_host::learn::learned_reward::UnseenInput;
/// let second = UnseenInput(1);
/// assert_eq!(second.removed(&[1, 2, 3, 4, 5, 6], 3), [1, 3, 4, 6]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnseenInput(
    /// Counted from 0.
    pub usize,
);

impl UnseenInput {
    /// That of a task's model: the return so far, if the reward is learned.
    #[must_use]
    pub fn of(task: &TaskFile) -> Option<Self> {
        let last = task.state_names.len().checked_sub(1)?;
        task.learns_reward().then_some(Self(last))
    }

    /// A row-major table of so many columns without this one.
    #[must_use]
    pub fn removed<T: Copy>(self, table: &[T], columns: usize) -> Vec<T> {
        let places = (0..columns.max(1)).cycle();
        let seen = table.iter().zip(places).filter(|(_, at)| *at != self.0);
        seen.map(|(x, _)| *x).collect()
    }

    /// A row-major table of so many columns with `filling` in this place.
    fn inserted<T: Copy>(self, table: &[T], columns: usize, filling: T) -> Vec<T> {
        let mut longer = Vec::with_capacity(table.len() + table.len() / columns.max(1));
        for row in table.chunks_exact(columns.max(1)) {
            let (before, after) = row.split_at(self.0.min(row.len()));
            longer.extend_from_slice(before);
            longer.push(filling);
            longer.extend_from_slice(after);
        }
        longer
    }

    fn units(self, units: &Standardisation, scale: f32) -> Standardisation {
        let columns = units.input_mean.len();
        Standardisation {
            input_mean: self.inserted(&units.input_mean, columns, 0.0),
            input_scale: self.inserted(&units.input_scale, columns, scale),
            ..units.clone()
        }
    }

    /// Networks that take the input and make nothing of it.
    #[must_use]
    pub fn in_ensemble(self, mut ensemble: TrainedEnsemble) -> TrainedEnsemble {
        ensemble.standardisation = self.units(&ensemble.standardisation, 1.0);
        if let Some(width) = ensemble.widths.first_mut() {
            *width += 1;
        }
        for member in ensemble.members.iter_mut().chain(&mut ensemble.priors) {
            if let Some(first) = member.layers.first_mut() {
                first.weights = self.inserted(&first.weights, first.inputs, 0.0);
                first.inputs += 1;
            }
        }
        ensemble
    }

    /// Gaussian processes likewise.
    #[must_use]
    pub fn in_processes(self, mut fit: GaussianProcessFit) -> GaussianProcessFit {
        let columns = fit.standardisation.input_mean.len();
        fit.standardisation = self.units(&fit.standardisation, VAST_SCALE);
        fit.points = self.inserted(&fit.points, columns, 0.0);
        for output in &mut fit.outputs {
            let own = &mut output.hyperparameters.lengthscales;
            *own = self.inserted(own, columns, VAST_LENGTHSCALE);
        }
        fit
    }

    /// Measures the input in units in which any return is nothing.
    pub(crate) fn ignore(self, centre: &mut [f64], scale: &mut [f64]) {
        if let (Some(centre), Some(scale)) = (centre.get_mut(self.0), scale.get_mut(self.0)) {
            (*centre, *scale) = (0.0, 1.0 / f64::from(VAST_SCALE));
        }
    }
}
