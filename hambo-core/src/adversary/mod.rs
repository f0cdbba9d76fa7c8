//! The searches for the adversary's worst choice: the minimum over eta of
//! equation (2), or over the members of an ensemble.
//!
//! | variant | starts | search from each start |
//! |---|---|---|
//! | CA | the constants of `constant`, every member, what was found elsewhere, a trained network | `adjoint_search`: sign steps along the adjoint, in the rounds of `schedule`, then `perturbation` |
//! | DA1 | every member, what was found elsewhere, a trained network | `sequence_search`: greedy by adjoint value, then coordinate descent |
//! | DAinf | every member | none: `member_quantile` compares the members' means |
//!
//! A [`Search`] runs a group of candidates (a trajectory and a [`Start`] each)
//! side by side; `minimum` takes the least over the candidates of each
//! trajectory, on both [`Level`]s. A weak adversary makes a bound that looks
//! tight and is wrong, so every estimate is the minimum over all that was
//! tried. `focus` says where the steps go if not every start has the same.

mod adjoint_search;
mod constant;
mod focus;
mod hash;
mod level;
mod member_quantile;
mod minimum;
mod perturbation;
mod schedule;
mod search;
mod sequence_search;
mod shortlist;
mod start;

pub(crate) use focus::TRIAL_BLOCK;
pub use focus::{Focus, levels};
pub use level::{Level, complete_trajectories, searched_starts, searches};
pub(crate) use minimum::{Ends, MAX_MEMBERS, Minimum};
pub(crate) use search::COURSE;
pub use search::{Candidate, Search, SearchResult, course_sweep};
pub use shortlist::Shortlist;
pub(crate) use start::MAX_STARTS;
pub use start::{Start, Starts};
