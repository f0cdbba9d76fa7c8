//! Controllers on a plant: logs, and true returns.

use hambo_base::Error;
use hambo_data::{Log, Transition};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use super::plant::{MOST, Plant, State};
use crate::fixture::Draw;

/// Episodes of a true return.
pub const TRUE_EPISODES: usize = 20_000;

/// a = gain · s, clipped to the plant's limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controller {
    /// One number per state.
    pub gain: State,
}

impl Controller {
    /// The one that does nothing.
    pub const IDLE: Self = Self { gain: [0.0; MOST] };

    /// The action, before it is clipped.
    #[must_use]
    pub fn act(&self, state: &State) -> f32 {
        self.gain.iter().zip(state).map(|(k, x)| k * x).sum()
    }

    /// One whose gains differ by about this share of each.
    #[must_use]
    pub fn near(&self, share: f32, draw: &mut Draw) -> Self {
        let gain = self.gain.map(|gain| gain * (1.0 + share * draw.normal()));
        Self { gain }
    }

    /// As a task's policy.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn policy(&self, task: &TaskFile) -> Result<HostPolicy, Error> {
        let gain = &self.gain[..task.state_names.len()];
        let text = format!("kind = \"linear\"\ngain = [{gain:?}]\nbias = [0.0]");
        Ok(HostPolicy::parse(&text, "linear", task)?)
    }
}

/// What a constraint is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// The absolute value of a state.
    State(usize),
    /// The absolute value of the action.
    Action,
}

impl Quantity {
    fn of(self, state: &State, action: f32) -> f32 {
        match self {
            Self::State(index) => state[index].abs(),
            Self::Action => action.abs(),
        }
    }

    /// As an expression of a task.
    #[must_use]
    pub fn text(self) -> String {
        match self {
            Self::State(index) => format!("abs(x{index})"),
            Self::Action => "abs(u)".to_owned(),
        }
    }
}

/// A mean and its standard error.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
}

impl Mean {
    /// Of some values.
    pub fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2));
        let variance = squares.sum::<f64>() / (count - 1.0);
        Self {
            mean,
            error: (variance / count).sqrt(),
        }
    }
}

/// What a controller truly does.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Truth {
    /// The return.
    pub value: Mean,
    /// The quantity's mean over the visited steps.
    pub quantity: Mean,
    /// The largest state that was met, in units of the largest initial one.
    pub farthest: f32,
}

/// Episodes of a controller on the system itself.
#[must_use]
pub fn truth(
    plant: &Plant,
    controller: &Controller,
    horizon: usize,
    quantity: Quantity,
    episodes: usize,
    seed: u64,
) -> Truth {
    let draw = &mut Draw::new(seed);
    let (mut returns, mut quantities) = (Vec::new(), Vec::new());
    let scale = std::array::from_fn::<f32, MOST, _>(|j| plant.start[1][j].abs().max(1e-3));
    let mut farthest = 0.0_f32;
    for _ in 0..episodes {
        let (mut value, mut sum, mut steps) = (0.0, 0.0, 0.0);
        drive(plant, controller, horizon, draw, |state, action, next| {
            value += f64::from(plant.reward(state, action, next));
            sum += f64::from(quantity.of(state, action));
            steps += 1.0;
            for j in 0..plant.states {
                farthest = farthest.max(next[j].abs() / scale[j]);
            }
        });
        returns.push(value);
        quantities.push(sum / steps);
    }
    Truth {
        value: Mean::of(&returns),
        quantity: Mean::of(&quantities),
        farthest,
    }
}

/// The largest sum of the first two states that each of some episodes visits, least first.
#[must_use]
pub fn largest_sums(
    plant: &Plant,
    controller: &Controller,
    horizon: usize,
    episodes: usize,
    seed: u64,
) -> Vec<f32> {
    let draw = &mut Draw::new(seed);
    let largest = (0..episodes).map(|_| {
        let mut largest = f32::NEG_INFINITY;
        drive(plant, controller, horizon, draw, |state, _, _| {
            largest = largest.max(state[0] + state[1]);
        });
        largest
    });
    let mut largest: Vec<f32> = largest.collect();
    largest.sort_unstable_by(f32::total_cmp);
    largest
}

