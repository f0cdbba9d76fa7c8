//! A checked task: names, limits, expressions, first states and thresholds.

use super::constraint::NamedConstraint;
use super::known::KnownLine;
use super::wraps::Wrap;
use hambo_core::task::Physics;
use hambo_core::task::expression::{Op, Program, ProgramError};

/// Where trajectories start.
#[derive(Clone, Debug, PartialEq)]
pub enum Initial {
    /// Always here.
    Point(Vec<f32>),
    /// Uniform in a box.
    Uniform {
        /// Lowest value of each state.
        low: Vec<f32>,
        /// Highest value of each state.
        high: Vec<f32>,
    },
    /// Gaussian, each state on its own.
    Gaussian {
        /// Mean of each state.
        mean: Vec<f32>,
        /// Standard deviation of each state.
        std: Vec<f32>,
    },
    /// Wherever in a box it is worst.
    Worst {
        /// Lowest value of each state.
        low: Vec<f32>,
        /// Highest value of each state.
        high: Vec<f32>,
    },
    /// Drawn from the first states of the log's episodes.
    Data {
        /// Whether the robot always starts from one of these states. If not, they are a
        /// sample of where it starts.
        always: bool,
    },
}

/// Where the reward of a step comes from. Either way an expression gives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reward {
    /// The slot of the user's expression.
    Computed(u16),
    /// The slot of c′ − c, where c is the return so far: a state after the user's own,
    /// which the model learns from the logged rewards.
    Learned(u16),
}

impl Reward {
    /// The slot of its expression.
    #[must_use]
    pub fn slot(self) -> u16 {
        match self {
            Self::Computed(slot) | Self::Learned(slot) => slot,
        }
    }
}

/// A checked task with its expressions compiled to one tape.
///
/// ```
/// use hambo_task::task::TaskFile;
///
/// let task = TaskFile::parse(
///     r#"
///     name = "cart"
///     horizon = 50
///     [state]
///     names = ["x", "v"]
///     [action]
///     names = ["u"]
///     low = [-1]
///     high = [1]
///     [reward]
///     expr = "-(x^2) - 0.1 * u^2"
///     [initial]
///     kind = "point"
///     value = [1, 0]
///     "#,
///     "cart.toml",
/// )?;
/// assert_eq!(task.delta, 0.05);
/// assert_eq!(task.ops[usize::from(task.reward.slot())], hambo_core::task::expression::Op::Subtract(2, 6));
/// # Ok::<(), hambo_task::task::TaskError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct TaskFile {
    /// What the task is called.
    pub name: String,
    /// Steps of a trajectory, at least 1.
    pub horizon: u32,
    /// One minus the confidence, between 0 and 1.
    pub delta: f32,
    /// Discount per step, above 0 and at most 1.
    pub discount: f32,
    /// Deploy only at or above this return.
    pub threshold: Option<f32>,
    /// Whether only bounds decide that hold for any distribution of returns; if the task does
    /// not say it, where it states bounds, see [`TaskFile::strictness`].
    pub distribution_free: Option<bool>,
    /// The time between two actions in microseconds, where the task states it.
    pub time_step: Option<u32>,
    /// Whether nothing of the system changes from one recording to the next: no payload, no
    /// battery, no ground. Then a log of few recordings may calibrate a model.
    pub stationary: bool,
    /// Names of the states; where the reward is learned the last one is the return so
    /// far.
    pub state_names: Vec<String>,
    /// Lowest physical value of each state; `-inf` where there is none.
    pub state_low: Option<Vec<f32>>,
    /// Highest physical value of each state; `inf` where there is none.
    pub state_high: Option<Vec<f32>>,
    /// Where each state comes back after a period, if it does; one entry per state.
    pub wraps: Vec<Option<Wrap>>,
    /// What is known of the dynamics.
    pub physics: Physics,
    /// What the inputs of the model that describe the state are called.
    pub features: Vec<String>,
    /// The known states as they are written, in the order of the states.
    pub known: Vec<KnownLine>,
    /// Where the states start that are computed and not in the log. They come after those
    /// that the log has.
    pub memory: Vec<f32>,
    /// Names of the actions.
    pub action_names: Vec<String>,
    /// Lowest value of each action; the policy's output is clipped to it.
    pub action_low: Vec<f32>,
    /// Highest value of each action; the policy's output is clipped to it.
    pub action_high: Vec<f32>,
    /// Where trajectories start.
    pub initial: Initial,
    /// The tape of all expressions.
    pub ops: Vec<Op>,
    /// The reward of a step.
    pub reward: Reward,
    /// Bounds of the reward of one step, if the task states any: they make the sampling
    /// margin exact.
    pub reward_bounds: Option<[f32; 2]>,
    /// Bounds of the whole return, if the task states any; the upper one may be infinite.
    pub return_bounds: Option<[f32; 2]>,
    /// Slot of the termination, which is 0 or 1.
    pub termination: Option<u16>,
    /// Slot of where the robot may be switched off after the monitor tripped: 0 or 1, of the
    /// state alone.
    pub power_off: Option<u16>,
    /// What must hold besides the return.
    pub constraints: Vec<NamedConstraint>,
}

impl TaskFile {
    /// The pairs on the unit circle by their names.
    #[must_use]
    pub fn circle_names(&self) -> Vec<[String; 2]> {
        let name = |state: u16| self.state_names.get(usize::from(state)).cloned();
        let pairs = self.physics.circles.iter();
        pairs
            .map(|pair| pair.map(|state| name(state).unwrap_or_default()))
            .collect()
    }

    /// Whether a state has reached one of its physical limits, where rollouts stop it.
    #[must_use]
    pub fn is_at_limit(&self, state: usize, value: f32) -> bool {
        let limit = |limits: &Option<Vec<f32>>| limits.as_ref()?.get(state).copied();
        limit(&self.state_low).is_some_and(|low| value <= low)
            || limit(&self.state_high).is_some_and(|high| value >= high)
    }

    /// The checked program of [`TaskFile::ops`].
    ///
    /// # Errors
    ///
    /// None for a tape as it was parsed; one that was changed may be bad.
    pub fn program(&self) -> Result<Program, ProgramError> {
        Program::new(&self.ops, self.state_names.len(), self.action_names.len())
    }
}
