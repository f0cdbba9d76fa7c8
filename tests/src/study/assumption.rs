//! Assumptions of the method, each broken once: what the log shows of a system, and what the
//! system truly does.

use hambo_core::task::Allocation;

use super::plant::{Feature, MOST, Plant, Shape, State, Tails};
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
/// What stops position and speed of a cart, either way: with them returns have bounds.
const STOPS: [State; 2] = [[-3.0, -4.0, 0.0, 0.0], [3.0, 4.0, 0.0, 0.0]];
/// Noise that stays for about ten steps, of position and speed.
const COLOURED: [f32; MOST] = [0.01, 0.1, 0.0, 0.0];
const COLOUR: f32 = 0.9;
/// What a gust does to two positions, and what each meets alone.
const GUST: [f32; MOST] = [0.1, 0.1, 0.0, 0.0];
const ALONE: [f32; MOST] = [0.03, 0.03, 0.0, 0.0];
/// The share of the actuator's range that does nothing.
const DEAD_ZONE: f32 = 0.15;
/// Where mud begins, and where the task starts in it: the logged positions have a standard
/// deviation of about 0.17.
const MUD: f32 = 0.8;
const IN_MUD: [f32; 2] = [0.95, 1.1];

/// What is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Assumption {
    Nothing,
    /// Noise is Student's t with three degrees of freedom.
    HeavyTails,
    /// In four of five logged episodes the noise is a tenth of what it is in the others, and
    /// of what it will be: the model learns about half of it.
    NoiseUnderestimated,
    /// One gust pushes two states at once, and a requirement is about their sum.
    CommonGusts,
    /// What a step's noise is depends on the noise before it.
    ColouredNoise,
    /// A force that is drawn once per episode and in no column; the logged episodes are short.
    Payload,
    /// Such a force, and all rows are of one episode.
    OneRecording,
    /// A pendulum around ±π whose angle jumps in the log.
    Wrapped,
    /// The log has no rows around a hill that the controller must climb.
    Hole,
    /// One deterministic controller logged, another is checked; three states.
    NoExploration,
    FiveEpisodes,
    /// The task starts far outside the logged states, where forces do next to nothing; a
    /// controller that acts as in the log would be among them after three steps.
    StartsOutside,
    /// Small actions do nothing, and the controller's are small.
    DeadZone,
    /// Every logged episode starts in the same state, and the task starts from its data.
    OneStart,
    /// A push in 2 % of the steps, in the log too.
    Disaster,
    /// The same logs and controllers under a focused search.
    DisasterFocused,
    /// Actions have 70 % of the effect that they had in the log.
    WeakActuator,
    /// The push happens only after the log.
    UnseenDisaster,
}

