//! What can be wrong with a problem, the options or a checkpoint of a learner.

use thiserror::Error;

use super::problem::decision::Actions;
use hambo_base::checkpoint::CheckpointError;
use hambo_base::error::Explained;

/// Why a learner could not learn.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum ReinforcementError {
    /// An option is out of its range.
    #[error("option `{name}` must be {must_be}")]
    Option {
        /// Name of the option.
        name: &'static str,
        /// What it must be.
        must_be: &'static str,
    },
    /// The wrong learner for the problem.
    #[error("{learner} decides {decides}, the problem asks for {asks:?}: choose the other learner")]
    Actions {
        /// Name of the learner.
        learner: &'static str,
        /// What it can decide.
        decides: &'static str,
        /// What the problem has.
        asks: Actions,
    },
    /// A problem of other sizes than the learner's, or without any.
    #[error("the problem's {what} is {found}, the learner needs {needed}")]
    Size {
        /// Which size.
        what: &'static str,
        /// The problem's.
        found: usize,
        /// The learner's, in words.
        needed: String,
    },
    /// The problem left the finite numbers.
    #[error(
        "the problem's {what} in episode {episode}, step {step} is not finite: limit its state, or end the episode there"
    )]
    NotFinite {
        /// `observation` or `reward`.
        what: &'static str,
        /// Number of the episode.
        episode: u32,
        /// Step, from 0.
        step: usize,
    },
    /// The weights left the finite numbers.
    #[error("learning diverged in round {round}: try a smaller learning rate or reward scale")]
    Diverged {
        /// Round, from 0.
        round: usize,
    },
    /// A checkpoint of another run, or a broken one.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

impl Explained for ReinforcementError {
    const ABOUT: &'static str = "learning: ";
}
