//! The forward sweep: T steps, the return, and what went wrong on the way.

use super::transition::unlimited_next;
use super::{Buffers, Objective, Rollout};
use crate::arithmetic::elementary::clamp;
use crate::arithmetic::random::Stream;
use crate::expression::{Comparison, Inputs};
use crate::policy::Policy;
use crate::task::Variant;

/// What a forward sweep found, lane by lane.
///
/// ```
/// use hambo_core::arithmetic::random::Stream;
/// use hambo_core::rollout::{Buffers, Objective, Rollout};
/// use hambo_core::task::Variant;
/// let image = hambo_core::example::image()?;
/// let rollout = Rollout {
///     model: &image.model,
///     policy: &image.policy,
///     task: &image.task,
///     variant: Variant::ContinuousAdversary,
///     objective: Objective::Return,
/// };
/// let mut rows = [[0.0; 2]; 128];
/// let buffers = Buffers::carve(&mut rows, &image.model.dynamics, &image.task, &image.policy);
/// let mut buffers = buffers.map_err(|_| "too few rows")?;
/// let streams = [Stream::new(0, 0), Stream::new(0, 1)];
/// rollout.start(&streams, &mut buffers);
/// buffers.eta.fill([0.0; 2]);
/// let returns = rollout.forward(&streams, &mut buffers);
/// assert_eq!(returns.steps, [4, 4]);
/// assert_eq!((returns.finite, returns.outside), ([true; 2], [false; 2]));
/// // s_0 to s_4 are still there.
/// assert_eq!(buffers.states.len(), 5);
/// # Ok::<(), &str>(())
/// ```
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
    /// `buffers.choices`.
    /// Every state stays in `buffers.states`.
    pub fn forward<const B: usize>(
        &self,
        streams: &[Stream; B],
        buffers: &mut Buffers<'_, B>,
    ) -> Returns<B> {
        let dimension = self.model.dynamics.state_dimension();
        let mut returns = Returns {
            value: [0.0; B],
            steps: [0; B],
            finite: [true; B],
            outside: [false; B],
        };
        let (objective, discount) = self.objective();
        let mut ended = [false; B];
        let mut weight = 1.0_f32;
        let mut states = &mut *buffers.states;
        let mut etas = &mut *buffers.eta;
        for step in 0..self.task.horizon {
            let split = states
                .split_at_mut_checked(dimension)
                .zip(etas.split_at_mut_checked(dimension));
            let Some(((state, later), (eta, later_eta))) = split else {
                returns.finite = [false; B];
                return returns;
            };
            let state = &*state;
            self.draw_noise(streams, step, &mut buffers.noise);
            self.predict(
                state,
                &buffers.noise,
                &mut buffers.controller,
                buffers.scratch,
                &mut buffers.prediction,
            );
            let action = &*buffers.controller.action;
            let next = later.get_mut(..dimension).unwrap_or_default();
            if let Some(adversary) = self.task.adversary(self.variant)
                && buffers.trained.contains(&true)
            {
                let (scratch, lanes) = (&mut *buffers.adversary_scratch, &buffers.trained);
                if self.variant == Variant::ContinuousAdversary {
                    adversary.choose_eta(state, action, scratch, lanes, eta);
                } else if let Some(choice) = Buffers::choice_row(buffers.choices, step) {
                    adversary.choose_member(state, action, scratch, lanes, choice);
                }
            }
            let chosen = Buffers::chosen(buffers.choices, step);
            self.transition(
                &buffers.prediction,
                buffers.scratch,
                eta,
                &chosen,
                &buffers.noise.member,
                &mut buffers.transition,
            );
            unlimited_next(state, &buffers.transition, buffers.noise.state, next);
            let limits = &self.task.state_limits;
            for (row, (low, high)) in next.iter_mut().zip(limits.low.iter().zip(limits.high)) {
                for x in row.iter_mut() {
                    *x = clamp(*x, *low, *high);
                }
            }
            let inputs = Inputs {
                state,
                action,
                next: &*next,
            };
            let program = &self.task.program;
            let mut finite = program.evaluate(Comparison::Exact, inputs, buffers.values);
            for row in next.iter() {
                for (good, x) in finite.iter_mut().zip(row) {
                    *good &= x.is_finite();
                }
            }
            let mut outside = [false; B];
            self.model.support.mark_outside(state, action, &mut outside);
            let nothing = [0.0; B];
            let value = |slot: u16| buffers.values.get(usize::from(slot));
            // A slot that is not there counts as not finite.
            let mut reward = value(objective).copied().unwrap_or([f32::NAN; B]);
            if self.variant == Variant::Penalised && self.objective == Objective::Return {
                for (reward, penalty) in reward.iter_mut().zip(self.penalty(&buffers.prediction)) {
                    *reward -= penalty;
                }
            }
            let terminal = match self.task.termination {
                Some(slot) => value(slot).unwrap_or(&[f32::NAN; B]),
                None => &nothing,
            };
            let flags = finite.iter().zip(&outside);
            let sums = returns.value.iter_mut().zip(returns.steps.iter_mut());
            let marks = returns.finite.iter_mut().zip(returns.outside.iter_mut());
            for (((((sum, steps), (good, left)), (finite, outside)), ended), (reward, terminal)) in
                sums.zip(marks)
                    .zip(flags)
                    .zip(ended.iter_mut())
                    .zip(reward.iter().zip(terminal))
            {
                if *ended {
                    continue;
                }
                *sum += weight * *reward;
                *steps = step.saturating_add(1);
                *good &= *finite && sum.is_finite();
                *left |= *outside;
                *ended = *terminal != 0.0;
            }
            weight *= discount;
            states = later;
            etas = later_eta;
        }
        if let Objective::Constraint(_) = self.objective {
            for (sum, steps) in returns.value.iter_mut().zip(&returns.steps) {
                *sum /= *steps as f32;
            }
        }
        returns
    }
}
