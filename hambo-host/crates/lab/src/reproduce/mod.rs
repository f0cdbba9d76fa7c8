//! `hambo reproduce`: the paper's figures and table, made anew: logs, models and checks of its
//! systems, beside the true returns.
//!
//! Goes in: which figure, and whether the small version will do. Comes out: rows in a file
//! that can be interrupted, a table, a picture.
//!
//! | file | what it does |
//! |---|---|
//! | `figures` | the command: which figures are made, and where they go |
//! | [`agents`] | controllers that were trained before: those that log, and the one that is evaluated |
//! | [`effort`] | how much is done: the full version and the quick one |
//! | [`setting`] | a log and a model of a setting, and what a check says |
//! | [`convergence`], [`convergence_summary`] | figure 2: the bound of Gaussian processes against the size of the log |
//! | [`control`], [`locomotion`], [`control_summary`] | figures 3 and 4: all variants against the size of the log and the horizon, on the pendulum and on MuJoCo's systems |
//! | [`offline`], [`offline_summary`] | table 1: controllers that are learned from a log alone |
//! | [`offline_log`], [`offline_effort`] | who logs for it, on which scale, and how much is done |
//! | [`scale`] | returns on the scale of the pictures, means over seeds |

pub mod agents;
pub mod control;
pub mod control_summary;
pub mod convergence;
pub mod convergence_summary;
pub mod effort;
mod figures;
pub mod locomotion;
pub mod offline;
pub mod offline_effort;
pub mod offline_log;
pub mod offline_summary;
pub mod scale;
pub mod setting;

pub use figures::{ReproduceArguments, run};
