//! A robot that is not the one of its log: another mass, weaker actuators, sensors that are
//! off or silent, commands that come late.

use std::collections::VecDeque;

use hambo_core::numeric::random::Stream;
use serde::Serialize;

use super::system::Environment;
use hambo_base::Error;

/// What differs from the logged system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Disturbance {
    /// As a multiple of the logged one.
    pub mass: f64,
    /// What reaches the actuators, as a multiple of what is commanded.
    pub gain: f32,
    /// Added to the measured states, in their order; 0 for those not given.
    pub offset: Vec<f32>,
    /// Periods by which commands arrive late; before them nothing is commanded.
    pub delay: usize,
    /// The probability with which a measurement is lost.
    pub drop: f32,
}

impl Default for Disturbance {
    fn default() -> Self {
        Self {
            mass: 1.0,
            gain: 1.0,
            offset: Vec::new(),
            delay: 0,
            drop: 0.0,
        }
    }
}

/// What the sensors say in a period.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The measured states: the last ones if this period's were lost.
    pub state: Vec<f32>,
    /// Whether they are of this period.
    pub is_fresh: bool,
}

/// A system under a disturbance, period by period.
///
/// ```
/// use hambo_lab::environment::{Disturbance, DisturbedSystem, named};
/// let weak = Disturbance { gain: 0.5, offset: vec![0.25], ..Disturbance::default() };
/// let mut point = DisturbedSystem::new(named("point_safety")?, weak, 0)?;
/// assert_eq!(point.measure().state, [-1.75, 0.0]);
/// point.act(&[0.5, 0.0]);
/// assert_eq!(point.measure().state, [-1.5, 0.0]);
/// # Ok::<(), hambo_base::Error>(())
/// ```
pub struct DisturbedSystem {
    system: Box<dyn Environment>,
    disturbance: Disturbance,
    stream: Stream,
    state: Vec<f64>,
    /// Commands on their way.
    under_way: VecDeque<Vec<f32>>,
    last: Option<Vec<f32>>,
    value: f64,
}

impl DisturbedSystem {
    /// The system at the start of the episode that the seed draws.
    ///
    /// # Errors
    /// If a number of the disturbance makes no sense for this system.
    pub fn new(
        system: Box<dyn Environment>,
        disturbance: Disturbance,
        seed: u64,
    ) -> Result<Self, Error> {
        let Disturbance {
            mass,
            gain,
            offset,
            delay,
            drop,
        } = &disturbance;
        let refuse = |text: String| Err(Error::Usage(text));
        let system = if *mass == 1.0 {
            system
        } else {
            match system.with_mass(*mass) {
                Some(heavy) => heavy,
                None => {
                    return refuse(format!(
                        "--mass {mass}: `{}` has no such mass\nhelp: give a factor above 0 for a \
                         system that has a mass, like the pendulum",
                        system.task().name
                    ));
                }
            }
        };
        if !gain.is_finite() || offset.iter().any(|offset| !offset.is_finite()) {
            return refuse("--gain and --offset: give finite numbers".to_owned());
        }
        if !(0.0..1.0).contains(drop) {
            return refuse(format!("--drop {drop}: give a probability below 1"));
        }
        let (states, actions) = {
            let task = system.task();
            (task.logged_states().len(), task.action_names.len())
        };
        if offset.len() > states {
            return refuse(format!(
                "--offset: {} numbers for {states} measured states",
                offset.len()
            ));
        }
        let mut stream = Stream::new(seed, 0);
        let state = system.reset(&mut stream);
        Ok(Self {
            stream,
            state,
            under_way: std::iter::repeat_n(vec![0.0; actions], *delay).collect(),
            last: None,
            value: 0.0,
            system,
            disturbance,
        })
    }

    #[must_use]
    pub fn system(&self) -> &dyn Environment {
        self.system.as_ref()
    }

    /// What the sensors say now.
    pub fn measure(&mut self) -> Reading {
        let lost = self.disturbance.drop > 0.0 && self.stream.uniform() < self.disturbance.drop;
        if let (true, Some(last)) = (lost, &self.last) {
            return Reading {
                state: last.clone(),
                is_fresh: false,
            };
        }
        let mut state = self.system.observe(&self.state);
        for (x, offset) in state.iter_mut().zip(&self.disturbance.offset) {
            *x += offset;
        }
        self.last = Some(state.clone());
        Reading {
            state,
            is_fresh: true,
        }
    }

    /// One period under a command; its true reward.
    pub fn act(&mut self, command: &[f32]) -> f64 {
        self.under_way.push_back(command.to_vec());
        let arrived = self.under_way.pop_front().unwrap_or_default();
        let gain = self.disturbance.gain;
        let arrived: Vec<f32> = arrived.iter().map(|a| gain * a).collect();
        let action = self.system.limited(&arrived);
        let reward = self.system.step(&mut self.state, &action);
        self.value += reward;
        reward
    }

    /// The return so far.
    #[must_use]
    pub fn value(&self) -> f64 {
        self.value
    }

    /// Whether the episode has terminated.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.system.has_ended(&self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::environment::named::named;

    fn point(disturbance: Disturbance) -> Result<DisturbedSystem, Error> {
        DisturbedSystem::new(named("point_safety").unwrap(), disturbance, 7)
    }

    #[test]
    fn commands_come_late_and_measurements_get_lost() {
        let late = Disturbance {
            delay: 2,
            ..Disturbance::default()
        };
        let mut system = point(late).unwrap();
        let mut places = Vec::new();
        for _ in 0..4 {
            places.push(system.measure().state[0]);
            system.act(&[0.5, 0.0]);
        }
        assert_eq!(places, [-2.0, -2.0, -2.0, -1.5]);
        let silent = Disturbance {
            drop: 0.5,
            ..Disturbance::default()
        };
        let mut system = point(silent).unwrap();
        let mut lost = 0;
        let mut last = Vec::new();
        for period in 0..1000 {
            let reading = system.measure();
            assert!(reading.is_fresh || (period > 0 && reading.state == last));
            lost += u32::from(!reading.is_fresh);
            last = reading.state;
            system.act(&[1e-3, 0.0]);
        }
        assert!((400..600).contains(&lost), "{lost}");
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        let none = Disturbance::default();
        assert!(point(none.clone()).is_ok());
        for bad in [
            Disturbance {
                mass: 2.0,
                ..none.clone()
            },
            Disturbance {
                gain: f32::NAN,
                ..none.clone()
            },
            Disturbance {
                offset: vec![0.0; 3],
                ..none.clone()
            },
            Disturbance {
                drop: 1.0,
                ..none.clone()
            },
            Disturbance { drop: -0.1, ..none },
        ] {
            assert!(point(bad.clone()).is_err(), "{bad:?}");
        }
    }
}
