//! What the continuous adversary could find to first order: the derivative where it does
//! nothing, followed to the ends of its set. A diagnostic beside what was found, and no bound:
//! a return bends away from its derivative, downwards as well as upwards.

use hambo_core::adversary::Level;
use hambo_core::numeric::CapacityError;
use hambo_core::rollout::{Buffers, Feedback};
use hambo_core::task::{Objective, Variant};
use serde::{Deserialize, Serialize};

use crate::case::system::System;
use crate::number::Number;
use crate::search::parallel::LANES;
use crate::search::rows_needed;

/// Of the comparisons in the derivative, in units of each one's own width.
const SOFTNESS: f32 = 0.1;

/// The return without pushes, and what the derivative there says that pushes could make of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstOrder {
    /// J(0): the mean return of these trajectories without a push.
    pub unpushed: Number,
    /// The mean of J(0) - sum |dJ / d eta|: each push at the end of the set that hurts.
    pub estimate: Number,
    /// How many trajectories: the first of the searched ones.
    pub trajectories: u32,
}

impl FirstOrder {
    /// A sentence without its full stop.
    #[must_use]
    pub fn sentence_with(&self, number: impl Fn(Number) -> String) -> String {
        format!(
            "without a push {} on {} searched trajectories, and by the derivative there pushes \
             could make {} of it (to first order: an estimate, no bound)",
            number(self.unpushed),
            self.trajectories,
            number(self.estimate)
        )
    }
}

/// Of the return under the continuous adversary, on up to [`LANES`] of the searched
/// trajectories; none where it does not decide or nothing is searched.
///
/// # Errors
/// If the task is too large to be counted.
pub fn first_order(system: &System<'_>) -> Result<Option<FirstOrder>, CapacityError> {
    let (variant, level) = (Variant::ContinuousAdversary, Level::Searched);
    let task = &system.task;
    let count = level.trajectories(task).min(LANES as u32);
    if count == 0 || !task.plan.method.variants.contains(&variant) {
        return Ok(None);
    }
    let rollout = system.rollout(variant, Objective::Return);
    let dynamics = &system.model.dynamics;
    let rows = rows_needed::<LANES>(dynamics, task, system.policy)?;
    let mut rows = vec![[0.0; LANES]; rows];
    let mut buffers = Buffers::carve(&mut rows, dynamics, task, system.policy)?;
    // Lanes without a trajectory do what the last does.
    let numbers: [u32; LANES] = std::array::from_fn(|lane| (lane as u32).min(count - 1));
    let streams = numbers.map(|number| level.stream(task, number));
    let first = buffers.states.iter_mut().take(task.state_dimension());
    let mut start: Vec<[f32; LANES]> = first.map(|row| *row).collect();
    for (lane, number) in numbers.iter().enumerate() {
        level.start(task, *number, lane, &mut start);
    }
    for (row, start) in buffers.states.iter_mut().zip(&start) {
        *row = *start;
    }
    buffers.feedback = [Feedback::Given; LANES];
    for row in buffers.eta.iter_mut() {
        *row = [0.0; LANES];
    }
    let returns = rollout.forward(&streams, &mut buffers);
    let mut taken = [0.0_f64; LANES];
    rollout.eta_gradient(&streams, &returns, SOFTNESS, &mut buffers, |one| {
        let lanes = taken.iter_mut().zip(one.derivative).zip(returns.steps);
        for ((taken, derivative), steps) in lanes {
            if one.step < steps {
                *taken += f64::from(derivative.abs());
            }
        }
    });
    let own = returns.value.iter().zip(taken).take(count as usize);
    let (mut unpushed, mut estimate) = (0.0, 0.0);
    for (value, taken) in own {
        unpushed += f64::from(*value) / f64::from(count);
        estimate += (f64::from(*value) - taken) / f64::from(count);
    }
    Ok(Some(FirstOrder {
        unpushed: unpushed.into(),
        estimate: estimate.into(),
        trajectories: count,
    }))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn the_derivative_of_the_walk_by_hand() {
        // From 1 the state halves, and each push moves it by 0.1: with the reward -s^2 the
        // derivatives are -0.13125, -0.0625, -0.025 and 0. The search finds -1.61.
        let image = hambo_core::example::image().unwrap();
        let system = System::from(&image);
        let found = first_order(&system).unwrap().unwrap();
        assert_eq!(found.trajectories, 2);
        assert!((found.unpushed.0 + 1.328_125).abs() < 1e-5, "{found:?}");
        assert!((found.estimate.0 + 1.546_875).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn of_a_linear_return_it_is_the_minimum() {
        let image = hambo_core::example::image_with(|task| task.reward = 0).unwrap();
        let system = System::from(&image);
        let found = first_order(&system).unwrap().unwrap();
        // 1.875 less 0.1 for the pushes of three steps: 1.75, 1.5 and 1 times.
        assert!((found.unpushed.0 - 1.875).abs() < 1e-5, "{found:?}");
        assert!((found.estimate.0 - 1.45).abs() < 1e-5, "{found:?}");
    }

    #[test]
    fn without_the_continuous_adversary_there_is_none() {
        let members = hambo_core::example::image_with(|task| {
            task.plan.method.variants = core::iter::once(Variant::DiscreteAdversary1).collect();
        });
        let idle = hambo_core::example::image_with(|task| task.plan.effort.searched = 0);
        for image in [members, idle] {
            let image = image.unwrap();
            assert_eq!(first_order(&System::from(&image)).unwrap(), None);
        }
    }
}