/// All of them.
pub const ASSUMPTIONS: [Assumption; 18] = [
    Assumption::Nothing,
    Assumption::HeavyTails,
    Assumption::NoiseUnderestimated,
    Assumption::CommonGusts,
    Assumption::ColouredNoise,
    Assumption::Payload,
    Assumption::OneRecording,
    Assumption::Wrapped,
    Assumption::Hole,
    Assumption::NoExploration,
    Assumption::FiveEpisodes,
    Assumption::StartsOutside,
    Assumption::DeadZone,
    Assumption::OneStart,
    Assumption::Disaster,
    Assumption::DisasterFocused,
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
    /// The probability with which the sum of the first two states is to stay below a limit,
    /// if that is what is asked and not a return.
    pub requirement: Option<f64>,
    /// How the check searches.
    pub allocation: Option<Allocation>,
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
            Self::CommonGusts => "common gusts",
            Self::ColouredNoise => "coloured noise",
            Self::Payload => "payload per episode",
            Self::OneRecording => "one recording",
            Self::Wrapped => "angles wrapped",
            Self::Hole => "hole in the data",
            Self::NoExploration => "no exploration",
            Self::FiveEpisodes => "five episodes",
            Self::StartsOutside => "starts outside",
            Self::DeadZone => "dead zone",
            Self::OneStart => "one start",
            Self::Disaster => "rare disaster",
            Self::DisasterFocused => "rare disaster (focused search)",
            Self::WeakActuator => "weaker actuator",
            Self::UnseenDisaster => "disaster never met",
        }
    }

    /// Whether a log can show it at all.
    #[must_use]
    pub fn can_be_seen(self) -> bool {
        !matches!(self, Self::WeakActuator | Self::UnseenDisaster)
    }

    /// What a table says beside the name.
    #[must_use]
    pub fn whether_seen(self) -> &'static str {
        if self.can_be_seen() {
            ""
        } else {
            " (a log cannot show it)"
        }
    }

    /// Whose logs and controllers are those of this one.
    #[must_use]
    pub fn logs(self) -> Self {
        match self {
            Self::DisasterFocused => Self::Disaster,
            own => own,
        }
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
            requirement: None,
            allocation: None,
        };
        match self {
            Self::Nothing => {}
            Self::HeavyTails => {
                case.all(|plant| plant.limits = Some(STOPS));
                case.both(|plant| {
                    plant.noise = NOISE;
                    plant.tails = Tails::Heavy;
                });
            }
            Self::NoiseUnderestimated => {
                case.both(|plant| plant.noise = WIND);
                case.logging.calm = Some(CALM);
            }
            Self::CommonGusts => {
                case.all(|plant| *plant = two_positions());
                case.both(|plant| plant.gust = GUST);
                // Apart from each other at first, so that the log shows each position's own way.
                case.logged.start = [[-0.5; MOST], [0.5; MOST]];
                case.controller.gain = [-1.0, -1.0, 0.0, 0.0];
                case.checked = case.controller;
                case.logging.exploration = 0.4;
                case.requirement = Some(0.97);
            }
            Self::ColouredNoise => {
                case.all(|plant| plant.limits = Some(STOPS));
                case.both(|plant| {
                    plant.noise = COLOURED;
                    plant.colour = COLOUR;
                });
            }
            Self::OneRecording => {
                // Not so far from what the recording shows that the distance would tell.
                case.all(|plant| plant.start = [[-0.3; MOST], [0.3; MOST]]);
                case.both(|plant| plant.payload = 0.6);
                case.horizon = 60;
                case.logging.exploration = 0.6;
                case.logging.episodes = 1;
                case.logging.steps = 3000;
            }
            Self::Payload => {
                case.all(|plant| plant.limits = Some(STOPS));
                case.both(|plant| plant.payload = 1.0);
                // Too short to settle: no state tells all of the payload. Half of the horizon, for a
                // check judges twice what was tested.
                case.logging.episodes = 120;
                case.logging.steps = 15;
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
            Self::StartsOutside => {
                case.all(|plant| {
                    *plant = line();
                    plant.start = [[IN_MUD[0]; MOST], [IN_MUD[1]; MOST]];
                });
                case.both(|plant| plant.feature = Feature::Mud(MUD));
                case.logged.start = [[-0.3; MOST], [0.3; MOST]];
                case.controller.gain = [-2.0, 0.0, 0.0, 0.0];
                case.checked = case.controller;
                case.logging.exploration = 0.33;
                // Three steps of it are few enough to be allowed.
                case.horizon = 100;
            }
            Self::DeadZone => {
                case.all(|plant| plant.limits = Some(STOPS));
                case.both(|plant| plant.dead_zone = DEAD_ZONE * plant.most_action);
                case.checked.gain = [-0.35, -0.3, 0.0, 0.0];
                case.horizon = 60;
                case.logging.episodes = 100;
                case.logging.steps = 50;
            }
            Self::OneStart => {
                case.logged.start = [[0.5, 0.0, 0.0, 0.0]; 2];
                case.starts_from_data = true;
            }
            Self::Disaster | Self::DisasterFocused => {
                case.all(|plant| plant.limits = Some(STOPS));
                case.both(|plant| plant.kick = Some(DISASTER));
                if self == Self::DisasterFocused {
                    case.allocation = Some(Allocation::Focused);
                }
            }
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

/// Two positions that one action pulls back.
fn two_positions() -> Plant {
    let mut matrix = [[0.0; MOST]; MOST];
    matrix[0][0] = 0.5;
    matrix[1][1] = 0.5;
    let mut plant = Plant::linear("two positions", 2, matrix, [DT, DT, 0.0, 0.0]);
    plant.start = [[-0.3; MOST], [0.3; MOST]];
    plant.limits = Some([[-3.0; MOST], [3.0; MOST]]);
    plant.noise = ALONE;
    plant.cost.state = [1.0, 1.0, 0.0, 0.0];
    plant
}

/// One position that stays where it is left.
fn line() -> Plant {
    let mut matrix = [[0.0; MOST]; MOST];
    matrix[0][0] = 1.0;
    let mut plant = Plant::linear("line", 1, matrix, [DT, 0.0, 0.0, 0.0]);
    plant.noise[0] = 0.005;
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
