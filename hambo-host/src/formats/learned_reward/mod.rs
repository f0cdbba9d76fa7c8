//! `reward.learned = true`: the logged reward as one more output of the model.
//!
//! Models predict s′ − s from (s, a). So a learned reward is one more state
//! after the user's own, the return so far, c′ = c + r(s, a): its difference is
//! the reward, its uncertainty belongs to the adversary like that of every
//! state, and the task's reward is c′ − c. Training, calibration, rollouts,
//! searches, images and the device see a state like any other; what is special
//! about it stands here:
//!
//! | what | where |
//! |---|---|
//! | the task's state, its start at 0 and the expression c′ − c | [`TaskFile`](crate::formats::task::TaskFile), by `add_to_task` |
//! | the log's rows: c = 0 and c′ = r, so that no digit of r is lost | [`with_return_so_far`] |
//! | nothing depends on c: a model's input that counts for nothing | [`UnseenInput`](crate::learn::learned_reward::UnseenInput) |
//! | controllers see the user's states only | [`task_of_controllers`], [`for_task`] |
//!
//! The reward is learned as a function of (s, a). One that depends on s′ has
//! a spread for a given (s, a), which the model learns as noise.

mod log;
mod policy;
mod task;

#[cfg(test)]
mod tests;

use crate::formats::log::Names;

pub use log::with_return_so_far;
pub(crate) use log::{require_rewards, rows_with_return};
pub(crate) use policy::without_return;
pub use policy::{for_task, task_of_controllers};
pub(crate) use task::add_to_task;

/// The name of the extra state. No state of a user is called so: names have no
/// spaces.
pub const RETURN_SO_FAR: &str = "return so far";

/// Whether the last of these states is the return so far.
///
/// ```
/// use hambo_host::formats::learned_reward::{RETURN_SO_FAR, is_learned};
/// assert!(is_learned(&["x".to_owned(), RETURN_SO_FAR.to_owned()]));
/// assert!(!is_learned(&["x".to_owned()]));
/// ```
#[must_use]
pub fn is_learned(states: &[String]) -> bool {
    states.last().is_some_and(|name| name == RETURN_SO_FAR)
}

/// The user's own states.
///
/// ```
/// use hambo_host::formats::learned_reward::{RETURN_SO_FAR, own_states};
/// let states = ["x".to_owned(), RETURN_SO_FAR.to_owned()];
/// assert_eq!(own_states(&states), ["x"]);
/// assert_eq!(own_states(&states[..1]), ["x"]);
/// ```
#[must_use]
pub fn own_states(states: &[String]) -> &[String] {
    match states.split_last() {
        Some((_, own)) if is_learned(states) => own,
        _ => states,
    }
}

/// What the log of such a task or model holds in its columns.
pub(crate) fn logged_names(states: &[String], actions: &[String]) -> Names {
    Names {
        states: own_states(states).to_vec(),
        actions: actions.to_vec(),
    }
}
