//! One objective under one variant: the sampled minimum less its margin.

use crate::adversary::Minimum;
use crate::estimate::Margin;
use crate::rollout::{Objective, Rollout};
use crate::task::Variant;

/// Who found an estimate's minimum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Adversary {
    /// There is none: a neutral estimate.
    None,
    /// A constant adversary, by number.
    Constant(u16),
    /// One member for the whole trajectory.
    Member(u16),
    /// The adjoint search.
    Adjoint,
    /// The search over member sequences.
    Sequence,
    /// A trained network.
    Network,
}

/// One objective under one variant.
///
/// ```
/// use hambo_core::check::{Adversary, Check, Progress};
/// let image = hambo_core::example::image()?;
/// let mut rows = [[0.0; 4]; 128];
/// let mut check = Check::new(&image, &mut rows).map_err(|_| "too few rows")?;
/// let Progress::Finished(outcome) = check.advance(1000) else {
///     return Err("unfinished");
/// };
/// let [mean, worst, ..] = outcome.estimates.as_slice() else {
///     return Err("there are more");
/// };
/// assert!(worst.mean < mean.mean);
/// // The mean has no adversary; a constant push was the worst that CA found.
/// assert_eq!(mean.adversary, Adversary::None);
/// assert_eq!(worst.adversary, Adversary::Constant(2));
/// // Both trajectories are the same, so there is no margin.
/// assert_eq!(worst.lower, worst.mean);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Estimate {
    /// What was estimated.
    pub objective: Objective,
    /// What happened inside the uncertainty.
    pub variant: Variant,
    /// Who found the minimum.
    pub adversary: Adversary,
    /// The least mean of the constant adversaries, before any search.
    pub start_mean: f32,
    /// What the search reached from them: the mean over the trajectories of
    /// the least objective found on each.
    pub search_mean: f32,
    /// What the trained adversary reaches by itself, where there is one.
    pub network_mean: Option<f32>,
    /// The estimate: the mean over the trajectories of the least objective
    /// found on each (DAinf: the least mean of a member).
    pub mean: f32,
    /// Its standard error.
    pub standard_error: f32,
    /// Where the sampling margin comes from.
    pub margin: Margin,
    /// The lower bound.
    pub lower: f32,
}

impl Estimate {
    /// The estimate from its samples, with a lower bound that fails with a
    /// probability of at most `failure`.
    pub(super) fn new<P>(
        rollout: &Rollout<'_, P>,
        minimum: &Minimum,
        margin: Margin,
        failure: f32,
    ) -> Self {
        let (variant, searched) = (rollout.variant, minimum.searched());
        let (worst_start, start_mean) = minimum.worst_constant();
        let network_mean = minimum.trained().map(|sample| sample.mean());
        let mut mean = searched.mean();
        let mut lower = mean - searched.margin(margin, failure);
        if matches!(
            variant,
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf
        ) {
            let members = minimum.member_quantile(margin, failure, rollout.task.delta);
            if variant == Variant::DiscreteAdversaryInf {
                (mean, lower) = members;
            } else {
                // What DAinf finds, DA1 could have done.
                lower = if members.1 < lower { members.1 } else { lower };
            }
        }
        let adversary = match variant {
            _ if network_mean.is_some_and(|network| network <= mean) => Adversary::Network,
            Variant::ContinuousAdversary if mean < start_mean => Adversary::Adjoint,
            Variant::ContinuousAdversary => Adversary::Constant(worst_start as u16),
            Variant::DiscreteAdversary1 if mean < start_mean => Adversary::Sequence,
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => {
                Adversary::Member(worst_start as u16)
            }
            _ => Adversary::None,
        };
        Self {
            objective: rollout.objective,
            variant,
            adversary,
            start_mean,
            search_mean: minimum.searched_from_constants().mean(),
            network_mean,
            mean,
            standard_error: searched.standard_error(),
            margin,
            lower,
        }
    }
}
