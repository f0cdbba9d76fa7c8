//! A system with up to four states and one action, small enough to be simulated tens of
//! thousands of times; and the same as a task file.
//!
//! s′ = matrix · s + input · force + feature(s) + noise, with force = actuator · a + payload.
//! All in f32 and through `libm`, so that a log has the same bits on every machine.

use std::f32::consts::PI;

use crate::fixture::Draw;

/// The most states.
pub const MOST: usize = 4;

/// What is left of a force in [`Feature::Mud`].
const IN_MUD: f32 = 0.01;

/// A state; what is beyond the plant's dimension is 0.
pub type State = [f32; MOST];

/// What is not linear. Position is state 0, speed is state 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Feature {
    /// Nothing.
    None,
    /// The speed changes by this number times the sine of the position.
    Gravity(f32),
    /// The speed falls by this number times tanh(speed / 0.2), and the force saturates at the
    /// second number like a tanh.
    Friction(f32, f32),
    /// Beyond this position, either way, a hundredth of the force is left.
    Mud(f32),
    /// The speed grows by `height` near the position `place`.
    Hill {
        /// Change of the speed at the top.
        height: f32,
        /// Where the top is.
        place: f32,
        /// How far from it the height has fallen to 1/e.
        width: f32,
    },
}

/// The law of the process noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tails {
    Normal,
    /// Student's t with three degrees of freedom, scaled to the same variance.
    Heavy,
}

/// What a step costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// How the weights count.
    pub shape: Shape,
    /// Of the states.
    pub state: State,
    /// Of the square of the action.
    pub action: f32,
}

/// How the weights of a cost count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// −(sum of weights · squares).
    Quadratic,
    /// −(sum of weights · absolute values).
    Absolute,
    /// exp(−sum of weights · squares): paid for being near.
    Bump,
    /// As quadratic, but 1 + cos of state 0 instead of its square.
    Hanging,
}

/// A trajectory ends where state 0 leaves ±`limit`; that costs `penalty` once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// How far state 0 may go.
    pub limit: f32,
    /// What the last step costs beside the rest.
    pub penalty: f32,
}

/// What an episode remembers and no column of a log holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hidden {
    /// A force that stays for the episode.
    pub load: f32,
    /// Coloured noise, in standard deviations.
    noise: State,
}

/// A system.
#[derive(Clone, Debug, PartialEq)]
pub struct Plant {
    /// What it is called.
    pub name: &'static str,
    /// How many states it has.
    pub states: usize,
    /// What the state does by itself.
    pub matrix: [State; MOST],
    /// What the force does.
    pub input: State,
    /// What is not linear.
    pub feature: Feature,
    /// Standard deviation of the process noise.
    pub noise: State,
    /// Its law.
    pub tails: Tails,
    /// Correlation of the process noise from one step to the next, whose standard deviation
    /// it leaves as it is; 0 if it is white.
    pub colour: f32,
    /// Standard deviations of a gust: noise that is the same draw for all states.
    pub gust: State,
    /// Probability per step of a push, and how much of it goes to the speed.
    pub kick: Option<[f32; 2]>,
    /// Standard deviation of a force that is drawn once per episode.
    pub payload: f32,
    /// What becomes of an action: 1 if the actuator is sound.
    pub actuator: f32,
    /// Actions up to this size do nothing, and larger ones are less by it.
    pub dead_zone: f32,
    /// Whether state 0 is an angle that is measured between −π and π.
    pub wrapped: bool,
    /// Initial states are uniform between these.
    pub start: [State; 2],
    /// States stay between these.
    pub limits: Option<[State; 2]>,
    /// Actions stay between plus and minus this.
    pub most_action: f32,
    /// Rewards.
    pub cost: Cost,
    /// Where trajectories end.
    pub end: Option<End>,
}

