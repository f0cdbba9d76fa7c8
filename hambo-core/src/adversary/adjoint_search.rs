//! The search of the continuous adversary (HAMBO-CA): projected sign steps
//! along the adjoint's derivative, restarted in the rounds of
//! [`schedule`](super::schedule), then perturbations of the worst choice.

use super::hash;
use super::perturbation::Perturbation;
use super::schedule::{Round, ScheduledSweep, pattern};
use super::start::Start;
use crate::numeric::elementary::clamp;
use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::rollout::{Buffers, EtaDerivative, Returns, Rollout};
use crate::task::FoundChoices;

/// The sweep just walked and the one to come, on lanes with these starts.
pub(super) struct AdjointSearch<'s, const B: usize> {
    pub starts: &'s [Start; B],
    /// The starts' numbers.
    pub numbers: &'s [usize; B],
    pub trajectories: &'s [u32; B],
    pub iteration: u32,
    pub iterations: u32,
}

impl<const B: usize> AdjointSearch<'_, B> {
    /// The adversary's choices at the start of a round, unless it was stopped.
    pub fn lay_pattern(&self, round: Round, dimension: usize, buffers: &mut Buffers<'_, B>) {
        let rows = buffers.eta.iter_mut().zip(places(dimension));
        for (number, (row, (step, j))) in rows.enumerate() {
            if buffers.slices.at_row(number).is_none() {
                return;
            }
            let lanes = self.starts.iter().zip(self.numbers).zip(self.places());
            for (eta, ((start, number), place)) in row.iter_mut().zip(lanes) {
                let place = (*number as u32, place);
                *eta = pattern(round, *start, place, dimension, step, j);
            }
        }
    }

    /// What was found elsewhere, in the lanes that start from it.
    pub fn lay_found(&self, found: &FoundChoices<'_>, buffers: &mut Buffers<'_, B>) {
        for (place, row) in buffers.eta.iter_mut().enumerate() {
            for (eta, start) in row.iter_mut().zip(self.starts) {
                if let Start::Found(sequence) = start {
                    *eta = found.at(*sequence, place);
                }
            }
        }
    }

    /// One number for the trajectory and the start of each lane: what is
    /// random in a search is so on every one of them.
    fn places(&self) -> impl Iterator<Item = u32> {
        let lanes = self.trajectories.iter().zip(self.numbers);
        lanes.map(|(trajectory, number)| hash::place(*trajectory, *number as u32))
    }

    /// Puts the next choices on trial: a sign step down the derivative, a
    /// perturbation of the worst choice, or the pattern of the next round.
    /// `improved` marks the lanes whose last sweep was the worst so far.
    /// Returns the lanes in which a derivative did not exist.
    pub fn propose<P: Policy>(
        &self,
        rollout: &Rollout<'_, P>,
        streams: &[Stream; B],
        returns: &Returns<B>,
        improved: &[bool; B],
        buffers: &mut Buffers<'_, B>,
    ) -> [bool; B] {
        let mut failed = [false; B];
        copy_lanes(improved, buffers.eta, buffers.worst_eta);
        let now = ScheduledSweep::new(self.iteration, self.iterations);
        let next = ScheduledSweep::new(self.iteration.saturating_add(1), self.iterations);
        let dimension = rollout.model.dynamics.outputs();
        // In the last round only what lowers the objective is followed.
        let descend = match (next.round, next.round == now.round) {
            (Round::Perturb, _) => *improved,
            (_, same) => [same; B],
        };
        if descend.contains(&true) {
            // Where a lane does not descend, a perturbation takes the place of its step.
            let allocation = rollout.task.plan.effort.allocation;
            let steps = self.starts.map(|start| now.step_length(start, allocation));
            rollout.eta_gradient(streams, returns, now.softness(), buffers, |derivative| {
                for (failed, lane) in failed.iter_mut().zip(missing(&derivative, returns)) {
                    *failed |= lane;
                }
                sign_step(derivative, &steps);
            });
        }
        if next.round == Round::Perturb {
            self.perturb(
                &descend,
                next.sweep,
                rollout.task.horizon,
                dimension,
                buffers,
            );
        } else if next.round != now.round {
            self.lay_pattern(next.round, dimension, buffers);
        }
        failed
    }

    /// Puts perturbations of the worst choice on trial in the lanes that do
    /// not descend, unless it was stopped.
    fn perturb(
        &self,
        descend: &[bool; B],
        sweep: u32,
        steps: u32,
        dimension: usize,
        buffers: &mut Buffers<'_, B>,
    ) {
        let mut perturbations = [Perturbation::new(0, sweep, steps, dimension); B];
        for (perturbation, place) in perturbations.iter_mut().zip(self.places()) {
            *perturbation = Perturbation::new(place, sweep, steps, dimension);
        }
        let rows = buffers.eta.iter_mut().zip(buffers.worst_eta.iter());
        for (number, ((row, worst), (step, j))) in rows.zip(places(dimension)).enumerate() {
            if buffers.slices.at_row(number).is_none() {
                return;
            }
            let lanes = descend.iter().zip(&perturbations);
            for ((eta, worst), (descend, perturbation)) in row.iter_mut().zip(worst).zip(lanes) {
                if !*descend {
                    *eta = perturbation.apply(step, j, *worst);
                }
            }
        }
    }
}

