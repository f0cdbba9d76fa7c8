//! HalfCheetah: a torso with two legs of three links that is paid for running forward.

use hambo_core::numeric::random::Stream;

use super::model::Engine;
use super::simulation::Simulation;
use crate::environment::system::Environment;
use hambo_base::Error;
use hambo_task::task::TaskFile;

const TASK: &str = include_str!("../../../../../tasks/half_cheetah.toml");
const MODEL: &str = include_str!("models/half_cheetah.xml");
const FRAMES: u32 = 5;
const MASS: f64 = 14.0;
/// Of positions and velocities at the start.
const START_NOISE: f64 = 0.1;
const CONTROL_COST: f64 = 0.1;

/// HalfCheetah-v3 or v4. Its state is the engine's: positions, velocities, and where the solver
/// starts.
pub struct HalfCheetah {
    task: TaskFile,
    simulation: Simulation,
}

impl HalfCheetah {
    /// The robot of an engine.
    ///
    /// # Errors
    /// If a built-in file is wrong, which a test rules out.
    pub fn new(engine: Engine) -> Result<Self, Error> {
        Ok(Self {
            task: TaskFile::parse(TASK, "half_cheetah.toml")?,
            simulation: Simulation::new(engine.compile(MODEL, Some(MASS))?, FRAMES),
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
        speed - cost
    }
}

impl Environment for HalfCheetah {
    fn task(&self) -> &TaskFile {
        &self.task
    }

    fn reset(&self, stream: &mut Stream) -> Vec<f64> {
        let rest = self.simulation.rest();
        let positions = rest.iter().map(|x| {
            let noise = 2.0 * f64::from(stream.uniform()) - 1.0;
            x + START_NOISE * noise
        });
        let positions: Vec<f64> = positions.collect();
        let velocities = rest.iter().map(|_| f64::from(stream.standard_normal()));
        let velocities: Vec<f64> = velocities.map(|v| START_NOISE * v).collect();
        self.start(&positions, &velocities)
    }

    fn observe(&self, state: &[f64]) -> Vec<f32> {
        let seen = state.iter().take(2 * self.simulation.size()).skip(1);
        seen.map(|x| *x as f32).collect()
    }

    fn step(&self, state: &mut [f64], action: &[f32]) -> f64 {
        let action: Vec<f64> = action.iter().map(|a| f64::from(*a)).collect();
        self.advance(state, &action)
    }
}
