//! What no white noise shows of a log: rare events, and what stays for an episode.
//!
//! A push in one step of fifty, heavy tails or a payload used to widen the set, which is moved
//! by an adversary in every step, until nothing was deployed. They are simulated instead, where
//! the log shows that they are noise and not an error of the model:
//!
//! | file | what |
//! |---|---|
//! | [`scores`] | residuals in robust deviations of their noise |
//! | [`stays`] | what stays for an episode, and whether the rest is white |
//! | [`extremes`] | rare events, and whether they come anywhere, at any time |
//! | [`neighbours`] | whether the nearest rows of other episodes are extreme too |
//! | [`found`] | both together, on the rows that judge nothing |
//! | [`drawn`] | the numbers that a rollout draws from |
//! | [`kept_rows`] | withheld rows that were chosen or changed |
//! | [`cleaned`] | withheld rows without what is drawn |
//! | [`judged`] | whether the rows that judge agree |
//!
//! Ordinary logs show neither, and their models stay as they are.

pub(super) mod cleaned;
pub(crate) mod drawn;
mod extremes;
pub(crate) mod found;
mod judged;
mod kept_rows;
mod neighbours;
mod scores;
mod stays;
#[cfg(test)]
mod tests;

pub(super) use drawn::Drawn;
pub use found::Shown;
pub(super) use judged::agrees;
pub use kept_rows::KeptRows;
