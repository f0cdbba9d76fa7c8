//! The derivative of states that are computed: back through
//! [`Physics::compute_known`](crate::task::Physics::compute_known).

use crate::policy::Policy;
use crate::rollout::buffers::Buffers;
use crate::rollout::system::Rollout;
use crate::task::expression::{Comparison, Gradient};

impl<P: Policy> Rollout<'_, P> {
    /// Passes the cotangents of the known states in `buffers.next_cotangent` on to what
    /// they were computed from, the last one first. `buffers.values` are those of the
    /// step.
    pub(super) fn known_back<const B: usize>(
        &self,
        comparison: Comparison,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let limits = &self.task.state_limits;
        for known in self.task.physics.known.iter().rev() {
            let place = usize::from(known.state);
            let value = buffers.values.get(usize::from(known.slot))?;
            let (low, high) = (*limits.low.get(place)?, *limits.high.get(place)?);
            let wraps = self.task.wraps.period.get(place).is_some_and(|x| *x > 0.0);
            let own = buffers.next_cotangent.get_mut(place)?;
            let mut seed = core::mem::replace(own, [0.0; B]);
            for (seed, x) in seed.iter_mut().zip(value) {
                // What comes round is not stopped by limits outside its interval.
                if !wraps && (*x < low || *x > high) {
                    *seed = 0.0;
                }
            }
            let gradient = Gradient {
                state: &mut *buffers.state_cotangent,
                action: &mut *buffers.action_cotangent,
                next: &mut *buffers.next_cotangent,
            };
            let (values, adjoints) = (&*buffers.values, &mut *buffers.adjoints);
            let program = &self.task.program;
            let seeds = [(known.slot, seed)];
            let done = program.pull_back(comparison, values, seeds, adjoints, gradient);
            done.ok()?;
        }
        Some(())
    }
}
