//! The adversary that looks one step ahead on the grid's values: it sees terminations,
//! steps, wraps and controllers that switch, which a derivative does not.

use hambo_core::adversary::Level;
use hambo_core::numeric::CapacityError;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, Rollout};

use super::backward::Values;
use super::step::Stepper;

/// Where it went.
pub struct Walk {
    /// Its etas, step after step.
    pub etas: Vec<f32>,
    /// The states from which the trajectory went on.
    pub states: Vec<Vec<f32>>,
}

impl Values {
    /// Walks along a searched trajectory.
    ///
    /// # Errors
    /// If the task is too large to be counted.
    pub fn greedy(
        &self,
        rollout: &Rollout<'_, StoredPolicy<'_>>,
        trajectory: u32,
    ) -> Result<Walk, CapacityError> {
        let (dynamics, task) = (&rollout.model.dynamics, rollout.task);
        let (dimension, moved) = (task.state_dimension(), task.moved_states());
        let needed = Buffers::<1>::rows_needed(dynamics, task, rollout.policy)?;
        let mut rows = vec![[0.0; 1]; needed];
        let mut buffers = Buffers::carve(&mut rows, dynamics, task, rollout.policy)?;
        let streams = [Level::Searched.stream(task, trajectory)];
        if let Some(first) = buffers.states.get_mut(..dimension) {
            Level::Searched.start(task, trajectory, 0, first);
        }
        let mut stepper = Stepper::new(*rollout)?;
        let mut walk = Walk {
            etas: Vec::new(),
            states: Vec::new(),
        };
        for step in 0..task.horizon {
            let first = step as usize * dimension;
            let state = buffers.states.iter().skip(first).take(dimension);
            let state: Vec<f32> = state.map(|[x]| *x).collect();
            walk.states.push(state.clone());
            let eta = self.choice(&mut stepper, step, state)?;
            let rows = buffers.eta.iter_mut().skip(step as usize * moved);
            for (row, eta) in rows.zip(&eta) {
                *row = [*eta];
            }
            walk.etas.extend(eta);
            let result = match rollout.observe(&streams, step, &mut buffers) {
                Some(_) => rollout.transition(step, &mut buffers),
                None => None,
            };
            if result.is_none_or(|result| result.terminal == [true]) {
                break;
            }
        }
        walk.etas.resize(task.horizon as usize * moved, 0.0);
        Ok(walk)
    }

    /// The eta with the least value one step ahead.
    fn choice(
        &self,
        stepper: &mut Stepper<'_>,
        step: u32,
        state: Vec<f32>,
    ) -> Result<Vec<f32>, CapacityError> {
        let mut sums = vec![0.0_f32; self.etas.len()];
        let at = step as usize;
        let weight = self.discount.powi(step as i32);
        stepper.each(
            step,
            &[state],
            &self.etas,
            &self.noise,
            |[_, eta, one], arrival, next| {
                let later = if arrival.ends {
                    0.0
                } else {
                    self.at(at + 1, next)
                };
                let worth = weight * arrival.reward + later;
                let share = self.noise[one].1;
                sums[eta] += share
                    * if worth.is_nan() {
                        f32::NEG_INFINITY
                    } else {
                        worth
                    };
            },
        )?;
        let best = sums.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        let best = best.and_then(|(number, _)| self.etas.get(number));
        Ok(best.cloned().unwrap_or_default())
    }
}
