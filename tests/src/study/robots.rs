//! Three robots whose truth can be simulated, each as two tasks on the same log: one that leaves
//! everything to the model, and one that says what an engineer knows of it.
//!
//! All in f32 and through `libm`, so that a log has the same bits on every machine.

use hambo_base::Error;
use hambo_data::{Log, Transition};
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

use super::faults::Fault;
use crate::fixture::Draw;

/// Seconds of a step.
const STEP: f32 = 0.05;
/// Steps of an episode, and of a check.
pub const HORIZON: usize = 40;

/// A robot with its cost and a controller that does well.
#[derive(Clone, Copy, Debug)]
pub struct Robot {
    /// What it is called.
    pub name: &'static str,
    /// Names of the states.
    states: &'static [&'static str],
    /// Names of the actions.
    actions: &'static [&'static str],
    /// What it knows of itself, as sections of a task.
    known: &'static str,
    reward: &'static str,
    /// Its step without noise.
    step: fn(&[f32], &[f32]) -> Vec<f32>,
    /// Which states have noise, and how much.
    noise: &'static [(usize, f32)],
    /// The next state again after noise: what follows from the noisy ones.
    after: fn(&[f32], &mut [f32]),
    /// A first state from uniform numbers.
    start: fn(&mut Draw) -> Vec<f32>,
    /// States stay between plus and minus these.
    most: &'static [f32],
    /// The first states as a section of a task.
    initial: &'static str,
    /// One row for each action.
    gain: &'static [&'static [f32]],
    /// Actions stay between plus and minus this.
    limit: f32,
    /// What a step is worth.
    value: fn(&[f32], &[f32]) -> f32,
    /// An offset of a sensor that changes how the robot seems to move.
    pub seen_offset: Fault,
    /// One that does not, for its dynamics do not depend on where it is, if there is one.
    pub unseen_offset: Option<Fault>,
}

/// All of them.
pub const ROBOTS: [Robot; 3] = [CART_POLE, DRONE, PENDULUM];

/// Cart and pole: a cart of 1 kg, a pole of 0.1 kg and half a metre to its middle.
const CART_POLE: Robot = Robot {
    name: "cart-pole",
    states: &["x", "v", "theta", "omega"],
    actions: &["force"],
    known: "[known]\nx = \"x + 0.05 * next.v\"\ntheta = \"theta + 0.05 * next.omega\"\n\
            [model]\ninputs = [\"v\", \"sin(theta)\", \"omega\"]\n",
    reward: "-(x^2 + 0.1 * v^2 + 5 * theta^2 + 0.1 * omega^2 + 0.001 * force^2)",
    step: |s, a| {
        let (sin, cos) = (libm::sinf(s[2]), libm::cosf(s[2]));
        let pushed = (a[0] + 0.05 * s[3] * s[3] * sin) / 1.1;
        let turning = (9.8 * sin - cos * pushed) / (0.5 * (4.0 / 3.0 - 0.1 * cos * cos / 1.1));
        let moving = pushed - 0.05 * turning * cos / 1.1;
        vec![0.0, s[1] + STEP * moving, 0.0, s[3] + STEP * turning]
    },
    noise: &[(1, 0.01), (3, 0.02)],
    after: |s, next| {
        next[0] = s[0] + 0.05 * next[1];
        next[2] = s[2] + 0.05 * next[3];
    },
    start: |draw| {
        let mut near = |most: f32| draw.between(-most, most);
        vec![near(0.5), near(0.2), near(0.15), near(0.2)]
    },
    most: &[3.0, 5.0, 1.5, 10.0],
    initial: "kind = \"uniform\"\nlow = [-0.5, -0.2, -0.15, -0.2]\nhigh = [0.5, 0.2, 0.15, 0.2]",
    gain: &[&[1.5, 3.0, 35.0, 7.0]],
    limit: 15.0,
    value: |s, a| {
        -(s[0] * s[0]
            + 0.1 * s[1] * s[1]
            + 5.0 * s[2] * s[2]
            + 0.1 * s[3] * s[3]
            + 0.001 * a[0] * a[0])
    },
    seen_offset: Fault::Offset(2, 0.1),
    unseen_offset: Some(Fault::Offset(0, 0.3)),
};