impl Plant {
    /// A linear one without noise, paid by the squares of the first two states.
    #[must_use]
    pub fn linear(name: &'static str, states: usize, matrix: [State; MOST], input: State) -> Self {
        Self {
            name,
            states,
            matrix,
            input,
            feature: Feature::None,
            noise: [0.0; MOST],
            tails: Tails::Normal,
            colour: 0.0,
            gust: [0.0; MOST],
            kick: None,
            payload: 0.0,
            actuator: 1.0,
            dead_zone: 0.0,
            wrapped: false,
            start: [[-1.0; MOST], [1.0; MOST]],
            limits: None,
            most_action: 3.0,
            cost: Cost {
                shape: Shape::Quadratic,
                state: [1.0, 0.1, 0.0, 0.0],
                action: 0.01,
            },
            end: None,
        }
    }

    /// An initial state.
    pub fn first(&self, draw: &mut Draw) -> State {
        let [low, high] = self.start;
        let mut state = [0.0; MOST];
        for j in 0..self.states {
            state[j] = draw.between(low[j], high[j]);
        }
        state
    }

    /// What stays hidden at the start of an episode.
    pub fn hidden(&self, draw: &mut Draw) -> Hidden {
        let mut hidden = Hidden {
            load: 0.0,
            noise: [0.0; MOST],
        };
        if self.payload > 0.0 {
            hidden.load = self.payload * draw.normal();
        }
        if self.colour > 0.0 {
            hidden.noise = hidden.noise.map(|_| self.tails.draw(draw));
        }
        hidden
    }

    /// s′, of an action within its limits.
    pub fn next(&self, state: &State, action: f32, hidden: &mut Hidden, draw: &mut Draw) -> State {
        let mut force = self.actuator * self.beyond_the_dead_zone(action) + hidden.load;
        match self.feature {
            Feature::Friction(_, most) => force = most * libm::tanhf(force / most),
            Feature::Mud(place) if state[0].abs() > place => force *= IN_MUD,
            _ => {}
        }
        let mut next = [0.0; MOST];
        for (j, next) in next.iter_mut().enumerate().take(self.states) {
            let row = self.matrix[j].iter().zip(state).map(|(a, x)| a * x);
            *next = row.sum::<f32>() + self.input[j] * force;
        }
        next[1] += self.feature.push(state);
        if let Some([probability, push]) = self.kick
            && draw.between(0.0, 1.0) < probability
        {
            next[1] += push;
        }
        let noise = self.noise.iter().zip(&mut hidden.noise);
        for (next, (noise, before)) in next.iter_mut().zip(noise).take(self.states) {
            if *noise > 0.0 {
                *next += noise * self.coloured(before, draw);
            }
        }
        if self.gust != [0.0; MOST] {
            let gust = draw.normal();
            for (next, share) in next.iter_mut().zip(self.gust).take(self.states) {
                *next += share * gust;
            }
        }
        if self.wrapped {
            next[0] -= 2.0 * PI * libm::floorf((next[0] + PI) / (2.0 * PI));
        }
        if let Some([low, high]) = &self.limits {
            for j in 0..self.states {
                next[j] = next[j].clamp(low[j], high[j]);
            }
        }
        next
    }

    fn beyond_the_dead_zone(&self, action: f32) -> f32 {
        if self.dead_zone > 0.0 {
            (action.abs() - self.dead_zone).max(0.0).copysign(action)
        } else {
            action
        }
    }

    /// Noise of variance 1, correlated with what was before.
    fn coloured(&self, before: &mut f32, draw: &mut Draw) -> f32 {
        let fresh = self.tails.draw(draw);
        if self.colour == 0.0 {
            return fresh;
        }
        *before = self.colour * *before + libm::sqrtf(1.0 - self.colour * self.colour) * fresh;
        *before
    }

    /// Whether a trajectory ends in this next state.
    #[must_use]
    pub fn ends(&self, next: &State) -> bool {
        self.end.is_some_and(|end| next[0].abs() > end.limit)
    }

