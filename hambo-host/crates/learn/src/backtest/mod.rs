//! The claim tested on the log itself: several steps at once, without a simulator.
//!
//! The logged actions of a window of withheld rows are replayed through the model from the
//! window's first state, or the controller that logged them acts on the model's states
//! ([`closed_loop`]): the actions of an unstable plant only fit the path that they were made for.
//! Two questions to every window:
//!
//! - **path:** does the logged path stay in the tube, which reaches from the least to the
//!   greatest value of each state over adversary and noise ([`tube`])?
//! - **return:** does the window's logged return lie above the delta-quantile of its
//!   adversarial returns?
//!
//! A right model answers yes to each with probability 1 − delta or more. The windows of one
//! episode count as far as they differ, and the answers for all lengths are taken together
//! ([`verdict`]). A model that passes may still be wrong where nothing was logged.

mod closed_loop;
pub(super) mod outcome;
mod replay;
pub(super) mod run;
mod simulate;
mod trajectories;
mod tube;
pub(crate) mod verdict;
mod window;

pub use outcome::BacktestOptions;
pub use run::{backtest, backtest_with};
pub use verdict::{Answer, Backtest, LengthResult, Verdict};
