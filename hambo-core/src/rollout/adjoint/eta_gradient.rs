//! The gradient of the return in eta (HAMBO-CA): back through
//! mu + radius · sigma_e · eta + sigma_a · noise.

use crate::model::PredictionCotangent;
use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::rollout::buffers::Buffers;
use crate::rollout::forward::Returns;
use crate::rollout::system::Rollout;

/// One component of eta at one step, in every lane.
#[derive(Debug)]
pub struct EtaDerivative<'r, const B: usize> {
    /// t.
    pub step: u32,
    /// j.
    pub component: usize,
    /// eta_t,j. The sweep does not read it again: it may be changed in place.
    pub eta: &'r mut [f32; B],
    /// The derivative of the return in it.
    pub derivative: [f32; B],
}

impl<P: Policy> Rollout<'_, P> {
    /// Hands every component of eta with its derivative to `update`, from the
    /// last step of the last [`Rollout::forward`] to the first. `softness` is
    /// that of comparisons, in units of each one's own width.
    pub fn eta_gradient<const B: usize>(
        &self,
        streams: &[Stream; B],
        returns: &Returns<B>,
        softness: f32,
        buffers: &mut Buffers<'_, B>,
        mut update: impl FnMut(EtaDerivative<'_, B>),
    ) {
        self.sweep_back(streams, returns, softness, buffers, |step, buffers| {
            self.eta_back(step, buffers, &mut update)
        });
    }

    /// The derivative of the return in the initial state, a row for each state, along the
    /// trajectories of the last [`Rollout::forward`] with its pushes held; none if the sweep
    /// was stopped.
    pub fn start_gradient<'b, const B: usize>(
        &self,
        streams: &[Stream; B],
        returns: &Returns<B>,
        softness: f32,
        buffers: &'b mut Buffers<'_, B>,
    ) -> Option<&'b [[f32; B]]> {
        self.eta_gradient(streams, returns, softness, buffers, |_| ());
        let states = self.task.state_dimension();
        let stopped = buffers.is_stopped();
        buffers.next_cotangent.get(..states).filter(|_| !stopped)
    }

    fn eta_back<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
        update: &mut impl FnMut(EtaDerivative<'_, B>),
    ) -> Option<()> {
        let eta = buffers.eta.get_mut(self.eta_rows(step)?)?;
        let moved_cotangent = &*buffers.moved_cotangent;
        let cotangents = &mut buffers.prediction_cotangent;
        let parts = cotangents
            .mean
            .iter_mut()
            .zip(cotangents.epistemic_std.iter_mut())
            .zip(cotangents.aleatoric_std.iter_mut());
        let sources = moved_cotangent
            .iter()
            .zip(eta.iter())
            .zip(buffers.noise.state.iter());
        let noise_weight = self.noise_weight();
        let radii = self.model.confidence.radii();
        for ((((mean, epistemic), aleatoric), ((c, eta), noise)), radius) in
            parts.zip(sources).zip(radii)
        {
            *mean = *c;
            for ((y, c), e) in epistemic.iter_mut().zip(c).zip(eta) {
                *y = *c * radius * *e;
            }
            for ((y, c), n) in aleatoric.iter_mut().zip(c).zip(noise) {
                *y = *c * *n * noise_weight;
            }
        }
        let seen = self.seen_cotangent(buffers.state_cotangent, buffers.feature_cotangent);
        self.model.dynamics.pull_back(
            &PredictionCotangent {
                mean: &*cotangents.mean,
                epistemic_std: &*cotangents.epistemic_std,
                aleatoric_std: &*cotangents.aleatoric_std,
            },
            buffers.scratch,
            (seen, &mut *buffers.action_cotangent),
            &buffers.slices,
        );
        if buffers.slices.is_stopped() {
            return None;
        }
        // The adversary's own derivative, last: eta was needed until here.
        let radii = self.model.confidence.radii();
        let stds = buffers.prediction.epistemic_std.iter();
        let rows = eta.iter_mut().zip(moved_cotangent).zip(stds).zip(radii);
        for (component, (((eta, c), std), radius)) in rows.enumerate() {
            let mut derivative = [0.0; B];
            for ((d, c), s) in derivative.iter_mut().zip(c).zip(std) {
                *d = *c * radius * *s;
            }
            update(EtaDerivative {
                step,
                component,
                eta,
                derivative,
            });
        }
        Some(())
    }
}
