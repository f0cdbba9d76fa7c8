//! Reward, termination and constraints as expressions: byte code and its derivatives.
//! These are r(s, a) and c_i(s, a) of the paper's section 2.
//!
//! A task's expressions over state `s`, action `a` and next state `s'` become one
//! tape of [`Op`]s in single-assignment form: op `i` writes slot `i` and reads only
//! earlier slots. Several outputs (reward, termination, constraints) are slots of the
//! same tape, so what they have in common is computed once.
//!
//! - [`Program::new`] is the only way to get a [`Program`]; it checks the tape.
//! - [`Program::evaluate`] runs the tape for `B` lanes side by side.
//! - [`Program::pull_back`] is its reverse sweep, for the adversary's gradient.
//!
//! Every lane is computed in the same order whatever `B` is, and every transcendental
//! function comes from `libm`, so host and device agree to the last bit.

mod evaluate;
mod op;
mod program;
mod pull_back;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

pub use evaluate::{Comparison, Inputs};
pub use op::{Op, Variable};
pub use program::{MAX_OPS, Program, ProgramError};
pub use pull_back::Gradient;
