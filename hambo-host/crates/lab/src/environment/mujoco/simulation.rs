//! A compiled robot and steps of it, from any thread.
//!
//! A state is all that the next step depends on: positions, velocities, and the accelerations
//! that the contact solver starts from. The engine's own memory is lent for one step at a time.

use std::sync::{Arc, Mutex, PoisonError};

use mujoco_rs::wrappers::mj_data::MjtState;
use mujoco_rs::wrappers::{MjData, MjModel};

type Memory = MjData<Arc<MjModel>>;

/// In this order.
const PARTS: u32 = MjtState::mjSTATE_QPOS as u32
    | MjtState::mjSTATE_QVEL as u32
    | MjtState::mjSTATE_WARMSTART as u32;

/// A compiled robot.
pub(super) struct Simulation {
    model: Arc<MjModel>,
    /// The engine's steps in one of ours.
    frames: u32,
    spare: Mutex<Vec<Memory>>,
}

impl Simulation {
    pub(super) fn new(model: MjModel, frames: u32) -> Self {
        Self {
            model: Arc::new(model),
            frames,
            spare: Mutex::new(Vec::new()),
        }
    }

    /// How many positions there are, and as many velocities.
    pub(super) fn size(&self) -> usize {
        self.model.qpos0().len()
    }

    /// Seconds of one step.
    fn seconds(&self) -> f64 {
        self.model.opt().timestep * f64::from(self.frames)
    }

    /// Where the model file puts it.
    pub(super) fn rest(&self) -> Vec<f64> {
        self.model.qpos0().to_vec()
    }

    /// The state at these positions and velocities, as at the start of an episode.
    pub(super) fn start(&self, positions: &[f64], velocities: &[f64]) -> Vec<f64> {
        let mut state = vec![0.0; 3 * self.size()];
        let numbers = positions.iter().chain(velocities);
        for (to, from) in state.iter_mut().zip(numbers) {
            *to = *from;
        }
        self.with_memory(&mut state, |memory| {
            let zeros = vec![0.0; memory.ctrl().len()];
            memory.ctrl_mut().copy_from_slice(&zeros);
            memory.forward();
        });
        state
    }

    /// One step with an action, which the engine limits; returns the mean forward speed.
    pub(super) fn advance(&self, state: &mut [f64], action: &[f64]) -> f64 {
        let place = |state: &[f64]| state.first().copied().unwrap_or(f64::NAN);
        let before = place(state);
        self.with_memory(state, |memory| {
            for (to, from) in memory.ctrl_mut().iter_mut().zip(action) {
                *to = *from;
            }
            for _ in 0..self.frames {
                memory.step();
            }
        });
        (place(state) - before) / self.seconds()
    }

    /// Lends memory in this state and takes the state back from it. If there is none the state
    /// has no numbers, which whoever reads it refuses.
    fn with_memory(&self, state: &mut [f64], work: impl FnOnce(&mut Memory)) {
        let spare = || self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        let lent = spare().pop();
        let memory = match lent {
            Some(memory) => Ok(memory),
            None => MjData::try_new(Arc::clone(&self.model)),
        };
        let done = memory.and_then(|mut memory| {
            memory.set_state(state, PARTS)?;
            work(&mut memory);
            memory.try_read_state_into(PARTS, state)?;
            spare().push(memory);
            Ok(())
        });
        if done.is_err() {
            state.fill(f64::NAN);
        }
    }
}
