//! The rows a group of trajectories works in, carved from one lent slice.
//!
//! On the device the slice is a `static`; on the host it is as long as the
//! task needs. So one number, the count of rows, is the whole capacity.

use super::member_rows::MemberRows;
use crate::model::{Dynamics, Prediction};
use crate::numeric::{CapacityError, Pause, Slices};
use crate::policy::Policy;
use crate::task::{ModelInputs, Task, Variant};

/// All rows of a group of `B` trajectories.
pub struct Buffers<'r, const B: usize> {
    /// s_0 … s_T, one state after the other.
    pub states: &'r mut [[f32; B]],
    /// eta_0 … eta_{T−1}.
    pub eta: &'r mut [[f32; B]],
    /// The eta that hurt most so far; no rows if no variant searches for one.
    pub worst_eta: &'r mut [[f32; B]],
    /// The discrete adversary's choices; no rows if no variant needs them.
    pub members: MemberRows<'r, B>,
    pub(super) controller: ControllerRows<'r, B>,
    pub(super) noise: StepNoise<'r, B>,
    pub(super) transition: TransitionRows<'r, B>,
    pub(super) unlimited: &'r mut [[f32; B]],
    pub(super) prediction: Prediction<'r, B>,
    pub(super) prediction_cotangent: Prediction<'r, B>,
    pub(super) state_cotangent: &'r mut [[f32; B]],
    pub(super) next_cotangent: &'r mut [[f32; B]],
    /// The rows of `next_cotangent` that the model moves.
    pub(super) moved_cotangent: &'r mut [[f32; B]],
    /// What the model sees of the state, and its cotangent; no rows if that is the
    /// state itself.
    pub(super) features: &'r mut [[f32; B]],
    pub(super) feature_cotangent: &'r mut [[f32; B]],
    /// The lanes in which the features were computed from finite numbers alone.
    pub(super) finite_features: [bool; B],
    pub(super) action_cotangent: &'r mut [[f32; B]],
    pub(super) values: &'r mut [[f32; B]],
    pub(super) adjoints: &'r mut [[f32; B]],
    pub(super) scratch: &'r mut [[f32; B]],
    pub(super) adversary_scratch: &'r mut [[f32; B]],
    /// What the model sees in whitened coordinates.
    pub(super) whitened: &'r mut [[f32; B]],
    /// Who chooses in each lane during the forward sweep.
    pub feedback: [Feedback; B],
    /// Whether the forward sweep computes the smooth objective as well.
    pub smooth_end: bool,
    /// The lanes whose distance from the log is measured; it takes as long as a
    /// small network.
    pub watch_support: [bool; B],
    /// Whether there is to be another slice of work.
    pub(crate) slices: Slices<'r>,
}

/// Who chooses in a lane during the forward sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// Nobody: what stands in `buffers.eta` or `buffers.members`.
    Given,
    /// The task's trained network.
    Network,
    /// A member: CA follows it by the eta that leads to its mean.
    Member(u16),
}

pub(super) struct ControllerRows<'r, const B: usize> {
    pub scratch: &'r mut [[f32; B]],
    /// Before the task's limits.
    pub wanted_action: &'r mut [[f32; B]],
    /// After them.
    pub action: &'r mut [[f32; B]],
}

/// Where the next state may fall: centre + spread · noise.
pub(super) struct TransitionRows<'r, const B: usize> {
    pub centre: &'r mut [[f32; B]],
    pub spread: &'r mut [[f32; B]],
}

/// The random numbers of one step.
pub(super) struct StepNoise<'r, const B: usize> {
    /// The member that is drawn.
    pub member: [usize; B],
    /// One for each action dimension: the controller's own noise.
    pub action: &'r mut [[f32; B]],
    /// One for each state that the model moves: the system's.
    pub state: &'r mut [[f32; B]],
}

/// The sizes that decide how many rows are needed.
struct Sizes {
    state: usize,
    /// States that the model moves.
    moved: usize,
    /// Inputs of the model that describe the state.
    inputs: usize,
    /// Those of them that are computed.
    features: usize,
    action: usize,
    horizon: usize,
    worst_eta: usize,
    /// Steps in which a member is chosen.
    member_steps: usize,
    ops: usize,
    scratch: usize,
    policy_scratch: usize,
    adversary_scratch: usize,
}

impl Sizes {
    fn of(dynamics: &Dynamics<'_>, task: &Task<'_>, policy: &impl Policy) -> Option<Self> {
        let horizon = usize::try_from(task.horizon).ok()?;
        let discrete = task.plan.method.variants.iter().any(|variant| {
            matches!(
                variant,
                Variant::DiscreteAdversary1 | Variant::DiscreteAdversaryInf
            )
        });
        let continuous = task
            .plan
            .method
            .variants
            .contains(&Variant::ContinuousAdversary);
        let moved = task.moved_states();
        let eta = horizon.checked_mul(moved)?;
        let mut adversary_scratch = 0;
        for adversary in &task.plan.networks {
            adversary_scratch = adversary.scratch_rows()?.max(adversary_scratch);
        }
        Some(Self {
            state: task.state_dimension(),
            moved,
            inputs: dynamics.features(),
            features: match &task.physics.inputs {
                ModelInputs::States(_) => 0,
                ModelInputs::Features(slots) => slots.len(),
            },
            action: dynamics.action_dimension(),
            horizon,
            worst_eta: if continuous { eta } else { 0 },
            member_steps: if discrete { horizon } else { 0 },
            ops: task.program.len(),
            scratch: dynamics.scratch_rows()?,
            policy_scratch: policy.scratch_rows()?,
            adversary_scratch,
        })
    }

