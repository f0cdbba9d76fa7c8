//! Where the robot may be switched off after the monitor tripped: `[power_off]`.

use hambo_core::task::expression::Variable;

use super::checker::Checker;
use super::error::TaskError;
use super::raw::RawExpression;
use crate::expression::compiler::Compiler;
use crate::expression::reads::reads;

impl Checker<'_> {
    /// The slot of the condition, which speaks of the state alone: nothing else is known
    /// when it is asked.
    pub(super) fn power_off(
        &self,
        raw: RawExpression,
        compiler: &mut Compiler<'_>,
    ) -> Result<u16, TaskError> {
        let key = "power_off.expr";
        let help = "write for example expr = \"abs(v) < 0.01\", or leave [power_off] out";
        let expression = self.present(key, raw.expr, help)?;
        let slot = self.compiled(key, compiler.add_condition(&expression))?;
        let is_other = |variable| !matches!(variable, Variable::State(_));
        if reads(compiler.ops(), is_other).get(usize::from(slot)) != Some(&false) {
            let problem = "uses an action, a next state or the step";
            return self.fail(key, problem, "use states alone");
        }
        Ok(slot)
    }
}