/// One episode; `see` is given each state, action and next state.
fn drive(
    plant: &Plant,
    controller: &Controller,
    horizon: usize,
    draw: &mut Draw,
    mut see: impl FnMut(&State, f32, &State),
) {
    let mut hidden = plant.hidden(draw);
    let mut state = plant.first(draw);
    for _ in 0..horizon {
        let most = plant.most_action;
        let action = controller.act(&state).clamp(-most, most);
        let next = plant.next(&state, action, &mut hidden, draw);
        see(&state, action, &next);
        let ends = plant.ends(&next);
        state = next;
        if ends {
            break;
        }
    }
}

/// How a log is made.
#[derive(Clone, Debug, PartialEq)]
pub struct Logging {
    /// The controllers, in turn.
    pub controllers: Vec<Controller>,
    /// Standard deviation of the normal noise on actions, as a share of the largest action.
    pub exploration: f32,
    pub episodes: usize,
    /// Steps of an episode.
    pub steps: usize,
    /// Rows that start or end with state 0 between these are not logged.
    pub hole: Option<[f32; 2]>,
    /// In all but every fifth episode the process noise is this share of the plant's.
    pub calm: Option<f32>,
    /// What the plant feels of the logged actions.
    pub felt: Felt,
}

/// What a plant feels of the actions that are logged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Felt {
    /// The action itself.
    AtOnce,
    /// The action of this number of steps ago; nothing before the first.
    Late(usize),
    /// A force that is in no column: each step it comes nearer to the action by this share
    /// of the difference. It begins with 0.
    Lagging(f32),
}

impl Felt {
    /// What is felt in the last step of these actions.
    #[must_use]
    pub fn of(self, actions: &[f32]) -> f32 {
        let late = |steps: usize| {
            let place = actions.len().checked_sub(steps + 1);
            place
                .and_then(|place| actions.get(place))
                .map_or(0.0, |x| *x)
        };
        match self {
            Self::AtOnce => late(0),
            Self::Late(steps) => late(steps),
            Self::Lagging(share) => {
                let towards = |force: f32, action: &f32| force + share * (action - force);
                actions.iter().fold(0.0, towards)
            }
        }
    }
}

/// Drives the plant and logs it.
///
/// # Errors
/// If a number is not finite.
pub fn log(plant: &Plant, logging: &Logging, seed: u64) -> Result<Log, Error> {
    let draw = &mut Draw::new(seed);
    let mut log = Log::new(plant.states, 1);
    let mut number = 0;
    let windy = plant;
    let mut calm = plant.clone();
    calm.noise = plant.noise.map(|noise| logging.calm.unwrap_or(1.0) * noise);
    let controllers = logging.controllers.iter().cycle();
    for (episode, controller) in controllers.take(logging.episodes).enumerate() {
        let plant = if episode % 5 == 4 { windy } else { &calm };
        let mut hidden = plant.hidden(draw);
        let mut state = plant.first(draw);
        let mut actions = Vec::with_capacity(logging.steps);
        for _ in 0..logging.steps {
            let most = plant.most_action;
            let wanted = controller.act(&state) + logging.exploration * most * draw.normal();
            let action = wanted.clamp(-most, most);
            actions.push(action);
            let felt = logging.felt.of(&actions);
            let next = plant.next(&state, felt, &mut hidden, draw);
            let left_out = |state: &State| {
                let hole = logging.hole;
                hole.is_some_and(|[low, high]| state[0] > low && state[0] < high)
            };
            if left_out(&state) || left_out(&next) {
                // What comes after the hole does not follow what was before it.
                number += 1;
            } else {
                log.push(Transition {
                    state: &state[..plant.states],
                    action: &[action],
                    next_state: &next[..plant.states],
                    reward: plant.reward(&state, action, &next),
                    episode: number,
                })?;
            }
            let ends = plant.ends(&next);
            state = next;
            if ends {
                break;
            }
        }
        number += 1;
    }
    Ok(log)
}
