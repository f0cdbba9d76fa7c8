//! The stages of a check: each is a level of an estimate, on some of its trajectories.

use super::judge::planned;
use crate::adversary::{Candidate, Focus, Level, Starts, TRIAL_BLOCK, searches};
use crate::model::Model;
use crate::rollout::Rollout;
use crate::task::{Task, Variant};

/// What is walked next, in any order of its candidates.
#[derive(Debug)]
pub struct Stage<'a, P> {
    /// What is estimated.
    pub rollout: Rollout<'a, P>,
    /// The level.
    pub level: Level,
    /// The number of its first trajectory.
    pub first: u32,
    /// How many trajectories it has.
    pub trajectories: u32,
    /// The adversary's starts on each of them.
    pub starts: usize,
    /// How many of them the pilot and the trials choose, where they do.
    pub focus: Option<Focus>,
    /// Stages of the same estimate before this one.
    pub part: u32,
}

impl<'a, P> Stage<'a, P> {
    /// The stage of an estimate at a place.
    fn at(rollout: Rollout<'a, P>, part: u32) -> Option<Self> {
        let all = Starts::of(&rollout).count();
        let task = rollout.task;
        let focus = Focus::of(&rollout);
        let whole = |level: Level, starts| Self {
            trajectories: level.trajectories(task),
            first: 0,
            rollout: Rollout { ..rollout },
            level,
            starts,
            focus,
            part,
        };
        let Some(focus) = focus else {
            let searched = searches(rollout.variant) && task.plan.effort.searched > 0;
            return match part {
                0 => Some(whole(Level::Sampled, all)),
                1 if searched => Some(whole(Level::Searched, all)),
                _ => None,
            };
        };
        match part.checked_sub(2) {
            None if part == 0 => Some(whole(Level::Pilot, all)),
            None => Some(whole(Level::Sampled, focus.sampled)),
            Some(part) => {
                let (level, starts) = match part & 1 {
                    0 => (Level::Trial, all),
                    _ => (Level::Searched, focus.searched),
                };
                let block = TRIAL_BLOCK as u32;
                let first = (part >> 1).saturating_mul(block);
                let left = task.plan.effort.searched.checked_sub(first)?;
                Some(Self {
                    first,
                    trajectories: (left > 0).then_some(left.min(block))?,
                    ..whole(level, starts)
                })
            }
        }
    }

    /// How many candidates it has, each a trajectory and a start. They are numbered
    /// trajectory by trajectory, and within one by the start; of DAinf member by member, and
    /// within one by the trajectory.
    pub fn candidates(&self) -> u32 {
        self.trajectories.saturating_mul(self.starts as u32)
    }

    /// Sweeps on each of them.
    pub fn sweeps(&self) -> u32 {
        let search = self.level.sweeps(self.rollout.variant, self.rollout.task);
        search.saturating_add(1)
    }

    /// Whether whole members are compared, each on all trajectories.
    pub fn compares_members(&self) -> bool {
        self.rollout.variant == Variant::DiscreteAdversaryInf
    }

    /// The candidate with a number, where every start has its turn.
    pub(super) fn candidate(&self, number: u32) -> Candidate {
        let one = Candidate::numbered(&self.rollout, self.level, number);
        Candidate {
            trajectory: one.trajectory.saturating_add(self.first),
            ..one
        }
    }
}

/// The stages of a whole check, in order.
pub(super) fn stages<'a, P>(
    model: &'a Model<'a>,
    task: &'a Task<'a>,
    policy: &'a P,
) -> impl Iterator<Item = Stage<'a, P>> + use<'a, P> {
    planned(task).flat_map(move |(objective, variant)| {
        let rollout = move || Rollout {
            model,
            policy,
            task,
            variant,
            objective,
        };
        (0..).map_while(move |part| Stage::at(rollout(), part))
    })
}
