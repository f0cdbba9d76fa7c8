//! The core's own step from many states at once, for chosen etas and chosen noise.

use hambo_core::numeric::CapacityError;
use hambo_core::numeric::random::Stream;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, Rollout};

/// States that step side by side.
pub const LANES: usize = 32;

/// Where a step led: one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// What the step earned, not discounted; NaN if a number was not finite.
    pub reward: f32,
    /// Whether the trajectory ends.
    pub ends: bool,
}

/// Rows for one thread.
pub struct Stepper<'a> {
    rollout: Rollout<'a, StoredPolicy<'a>>,
    rows: Vec<[f32; LANES]>,
    streams: [Stream; LANES],
}

impl<'a> Stepper<'a> {
    /// # Errors
    /// If the task is too large to be counted.
    pub fn new(rollout: Rollout<'a, StoredPolicy<'a>>) -> Result<Self, CapacityError> {
        let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
        let needed = Buffers::<LANES>::rows_needed(dynamics, task, rollout.policy)?;
        Ok(Self {
            rollout,
            rows: vec![[0.0; LANES]; needed],
            // Nobody draws from them: the noise is chosen.
            streams: std::array::from_fn(|lane| Stream::new(0, lane as u32)),
        })
    }

    /// From each of at most [`LANES`] states at step `step`, with every eta and every noise:
    /// calls `arrived` with the numbers of state, eta and noise, the arrival and the next
    /// state.
    pub fn each(
        &mut self,
        step: u32,
        states: &[Vec<f32>],
        etas: &[Vec<f32>],
        noise: &[(Vec<f32>, f32)],
        mut arrived: impl FnMut([usize; 3], Arrival, &mut dyn Iterator<Item = f32>),
    ) -> Result<(), CapacityError> {
        let rollout = &self.rollout;
        let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
        let mut buffers = Buffers::carve(&mut self.rows, dynamics, task, rollout.policy)?;
        let dimension = task.state_dimension();
        let first = step as usize * dimension;
        let rows = buffers.states.iter_mut().skip(first).take(dimension);
        for (state, row) in rows.enumerate() {
            for (lane, x) in row.iter_mut().enumerate() {
                // Lanes without a state repeat the first.
                let from = states.get(lane).or(states.first());
                *x = from.map_or(0.0, |from| from[state]);
            }
        }
        if rollout.observe(&self.streams, step, &mut buffers).is_none() {
            return Ok(());
        }
        for (eta_number, eta) in etas.iter().enumerate() {
            let rows = buffers
                .eta
                .iter_mut()
                .skip(step as usize * task.moved_states());
            for (row, eta) in rows.zip(eta) {
                *row = [*eta; LANES];
            }
            for (noise_number, (noise, _)) in noise.iter().enumerate() {
                buffers.give_noise(noise, rollout.model.noise);
                let Some(result) = rollout.transition(step, &mut buffers) else {
                    return Ok(());
                };
                let next = buffers.states.get(first + dimension..).unwrap_or_default();
                for lane in 0..states.len().min(LANES) {
                    let arrival = Arrival {
                        reward: if result.finite[lane] {
                            result.reward[lane]
                        } else {
                            f32::NAN
                        },
                        ends: result.terminal[lane],
                    };
                    let mut state = next.iter().take(dimension).map(|row| row[lane]);
                    arrived([lane, eta_number, noise_number], arrival, &mut state);
                }
            }
        }
        Ok(())
    }
}
