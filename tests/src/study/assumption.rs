//! Assumptions of the method, each broken once: what the log shows of a system, and what the
//! system truly does.

use super::plant::{Feature, MOST, Plant, Shape, Tails};
use super::simulate::{Controller, Felt, Logging};
use crate::fixture::Draw;

/// Seconds of a step.
const DT: f32 = 0.1;
/// Probability of a disaster per step, and what it does to the speed.
const DISASTER: [f32; 2] = [0.02, -1.5];
/// Noise that matters, of position and speed.
const NOISE: [f32; MOST] = [0.015, 0.15, 0.0, 0.0];
/// Noise of a windy episode, and how much of it is left in a calm one.
const WIND: [f32; MOST] = [0.03, 0.3, 0.0, 0.0];
const CALM: f32 = 0.1;

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    Nothing,
    /// Noise is Student's t with three degrees of freedom.
    HeavyTails,
    /// In four of five logged episodes the noise is a tenth of what it is in the others, and
    /// of what it will be: the model learns about half of it.
    NoiseUnderestimated,
    /// A force that is drawn once per episode and in no column; the logged episodes are short.
    Payload,
    /// A pendulum around ±π whose angle jumps in the log.
    Wrapped,
    /// The log has no rows around a hill that the controller must climb.
    Hole,
    /// One deterministic controller logged, another is checked; three states.
    NoExploration,
    FiveEpisodes,
    /// Every logged episode starts in the same state, and the task starts from its data.
    OneStart,
    /// A push in 2 % of the steps, in the log too.
    Disaster,
    /// Actions have 70 % of the effect that they had in the log.
    WeakActuator,
    /// The push happens only after the log.
    UnseenDisaster,
}

/// All of them.
pub const ASSUMPTIONS: [Assumption; 12] = [
    Assumption::Nothing,
    Assumption::HeavyTails,
    Assumption::NoiseUnderestimated,
    Assumption::Payload,
    Assumption::Wrapped,
    Assumption::Hole,
    Assumption::NoExploration,
    Assumption::FiveEpisodes,
    Assumption::OneStart,
    Assumption::Disaster,
    Assumption::WeakActuator,
    Assumption::UnseenDisaster,
];

/// What is simulated.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// The system as the log shows it.
    pub logged: Plant,
    /// The system that the controller will meet.
    pub real: Plant,
    /// A reasonable controller, near which are those that log.
    pub controller: Controller,
    /// Near which are those that are checked; the same but where exploration is missing.
    pub checked: Controller,
    /// T.
    pub horizon: usize,
    /// How the log is made, with its controllers.
    pub logging: Logging,
    /// Whether the task starts from its data.
    pub starts_from_data: bool,
    /// The system without what is broken, whose spread is the unit of gaps.
    pub sound: Plant,
}

