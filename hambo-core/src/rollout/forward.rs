//! The forward sweep: T steps, the return, and what went wrong on the way.

use super::{Buffers, Objective, Rollout, StepResult};
use crate::arithmetic::random::Stream;
use crate::policy::Policy;
use crate::task::Variant;

/// What a forward sweep found, lane by lane.
#[derive(Clone, Copy, Debug)]
pub struct Returns<const B: usize> {
    /// The objective.
    pub value: [f32; B],
    /// Steps that counted: T, or fewer where the trajectory ended.
    pub steps: [u32; B],
    /// False once a number on the way was not finite.
    pub finite: [bool; B],
    /// True once a state or an action lay outside the data's support.
    pub outside: [bool; B],
    /// False once a step was worth more or less than the task's bounds say.
    pub within_bounds: [bool; B],
    /// True once the model was uncertain of anything: the adversary had a
    /// choice.
    pub width: [bool; B],
}

impl<P: Policy> Rollout<'_, P> {
    /// Draws the initial states of all lanes.
    pub fn start<const B: usize>(&self, streams: &[Stream; B], buffers: &mut Buffers<'_, B>) {
        let dimension = self.model.dynamics.state_dimension();
        let Some(rows) = buffers.states.get_mut(..dimension) else {
            return;
        };
        for (lane, stream) in streams.iter().enumerate() {
            self.task.initial.draw(&mut stream.clone(), lane, rows);
        }
    }

    /// Walks all lanes to the horizon with the adversary's `buffers.eta` or
    /// `buffers.members`.
    /// Every state stays in `buffers.states`.
    pub fn forward<const B: usize>(
        &self,
        streams: &[Stream; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Returns<B> {
        let mut returns = Returns {
            value: [0.0; B],
            steps: [0; B],
            finite: [true; B],
            outside: [false; B],
            within_bounds: [true; B],
            width: [false; B],
        };
        let (_, discount) = self.objective();
        let mut ended = [false; B];
        let mut weight = 1.0_f32;
        for step in 0..self.task.horizon {
            let Some(result) = self.step(streams, step, buffers) else {
                returns.finite = [false; B];
                return returns;
            };
            returns.add(step, weight, &result, self.variant, &mut ended);
            weight *= discount;
        }
        if let Objective::Constraint(_) = self.objective {
            for (sum, steps) in returns.value.iter_mut().zip(&returns.steps) {
                *sum /= *steps as f32;
            }
        }
        returns
    }

    /// A whole step: [`Rollout::observe`], the choices of adversaries that see
    /// it (`buffers.feedback`), and [`Rollout::transition`].
    pub fn step<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<StepResult<B>> {
        self.observe(streams, step, buffers)?;
        self.choose(step, buffers)?;
        self.transition(step, buffers)
    }
}

impl<const B: usize> Returns<B> {
    /// Adds a step to the lanes that have not ended. An adversary that drives
    /// the reward to minus infinity has found the worst there is, and the
    /// trajectory ends.
    fn add(
        &mut self,
        step: u32,
        weight: f32,
        result: &StepResult<B>,
        variant: Variant,
        ended: &mut [bool; B],
    ) {
        let sums = self.value.iter_mut().zip(self.steps.iter_mut());
        let marks = self.finite.iter_mut().zip(self.outside.iter_mut());
        let flags = result.finite.iter().zip(&result.outside);
        let ends = result.reward.iter().zip(&result.terminal);
        let bounds = self.within_bounds.iter_mut().zip(result.within_bounds);
        let widths = self.width.iter_mut().zip(result.width).zip(result.overflow);
        let lanes = sums.zip(marks).zip(flags).zip(ended.iter_mut()).zip(ends);
        let lanes = lanes.zip(bounds.zip(widths));
        for (lane, ((within_bounds, within), ((width, wide), overflow))) in lanes {
            let (((((sum, steps), (good, left)), (finite, outside)), ended), end) = lane;
            let (reward, terminal) = end;
            if *ended {
                continue;
            }
            let overflow = overflow && variant.has_adversary() && !reward.is_nan();
            *sum += weight * *reward;
            *steps = step.saturating_add(1);
            *good &= overflow || (*finite && sum.is_finite());
            *left |= *outside;
            *within_bounds &= within;
            *width |= wide;
            *ended = *terminal || overflow;
        }
    }
}
