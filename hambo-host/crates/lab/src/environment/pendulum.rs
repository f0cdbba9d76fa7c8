//! Gymnasium's Pendulum-v1, step by step the same in f64.

use std::f64::consts::PI;

use hambo_core::numeric::random::Stream;

use super::system::Environment;
use hambo_task::task::TaskFile;

const TASK: &str = include_str!("../../../../tasks/pendulum.toml");
const MOST_SPEED: f64 = 8.0;
const STEP: f64 = 0.05;

/// A rigid pendulum with a weak motor. Its state is the angle, not wrapped,
/// and the speed.
#[derive(Clone, Debug)]
pub struct Pendulum {
    task: TaskFile,
    /// As a multiple of Gymnasium's.
    mass: f64,
}

impl Pendulum {
    /// The system with the task file that comes with hambo.
    ///
    /// # Errors
    /// If the built-in task file is wrong, which a test rules out.
    pub fn new() -> Result<Self, hambo_base::Error> {
        let task = TaskFile::parse(TASK, "pendulum.toml")?;
        Ok(Self { task, mass: 1.0 })
    }
}

/// The angle in −π … π.
fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(2.0 * PI) - PI
}

impl Environment for Pendulum {
    fn task(&self) -> &TaskFile {
        &self.task
    }

    fn reset(&self, stream: &mut Stream) -> Vec<f64> {
        let mut between = |limit: f64| limit * (2.0 * f64::from(stream.uniform()) - 1.0);
        vec![between(PI), between(1.0)]
    }

    fn observe(&self, state: &[f64]) -> Vec<f32> {
        let [angle, speed] = pair(state);
        vec![angle.cos() as f32, angle.sin() as f32, speed as f32]
    }

    fn step(&self, state: &mut [f64], action: &[f32]) -> f64 {
        let torque = f64::from(action.first().copied().unwrap_or(0.0)).clamp(-2.0, 2.0);
        advance(state, torque, self.mass)
    }

    fn with_mass(&self, factor: f64) -> Option<Box<dyn Environment>> {
        let mass = self.mass * factor;
        let task = self.task.clone();
        (mass > 0.0 && mass.is_finite())
            .then(|| Box::new(Self { task, mass }) as Box<dyn Environment>)
    }
}

fn pair(state: &[f64]) -> [f64; 2] {
    let mut numbers = state.iter().copied();
    [(); 2].map(|()| numbers.next().unwrap_or(0.0))
}

/// One step with a torque within its limits; returns the reward. Gravity does not depend on
/// the mass, what the motor does with it does.
fn advance(state: &mut [f64], torque: f64, mass: f64) -> f64 {
    let [angle, speed] = pair(state);
    let cost = wrapped(angle).powi(2) + 0.1 * speed.powi(2) + 0.001 * torque.powi(2);
    let faster = speed + (15.0 * angle.sin() + 3.0 / mass * torque) * STEP;
    let faster = faster.clamp(-MOST_SPEED, MOST_SPEED);
    let next = [angle + faster * STEP, faster];
    for (to, from) in state.iter_mut().zip(next) {
        *to = from;
    }
    -cost
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4,000 steps of Gymnasium 1.4.0: 20 episodes of 200, with torques beyond the limits.
    #[test]
    fn equals_gymnasium() {
        let text = include_str!("../../../../../tests/data/pendulum_v1.csv");
        let system = Pendulum::new().unwrap();
        let mut steps = 0;
        for line in text.lines().skip(1) {
            let numbers: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
            let mut state = numbers[..2].to_vec();
            let torque = numbers[2].clamp(-2.0, 2.0);
            let reward = advance(&mut state, torque, 1.0);
            for (found, expected) in [(state[0], 3), (state[1], 4), (reward, 5)] {
                let expected = numbers[expected];
                assert!(
                    (found - expected).abs() < 1e-12 * (1.0 + expected.abs()),
                    "{line}"
                );
            }
            for (found, expected) in system.observe(&state).iter().zip(&numbers[6..]) {
                assert!((f64::from(*found) - expected).abs() < 1e-6, "{line}");
            }
            // Through the controller's f32.
            let mut state = numbers[..2].to_vec();
            let limited = system.limited(&[numbers[2] as f32]);
            let reward = system.step(&mut state, &limited);
            assert!((state[1] - numbers[4]).abs() < 1e-6 && (reward - numbers[5]).abs() < 1e-6);
            steps += 1;
        }
        assert_eq!(steps, 4000);
    }

    #[test]
    fn twice_the_mass_moves_half_as_much() {
        let heavy = Pendulum::new().unwrap().with_mass(2.0).unwrap();
        let (mut state, mut light) = (vec![0.0, 0.0], vec![0.0, 0.0]);
        heavy.step(&mut state, &[2.0]);
        advance(&mut light, 2.0, 1.0);
        assert!((state[1] - 0.5 * light[1]).abs() < 1e-12);
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Pendulum::new().unwrap().with_mass(bad).is_none());
        }
    }

    #[test]
    fn wraps_as_python_does() {
        assert!((wrapped(3.0 * PI) + PI).abs() < 1e-12);
        assert!((wrapped(-3.5 * PI) - 0.5 * PI).abs() < 1e-12);
    }
}
