//! The set the adversary chooses from (the calibrated model of the paper's
//! section 3).

use serde::{Deserialize, Serialize};

use crate::numeric::elementary::{maximum, minimum, sqrt};

/// How the calibration on withheld data went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Calibration {
    /// The withheld data agree with the set.
    Passed,
    /// Too few withheld rows to say anything.
    TooFewRows,
    /// The withheld data fall outside the set too often.
    Failed,
    /// Single rows agree with the set; over this many steps withheld paths
    /// leave it too often.
    Blind(u16),
}

impl Calibration {
    /// Whether the model may judge trajectories of this many steps.
    ///
    /// ```
    /// use hambo_core::model::Calibration;
    /// assert!(Calibration::Passed.serves(100) && !Calibration::Failed.serves(1));
    /// assert!(Calibration::Blind(20).serves(19) && !Calibration::Blind(20).serves(20));
    /// ```
    pub fn serves(self, steps: u32) -> bool {
        match self {
            Self::Passed => true,
            Self::Blind(length) => steps < u32::from(length),
            Self::TooFewRows | Self::Failed => false,
        }
    }
}

/// A check may go on for this many times the longest window that was tested.
pub const MOST_BEYOND_TESTED: u32 = 2;

/// s̃′ − s lies in mu ± beta · tau_j · sigma_e,j: the hypercube of the paper's
/// section 3.1, with the calibration scale tau of its section 4.
///
/// ```
/// use hambo_core::model::{Calibration, ConfidenceSet};
/// let set = ConfidenceSet {
///     beta: 2.0,
///     calibration_scale: &[1.0, 1.5],
///     calibration: Calibration::Passed,
///     tested_steps: 50,
/// };
/// assert!(set.radii().eq([2.0, 3.0]));
/// // Five members lie within 2 sigma_e, ten need not.
/// assert!(set.holds_every_member(5) && !set.holds_every_member(10));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ConfidenceSet<'a> {
    /// beta, the same for all dimensions.
    pub beta: f32,
    /// tau_j, one for each state dimension.
    pub calibration_scale: &'a [f32],
    /// Whether the set may be trusted at all.
    pub calibration: Calibration,
    /// Steps of the longest windows of withheld rows on which it was tested.
    pub tested_steps: u16,
}

impl ConfidenceSet<'_> {
    /// Whether windows of at least half this many steps were tested. Errors that add up over
    /// more steps than that were never looked for.
    ///
    /// ```
    /// use hambo_core::model::{Calibration, ConfidenceSet};
    /// let set = ConfidenceSet {
    ///     beta: 2.0,
    ///     calibration_scale: &[1.0],
    ///     calibration: Calibration::Passed,
    ///     tested_steps: 50,
    /// };
    /// assert!(set.is_tested_for(100) && !set.is_tested_for(101));
    /// ```
    pub fn is_tested_for(&self, steps: u32) -> bool {
        steps <= u32::from(self.tested_steps).saturating_mul(MOST_BEYOND_TESTED)
    }

    /// beta · tau_j for every dimension: half the width of the set in units
    /// of the epistemic standard deviation.
    pub fn radii(&self) -> impl Iterator<Item = f32> + '_ {
        self.calibration_scale.iter().map(|tau| self.beta * tau)
    }

    /// Whether the set is wide enough to hold each of `members` members.
    pub fn holds_every_member(&self, members: usize) -> bool {
        let radius = largest_deviation(members);
        self.radii().all(|own| own >= radius)
    }
}

/// The beta with which the set holds every member of an ensemble.
///
/// No member lies farther from the mean than sqrt(K − 1) · sigma_e, so
/// beta · tau_j >= sqrt(K − 1) for every j is enough, and then CA <= DA1 <=
/// DAinf for exact adversaries. The last factor covers rounding.
///
/// ```
/// use hambo_core::model::nested_beta;
/// assert!((nested_beta(5, &[1.0, 1.3]) - 2.0).abs() < 1e-4);
/// assert!((nested_beta(5, &[0.5, 1.3]) - 4.0).abs() < 1e-4);
/// ```
pub fn nested_beta(members: usize, calibration_scale: &[f32]) -> f32 {
    let smallest = calibration_scale
        .iter()
        .fold(1.0, |least, tau| minimum(*tau, least));
    largest_deviation(members) / smallest * 1.000_01
}

/// How far a member can lie from the mean, in units of sigma_e.
fn largest_deviation(members: usize) -> f32 {
    sqrt(maximum(members as f32 - 1.0, 0.0))
}
