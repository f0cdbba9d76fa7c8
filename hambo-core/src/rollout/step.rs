//! One step of the hallucinated system (equation (1) of the paper), in two
//! halves: what the controller does and the model says of it, and where the
//! adversary's choice then leads. Between them whoever plays the adversary
//! has seen (s, a), and may write `buffers.eta` or `buffers.choices`.

use super::transition::unlimited_next;
use super::{Buffers, Objective, Rollout};
use crate::arithmetic::elementary::clamp;
use crate::arithmetic::random::Stream;
use crate::expression::{Comparison, Inputs};
use crate::policy::Policy;
use crate::task::Variant;

/// What an adversary sees of a step: its observation in the paper.
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
/// let seen = rollout.look(&streams, 0, &mut buffers).ok_or("no such step")?;
/// assert_eq!((seen.state, seen.action), (&[[1.0; 2]][..], &[[-0.5; 2]][..]));
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Seen<'r, const B: usize> {
    /// s.
    pub state: &'r [[f32; B]],
    /// a, clipped to the task's limits.
    pub action: &'r [[f32; B]],
}

/// Where a step led, lane by lane.
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
/// rollout.look(&streams, 0, &mut buffers).ok_or("no such step")?;
/// buffers.eta[0] = [0.0, 1.0];
/// let landing = rollout.land(0, &mut buffers).ok_or("no such step")?;
/// // The push shows in the next state, not yet in the reward.
/// assert_eq!(landing.reward, [-1.0; 2]);
/// assert!(buffers.states[1][1] > buffers.states[1][0]);
/// # Ok::<(), &str>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Landing<const B: usize> {
    /// The objective's share of this step, undiscounted.
    pub reward: [f32; B],
    /// Whether the task's termination holds.
    pub terminal: [bool; B],
    /// False if a number was not finite.
    pub finite: [bool; B],
    /// True if the state or the action lay outside the data's support.
    pub outside: [bool; B],
}

impl<P: Policy> Rollout<'_, P> {
    /// The first half of step `step`: the noise, the controller's action and
    /// the model's prediction. `None` if `buffers` hold no such step.
    pub fn look<'s, const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        buffers: &'s mut Buffers<'_, B>,
    ) -> Option<Seen<'s, B>> {
        let dimension = self.model.dynamics.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        let state = buffers.states.get(first..first.checked_add(dimension)?)?;
        self.draw_noise(streams, step, &mut buffers.noise);
        self.predict(
            state,
            &buffers.noise,
            &mut buffers.controller,
            buffers.scratch,
            &mut buffers.prediction,
        );
        Some(Seen {
            state,
            action: buffers.controller.action,
        })
    }

    /// The second half, right after [`Rollout::look`]: the next state, by the
    /// adversary's choice for this step, and what it is worth.
    pub fn land<const B: usize>(
        &self,
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<Landing<B>> {
        let dimension = self.model.dynamics.state_dimension();
        let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
        let after = first.checked_add(dimension)?;
        let (states, later) = buffers.states.split_at_mut_checked(after)?;
        let state = states.get(first..)?;
        let next = later.get_mut(..dimension)?;
        let action = &*buffers.controller.action;
        self.transition(
            &buffers.prediction,
            buffers.scratch,
            buffers.eta.get(first..after)?,
            &Buffers::chosen(buffers.choices, step),
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
        let value = |slot: u16| buffers.values.get(usize::from(slot));
        // A slot that is not there counts as not finite.
        let (objective, _) = self.objective();
        let mut reward = value(objective).copied().unwrap_or([f32::NAN; B]);
        if self.variant == Variant::Penalised && self.objective == Objective::Return {
            for (reward, penalty) in reward.iter_mut().zip(self.penalty(&buffers.prediction)) {
                *reward -= penalty;
            }
        }
        let terminal = match self.task.termination {
            Some(slot) => value(slot).map_or([true; B], |row| row.map(|x| x != 0.0)),
            None => [false; B],
        };
        Some(Landing {
            reward,
            terminal,
            finite,
            outside,
        })
    }
}
