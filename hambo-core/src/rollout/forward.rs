//! The forward sweep: T steps, the objective, and what went wrong on the way.

use super::buffers::Buffers;
use super::smooth_objective::SmoothObjective;
use super::step::StepResult;
use super::system::Rollout;
use crate::numeric::random::Stream;
use crate::policy::Policy;
use crate::task::{ConstraintKind, Objective};

/// What a forward sweep found, lane by lane.
#[derive(Clone, Copy, Debug)]
pub struct Returns<const B: usize> {
    /// The objective.
    pub value: [f32; B],
    /// Steps that counted: T, or fewer where the trajectory ended.
    pub steps: [u32; B],
    /// False once a number on the way was not finite.
    pub finite: [bool; B],
    /// Steps that counted and began outside the data's support, of the lanes that
    /// are watched.
    pub outside: [u32; B],
    /// Whether one of them began far outside.
    pub far_outside: [bool; B],
    /// False once a step was worth more or less than the task's bounds say.
    pub within_bounds: [bool; B],
    /// True once the model was uncertain of anything: the adversary had a
    /// choice.
    pub width: [bool; B],
    /// The objective with a smooth termination, where the task has one and
    /// `buffers.smooth_end` asks for it; 0 elsewhere. Of two choices with the
    /// same return it tells which one is closer to another end.
    pub smooth: [f32; B],
}

impl<P: Policy> Rollout<'_, P> {
    /// Draws the initial states of all lanes.
    pub fn start<const B: usize>(&self, streams: &[Stream; B], buffers: &mut Buffers<'_, B>) {
        let dimension = self.task.state_dimension();
        let Some(rows) = buffers.states.get_mut(..dimension) else {
            return;
        };
        for (lane, stream) in streams.iter().enumerate() {
            self.task.initial.draw(&mut stream.clone(), lane, rows);
        }
        self.task.keep_in_range(rows);
    }

    /// Walks all lanes to the horizon with the adversary's `buffers.eta` or
    /// `buffers.members`.
    /// Every state stays in `buffers.states`. Where a pause stopped it, no lane is
    /// finite.
    pub fn forward<const B: usize>(
        &self,
        streams: &[Stream; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Returns<B> {
        let mut returns = Returns {
            value: [self.kind().of_no_step(); B],
            steps: [0; B],
            finite: [true; B],
            outside: [0; B],
            far_outside: [false; B],
            within_bounds: [true; B],
            width: [false; B],
            smooth: [0.0; B],
        };
        let mut smooth = SmoothObjective::new(self.kind());
        let mut ended = [false; B];
        let mut weight = 1.0_f32;
        for step in 0..self.task.horizon {
            let Some(result) = self.step(streams, step, buffers) else {
                returns.finite = [false; B];
                return returns;
            };
            returns.add(step, weight, &result, self, &mut ended);
            if buffers.smooth_end && smooth.add(self, step, weight, buffers).is_none() {
                returns.finite = [false; B];
                return returns;
            }
            weight *= self.discount();
        }
        let constraint = matches!(self.objective, Objective::Constraint(_));
        if constraint && self.kind() == ConstraintKind::Mean {
            for (sum, steps) in returns.value.iter_mut().zip(&returns.steps) {
                *sum /= *steps as f32;
            }
        }
        if buffers.smooth_end && self.task.termination.is_some() {
            returns.smooth = smooth.finish(constraint);
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
    fn add<P: Policy>(
        &mut self,
        step: u32,
        weight: f32,
        result: &StepResult<B>,
        rollout: &Rollout<'_, P>,
        ended: &mut [bool; B],
    ) {
        let sums = self.value.iter_mut().zip(self.steps.iter_mut());
        let left = self.outside.iter_mut().zip(self.far_outside.iter_mut());
        let marks = self.finite.iter_mut().zip(left);
        let places = result.outside.iter().zip(&result.far_outside);
        let flags = result.finite.iter().zip(places);
        let ends = result.reward.iter().zip(&result.terminal);
        let bounds = self.within_bounds.iter_mut().zip(result.within_bounds);
        let widths = self.width.iter_mut().zip(result.width).zip(result.overflow);
        let lanes = sums.zip(marks).zip(flags).zip(ended.iter_mut()).zip(ends);
        let lanes = lanes.zip(bounds.zip(widths));
        for (lane, ((within_bounds, within), ((width, wide), overflow))) in lanes {
            let (((((sum, steps), (good, (left, went_far))), (finite, place)), ended), end) = lane;
            let (outside, far) = place;
            let (reward, terminal) = end;
            if *ended {
                continue;
            }
            let overflow = overflow && rollout.variant.has_adversary() && !reward.is_nan();
            *sum = rollout.kind().joined(*sum, weight * *reward);
            *steps = step.saturating_add(1);
            *good &= overflow || (*finite && sum.is_finite());
            *left = left.saturating_add(u32::from(*outside));
            *went_far |= *far;
            *within_bounds &= within;
            *width |= wide;
            *ended = *terminal || overflow;
        }
    }
}
