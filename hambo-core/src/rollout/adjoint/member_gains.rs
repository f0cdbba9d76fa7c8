//! What the return would gain by another member at a step (HAMBO-DA1): back
//! through h_k + nu_k · noise of the member k on trial, and the value of every
//! other member to first order.

use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::rollout::buffers::Buffers;
use crate::rollout::forward::Returns;
use crate::rollout::system::Rollout;

impl<P: Policy> Rollout<'_, P> {
    /// Writes for every step of the last [`Rollout::forward`], in the marked
    /// lanes, the member that promises the lowest return and by how much it
    /// changes it: `proposed` and `gain` of `buffers.members`. Where none
    /// promises less than the chosen one, that one stands there with a gain
    /// of 0.
    pub(crate) fn member_gains<const B: usize>(
        &self,
        streams: &[Stream; B],
        returns: &Returns<B>,
        softness: f32,
        lanes: &[bool; B],
        buffers: &mut Buffers<'_, B>,
    ) {
        self.sweep_back(streams, returns, softness, buffers, |step, buffers| {
            self.member_back(step, lanes, buffers)
        });
    }

    fn member_back<const B: usize>(
        &self,
        step: u32,
        lanes: &[bool; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let chosen = buffers.members.chosen_at(step);
        let cotangent = &*buffers.moved_cotangent;
        let noise_weight = self.noise_weight();
        let value = |centre: &[[f32; B]], spread: &[[f32; B]], noise: &[[f32; B]]| {
            let mut sum = [0.0; B];
            let rows = cotangent.iter().zip(centre).zip(spread.iter().zip(noise));
            for ((c, centre), (spread, noise)) in rows {
                let chance = spread.iter().zip(noise);
                for (((sum, c), m), (s, n)) in sum.iter_mut().zip(c).zip(centre).zip(chance) {
                    *sum += *c * (*m + *s * *n * noise_weight);
                }
            }
            sum
        };
        let noise = &*buffers.noise.state;
        let now = value(buffers.transition.centre, buffers.transition.spread, noise);
        let mut proposed = chosen;
        let mut gain = [0.0; B];
        // The prediction's rows are free by now.
        let (centre, spread) = (
            &mut *buffers.prediction.mean,
            &mut *buffers.prediction.aleatoric_std,
        );
        let dynamics = &self.model.dynamics;
        for member in 0..dynamics.members() {
            buffers.slices.next()?;
            dynamics.member_moments(&[member; B], buffers.scratch, centre, spread);
            let other = value(centre, spread, noise);
            let best = proposed.iter_mut().zip(gain.iter_mut());
            for ((proposed, gain), (other, now)) in best.zip(other.iter().zip(&now)) {
                if *other - *now < *gain {
                    *gain = *other - *now;
                    *proposed = member;
                }
            }
        }
        buffers.members.propose(step, lanes, &proposed, &gain)?;
        let by_std = &mut *buffers.prediction_cotangent.aleatoric_std;
        for ((row, c), noise) in by_std.iter_mut().zip(cotangent).zip(noise) {
            for ((y, c), n) in row.iter_mut().zip(c).zip(noise) {
                *y = *c * *n * noise_weight;
            }
        }
        dynamics.pull_back_members(
            &chosen,
            (cotangent, by_std),
            buffers.scratch,
            (
                self.seen_cotangent(buffers.state_cotangent, buffers.feature_cotangent),
                &mut *buffers.action_cotangent,
            ),
            &buffers.slices,
        );
        Some(())
    }
}
