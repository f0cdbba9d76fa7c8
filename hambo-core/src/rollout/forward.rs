//! The forward sweep: T steps, the return, and what went wrong on the way.

use super::{Buffers, Landing, Objective, Rollout};
use crate::arithmetic::random::Stream;
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
/// // One step alone.
/// let landing = rollout.step(&streams, 0, &mut buffers).ok_or("no such step")?;
/// assert_eq!(landing.reward, [-1.0; 2]);
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
        let mut returns = Returns {
            value: [0.0; B],
            steps: [0; B],
            finite: [true; B],
            outside: [false; B],
        };
        let (_, discount) = self.objective();
        let mut ended = [false; B];
        let mut weight = 1.0_f32;
        for step in 0..self.task.horizon {
            let Some(landing) = self.step(streams, step, buffers) else {
                returns.finite = [false; B];
                return returns;
            };
            returns.add(step, weight, &landing, &mut ended);
            weight *= discount;
        }
        if let Objective::Constraint(_) = self.objective {
            for (sum, steps) in returns.value.iter_mut().zip(&returns.steps) {
                *sum /= *steps as f32;
            }
        }
        returns
    }

    /// A whole step: [`Rollout::look`], the trained adversary's choice in the
    /// lanes that `buffers.trained` names, and [`Rollout::land`].
    pub fn step<const B: usize>(
        &self,
        streams: &[Stream; B],
        step: u32,
        buffers: &mut Buffers<'_, B>,
    ) -> Option<Landing<B>> {
        self.look(streams, step, buffers)?;
        if let Some(adversary) = self.task.adversary(self.variant)
            && buffers.trained.contains(&true)
        {
            let dimension = self.model.dynamics.state_dimension();
            let first = usize::try_from(step).ok()?.checked_mul(dimension)?;
            let this = first..first.checked_add(dimension)?;
            let state = buffers.states.get(this.clone())?;
            let action = &*buffers.controller.action;
            let (scratch, lanes) = (&mut *buffers.adversary_scratch, &buffers.trained);
            if self.variant == Variant::ContinuousAdversary {
                let eta = buffers.eta.get_mut(this)?;
                adversary.choose_eta(state, action, scratch, lanes, eta);
            } else if let Some(choice) = Buffers::choice_row(buffers.choices, step) {
                adversary.choose_member(state, action, scratch, lanes, choice);
            }
        }
        self.land(step, buffers)
    }
}

impl<const B: usize> Returns<B> {
    /// Adds a step to the lanes that have not ended.
    fn add(&mut self, step: u32, weight: f32, landing: &Landing<B>, ended: &mut [bool; B]) {
        let sums = self.value.iter_mut().zip(self.steps.iter_mut());
        let marks = self.finite.iter_mut().zip(self.outside.iter_mut());
        let flags = landing.finite.iter().zip(&landing.outside);
        let ends = landing.reward.iter().zip(&landing.terminal);
        let lanes = sums.zip(marks).zip(flags).zip(ended.iter_mut()).zip(ends);
        for (((((sum, steps), (good, left)), (finite, outside)), ended), (reward, terminal)) in
            lanes
        {
            if *ended {
                continue;
            }
            *sum += weight * *reward;
            *steps = step.saturating_add(1);
            *good &= *finite && sum.is_finite();
            *left |= *outside;
            *ended = *terminal;
        }
    }
}
