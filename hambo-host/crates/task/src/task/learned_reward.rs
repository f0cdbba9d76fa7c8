//! `reward.learned = true`: the logged reward as one more output of the model.
//!
//! Models predict s′ − s from (s, a). So a learned reward is one more state
//! after the user's own, the return so far, c′ = c + r(s, a): its difference is
//! the reward, its uncertainty belongs to the adversary like that of every
//! state, and the task's reward is c′ − c. Training, calibration, rollouts,
//! searches, images and the device see a state like any other. What is special
//! about it:
//!
//! | what | where |
//! |---|---|
//! | the task's state, its start at 0 and the expression c′ − c | here |
//! | the log's rows: c = 0 and c′ = r, so that no digit of r is lost | `hambo-data`, `log/learned_reward.rs` |
//! | controllers see the user's states only | `formats/policy/learned_reward.rs` |
//! | nothing depends on c: it is no input of the model | `formats/task/model_view.rs` |
//!
//! The reward is learned as a function of (s, a). One that depends on s′ has
//! a spread for a given (s, a), which the model learns as noise.

use std::borrow::Cow;

use hambo_core::task::expression::{Op, Program, ProgramError, Variable};

use super::task_file::{Initial, Reward, TaskFile};
use crate::column_names::ColumnNames;

/// What the extra state is called where states are listed. No state of a user is called
/// so: names have no spaces.
pub const RETURN_SO_FAR: &str = "return so far";

impl TaskFile {
    /// The states that the log has: not what is computed from an initial value on, nor the
    /// return so far.
    #[must_use]
    pub fn logged_states(&self) -> &[String] {
        let own = own_states(&self.state_names, self.learns_reward());
        own.get(..own.len() - self.memory.len()).unwrap_or(own)
    }

    /// Its states and actions, as files hold them and a log's readers take them.
    #[must_use]
    pub fn names(&self) -> ColumnNames {
        ColumnNames {
            states: self.logged_states().to_vec(),
            actions: self.action_names.clone(),
        }
    }

    /// Whether the reward is learned from the log; then the last state is the
    /// return so far, which neither the log nor the controller has.
    #[must_use]
    pub fn learns_reward(&self) -> bool {
        matches!(self.reward, Reward::Learned(_))
    }

    /// The task as a controller's file is held against it: the user's states and
    /// actions with their limits. Where the reward is learned it has no
    /// expressions, which speak of one more state.
    #[must_use]
    pub fn seen_by_controllers(&self) -> Cow<'_, Self> {
        if !self.learns_reward() {
            return Cow::Borrowed(self);
        }
        let mut seen = self.clone();
        seen.state_names.pop();
        seen.wraps.pop();
        let limits = [&mut seen.state_low, &mut seen.state_high];
        for limits in limits.into_iter().flatten() {
            limits.pop();
        }
        seen.initial = Initial::Data { always: false };
        seen.ops.clear();
        seen.reward = Reward::Computed(0);
        seen.termination = None;
        seen.power_off = None;
        seen.constraints.clear();
        Cow::Owned(seen)
    }
}

/// The user's own states among those of a model.
pub(super) fn own_states(states: &[String], learned_reward: bool) -> &[String] {
    match states.split_last() {
        Some((_, own)) if learned_reward => own,
        _ => states,
    }
}

/// The bounds low to high as they hold for a learned reward with its noise: 2 low − high to
/// high.
///
/// The model's noise is symmetric and knows no bounds. Cut at `low`, it would lose its lower
/// tail wherever the reward is near `low`, and the mean would rise above the truth. Cut as
/// far below `low` as `high` lies above it, any mean from `low` to `high` loses at least as
/// much at the upper end as at the lower one: the clamped mean is never above it.
fn with_room_below([low, high]: [f32; 2]) -> [f32; 2] {
    [(low - (high - low)).max(f32::MIN), high]
}

/// Makes the reward of a task without one the learned one: adds the state and
/// the expression. If the task states bounds of a step's reward, it is
/// clamped to them, with as much room again below ([`with_room_below`]), and
/// the room counts as part of the bounds.
///
/// # Errors
/// If the task's other expressions leave no room for this one.
pub(super) fn add_to_task(task: &mut TaskFile) -> Result<(), ProgramError> {
    let place = u16::try_from(task.state_names.len()).map_err(|_| ProgramError::TooLong)?;
    let mut ops = task.ops.clone();
    let mut add = |op: Op| {
        ops.push(op);
        u16::try_from(ops.len() - 1).map_err(|_| ProgramError::TooLong)
    };
    let after = add(Op::Variable(Variable::Next(place)))?;
    let before = add(Op::Variable(Variable::State(place)))?;
    let mut reward = add(Op::Subtract(after, before))?;
    let bounds = task.reward_bounds.map(with_room_below);
    if let Some([low, high]) = bounds {
        let low = add(Op::Constant(low))?;
        let high = add(Op::Constant(high))?;
        reward = add(Op::Clamp(reward, low, high))?;
    }
    Program::new(&ops, task.state_names.len() + 1, task.action_names.len())?;
    task.ops = ops;
    task.reward = Reward::Learned(reward);
    task.reward_bounds = bounds;

    task.state_names.push(RETURN_SO_FAR.to_owned());
    task.wraps.push(None);
    if let Some(low) = &mut task.state_low {
        low.push(f32::NEG_INFINITY);
    }
    if let Some(high) = &mut task.state_high {
        high.push(f32::INFINITY);
    }
    let parts: [Option<&mut Vec<f32>>; 2] = match &mut task.initial {
        Initial::Point(value) => [Some(value), None],
        Initial::Uniform { low, high } | Initial::Worst { low, high } => [Some(low), Some(high)],
        Initial::Gaussian { mean, std } => [Some(mean), Some(std)],
        // The log's rows start at 0 too.
        Initial::Data { .. } => [None, None],
    };
    for part in parts.into_iter().flatten() {
        part.push(0.0);
    }
    Ok(())
}
