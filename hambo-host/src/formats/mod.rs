//! Everything that is read or written: tasks with their expressions, logs, controllers, device images.

pub mod expression;
pub mod image;
pub mod learned_reward;
pub mod log;
pub mod policy;
pub mod task;
pub mod task_draft;
