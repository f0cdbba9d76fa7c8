//! Adversaries that see (s, a): they choose while the trajectory walks.

use super::buffers::{Buffers, Feedback};
use super::system::Rollout;
use crate::numeric::elementary::clamp;
use crate::policy::Policy;
use crate::task::Variant;

impl<P: Policy> Rollout<'_, P> {
    /// Writes the choices of step `step` that depend on (s, a), after
    /// [`Rollout::observe`].
    pub(super) fn choose<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let network = buffers
            .feedback
            .map(|feedback| feedback == Feedback::Network);
        if network.contains(&true) {
            self.choose_by_network(step, &network, buffers)?;
        }
        let member = |feedback: &Feedback| matches!(feedback, Feedback::Member(_));
        if self.variant == Variant::ContinuousAdversary && buffers.feedback.iter().any(member) {
            self.follow_members(step, buffers)?;
        }
        Some(())
    }

    fn choose_by_network<const B: usize>(
        &self,
        step: u32,
        lanes: &[bool; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let adversary = self.task.network(self.variant, self.objective)?;
        let state = buffers.states.get(self.state_rows(step)?)?;
        let action = &*buffers.controller.action;
        let scratch = &mut *buffers.adversary_scratch;
        if self.variant == Variant::ContinuousAdversary {
            let eta = buffers.eta.get_mut(self.eta_rows(step)?)?;
            adversary.choose_eta(state, action, scratch, lanes, eta, &buffers.slices);
        } else {
            let row = usize::try_from(step).ok()?;
            let chosen = buffers.members.chosen.get_mut(row)?;
            adversary.choose_member(state, action, scratch, lanes, chosen, &buffers.slices);
        }
        buffers.slices.next()
    }

    /// eta = (h_k − mu) / (beta · tau · sigma_e) in the lanes that follow a
    /// member k, as far as the set reaches.
    fn follow_members<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let members = buffers.feedback.map(|feedback| match feedback {
            Feedback::Member(member) => usize::from(member),
            Feedback::Given | Feedback::Network => 0,
        });
        let rows = &mut buffers.transition;
        let dynamics = &self.model.dynamics;
        dynamics.member_moments(&members, buffers.scratch, rows.centre, rows.spread);
        let eta = buffers.eta.get_mut(self.eta_rows(step)?)?;
        let prediction = &buffers.prediction;
        let moments = prediction.mean.iter().zip(prediction.epistemic_std.iter());
        let rows = eta.iter_mut().zip(rows.centre.iter()).zip(moments);
        for (((eta, centre), (mean, std)), radius) in rows.zip(self.model.confidence.radii()) {
            let lanes = centre.iter().zip(mean).zip(std);
            let lanes = eta.iter_mut().zip(lanes).zip(&buffers.feedback);
            for ((eta, ((centre, mean), std)), feedback) in lanes {
                if let Feedback::Member(_) = feedback {
                    let width = radius * *std;
                    *eta = if width > 0.0 {
                        clamp((*centre - *mean) / width, -1.0, 1.0)
                    } else {
                        0.0
                    };
                }
            }
        }
        Some(())
    }
}
