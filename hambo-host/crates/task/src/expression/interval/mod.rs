//! Interval arithmetic: bounds of every value of a tape from bounds of its inputs.
//!
//! An expression is evaluated in f32, by the core. Here its ends are computed in f64 and
//! moved outward by more than any f32 operation rounds, so the core's value never leaves
//! them. They hold wherever the core calls a trajectory finite: one that is not finite makes
//! a check abstain, so it needs no bounds. That is why `log` never goes below
//! log(2⁻¹⁴⁹) ≈ −103.3, the logarithm of the least f32 above 0.
//!
//! | file | what it holds |
//! |---|---|
//! | here | an interval; sums, products, quotients |
//! | `functions` | powers, roots, exponentials, angles, comparisons |
//! | `tape` | all of them along a tape |

pub(crate) mod bounds;
mod functions;
pub(crate) mod tape;
#[cfg(test)]
mod tests;

pub use bounds::Interval;
pub use tape::{InputIntervals, tape_intervals};