    fn rows(&self) -> Option<usize> {
        let path = self.horizon.checked_add(1)?.checked_mul(self.state)?;
        let eta = self.horizon.checked_mul(self.moved)?;
        let state_rows = self.state.checked_mul(3)?;
        let moved_rows = self.moved.checked_mul(10)?;
        let action_rows = self.action.checked_mul(5)?;
        path.checked_add(eta)?
            .checked_add(state_rows)?
            .checked_add(moved_rows)?
            .checked_add(self.inputs)?
            .checked_add(self.features.checked_mul(2)?)?
            .checked_add(self.worst_eta)?
            .checked_add(MemberRows::<1>::needed(self.member_steps)?)?
            .checked_add(action_rows)?
            .checked_add(self.ops.checked_mul(2)?)?
            .checked_add(self.scratch)?
            .checked_add(self.policy_scratch)?
            .checked_add(self.adversary_scratch)
    }
}

impl<const B: usize> Buffers<'_, B> {
    /// Gives the system's noise of the step that was observed last, in predicted standard
    /// deviations, one number for each state that the model moves, the same in all lanes,
    /// instead of what was drawn.
    pub fn give_noise(&mut self, noise: &[f32]) {
        for (row, number) in self.noise.state.iter_mut().zip(noise) {
            *row = [*number; B];
        }
    }
}

impl<'r, const B: usize> Buffers<'r, B> {
    /// Calls `pause` between two slices of work from now on. Once it says `Break` every
    /// trajectory in these rows is given up, and counts as not finite.
    pub fn pause_with(&mut self, pause: &'r dyn Pause) {
        self.slices.pause_with(pause);
    }

    /// Whether a pause has said `Break`.
    pub fn is_stopped(&self) -> bool {
        self.slices.is_stopped()
    }

    /// How many rows a model, a task and a policy need.
    ///
    /// # Errors
    /// If the count does not fit a number.
    pub fn rows_needed(
        dynamics: &Dynamics<'_>,
        task: &Task<'_>,
        policy: &impl Policy,
    ) -> Result<usize, CapacityError> {
        Sizes::of(dynamics, task, policy)
            .and_then(|sizes| sizes.rows())
            .ok_or(CapacityError {
                needed: usize::MAX,
                available: 0,
            })
    }

    /// Carves the rows.
    ///
    /// # Errors
    /// If there are too few.
    pub fn carve(
        rows: &'r mut [[f32; B]],
        dynamics: &Dynamics<'_>,
        task: &Task<'_>,
        policy: &impl Policy,
    ) -> Result<Self, CapacityError> {
        let error = CapacityError {
            needed: Self::rows_needed(dynamics, task, policy)?,
            available: rows.len(),
        };
        if error.needed > error.available {
            return Err(error);
        }
        let sizes = Sizes::of(dynamics, task, policy).ok_or(error)?;
        Self::split(rows, &sizes).ok_or(error)
    }

    fn split(rows: &'r mut [[f32; B]], sizes: &Sizes) -> Option<Self> {
        let mut rest = rows;
        let mut take = |count: usize| -> Option<&'r mut [[f32; B]]> {
            let (taken, left) = core::mem::take(&mut rest).split_at_mut_checked(count)?;
            rest = left;
            Some(taken)
        };
        let (state, moved, action) = (sizes.state, sizes.moved, sizes.action);
        Some(Self {
            states: take(sizes.horizon.checked_add(1)?.checked_mul(state)?)?,
            eta: take(sizes.horizon.checked_mul(moved)?)?,
            worst_eta: take(sizes.worst_eta)?,
            members: MemberRows::carve(
                take(MemberRows::<B>::needed(sizes.member_steps)?)?,
                sizes.member_steps,
            )?,
            controller: ControllerRows {
                scratch: take(sizes.policy_scratch)?,
                wanted_action: take(action)?,
                action: take(action)?,
            },
            noise: StepNoise {
                member: [0; B],
                action: take(action)?,
                state: take(moved)?,
            },
            transition: TransitionRows {
                centre: take(moved)?,
                spread: take(moved)?,
            },
            unlimited: take(state)?,
            prediction: Prediction {
                mean: take(moved)?,
                epistemic_std: take(moved)?,
                aleatoric_std: take(moved)?,
            },
            prediction_cotangent: Prediction {
                mean: take(moved)?,
                epistemic_std: take(moved)?,
                aleatoric_std: take(moved)?,
            },
            state_cotangent: take(state)?,
            next_cotangent: take(state)?,
            moved_cotangent: take(moved)?,
            features: take(sizes.features)?,
            feature_cotangent: take(sizes.features)?,
            finite_features: [true; B],
            action_cotangent: take(action)?,
            values: take(sizes.ops)?,
            adjoints: take(sizes.ops)?,
            scratch: take(sizes.scratch)?,
            adversary_scratch: take(sizes.adversary_scratch)?,
            whitened: take(sizes.inputs.checked_add(action)?)?,
            feedback: [Feedback::Given; B],
            smooth_end: false,
            watch_support: [false; B],
            slices: Slices::default(),
        })
    }
}
