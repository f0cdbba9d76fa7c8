//! The studies of `studies/`: a few cells again, the truth by another simulation, and the
//! claims, counted from the committed rows.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod broken;
mod coverage;
mod limits;
mod repeated;
mod resumed;
mod robots;
mod rows;
mod sampling;
mod truth;
