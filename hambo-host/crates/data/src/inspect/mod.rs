//! What a log shows: sizes and columns, how far actions explore, states that seem to wrap, and how
//! well it agrees with what the task says of its dynamics.

mod column;
mod exploration;
mod known_residual;
mod odd;
mod spread;
mod summary;
mod told;
mod wrap_hint;

pub use column::ColumnSummary;
pub use exploration::{Exploration, explorations};
pub(crate) use exploration::{StateAction, explorations_of};
pub(crate) use known_residual::LARGEST_RESIDUAL;
pub use known_residual::{KnownResidual, circle_residuals, known_residuals};
pub(crate) use spread::spread;
pub use summary::Summary;
pub use told::{Told, corrected_path};
pub(crate) use wrap_hint::wrap_hints;
pub use wrap_hint::{WrapHint, wrap_line};
