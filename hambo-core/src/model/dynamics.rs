//! A model of any kind: an enum over ensembles and Gaussian processes, and where it is less
//! certain than it says.

use super::confidence::ConfidenceSet;
use super::ensemble::Ensemble;
use super::gaussian_process::GaussianProcess;
use super::local_width::LocalWidth;
use super::noise::Noise;
use super::prediction::{Prediction, PredictionCotangent};
use super::support::Support;
use crate::numeric::{Slices, dispatch};

/// A model as it comes out of an image: dynamics, confidence set and the
/// part of the state-action space it has seen.
#[derive(Clone, Debug)]
pub struct Model<'a> {
    /// The mean and the two standard deviations of s′ − s.
    pub dynamics: Dynamics<'a>,
    /// How far the truth may lie from the mean.
    pub confidence: ConfidenceSet<'a>,
    /// What a rollout draws.
    pub noise: Noise<'a>,
    /// Where the log has data.
    pub support: Support<'a>,
}

/// The statistical model of the transition s′ − s, with the regions where it is widened.
#[derive(Clone, Debug)]
pub struct Dynamics<'a> {
    /// What was learned.
    pub learned: StatisticalModel<'a>,
    /// Where it errs more than it says.
    pub width: LocalWidth<'a>,
}

/// What was learned of the transition.
#[derive(Clone, Debug)]
#[allow(
    clippy::large_enum_variant,
    reason = "there is one of them, and no heap to put its shapes on"
)]
pub enum StatisticalModel<'a> {
    /// K networks with a mean and a standard-deviation head each.
    Ensemble(Ensemble<'a>),
    /// One Gaussian process for each dimension.
    GaussianProcess(GaussianProcess<'a>),
}

macro_rules! each {
    ($value:expr, $model:ident => $call:expr) => {
        dispatch!($value, StatisticalModel::{Ensemble, GaussianProcess}, $model => $call)
    };
}

impl<'a> From<StatisticalModel<'a>> for Dynamics<'a> {
    /// Nowhere less certain than it says.
    fn from(learned: StatisticalModel<'a>) -> Self {
        Self {
            learned,
            width: LocalWidth::NONE,
        }
    }
}

