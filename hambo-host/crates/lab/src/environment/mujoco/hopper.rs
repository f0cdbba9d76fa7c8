//! Hopper: one leg of four links that is paid for hopping forward, and stops where it would fall.

use hambo_core::numeric::random::Stream;

use super::model::Engine;
use super::simulation::Simulation;
use crate::environment::system::Environment;
use hambo_base::Error;
use hambo_task::task::TaskFile;

const TASK: &str = include_str!("../../../../../tasks/hopper.toml");
const MODEL: &str = include_str!("models/hopper.xml");
const FRAMES: u32 = 4;
/// Of positions and velocities at the start.
const START_NOISE: f64 = 5e-3;
/// The fastest that is seen.
const MOST_SPEED: f64 = 10.0;
const ALIVE: f64 = 1.0;
const CONTROL_COST: f64 = 1e-3;

/// Hopper-v3 or v4. Its state is the engine's: positions, velocities, and where the solver starts.
pub struct Hopper {
    task: TaskFile,
    simulation: Simulation,
}

impl Hopper {
    /// The robot of an engine.
    ///
    /// # Errors
    /// If a built-in file is wrong, which a test rules out.
    pub fn new(engine: Engine) -> Result<Self, Error> {
        Ok(Self {
            task: TaskFile::parse(TASK, "hopper.toml")?,
            simulation: Simulation::new(engine.compile(MODEL, None)?, FRAMES),
        })
    }

    /// The state at these positions and velocities, as at the start of an episode.
    pub(super) fn start(&self, positions: &[f64], velocities: &[f64]) -> Vec<f64> {
        self.simulation.start(positions, velocities)
    }

    /// One step with an action as it is wanted, not yet limited; returns the reward.
    pub(super) fn advance(&self, state: &mut [f64], action: &[f64]) -> f64 {
        let speed = self.simulation.advance(state, action);
        let cost = CONTROL_COST * action.iter().map(|a| a * a).sum::<f64>();
        speed + ALIVE - cost
    }
}

impl Environment for Hopper {
    fn task(&self) -> &TaskFile {
        &self.task
    }

    fn reset(&self, stream: &mut Stream) -> Vec<f64> {
        let mut noise = || START_NOISE * (2.0 * f64::from(stream.uniform()) - 1.0);
        let rest = self.simulation.rest();
        let positions: Vec<f64> = rest.iter().map(|x| x + noise()).collect();
        let velocities: Vec<f64> = rest.iter().map(|_| noise()).collect();
        self.start(&positions, &velocities)
    }

    fn observe(&self, state: &[f64]) -> Vec<f32> {
        let (positions, rest) = state.split_at(self.simulation.size());
        let velocities = rest.iter().take(self.simulation.size());
        let velocities = velocities.map(|v| v.clamp(-MOST_SPEED, MOST_SPEED));
        let seen = positions.iter().skip(1).copied().chain(velocities);
        seen.map(|x| x as f32).collect()
    }

    fn step(&self, state: &mut [f64], action: &[f32]) -> f64 {
        let action: Vec<f64> = action.iter().map(|a| f64::from(*a)).collect();
        self.advance(state, &action)
    }

    /// Too low, leaning too far, or any other number beyond 100.
    fn has_ended(&self, state: &[f64]) -> bool {
        let healthy = match state {
            [_, height, pitch, ..] => {
                let others = state.iter().take(2 * self.simulation.size()).skip(2);
                let mut others = others.map(|x| x.abs());
                *height > 0.7 && pitch.abs() < 0.2 && others.all(|x| x < 100.0)
            }
            _ => false,
        };
        !healthy
    }
}
