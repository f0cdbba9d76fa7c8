//! Calibration of the uncertainty set and of the noise on withheld data.
//!
//! Three steps, the first two on rows that choose, the last on rows that chose
//! nothing:
//!
//! 1. the noise gets a scale of its own ([`noise_scale`]) and, where several states share it,
//!    their correlation ([`noise_factor`]); rare events and what stays for an episode are
//!    drawn from the log where it shows them ([`pools`]);
//! 2. each state dimension j gets a scale tau_j, so that the model's Gaussians
//!    N(mu, tau_j² (epistemic² + aleatoric²)) hold observations as often as they
//!    claim, and set and noise as they are simulated hold nearly all of them;
//! 3. the [`gate`] widens all of them together until it passes, or refuses.
//!
//! Where a few rows in one place ask for much, the model's own deviation is made larger there
//! before ([`local_width`]).
//!
//! The adversary then moves in |s′ − mu| ≤ beta · tau_j · epistemic std.

pub mod calibrate;
mod calibration_error;
mod chosen_widening;
mod distributions;
pub mod gate;
pub mod korn_graubard;
pub(crate) mod local_width;
mod mostly_outside;
mod noise_factor;
mod noise_scale;
pub mod outcome;
pub(crate) mod pools;
mod required_widening;
mod scale;
pub mod scales;
#[cfg(test)]
mod tests;
pub mod withheld;

pub use calibrate::{calibrate, calibrate_shown, error_before};
pub use gate::{Gate, LEAST_SHARE, MOST_WIDENING, NOMINAL_SHARE, WindowShare};
pub use local_width::LocalRegion;
pub use mostly_outside::{JUDGING_EPISODES, MOST_EPISODES_OUTSIDE};
pub use outcome::{
    Beta, CalibrationMode, CalibrationOptions, CalibrationStatus, CurvePoint, DimensionCalibration,
    Intervals, MINIMUM_WITHHELD_ROWS, ModelCalibration,
};
pub use pools::Shown;
pub(crate) use required_widening::common_run;
pub use scales::noise_width;
pub use withheld::{CalibrationError, Withheld, WithheldDimension};