impl Assumption {
    /// The file's word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Nothing => "nothing broken",
            Self::HeavyTails => "heavy-tailed noise",
            Self::NoiseUnderestimated => "noise underestimated",
            Self::Payload => "payload per episode",
            Self::Wrapped => "angles wrapped",
            Self::Hole => "hole in the data",
            Self::NoExploration => "no exploration",
            Self::FiveEpisodes => "five episodes",
            Self::OneStart => "one start",
            Self::Disaster => "rare disaster",
            Self::WeakActuator => "weaker actuator",
            Self::UnseenDisaster => "disaster never met",
        }
    }

    /// Whether a log can show it at all.
    #[must_use]
    pub fn can_be_seen(self) -> bool {
        !matches!(self, Self::WeakActuator | Self::UnseenDisaster)
    }

    /// The system and the log of it.
    pub fn case(self, draw: &mut Draw) -> Case {
        let cart = cart();
        let controller = Controller {
            gain: [-2.5, -2.2, 0.0, 0.0],
        };
        let mut case = Case {
            logged: cart.clone(),
            real: cart.clone(),
            sound: cart,
            controller,
            checked: controller,
            horizon: 30,
            logging: Logging {
                controllers: Vec::new(),
                exploration: 0.2,
                episodes: 60,
                steps: 30,
                hole: None,
                calm: None,
                felt: Felt::AtOnce,
            },
            starts_from_data: false,
        };
        match self {
            Self::Nothing => {}
            Self::HeavyTails => case.both(|plant| {
                plant.noise = NOISE;
                plant.tails = Tails::Heavy;
            }),
            Self::NoiseUnderestimated => {
                case.both(|plant| plant.noise = WIND);
                case.logging.calm = Some(CALM);
            }
            Self::Payload => {
                case.both(|plant| plant.payload = 1.0);
                // Too short to settle: no state tells the payload.
                case.logging.episodes = 225;
                case.logging.steps = 8;
            }
            Self::Wrapped => {
                case.all(|plant| *plant = pendulum());
                case.controller.gain = [0.1, -1.0, 0.0, 0.0];
                case.checked = case.controller;
            }
            Self::Hole => {
                case.all(|plant| {
                    plant.feature = Feature::Hill {
                        height: DT * 4.0,
                        place: 0.5,
                        width: 0.12,
                    };
                    plant.start = [[0.8, -0.2, 0.0, 0.0], [1.4, 0.2, 0.0, 0.0]];
                });
                case.logged.start[0] = [-0.6, -0.5, 0.0, 0.0];
                case.logged.start[1] = [1.4, 0.5, 0.0, 0.0];
                case.logging.hole = Some([0.25, 0.75]);
            }
            Self::NoExploration => {
                case.all(|plant| *plant = three_states());
                case.controller.gain = [-3.4, -6.8, -3.5, 0.0];
                // Slower, with another ratio of gains.
                case.checked.gain = [-1.2, -2.4, -0.8, 0.0];
                case.horizon = 40;
                case.logging.exploration = 0.0;
            }
            Self::FiveEpisodes => case.logging.episodes = 5,
            Self::OneStart => {
                case.logged.start = [[0.5, 0.0, 0.0, 0.0]; 2];
                case.starts_from_data = true;
            }
            Self::Disaster => case.both(|plant| plant.kick = Some(DISASTER)),
            Self::WeakActuator => case.real.actuator = 0.7,
            Self::UnseenDisaster => case.real.kick = Some(DISASTER),
        }
        // Two controllers log, one where there is no exploration: the action is then a
        // function of the state.
        let count = if self == Self::NoExploration { 1 } else { 2 };
        let base = case.controller;
        case.logging.controllers = (0..count).map(|_| base.near(SHARE, draw)).collect();
        case
    }
}

/// How much gains differ from the reasonable ones, in the log and among the checked.
pub const SHARE: f32 = 0.25;

impl Case {
    fn both(&mut self, change: impl Fn(&mut Plant)) {
        change(&mut self.logged);
        change(&mut self.real);
    }

    fn all(&mut self, change: impl Fn(&mut Plant)) {
        self.both(&change);
        change(&mut self.sound);
    }
}

/// Position, speed, a force, some drag and little noise.
pub(super) fn cart() -> Plant {
    let mut matrix = [[0.0; MOST]; MOST];
    matrix[0] = [1.0, DT, 0.0, 0.0];
    matrix[1] = [0.0, 1.0 - 0.3 * DT, 0.0, 0.0];
    let mut plant = Plant::linear("cart", 2, matrix, [0.0, DT, 0.0, 0.0]);
    plant.start = [[-1.0, -0.5, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0]];
    plant.noise = [0.002, 0.02, 0.0, 0.0];
    plant
}

/// A load that hangs at ±π and is to stop swinging; angle and speed.
fn pendulum() -> Plant {
    let mut plant = cart();
    plant.name = "pendulum";
    plant.feature = Feature::Gravity(DT * 4.0);
    plant.wrapped = true;
    plant.start = [[1.5, -2.0, 0.0, 0.0], [3.0, 2.0, 0.0, 0.0]];
    plant.cost.shape = Shape::Hanging;
    plant
}

/// Position, speed and a force that follows the action with a lag; no noise.
pub(super) fn three_states() -> Plant {
    let matrix = [
        [1.0, DT, 0.0, 0.0],
        [0.0, 1.0, DT, 0.0],
        [0.0, 0.0, 1.0 - DT, 0.0],
        [0.0; MOST],
    ];
    let mut plant = Plant::linear("three states", 3, matrix, [0.0, 0.0, DT, 0.0]);
    plant.start = [[-1.0, -0.3, -0.3, 0.0], [1.0, 0.3, 0.3, 0.0]];
    plant.most_action = 6.0;
    plant
}