impl Dynamics<'_> {
    /// How many inputs describe the state.
    pub fn features(&self) -> usize {
        each!(&self.learned, model => model.features())
    }

    /// How many states the model moves.
    pub fn outputs(&self) -> usize {
        match &self.learned {
            StatisticalModel::Ensemble(ensemble) => ensemble.outputs(),
            StatisticalModel::GaussianProcess(process) => process.kernels().len(),
        }
    }

    /// The number of action dimensions.
    pub fn action_dimension(&self) -> usize {
        each!(&self.learned, model => model.action_dimension())
    }

    /// How many members there are to choose from.
    pub fn members(&self) -> usize {
        match &self.learned {
            StatisticalModel::Ensemble(ensemble) => ensemble.members(),
            StatisticalModel::GaussianProcess(_) => 0,
        }
    }

    /// Mean and standard deviation of the member that each lane has chosen,
    /// after [`Self::predict`]. A member that is not there gives NaN.
    pub(crate) fn member_moments<const B: usize>(
        &self,
        members: &[usize; B],
        scratch: &mut [[f32; B]],
        mean: &mut [[f32; B]],
        std: &mut [[f32; B]],
    ) {
        match &self.learned {
            StatisticalModel::Ensemble(ensemble) => {
                ensemble.member_moments(members, scratch, mean, std)
            }
            StatisticalModel::GaussianProcess(_) => {
                for row in mean.iter_mut().chain(std) {
                    *row = [f32::NAN; B];
                }
            }
        }
    }

    /// Adds to the two cotangents, of the features and of the action, the derivative of
    /// [`Self::member_moments`], transposed. They are of no use if a pause stopped the work.
    pub(crate) fn pull_back_members<const B: usize>(
        &self,
        members: &[usize; B],
        (mean, std): (&[[f32; B]], &[[f32; B]]),
        scratch: &mut [[f32; B]],
        cotangents: (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
    ) {
        // A Gaussian process has no member whose derivative could be asked for.
        if let StatisticalModel::Ensemble(ensemble) = &self.learned {
            // A scratch that is too short: see `pull_back`.
            let _ = ensemble.pull_back_members(members, (mean, std), scratch, cotangents, slices);
        }
    }

    /// The rows of scratch that [`Self::predict`] needs.
    pub fn scratch_rows(&self) -> Option<usize> {
        self.learned_rows()?.checked_add(self.width.scratch_rows())
    }

    /// Those of them that what was learned needs; the regions' come after them.
    fn learned_rows(&self) -> Option<usize> {
        each!(&self.learned, model => model.scratch_rows())
    }

    /// Mean and standard deviations of s′ − s for every lane, with pauses between layers of
    /// networks and blocks of a Gaussian process's rows. The mean is NaN if the scratch
    /// is too short, or a pause stopped the work.
    ///
    /// ```
    /// # use hambo_core::model::Prediction;
    /// # use hambo_core::numeric::Slices;
    /// # use core::ops::ControlFlow;
    /// let dynamics = hambo_core::example::model()?.dynamics;
    /// let mut scratch = vec![[0.0]; dynamics.scratch_rows().ok_or("too large")?];
    /// # let (mut mean, mut epistemic, mut aleatoric) = ([[0.0]], [[0.0]], [[0.0]]);
    /// # let mut prediction = Prediction {
    /// #     mean: &mut mean,
    /// #     epistemic_std: &mut epistemic,
    /// #     aleatoric_std: &mut aleatoric,
    /// # };
    /// let stop = || ControlFlow::Break(());
    /// let slices = Slices::new(&stop);
    /// dynamics.predict(&[[1.0]], &[[0.5]], &mut scratch, &mut prediction, &slices);
    /// assert!(slices.is_stopped() && mean[0][0].is_nan());
    /// # Ok::<(), &str>(())
    /// ```
    pub fn predict<const B: usize>(
        &self,
        features: &[[f32; B]],
        action: &[[f32; B]],
        scratch: &mut [[f32; B]],
        prediction: &mut Prediction<'_, B>,
        slices: &Slices<'_>,
    ) {
        let done = each!(&self.learned, model => {
            model.predict(features, action, scratch, prediction, slices)
        });
        let widened = done.and_then(|()| {
            if self.width.is_empty() {
                return Some(());
            }
            let slopes = scratch.get_mut(self.learned_rows()?..)?;
            let slopes = slopes.get_mut(..self.width.scratch_rows())?;
            self.width
                .widen(features, action, prediction.epistemic_std, slopes);
            Some(())
        });
        // NaN never deploys.
        if widened.is_none() {
            prediction.mean.fill([f32::NAN; B]);
        }
    }

    /// Adds to the two cotangents, of the features and of the action, the derivative of the
    /// last [`Self::predict`], transposed. `scratch` is as that call left it. The cotangents
    /// are of no use if a pause stopped the work.
    pub fn pull_back<const B: usize>(
        &self,
        cotangent: &PredictionCotangent<'_, B>,
        scratch: &mut [[f32; B]],
        (features, action): (&mut [[f32; B]], &mut [[f32; B]]),
        slices: &Slices<'_>,
    ) {
        if !self.width.is_empty() {
            let slopes = self.learned_rows().and_then(|rows| scratch.get(rows..));
            let slopes = slopes.unwrap_or_default();
            self.width
                .pull_back(cotangent.epistemic_std, slopes, features, action);
        }
        // A scratch that is too short gives a zero gradient: the adversary
        // stays where it is and the forward sweep reports the NaN.
        let _ = each!(&self.learned, model => {
            model.pull_back(cotangent, scratch, (features, action), slices)
        });
    }
}
