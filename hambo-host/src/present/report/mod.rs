//! One page about one check: the verdict first, then what it rests on.
//!
//! `hambo check --save` writes a [`Run`], and [`page`] turns it into HTML that
//! needs no network, no script and no other file. The trajectories come from
//! the core ([`trace`]); the page computes nothing but its pictures.

mod chart;
mod date;
mod facts;
mod html;
mod number;
mod page;
mod reach;
mod run;
mod sections;
mod story;
pub mod trace;

#[cfg(test)]
mod tests;

pub use facts::hexadecimal;
pub use html::escape;
pub use number::Number;
pub use page::page;
pub use reach::{Farthest, Reach};
pub use run::{
    CalibrationFacts, ConstraintFact, ContenderFact, EstimateFact, FileFact, ModelFacts, Run,
    RunError, RunResult, Settings, StateCalibration,
};
pub use story::{Band, Place, Shown, Story, StoryNames, SupportFacts};
