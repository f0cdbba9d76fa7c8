//! The controller's problem: a fixed adversary inside the model's
//! uncertainty, and an action in every step.

use hambo_core::adversary::searches;
use hambo_core::image::Image;
use hambo_core::numeric::CapacityError;
use hambo_core::rollout::{Feedback, Rollout};
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use rayon::prelude::*;

use super::decision::{Actions, Problem};
use super::given_actions::GivenActions;
use super::lane_group::{LaneGroup, WIDTH, gather, transpose};
use hambo_base::Error;

/// Copies of the hallucinated system under an image's trained adversary.
/// Without one there is no push (CA), or chance picks the member (DA1). The
/// image's own controller is not asked. Actions in [−1, 1] are stretched to
/// the task's limits.
///
/// ```
/// use hambo_core::task::Variant;
/// use hambo_check::reinforcement::{Actions, ControllerProblem, Problem};
///
/// let image = hambo_core::example::image()?;
/// let mut problem = ControllerProblem::new(&image, Variant::ContinuousAdversary, 2, 0)?;
/// assert_eq!((problem.actions(), problem.observation_size()), (Actions::Continuous(1), 1));
/// let (mut rewards, mut terminated) = ([0.0; 2], [true; 2]);
/// problem.step(&[0.0, -1.0], &mut rewards, &mut terminated)?;
/// let mut seen = [0.0; 2];
/// problem.observe(&mut seen);
/// assert!(seen[1] < seen[0]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ControllerProblem<'a> {
    image: &'a Image<'a>,
    variant: Variant,
    lanes: usize,
    seed: u64,
    groups: Vec<LaneGroup>,
}

impl<'a> ControllerProblem<'a> {
    /// `lanes` copies; the seed decides their chance.
    ///
    /// # Errors
    /// If the variant is none of the task's.
    pub fn new(
        image: &'a Image<'a>,
        variant: Variant,
        lanes: usize,
        seed: u64,
    ) -> Result<Self, Error> {
        if !searches(variant) || !image.task().plan.method.variants.contains(&variant) {
            let text = "a controller can be improved against ca and da1, where the task has them";
            return Err(Error::Usage(text.to_owned()));
        }
        let idle = idle(image);
        let rollout = rollout(image, variant, &idle);
        let groups = (0..lanes.div_ceil(WIDTH)).map(|_| LaneGroup::new(&rollout));
        Ok(Self {
            image,
            variant,
            lanes,
            seed,
            groups: groups.collect::<Result<_, CapacityError>>()?,
        })
    }

    /// The action of a group's lanes in the task's units, still to be clipped.
    fn given(&self, actions: &[f32]) -> GivenActions {
        let mut given = idle(self.image);
        let columns = given.actions.len();
        gather(actions, columns, &mut given.actions);
        let limits = &self.image.task().action_limits;
        let limits = limits.low.iter().zip(limits.high);
        for (row, (low, high)) in given.actions.iter_mut().zip(limits) {
            for x in row {
                *x = low + 0.5 * (*x + 1.0) * (high - low);
            }
        }
        given
    }
}

fn idle(image: &Image<'_>) -> GivenActions {
    let dynamics = &image.model().dynamics;
    GivenActions {
        states: image.task().state_dimension(),
        actions: vec![[0.0; WIDTH]; dynamics.action_dimension()],
    }
}

fn rollout<'a>(
    image: &'a Image<'a>,
    variant: Variant,
    policy: &'a GivenActions,
) -> Rollout<'a, GivenActions> {
    Rollout {
        model: image.model(),
        policy,
        task: image.task(),
        variant,
        objective: Objective::Return,
    }
}

/// One step of a group; `None` if there was no room for it.
fn step(
    rollout: &Rollout<'_, GivenActions>,
    group: &mut LaneGroup,
    seed: u64,
    rewards: &mut [f32],
    terminated: &mut [bool],
) -> Option<()> {
    let (dimension, moved) = (rollout.task.state_dimension(), rollout.task.moved_states());
    let streams = group.streams(seed);
    let mut buffers = group.buffers(rollout).ok()?;
    let network = rollout.task.network(rollout.variant, rollout.objective);
    buffers.feedback = match network {
        Some(_) => [Feedback::Network; WIDTH],
        None => [Feedback::Given; WIDTH],
    };
    if rollout.variant == Variant::ContinuousAdversary {
        buffers.eta.get_mut(..moved)?.fill([0.0; WIDTH]);
    } else {
        let members = rollout.model.dynamics.members() as u32;
        let drawn = streams
            .clone()
            .map(|mut stream| stream.index(members) as u16);
        *buffers.members.chosen.first_mut()? = drawn;
    }
    let result = rollout.step(&streams, 0, &mut buffers)?;
    let lanes = rewards.iter_mut().zip(terminated);
    let found = result.reward.iter().zip(&result.terminal);
    for ((reward, terminated), ((found, terminal), finite)) in lanes.zip(found.zip(&result.finite))
    {
        *reward = if *finite { *found } else { f32::NAN };
        *terminated = *terminal;
    }
    group.advance(dimension);
    Some(())
}

impl Problem for ControllerProblem<'_> {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn observation_size(&self) -> usize {
        self.image.task().state_dimension()
    }

    fn actions(&self) -> Actions {
        Actions::Continuous(self.image.model().dynamics.action_dimension())
    }

    fn horizon(&self) -> usize {
        self.image.task().horizon as usize
    }

    fn start(&mut self, lane: usize, episode: u32) -> Result<(), Error> {
        let idle = idle(self.image);
        let rollout = rollout(self.image, self.variant, &idle);
        if let Some(group) = self.groups.get_mut(lane / WIDTH) {
            group.start(&rollout, lane % WIDTH, episode, self.seed);
        }
        Ok(())
    }

    fn observe(&self, observations: &mut [f32]) {
        let size = self.observation_size();
        for (part, group) in observations.chunks_mut(WIDTH * size).zip(&self.groups) {
            transpose(group.states(size), part, size, 0);
        }
    }

    fn step(
        &mut self,
        actions: &[f32],
        rewards: &mut [f32],
        terminated: &mut [bool],
    ) -> Result<(), Error> {
        let columns = self.image.model().dynamics.action_dimension();
        let given: Vec<GivenActions> = actions
            .chunks(WIDTH * columns)
            .map(|actions| self.given(actions))
            .collect();
        let parts = rewards
            .par_chunks_mut(WIDTH)
            .zip(terminated.par_chunks_mut(WIDTH))
            .zip(&given);
        let (image, variant, seed) = (self.image, self.variant, self.seed);
        parts
            .zip(&mut self.groups)
            .for_each(|(((rewards, terminated), given), group)| {
                let rollout = rollout(image, variant, given);
                if step(&rollout, group, seed, rewards, terminated).is_none() {
                    rewards.fill(f32::NAN);
                }
            });
        Ok(())
    }
}
