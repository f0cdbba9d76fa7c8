//! What a model sees of a row of a log, and which states it moves.

use hambo_core::task::expression::{Op, Program};
use hambo_core::task::{ModelInputs, Physics};
use serde::{Deserialize, Serialize};

use super::known::KnownLine;
use super::task_file::TaskFile;
use super::wraps::Wrap;

/// The inputs and outputs of a task's model: a model file keeps it, for a model means nothing
/// without it.
///
/// ```
/// use hambo_task::task::TaskFile;
///
/// let text = "name = 'arm'\nhorizon = 50\n[state]\nnames = ['theta', 'omega']\n\
///             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
///             [known]\ntheta = 'theta + 0.1 * next.omega'\n[model]\ninputs = ['sin(theta)']\n\
///             [reward]\nexpr = '-theta^2'\n[initial]\nkind = 'data'\n";
/// let view = TaskFile::parse(text, "arm.toml")?.model_view();
/// assert_eq!(view.features, ["sin(theta)"]);
/// assert_eq!(view.moved, [1]);
/// assert_eq!(view.see(&[0.5, 3.0]), [0.5_f32.sin()]);
/// # Ok::<(), hambo_task::task::TaskError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelView {
    /// What the inputs that describe the state are called, as the task writes them.
    pub features: Vec<String>,
    /// The states that the model moves, by number.
    pub moved: Vec<usize>,
    /// Where the states start that are computed and not in the log.
    pub memory: Vec<f32>,
    /// The known states that the log has, as they are written.
    pub known: Vec<KnownLine>,
    /// Features, known states and circles.
    pub physics: Physics,
    /// The tape of features and known states.
    pub ops: Vec<Op>,
    /// The number of states.
    pub states: usize,
    /// The number of actions.
    pub actions: usize,
    /// Lowest value of each state.
    pub low: Vec<f32>,
    /// Highest value of each state.
    pub high: Vec<f32>,
    /// Where each state wraps, if it does.
    pub wraps: Vec<Option<Wrap>>,
}

impl TaskFile {
    /// What this task's model sees and moves.
    #[must_use]
    pub fn model_view(&self) -> ModelView {
        let states = self.state_names.len();
        let features = match &self.physics.inputs {
            ModelInputs::States(_) => None,
            ModelInputs::Features(slots) => slots.iter().max().copied(),
        };
        let known = self.physics.known.iter().map(|known| known.slot).max();
        let end = features.max(known).map_or(0, |slot| usize::from(slot) + 1);
        let limits = |limits: &Option<Vec<f32>>, none: f32| {
            let none = || vec![none; states];
            limits.clone().unwrap_or_else(none)
        };
        ModelView {
            features: self.features.clone(),
            moved: self.physics.moved(states).collect(),
            memory: self.memory.clone(),
            known: self
                .known
                .iter()
                .filter(|line| line.initial.is_none())
                .cloned()
                .collect(),
            physics: self.physics.clone(),
            ops: self.ops.iter().take(end).copied().collect(),
            states,
            actions: self.action_names.len(),
            low: limits(&self.state_low, f32::NEG_INFINITY),
            high: limits(&self.state_high, f32::INFINITY),
            wraps: self.wraps.clone(),
        }
    }
}

impl ModelView {
    /// What it sees of a state.
    #[must_use]
    pub fn see(&self, state: &[f32]) -> Vec<f32> {
        let mut seen = Vec::new();
        self.see_all([state], &mut seen);
        seen
    }

    /// Appends what it sees of each state to `seen`.
    pub fn see_all<'s>(&self, states: impl IntoIterator<Item = &'s [f32]>, seen: &mut Vec<f32>) {
        let program = match &self.physics.inputs {
            ModelInputs::States(count) => {
                let count = usize::from(*count);
                for state in states {
                    seen.extend(state.iter().take(count));
                }
                return;
            }
            ModelInputs::Features(_) => Program::new(&self.ops, self.states, self.actions),
        };
        let mut rows = vec![[0.0; 1]; self.features.len()];
        let mut values = vec![[0.0; 1]; self.ops.len()];
        for state in states {
            let state: Vec<[f32; 1]> = state.iter().map(|x| [*x]).collect();
            match &program {
                Ok(program) => {
                    let (found, _) = self.physics.see(program, &state, &mut values, &mut rows);
                    seen.extend(found.iter().map(|[x]| *x));
                }
                // A tape that was compiled is good; one from elsewhere is not finite.
                Err(_) => seen.extend(rows.iter().map(|_| f32::NAN)),
            }
        }
    }

    /// The states that it moves, of one state.
    #[must_use]
    pub fn of_state(&self, state: &[f32]) -> Vec<f32> {
        let moved = self.moved.iter();
        moved
            .filter_map(|place| state.get(*place).copied())
            .collect()
    }
}