/// A drone in a plane with drag; thrust counts from hovering.
const DRONE: Robot = Robot {
    name: "planar-drone",
    states: &["x", "z", "theta", "vx", "vz", "omega"],
    actions: &["thrust", "torque"],
    known: "[known]\nx = \"x + 0.05 * next.vx\"\nz = \"z + 0.05 * next.vz\"\n\
            theta = \"theta + 0.05 * next.omega\"\n\
            [model]\ninputs = [\"sin(theta)\", \"vx\", \"vz\", \"omega\"]\n",
    reward: "-(x^2 + z^2 + theta^2 + 0.1 * (vx^2 + vz^2 + omega^2) \
             + 0.01 * (thrust^2 + torque^2))",
    step: |s, a| {
        let (sin, cos) = (libm::sinf(s[2]), libm::cosf(s[2]));
        let lift = 9.8 + a[0];
        vec![
            0.0,
            0.0,
            0.0,
            s[3] + STEP * (-lift * sin - 0.3 * s[3] * s[3].abs()),
            s[4] + STEP * (lift * cos - 9.8 - 0.3 * s[4] * s[4].abs()),
            s[5] + STEP * (5.0 * a[1] - 0.5 * s[5]),
        ]
    },
    noise: &[(3, 0.01), (4, 0.01), (5, 0.02)],
    after: |s, next| {
        for j in 0..3 {
            next[j] = s[j] + 0.05 * next[3 + j];
        }
    },
    start: |draw| {
        let mut near = |most: f32| draw.between(-most, most);
        vec![
            near(0.5),
            near(0.5),
            near(0.2),
            near(0.3),
            near(0.3),
            near(0.3),
        ]
    },
    most: &[5.0, 5.0, 3.0, 10.0, 10.0, 10.0],
    initial: "kind = \"uniform\"\nlow = [-0.5, -0.5, -0.2, -0.3, -0.3, -0.3]\n\
              high = [0.5, 0.5, 0.2, 0.3, 0.3, 0.3]",
    gain: &[
        &[0.0, -4.0, 0.0, 0.0, -4.0, 0.0],
        &[0.8, 0.0, -6.0, 1.0, 0.0, -1.5],
    ],
    limit: 4.0,
    value: |s, a| {
        let squares = |from: usize, to: usize| s[from..to].iter().map(|x| x * x).sum::<f32>();
        -(squares(0, 3) + 0.1 * squares(3, 6) + 0.01 * (a[0] * a[0] + a[1] * a[1]))
    },
    seen_offset: Fault::Offset(2, 0.1),
    unseen_offset: Some(Fault::Offset(0, 0.3)),
};

/// A pendulum that is held upright, by cosine and sine of its angle.
const PENDULUM: Robot = Robot {
    name: "pendulum",
    states: &["c", "s", "omega"],
    actions: &["torque"],
    known: "[known]\nc = \"c * cos(0.05 * next.omega) - s * sin(0.05 * next.omega)\"\n\
            s = \"s * cos(0.05 * next.omega) + c * sin(0.05 * next.omega)\"\n",
    reward: "-(atan2(s, c)^2 + 0.1 * omega^2 + 0.001 * torque^2)",
    step: |s, a| vec![0.0, 0.0, s[2] + STEP * (15.0 * s[1] + 3.0 * a[0])],
    noise: &[(2, 0.03)],
    after: |s, next| {
        let turn = 0.05 * next[2];
        let (sin, cos) = (libm::sinf(turn), libm::cosf(turn));
        next[0] = s[0] * cos - s[1] * sin;
        next[1] = s[1] * cos + s[0] * sin;
    },
    start: |draw| {
        let angle = draw.between(-0.5, 0.5);
        let turning = draw.between(-0.5, 0.5);
        vec![libm::cosf(angle), libm::sinf(angle), turning]
    },
    most: &[1.0, 1.0, 10.0],
    initial: "kind = \"data\"",
    gain: &[&[0.0, -12.0, -3.0]],
    limit: 8.0,
    value: |s, a| {
        let angle = libm::atan2f(s[1], s[0]);
        -(angle * angle + 0.1 * s[2] * s[2] + 0.001 * a[0] * a[0])
    },
    seen_offset: Fault::Offset(2, 0.5),
    unseen_offset: None,
};

/// One gain for each state and action.
pub type Gains = Vec<Vec<f32>>;

impl Robot {
    /// Gains that differ from the good ones by about this share of each.
    #[must_use]
    pub fn gains(&self, share: f32, draw: &mut Draw) -> Gains {
        let rows = self.gain.iter();
        rows.map(|row| {
            let gains = row.iter();
            gains
                .map(|gain| gain * (1.0 + share * draw.normal()))
                .collect()
        })
        .collect()
    }

    /// The controller that does nothing.
    #[must_use]
    pub fn idle(&self) -> Gains {
        vec![vec![0.0; self.states.len()]; self.actions.len()]
    }

    fn act(&self, gains: &Gains, state: &[f32], exploration: f32, draw: &mut Draw) -> Vec<f32> {
        let rows = gains.iter();
        rows.map(|row| {
            let action: f32 = row.iter().zip(state).map(|(k, x)| k * x).sum();
            let noise = if exploration > 0.0 {
                exploration * draw.normal()
            } else {
                0.0
            };
            (action + noise).clamp(-self.limit, self.limit)
        })
        .collect()
    }

