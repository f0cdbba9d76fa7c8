//! The objective with a smooth termination, which tells two trajectories with
//! the same objective apart by how close they are to another end.
//!
//! With m in [0, 1] for how far a step ends the trajectory, the share that
//! survives until step t is the product of 1 − m over the steps before.

use super::buffers::Buffers;
use super::system::Rollout;
use crate::numeric::elementary::{clamp, maximum};
use crate::policy::Policy;
use crate::task::ConstraintKind;
use crate::task::expression::{Comparison, Inputs};

const SOFTNESS: f32 = 0.3;

/// The objective so far, lane by lane.
pub(super) struct SmoothObjective<const B: usize> {
    kind: ConstraintKind,
    /// A sum over the steps, or over the ends of what was reached by then.
    sum: [f32; B],
    /// Steps that were visited, by their share.
    visited: [f32; B],
    survival: [f32; B],
    /// What least, last and greatest of the steps are so far.
    reached: [f32; B],
}

impl<const B: usize> SmoothObjective<B> {
    pub fn new(kind: ConstraintKind) -> Self {
        Self {
            kind,
            sum: [0.0; B],
            visited: [0.0; B],
            survival: [1.0; B],
            reached: [kind.of_no_step(); B],
        }
    }

    /// Adds a step, right after it was taken. `None` if there is no such step;
    /// nothing is added where the task ends no trajectory.
    pub fn add<P: Policy>(
        &mut self,
        rollout: &Rollout<'_, P>,
        step: u32,
        weight: f32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<()> {
        let Some(termination) = rollout.task.termination else {
            return Some(());
        };
        let next = rollout.state_rows(step.checked_add(1)?)?;
        let inputs = Inputs {
            state: buffers.states.get(rollout.state_rows(step)?)?,
            action: &*buffers.controller.action,
            next: buffers.states.get(next)?,
            step: step as f32,
        };
        let program = &rollout.task.program;
        program.evaluate(Comparison::Smooth(SOFTNESS), inputs, buffers.values);
        let reward = buffers.values.get(usize::from(rollout.objective_slot()))?;
        let ends = buffers.values.get(usize::from(termination))?;
        let sums = self.sum.iter_mut().zip(&mut self.visited);
        let sums = sums.zip(&mut self.reached);
        let lanes = self.survival.iter_mut().zip(reward.iter().zip(ends));
        for (((sum, visited), reached), (survival, (reward, ends))) in sums.zip(lanes) {
            // Beyond the end numbers may be anything; they weigh nothing.
            if *survival > 0.0 {
                let ends = clamp(*ends, 0.0, 1.0);
                if self.kind == ConstraintKind::Mean {
                    *sum += *survival * weight * *reward;
                    *visited += *survival;
                } else {
                    *reached = self.kind.joined(*reached, *reward);
                    *sum += *survival * ends * *reached;
                }
                *survival *= 1.0 - ends;
            }
        }
        Some(())
    }

    /// The objective; of a constraint on the mean the sum over what was visited.
    pub fn finish(mut self, constraint: bool) -> [f32; B] {
        if self.kind != ConstraintKind::Mean {
            let rest = self.survival.iter().zip(&self.reached);
            for (sum, (survival, reached)) in self.sum.iter_mut().zip(rest) {
                if *survival > 0.0 {
                    *sum += *survival * *reached;
                }
            }
        } else if constraint {
            for (sum, visited) in self.sum.iter_mut().zip(&self.visited) {
                *sum /= maximum(*visited, 1.0);
            }
        }
        self.sum
    }
}
