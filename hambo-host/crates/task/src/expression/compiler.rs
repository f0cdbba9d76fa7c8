//! Several expressions into one tape.

use hambo_core::task::expression::Op;

use super::builder::{Builder, Names};
use super::error::ExpressionError;
use super::parser;

/// Compiles several expressions into one tape.
///
/// ```
/// use hambo_task::expression::{Compiler, Names};
///
/// let (state, action) = (["x".to_string()], ["u".to_string()]);
/// let mut compiler = Compiler::new(Names { state: &state, action: &action, horizon: 50 });
/// let reward = compiler.add("-(x^2) - 0.1 * u^2")?;
/// let stop = compiler.add_condition("x^2 > 2 * 2")?; // shares x^2, folds 2 * 2
/// let ops = compiler.finish();
/// assert_eq!(ops.len(), 10);
/// assert!(usize::from(reward) < ops.len() && usize::from(stop) < ops.len());
/// # Ok::<(), hambo_task::expression::ExpressionError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Compiler<'a> {
    names: Names<'a>,
    ops: Vec<Op>,
}

impl<'a> Compiler<'a> {
    /// An empty tape over these names.
    pub fn new(names: Names<'a>) -> Self {
        Self {
            names,
            ops: Vec::new(),
        }
    }

    /// Compiles one more expression and gives the slot of its value.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression; the tape is then as before.
    pub fn add(&mut self, source: &str) -> Result<u16, ExpressionError> {
        self.compile(source, false, false)
    }

    /// Like [`Compiler::add`] for a line of `[known]`, which may read `learned.NAME`. Whose
    /// value it may read is not checked here.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression; the tape is then as before.
    pub fn add_known(&mut self, source: &str) -> Result<u16, ExpressionError> {
        self.compile(source, false, true)
    }

    /// Like [`Compiler::add`] for an expression that is true or false: any number but 0
    /// becomes 1.
    ///
    /// # Errors
    ///
    /// What is wrong with the expression; the tape is then as before.
    pub fn add_condition(&mut self, source: &str) -> Result<u16, ExpressionError> {
        self.compile(source, true, false)
    }

    /// Like [`Compiler::add`] for what must hold: a number that must be at least 0, or a
    /// condition, which becomes such a number. It is at least 0 where the condition holds,
    /// and only there, and says by how much: `a >= b` becomes `a - b`, `a > b` a hair less,
    /// `&&` the lesser of two and `||` the greater; `!` turns comparisons round.
    ///
    /// ```
    /// use hambo_core::task::expression::Op;
    /// use hambo_task::expression::{Compiler, Names};
    ///
    /// let state = ["x".to_string(), "y".to_string()];
    /// let mut compiler = Compiler::new(Names { state: &state, action: &[], horizon: 50 });
    /// let margin = compiler.add_margin("x > 1 && y < 2")?;
    /// assert!(matches!(compiler.finish()[usize::from(margin)], Op::Minimum(..)));
    /// # Ok::<(), hambo_task::expression::ExpressionError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// What is wrong with the expression; the tape is then as before.
    pub fn add_margin(&mut self, source: &str) -> Result<u16, ExpressionError> {
        let before = self.ops.len();
        let slot = self.compile(source, false, false)?;
        let mut builder = Builder {
            source,
            ops: &mut self.ops,
        };
        let margin = builder.margin(slot, false);
        if margin.is_err() {
            self.ops.truncate(before);
        }
        margin
    }

    /// The tape so far.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.ops
    }

    /// The tape, at most [`MAX_OPS`] long.
    pub fn finish(self) -> Vec<Op> {
        self.ops
    }

    fn compile(
        &mut self,
        source: &str,
        condition: bool,
        learned: bool,
    ) -> Result<u16, ExpressionError> {
        let before = self.ops.len();
        let mut builder = Builder {
            source,
            ops: &mut self.ops,
        };
        let slot = parser::parse(source, self.names, learned, &mut builder).and_then(|value| {
            let value = if condition {
                builder.condition(value, 0)?
            } else {
                value
            };
            builder.slot(value, 0)
        });
        if slot.is_err() {
            self.ops.truncate(before);
        }
        slot
    }
}
