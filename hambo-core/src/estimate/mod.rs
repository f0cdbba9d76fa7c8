//! Means over trajectories (the Monte-Carlo estimate of the paper's appendix
//! A), and how far they may be off.
//!
//! The paper takes the mean for the expectation. Here a margin for the finite
//! number of trajectories comes off it, and delta is shared between the model
//! and the sampling ([`ErrorBudget`]).

mod betting;
mod error_budget;
mod moments;
mod student;

pub use error_budget::ErrorBudget;
pub(crate) use moments::SampleMoments;
pub use moments::{Margin, trajectories_for_betting};
pub use student::student_quantile;