    fn next(&self, state: &[f32], action: &[f32], inertia: f32, draw: &mut Draw) -> Vec<f32> {
        let mut next = (self.step)(state, action);
        for (place, size) in self.noise {
            if inertia != 1.0 {
                let before = state[*place];
                next[*place] = before + (next[*place] - before) / inertia;
            }
            next[*place] += size * draw.normal();
        }
        (self.after)(state, &mut next);
        next
    }

    /// The mean return of a controller, and its standard error.
    #[must_use]
    pub fn truth(&self, gains: &Gains, episodes: usize, seed: u64) -> [f64; 2] {
        let draw = &mut Draw::new(seed);
        let returns = (0..episodes).map(|_| {
            let mut state = (self.start)(draw);
            let mut sum = 0.0_f64;
            for _ in 0..HORIZON {
                let action = self.act(gains, &state, 0.0, draw);
                sum += f64::from((self.value)(&state, &action));
                state = self.next(&state, &action, 1.0, draw);
            }
            sum
        });
        let returns: Vec<f64> = returns.collect();
        let count = returns.len() as f64;
        let mean = returns.iter().sum::<f64>() / count;
        let squares: f64 = returns.iter().map(|value| (value - mean).powi(2)).sum();
        [mean, (squares / (count - 1.0) / count).sqrt()]
    }

    /// A log of controllers near the good one, with exploration.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn log(&self, episodes: u32, draw: &mut Draw) -> Result<Log, Error> {
        let mut log = Log::new(self.states.len(), self.actions.len());
        for episode in 0..episodes {
            let gains = self.gains(0.15, draw);
            let mut state = (self.start)(draw);
            for _ in 0..HORIZON {
                let action = self.act(&gains, &state, 0.15 * self.limit, draw);
                let next_state = self.next(&state, &action, 1.0, draw);
                log.push(Transition {
                    state: &state,
                    action: &action,
                    next_state: &next_state,
                    reward: (self.value)(&state, &action),
                    episode,
                })?;
                state = next_state;
            }
        }
        Ok(log)
    }

    /// Drives of a controller after a fault, as its sensors and commands tell them, and the
    /// true return of the first [`HORIZON`] steps of each.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn drives(
        &self,
        gains: &Gains,
        fault: Fault,
        (episodes, steps): (u32, usize),
        draw: &mut Draw,
    ) -> Result<(Log, Vec<f64>), Error> {
        let mut log = Log::new(self.states.len(), self.actions.len());
        let mut returns = Vec::new();
        for episode in 0..episodes {
            let mut state = (self.start)(draw);
            let mut measured = fault.measured(&state);
            let mut before = vec![0.0; self.actions.len()];
            let mut sum = 0.0;
            for step in 0..steps {
                let action = self.act(gains, &measured, 0.0, draw);
                if step < HORIZON {
                    sum += f64::from((self.value)(&state, &action));
                }
                let actuated = fault.actuated(&action, &before);
                state = self.next(&state, &actuated, fault.inertia(), draw);
                let next_state = fault.measured(&state);
                log.push(Transition {
                    state: &measured,
                    action: &action,
                    next_state: &next_state,
                    reward: 0.0,
                    episode,
                })?;
                (measured, before) = (next_state, action);
            }
            returns.push(sum);
        }
        Ok((log, returns))
    }

    /// The task, with what is known or without.
    ///
    /// # Errors
    /// If the text is wrong, which would be a bug of this file.
    pub fn task(&self, knowing: bool, threshold: f64) -> Result<TaskFile, Error> {
        let limits = vec![self.limit; self.actions.len()];
        let minus = |limits: &[f32]| -> Vec<f32> { limits.iter().map(|limit| -limit).collect() };
        let (low, lowest) = (minus(&limits), minus(self.most));
        let known = if knowing { self.known } else { "" };
        let text = format!(
            "name = \"{}\"\nhorizon = {HORIZON}\nthreshold = {threshold}\n\
             [state]\nnames = {:?}\nlow = {lowest:?}\nhigh = {:?}\n[action]\nnames = {:?}\nlow = {low:?}\nhigh = {limits:?}\n\
             {known}[reward]\nexpr = \"{}\"\n[initial]\n{}\n",
            self.name, self.states, self.most, self.actions, self.reward, self.initial
        );
        Ok(TaskFile::parse(&text, self.name)?)
    }

    /// A controller as a policy.
    ///
    /// # Errors
    /// If a number is not finite.
    pub fn policy(&self, gains: &Gains, task: &TaskFile) -> Result<HostPolicy, Error> {
        let bias = vec![0.0_f32; self.actions.len()];
        let text = format!("kind = \"linear\"\ngain = {gains:?}\nbias = {bias:?}");
        Ok(HostPolicy::parse(&text, "linear", task)?)
    }
}
