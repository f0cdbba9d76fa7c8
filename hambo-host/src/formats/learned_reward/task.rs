//! The task's side: one more state, which starts at 0 and has no limits, and
//! the reward c′ − c.

use hambo_core::expression::{Op, Program, ProgramError, Variable};

use super::{RETURN_SO_FAR, is_learned};
use crate::formats::task::{Initial, TaskFile};

impl TaskFile {
    /// Whether the reward is learned from the log; then the last state is the
    /// return so far, which neither the log nor the controller has.
    #[must_use]
    pub fn learns_reward(&self) -> bool {
        is_learned(&self.state_names)
    }
}

/// Makes the reward of a task without one the learned one: adds the state and
/// the expression. If the task states bounds of a step's reward, it is
/// clamped to them, as states are to theirs.
///
/// # Errors
/// If the task's other expressions leave no room for this one.
pub(crate) fn add_to_task(task: &mut TaskFile) -> Result<(), ProgramError> {
    let place = u16::try_from(task.state_names.len()).map_err(|_| ProgramError::TooLong)?;
    let mut ops = task.ops.clone();
    let mut add = |op: Op| {
        ops.push(op);
        u16::try_from(ops.len() - 1).map_err(|_| ProgramError::TooLong)
    };
    let after = add(Op::Variable(Variable::Next(place)))?;
    let before = add(Op::Variable(Variable::State(place)))?;
    let mut reward = add(Op::Subtract(after, before))?;
    if let Some([low, high]) = task.reward_bounds {
        let low = add(Op::Constant(low))?;
        let high = add(Op::Constant(high))?;
        reward = add(Op::Clamp(reward, low, high))?;
    }
    Program::new(&ops, task.state_names.len() + 1, task.action_names.len())?;
    task.ops = ops;
    task.reward = reward;

    task.state_names.push(RETURN_SO_FAR.to_owned());
    if let Some(low) = &mut task.state_low {
        low.push(f32::NEG_INFINITY);
    }
    if let Some(high) = &mut task.state_high {
        high.push(f32::INFINITY);
    }
    let parts: [Option<&mut Vec<f32>>; 2] = match &mut task.initial {
        Initial::Point(value) => [Some(value), None],
        Initial::Uniform { low, high } => [Some(low), Some(high)],
        Initial::Gaussian { mean, std } => [Some(mean), Some(std)],
        // The log's rows start at 0 too.
        Initial::Data => [None, None],
    };
    for part in parts.into_iter().flatten() {
        part.push(0.0);
    }
    Ok(())
}
