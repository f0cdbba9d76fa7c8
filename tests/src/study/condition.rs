//! Three small systems, and what a log of them does not tell: where the backtest must find
//! something, and where it must not.

use super::assumption::{SHARE, cart, three_states};
use super::plant::{Feature, MOST, Plant};
use super::simulate::{Controller, Felt, Logging};
use crate::fixture::Draw;

/// Steps of a logged episode, and the task's horizon.
pub const STEPS: usize = 30;
/// Episodes of a log, and of the log of the first model the larger number.
pub const EPISODES: [usize; 2] = [30, 100];
/// The lengths of windows, in steps, up to the horizon.
pub const LENGTHS: [usize; 5] = [1, 2, 5, 10, 20];
/// Standard deviation of a force that stays for an episode, as a share of the largest action.
const PAYLOAD: f32 = 0.1;
/// In a log of its own: how many times as noisy the windy episodes are, and the share that a
/// calm one has of it, as in the study of broken assumptions.
const WIND: f32 = 15.0;
const CALM: f32 = 0.1;
/// In a later log: how many times as noisy it is.
const MORE_NOISE: f32 = 2.0;
/// By how much of the difference a force that is not logged follows the action in a step.
const LAG: f32 = 0.4;
/// Steps by which an action comes late.
const DELAY: usize = 1;

/// What is simulated and logged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// One state that decays and is pushed.
    Line,
    /// Angle and speed of a hanging pendulum.
    Pendulum,
    /// Position, speed and a force that follows the action.
    ThreeStates,
}

/// All of them.
pub const SYSTEMS: [System; 3] = [System::Line, System::Pendulum, System::ThreeStates];

/// What the log does not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Nothing: states and actions are all there is, and the noise is that of every step.
    Right,
    /// A force that is drawn once per episode and in no column.
    Payload,
    /// The force that the action brings about is a state of its own and in no column.
    MissingState,
    /// The noise is larger than a model of the log has it. A later log is twice as noisy in
    /// every step. In a log that the model itself is fitted to, four of five episodes have a
    /// tenth of the others' noise: a model with one noise for all of them takes that of a
    /// windy one for half of what it is.
    NoiseUnderestimated,
    /// Actions are felt one step late.
    Delay,
}

/// All of them.
pub const CONDITIONS: [Condition; 5] = [
    Condition::Right,
    Condition::Payload,
    Condition::MissingState,
    Condition::NoiseUnderestimated,
    Condition::Delay,
];

impl System {
    /// The system with what the log tells.
    #[must_use]
    pub fn plant(self) -> Plant {
        match self {
            Self::Line => {
                let mut matrix = [[0.0; MOST]; MOST];
                matrix[0][0] = 0.97;
                let mut plant = Plant::linear("line", 1, matrix, [0.1, 0.0, 0.0, 0.0]);
                plant.noise[0] = 0.01;
                plant
            }
            Self::Pendulum => {
                let mut plant = cart();
                plant.name = "pendulum";
                plant.feature = Feature::Gravity(-0.4);
                plant.start = [[-1.5, -0.5, 0.0, 0.0], [1.5, 0.5, 0.0, 0.0]];
                plant
            }
            Self::ThreeStates => {
                let mut plant = three_states();
                plant.noise = [0.002, 0.01, 0.02, 0.0];
                plant
            }
        }
    }

    /// A reasonable controller.
    fn controller(self) -> Controller {
        let gain = match self {
            Self::Line => [-2.5, 0.0, 0.0, 0.0],
            Self::Pendulum => [-1.5, -1.5, 0.0, 0.0],
            Self::ThreeStates => [-1.2, -2.4, -0.8, 0.0],
        };
        Controller { gain }
    }
}

impl Condition {
    /// The files' word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::Payload => "payload per episode",
            Self::MissingState => "missing state",
            Self::NoiseUnderestimated => "noise underestimated",
            Self::Delay => "delay",
        }
    }

    /// The system and how it is logged, for a model that is fitted to this log.
    pub fn fitted(self, system: System, episodes: usize, draw: &mut Draw) -> (Plant, Logging) {
        let (mut plant, mut logging) = self.met(system, episodes, draw);
        if self == Self::NoiseUnderestimated {
            plant.noise = system.plant().noise.map(|noise| WIND * noise);
            logging.calm = Some(CALM);
        }
        (plant, logging)
    }

    /// The same for a model that was fitted while nothing was broken and meets this log later.
    pub fn met(self, system: System, episodes: usize, draw: &mut Draw) -> (Plant, Logging) {
        let mut plant = system.plant();
        let base = system.controller();
        let mut logging = Logging {
            controllers: (0..2).map(|_| base.near(SHARE, draw)).collect(),
            exploration: 0.2,
            episodes,
            steps: STEPS,
            hole: None,
            calm: None,
            felt: Felt::AtOnce,
        };
        match self {
            Self::Right => {}
            Self::Payload => plant.payload = PAYLOAD * plant.most_action,
            Self::MissingState => logging.felt = Felt::Lagging(LAG),
            Self::NoiseUnderestimated => {
                plant.noise = plant.noise.map(|noise| MORE_NOISE * noise);
            }
            Self::Delay => logging.felt = Felt::Late(DELAY),
        }
        (plant, logging)
    }
}
