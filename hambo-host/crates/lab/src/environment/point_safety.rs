//! PointSafety (the paper's illustrative example): from (−2, 0) to (2, 0) around the unit disc.

use hambo_core::numeric::Slices;
use hambo_core::numeric::random::Stream;
use hambo_core::policy::PolicyInputs;
use hambo_core::policy::{Leg, Policy, Waypoints};
use hambo_core::task::expression::{Comparison, Inputs, Program};

use super::system::Environment;
use hambo_base::one_lane::{one_lane, one_lane_mut};
use hambo_data::{Log, Transition};
use hambo_task::task::TaskFile;

/// pi_y is unsafe for |y| at or below this: 2 / √3.
pub const UNSAFE_BELOW: f32 = 1.154_700_5;

const START: [f32; 2] = [-2.0, 0.0];
const GOAL: [f32; 3] = [2.0, 0.0, 0.0];
const SPEED: f32 = 0.5;
const TASK: &str = include_str!("../../../../tasks/point_safety.toml");

/// The true system s′ = s + a with the task's own reward.
#[derive(Clone, Debug)]
pub struct PointSafety {
    task: TaskFile,
    program: Program,
}

/// A true trajectory.
#[derive(Clone, Debug, PartialEq)]
pub struct TruePath {
    /// s_0 … s_T.
    pub states: Vec<[f32; 2]>,
    /// The return.
    pub value: f32,
}

impl PointSafety {
    /// The system with the task file that comes with hambo.
    ///
    /// # Errors
    /// If the built-in task file is wrong, which a test rules out.
    pub fn new() -> Result<Self, hambo_base::Error> {
        let task = TaskFile::parse(TASK, "point_safety.toml")?;
        let program = Program::new(&task.ops, 2, 2)?;
        Ok(Self { task, program })
    }

    #[must_use]
    pub fn task(&self) -> &TaskFile {
        &self.task
    }

    /// pi_y: over (0, y) to the goal. `None` if y is not a finite number.
    #[must_use]
    pub fn policy(y: f32) -> Option<Waypoints> {
        let over = Leg {
            target: [0.0, y, 0.0],
            axis: 0,
            below: 0.0,
        };
        let goal = Leg {
            target: GOAL,
            axis: 0,
            below: f32::MAX,
        };
        Waypoints::new(2, SPEED, &[over, goal]).ok()
    }

    fn reward(&self, state: [f32; 2], action: [f32; 2], next: [f32; 2]) -> f32 {
        let mut values = vec![[0.0; 1]; self.program.len()];
        let inputs = Inputs {
            state: one_lane(&state),
            action: one_lane(&action),
            next: one_lane(&next),
            step: 0.0,
        };
        let finite = self
            .program
            .evaluate(Comparison::Exact, inputs, &mut values);
        match values.get(usize::from(self.task.reward.slot())) {
            Some([reward]) if finite == [true] => *reward,
            _ => f32::NAN,
        }
    }

    fn act(policy: &Waypoints, state: [f32; 2]) -> [f32; 2] {
        let mut action = [0.0; 2];
        let whole = Slices::default();
        let inputs = PolicyInputs::new(one_lane(&state), &mut [], &whole);
        policy.act(inputs, one_lane_mut(&mut action));
        action
    }

    /// The trajectory that the controller really takes.
    pub fn walk(&self, policy: &Waypoints) -> TruePath {
        let mut states = vec![START];
        let mut value = 0.0;
        let mut state = START;
        for _ in 0..self.task.horizon {
            let action = Self::act(policy, state);
            let next = [state[0] + action[0], state[1] + action[1]];
            value += self.reward(state, action, next);
            states.push(next);
            state = next;
        }
        TruePath { states, value }
    }

    /// A log of `episodes` episodes of pi_y with Gaussian noise of standard
    /// deviation `noise` on each component of the action. Noisy actions are
    /// limited in 2-norm too; the log holds them as executed.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn collect(
        &self,
        policy: &Waypoints,
        episodes: u32,
        noise: f32,
        seed: u64,
    ) -> Result<Log, hambo_base::Error> {
        let mut log = Log::new(2, 2);
        for episode in 0..episodes {
            let mut stream = Stream::new(seed, episode);
            let mut state = START;
            for _ in 0..self.task.horizon {
                let wanted = Self::act(policy, state);
                let noisy = wanted.map(|x| x + noise * stream.standard_normal());
                let length = noisy[0].hypot(noisy[1]);
                let action = noisy.map(|x| {
                    if length > SPEED {
                        x * SPEED / length
                    } else {
                        x
                    }
                });
                let next_state = [state[0] + action[0], state[1] + action[1]];
                log.push(Transition {
                    state: &state,
                    action: &action,
                    next_state: &next_state,
                    reward: self.reward(state, action, next_state),
                    episode,
                })?;
                state = next_state;
            }
        }
        Ok(log)
    }
}

impl Environment for PointSafety {
    fn task(&self) -> &TaskFile {
        &self.task
    }

    fn reset(&self, _stream: &mut Stream) -> Vec<f64> {
        START.map(f64::from).to_vec()
    }

    fn observe(&self, state: &[f64]) -> Vec<f32> {
        state.iter().map(|x| *x as f32).collect()
    }

    fn limited(&self, action: &[f32]) -> Vec<f32> {
        let length = action.iter().map(|a| a * a).sum::<f32>().sqrt();
        let factor = if length > SPEED { SPEED / length } else { 1.0 };
        action.iter().map(|a| a * factor).collect()
    }

    fn step(&self, state: &mut [f64], action: &[f32]) -> f64 {
        let plane = |numbers: &[f64]| [0, 1].map(|i| numbers.get(i).map_or(0.0, |x| *x as f32));
        let before = plane(state);
        for (x, a) in state.iter_mut().zip(action) {
            *x += f64::from(*a);
        }
        let action = [0, 1].map(|i| action.get(i).copied().unwrap_or(0.0));
        f64::from(self.reward(before, action, plane(state)))
    }
}
