//! Means over trajectories (the Monte-Carlo estimate of the paper's appendix
//! A), and how far they may be off.
//!
//! The paper takes the mean for the expectation. Here a margin for the finite
//! number of trajectories comes off it, and delta is shared between the model
//! and the sampling ([`ErrorBudget`]).

mod betting;
mod clopper_pearson;
mod error_budget;
mod given_starts;
mod level_estimate;
mod moments;
mod student;

pub use clopper_pearson::{probability_limit, trials_for};
pub use error_budget::ErrorBudget;
pub use given_starts::GivenStarts;
pub use level_estimate::{LevelEstimate, Margin};
pub(crate) use moments::{SampleMoments, Values};
pub use moments::{charge_of_nothing_found, trajectories_for_betting};
pub use student::student_quantile;