/// Moves eta against the derivative and back into the cube. A derivative of
/// zero, or none at all (NaN), moves nothing.
fn sign_step<const B: usize>(row: EtaDerivative<'_, B>, steps: &[f32; B]) {
    for ((eta, derivative), step) in row.eta.iter_mut().zip(&row.derivative).zip(steps) {
        if *derivative > 0.0 {
            *eta = clamp(*eta - step, -1.0, 1.0);
        } else if *derivative < 0.0 {
            *eta = clamp(*eta + step, -1.0, 1.0);
        }
    }
}

/// The lanes in which the derivative is not a number before the trajectory
/// ends, although the trajectory itself is finite.
fn missing<const B: usize>(row: &EtaDerivative<'_, B>, returns: &Returns<B>) -> [bool; B] {
    let mut missing = [false; B];
    let lanes = returns.steps.iter().zip(returns.value);
    for ((missing, d), (steps, value)) in missing.iter_mut().zip(&row.derivative).zip(lanes) {
        *missing = d.is_nan() && row.step < *steps && value.is_finite();
    }
    missing
}

/// The step and the component of every row of eta.
fn places(dimension: usize) -> impl Iterator<Item = (u32, usize)> {
    (0_u32..).flat_map(move |step| (0..dimension).map(move |j| (step, j)))
}

/// Copies the lanes that `which` marks.
fn copy_lanes<const B: usize>(which: &[bool; B], from: &[[f32; B]], to: &mut [[f32; B]]) {
    for (from, to) in from.iter().zip(to) {
        for ((from, to), which) in from.iter().zip(to).zip(which) {
            if *which {
                *to = *from;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_step_stays_in_the_cube_and_ignores_nan() {
        let mut eta = [0.0, 0.9, 0.5];
        let row = EtaDerivative {
            step: 0,
            component: 0,
            eta: &mut eta,
            derivative: [2.0, -0.1, f32::NAN],
        };
        sign_step(row, &[0.5; 3]);
        assert_eq!(eta, [-0.5, 1.0, 0.5]);
    }

    #[test]
    fn a_derivative_of_zero_moves_nothing_and_a_small_step_goes_its_length() {
        let mut eta = [0.5, 0.5, -0.9, 0.9];
        let row = EtaDerivative {
            step: 0,
            component: 0,
            eta: &mut eta,
            derivative: [0.0, -0.0, -0.1, 0.1],
        };
        sign_step(row, &[0.25; 4]);
        assert_eq!(eta, [0.5, 0.5, -0.65, 0.65]);
    }

    #[test]
    fn a_derivative_is_missed_only_on_the_way_of_a_finite_trajectory() {
        let returns = Returns {
            value: [1.0, 1.0, f32::INFINITY, 1.0],
            steps: [4, 3, 4, 4],
            finite: [true; 4],
            outside: [0; 4],
            far_outside: [false; 4],
            within_bounds: [true; 4],
            width: [true; 4],
            smooth: [0.0; 4],
        };
        let row = EtaDerivative {
            step: 3,
            component: 0,
            eta: &mut [0.0; 4],
            derivative: [f32::NAN, f32::NAN, f32::NAN, 1.0],
        };
        // The second has ended by then, the third overflowed, the last has one.
        assert_eq!(missing(&row, &returns), [true, false, false, false]);
    }
}
