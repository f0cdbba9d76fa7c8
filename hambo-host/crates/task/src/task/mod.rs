//! The task file (TOML): what the robot senses and does, what it is paid for, where it
//! starts.
//!
//! [`TaskFile::parse`] is the only way to get one from text, so a [`TaskFile`] has been
//! checked: lengths match names, limits are in order, and the expressions are compiled.

pub(crate) mod bounds;
mod checker;
mod constraint;
#[cfg(test)]
mod constraint_tests;
mod dimensions;
mod error;
mod format;
mod initial;
mod known;
#[cfg(test)]
mod known_tests;
mod learned_reward;
#[cfg(test)]
mod learned_reward_tests;
mod locate;
mod model_view;
mod power_off;
mod raw;
mod read;
mod reward_bounds;
mod smoothing;
mod stated_bounds;
pub mod task_file;
#[cfg(test)]
mod tests;
mod whole_task;
pub(crate) mod wraps;
#[cfg(test)]
mod wraps_tests;

pub use bounds::step_bounds;
pub use constraint::{NamedConstraint, kind_name};
pub use error::TaskError;
pub use hambo_core::task::MAX_CONSTRAINTS;
pub use known::{KnownLine, known_line};
pub use learned_reward::RETURN_SO_FAR;
pub use model_view::ModelView;
pub use task_file::{Initial, Reward, TaskFile};
pub use wraps::Wrap;
