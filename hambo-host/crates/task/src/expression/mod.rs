//! Text to byte code: the expressions of a task file.
//!
//! ```text
//! numbers       1   1.5   2e-3   pi
//! names         x   next.x              a state, an action; a state after the step
//!               learned.x               that as the model gives it; under [known] alone
//! operators     ||   &&   < <= > >= == !=   + -   * /   - !   ^      loosest to tightest
//! functions     abs min max sqrt exp log sin cos tan atan2 tanh clamp wrap if
//! ```
//!
//! `^` groups to the right and binds tighter than a minus sign: `-x^2` is `-(x^2)`.
//! Comparisons and `&& || !` give 0 or 1 and count as numbers. All operands are always
//! computed, so `x != 0 && 1/x > 2` is not finite at `x = 0`; `if(condition, a, b)` computes
//! both `a` and `b` as well.
//!
//! The [`Compiler`] turns text straight into the tape of [`hambo_core::task::expression`],
//! folds constants with the core's own arithmetic, and shares what expressions have in
//! common. `interval` bounds what a tape can give.

mod builder;
pub mod compiler;
pub mod error;
pub mod interval;
mod lexer;
pub(super) mod parser;
pub(super) mod reads;

#[cfg(test)]
mod tests;

pub use builder::Names;
pub use compiler::Compiler;
pub use error::ExpressionError;
pub use interval::{InputIntervals, Interval, tape_intervals};
pub use parser::FUNCTIONS;
pub use reads::reads;

/// Words that cannot be names of states or actions, besides [`FUNCTIONS`].
pub const RESERVED: [&str; 2] = ["next", "pi"];

/// True if the text can be the name of a state or an action: a letter or `_`, then
/// letters, digits and `_`.
///
/// ```
/// use hambo_task::expression::is_identifier;
/// assert!(is_identifier("wheel_2"));
/// assert!(!is_identifier("2nd wheel"));
/// ```
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(lexer::starts_name) && text.chars().all(lexer::continues_name)
}
