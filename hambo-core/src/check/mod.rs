//! The check (algorithm 1 of the paper, which computes the value of equation
//! (2)), in slices of bounded work: [`Check::advance`] does whole sweeps, and a
//! [`Pause`](crate::numeric::Pause) is called many times in each.
//!
//! For the return and for each constraint: mean propagation, then every
//! variant of the task, sampled on many trajectories and searched on a few
//! ([`Level`](crate::adversary::Level)). All state lives here and in the lent rows, so that
//! firmware can serve a control loop between two calls of [`Check::advance`].

mod advance;
mod assessment;
#[cfg(test)]
mod constraint_tests;
#[cfg(test)]
mod distribution_free_tests;
mod estimate;
#[cfg(test)]
mod focused_tests;
mod judge;
mod limits;
mod outcome;
#[cfg(test)]
mod outcome_tests;
#[cfg(test)]
mod pinned_tests;
#[cfg(test)]
mod progress_tests;
#[cfg(test)]
mod safety_tests;
#[cfg(test)]
mod searched_tests;
mod selection;
#[cfg(test)]
mod slice_tests;
mod stage;
mod subject;
mod sweeps;
mod tally;
#[cfg(test)]
mod tests;

pub use advance::{Check, Progress};
pub use assessment::Assessment;
pub use estimate::{Adversary, Contenders, Estimate};
pub use limits::{FEWEST_STARTS, MOST_OUTSIDE};
pub use outcome::{Outcome, OutsideShares};
pub use stage::Stage;
pub use subject::{Anybody, OfController, OfFallback, OfOwnCode, Subject};
