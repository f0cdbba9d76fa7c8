//! The derivative of states that are computed: back through
//! [`Physics::compute_known`](crate::task::Physics::compute_known).

use crate::numeric::elementary::clamp;
use crate::policy::Policy;
use crate::rollout::buffers::Buffers;
use crate::rollout::system::Rollout;
use crate::task::KnownState;
use crate::task::expression::{Comparison, Gradient, Inputs};

impl<P: Policy> Rollout<'_, P> {
    /// Passes the cotangents of the known states in `buffers.next_cotangent` on to what
    /// they were computed from, the last one first; of what is corrected, the model's value
    /// is left with what reaches it. `buffers.values` are those of the step.
    pub(super) fn known_back<const B: usize>(
        &self,
        step: u32,
        comparison: Comparison,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let limits = &self.task.state_limits;
        for known in self.task.physics.known.iter().rev() {
            if known.corrects {
                self.before_correction(step, comparison, known, buffers)?;
            }
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

    /// The values of a correction, computed as when `next` still held the model's value. What
    /// was known before it does not depend on that.
    fn before_correction<const B: usize>(
        &self,
        step: u32,
        comparison: Comparison,
        known: &KnownState,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let (place, slot) = (usize::from(known.state), usize::from(known.slot));
        let limits = &self.task.state_limits;
        let (low, high) = (*limits.low.get(place)?, *limits.high.get(place)?);
        let learned = buffers.unlimited.get(place)?;
        let learned = learned.map(|x| clamp(x, low, high));
        let this = self.state_rows(step)?;
        let (states, later) = buffers.states.split_at_mut_checked(this.end)?;
        let state = states.get(this.start..)?;
        let next = later.get_mut(..state.len())?;
        let corrected = core::mem::replace(next.get_mut(place)?, learned);
        let inputs = Inputs {
            state,
            action: &*buffers.controller.action,
            next: &*next,
            step: step as f32,
        };
        let program = &self.task.program;
        let ops = self.task.physics.feature_ops().end..slot.checked_add(1)?;
        program.evaluate_ops(ops, comparison, inputs, buffers.values);
        *next.get_mut(place)? = corrected;
        Some(())
    }
}
