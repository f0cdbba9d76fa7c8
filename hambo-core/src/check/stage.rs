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
        let (before, sampled) = match (focus.kept, part) {
            (None, 0) => (1, Some(whole(Level::Sampled, all))),
            (Some(_), 0) => (3, Some(whole(Level::Pilot, all))),
            (Some(_), 1) => (3, Some(whole(Level::Complete, all))),
            (Some(kept), 2) => {
                let first = Level::Complete.trajectories(task);
                let rest = Self {
                    first,
                    trajectories: Level::Sampled.trajectories(task).saturating_sub(first),
                    ..whole(Level::Sampled, kept)
                };
                (3, Some(rest))
            }
            (None, _) => (1, None),
            (Some(_), _) => (3, None),
        };
        if sampled.is_some() {
            return sampled;
        }
        let part = part.saturating_sub(before);
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

    /// Whether its starts are those that a pilot or a trial chose.
    pub(super) fn is_chosen(&self) -> bool {
        self.focus.is_some_and(|focus| match self.level {
            Level::Sampled => focus.kept.is_some(),
            Level::Searched => true,
            Level::Pilot | Level::Complete | Level::Trial => false,
        })
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