    /// What a step is worth.
    #[must_use]
    pub fn reward(&self, state: &State, action: f32, next: &State) -> f32 {
        let Cost {
            shape,
            state: weights,
            action: of_action,
        } = self.cost;
        let mut cost = of_action * action * action;
        for (j, (weight, x)) in weights.iter().zip(state).enumerate() {
            cost += weight
                * match shape {
                    Shape::Absolute => x.abs(),
                    Shape::Hanging if j == 0 => 1.0 + libm::cosf(*x),
                    _ => x * x,
                };
        }
        let end = match self.end {
            Some(end) if self.ends(next) => end.penalty,
            _ => 0.0,
        };
        match shape {
            Shape::Bump => libm::expf(-cost) - end,
            _ => -cost - end,
        }
    }

    /// Names of the states in a task.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        (0..self.states).map(|j| format!("x{j}")).collect()
    }

    /// The reward as a task says it.
    #[must_use]
    pub fn reward_text(&self) -> String {
        let Cost {
            shape,
            state: weights,
            action,
        } = self.cost;
        let mut terms = vec![format!("{action} * u^2")];
        for (j, weight) in weights.iter().enumerate().take(self.states) {
            terms.push(match shape {
                Shape::Absolute => format!("{weight} * abs(x{j})"),
                Shape::Hanging if j == 0 => format!("{weight} * (1 + cos(x0))"),
                _ => format!("{weight} * x{j}^2"),
            });
        }
        let cost = terms.join(" + ");
        let end = match self.end {
            Some(End { limit, penalty }) if penalty > 0.0 => {
                format!(" - {penalty} * (abs(next.x0) > {limit})")
            }
            _ => String::new(),
        };
        match shape {
            Shape::Bump => format!("exp(-({cost})){end}"),
            _ => format!("-({cost}){end}"),
        }
    }

    /// The task file: names, limits, reward, termination and initial states.
    #[must_use]
    pub fn task_text(&self, horizon: usize, threshold: f32, rest: &str) -> String {
        let list = |numbers: &State| format!("{:?}", &numbers[..self.states]);
        let limits = match &self.limits {
            Some([low, high]) => format!("low = {}\nhigh = {}\n", list(low), list(high)),
            None => String::new(),
        };
        let end = match self.end {
            Some(End { limit, .. }) => {
                format!("[termination]\nexpr = \"abs(next.x0) > {limit}\"\n")
            }
            None => String::new(),
        };
        let [low, high] = &self.start;
        format!(
            "name = \"{}\"\nhorizon = {horizon}\ndelta = {DELTA}\nthreshold = {threshold:?}\n\
             [state]\nnames = {:?}\n{limits}\
             [action]\nnames = [\"u\"]\nlow = [{}]\nhigh = [{}]\n\
             [reward]\nexpr = \"{}\"\n{end}\
             [initial]\nkind = \"uniform\"\nlow = {}\nhigh = {}\n{rest}",
            self.name,
            self.names(),
            -self.most_action,
            self.most_action,
            self.reward_text(),
            list(low),
            list(high),
        )
    }
}

/// The probability with which a study's bounds may fail: the default of tasks.
pub const DELTA: f64 = 0.05;
/// How far the truth clears the threshold, as a share of the spread.
pub const MARGIN: f64 = 0.2;

impl Feature {
    /// What is added to the speed.
    fn push(self, state: &State) -> f32 {
        match self {
            Self::None | Self::Mud(_) => 0.0,
            Self::Gravity(strength) => strength * libm::sinf(state[0]),
            Self::Friction(strength, _) => -strength * libm::tanhf(state[1] / 0.2),
            Self::Hill {
                height,
                place,
                width,
            } => {
                let far = (state[0] - place) / width;
                height * libm::expf(-far * far)
            }
        }
    }
}

impl Tails {
    /// A number of mean 0 and variance 1.
    fn draw(self, draw: &mut Draw) -> f32 {
        match self {
            Self::Normal => draw.normal(),
            Self::Heavy => {
                let mut squares = 0.0;
                for _ in 0..3 {
                    let normal = draw.normal();
                    squares += normal * normal;
                }
                // Over sqrt(squares / 3), and once more over the law's own deviation.
                draw.normal() / libm::sqrtf(squares)
            }
        }
    }
}
