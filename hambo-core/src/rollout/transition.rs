//! The one place where variants differ: s̃′ − s = centre + spread · noise.

use super::buffers::TransitionRows;
use super::system::Rollout;
use crate::model::Prediction;
use crate::numeric::elementary::sqrt;
use crate::task::Variant;

impl<P> Rollout<'_, P> {
    /// Centre and spread of the next state after a prediction. `eta` and
    /// `chosen` are the adversary's choice, `drawn` the member that chance
    /// picked.
    pub(super) fn next_state_moments<const B: usize>(
        &self,
        prediction: &Prediction<'_, B>,
        scratch: &mut [[f32; B]],
        eta: &[[f32; B]],
        chosen: &[usize; B],
        drawn: &[usize; B],
        rows: &mut TransitionRows<'_, B>,
    ) {
        let TransitionRows { centre, spread } = rows;
        let members = match self.variant {
            Variant::Mean | Variant::DistributionSampling | Variant::ContinuousAdversary => None,
            Variant::TrajectorySampling1 | Variant::TrajectorySamplingInf | Variant::Penalised => {
                Some(drawn)
            }
            Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf => Some(chosen),
        };
        if let Some(members) = members {
            let dynamics = &self.model.dynamics;
            dynamics.member_moments(members, scratch, centre, spread);
        } else {
            copy(prediction.mean, centre);
            copy(prediction.aleatoric_std, spread);
        }
        if self.variant == Variant::Mean || !self.task.plan.method.aleatoric_noise {
            for row in spread.iter_mut() {
                *row = [0.0; B];
            }
        }
        match self.variant {
            Variant::ContinuousAdversary => {
                let set = self.model.confidence.radii();
                let set = set.zip(prediction.epistemic_std.iter()).zip(eta);
                for (row, ((radius, std), eta)) in centre.iter_mut().zip(set) {
                    for ((y, s), e) in row.iter_mut().zip(std).zip(eta) {
                        *y += radius * *s * *e;
                    }
                }
            }
            Variant::DistributionSampling => {
                for (row, std) in spread.iter_mut().zip(prediction.epistemic_std.iter()) {
                    for (y, s) in row.iter_mut().zip(std) {
                        *y = sqrt(*y * *y + *s * *s);
                    }
                }
            }
            _ => {}
        }
    }

    /// What the penalised estimate takes off the reward: the norm of the
    /// epistemic standard deviations.
    pub(super) fn penalty<const B: usize>(&self, prediction: &Prediction<'_, B>) -> [f32; B] {
        let mut squares = [0.0; B];
        for row in prediction.epistemic_std.iter() {
            for (sum, s) in squares.iter_mut().zip(row) {
                *sum += *s * *s;
            }
        }
        squares.map(|sum| self.task.plan.method.penalty * sqrt(sum))
    }

    /// s̃′ before the physical limits, of the states that the model moves.
    pub(super) fn unlimited_next<const B: usize>(
        &self,
        state: &[[f32; B]],
        rows: &TransitionRows<'_, B>,
        noise: &[[f32; B]],
        next: &mut [[f32; B]],
    ) {
        let rows = rows.centre.iter().zip(rows.spread.iter());
        let moved = self.task.physics.moved(next.len());
        for (place, ((centre, spread), noise)) in moved.zip(rows.zip(noise)) {
            let (Some(next), Some(state)) = (next.get_mut(place), state.get(place)) else {
                return;
            };
            let chance = spread.iter().zip(noise);
            for (((y, s), c), (spread, noise)) in next.iter_mut().zip(state).zip(centre).zip(chance)
            {
                *y = *s + *c + *spread * *noise;
            }
        }
    }
}

fn copy<const B: usize>(from: &[[f32; B]], to: &mut [[f32; B]]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *from;
    }
}
