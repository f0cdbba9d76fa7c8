//! Where a search starts from: what an adversary does on the first sweep.

use super::constant;
use crate::rollout::Rollout;
use crate::task::Variant;

/// The largest number of starts on one trajectory.
pub(crate) const MAX_STARTS: usize = 128;

/// Members in turn for 1, 2, 4 … 32 steps: what pays only in rhythm.
const TURNS: usize = 6;

/// One start of an adversary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// A constant eta, by number; number 0 is eta = 0.
    Constant(usize),
    /// A member of the ensemble. CA follows it by the eta that leads to the
    /// member's mean.
    Member(usize),
    /// All members in turn, each for 2^n steps, by n.
    Turns(usize),
    /// A sequence that a search found on other trajectories, by number.
    Found(usize),
    /// The trained network.
    Network,
}

/// How many starts of each kind there are; they are numbered in this order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Starts {
    /// Constant etas.
    pub constants: usize,
    /// Members.
    pub members: usize,
    /// Members in turn.
    pub turns: usize,
    /// Sequences that were found elsewhere.
    pub found: usize,
    /// Trained networks, 0 or 1.
    pub networks: usize,
}

impl Starts {
    /// The starts of a rollout's adversary. A neutral estimate has one, which
    /// does nothing.
    pub fn of<P>(rollout: &Rollout<'_, P>) -> Self {
        let (task, dynamics) = (rollout.task, &rollout.model.dynamics);
        let members = dynamics.members();
        let own = Self {
            found: task
                .found(rollout.variant, rollout.objective)
                .map_or(0, |found| found.count()),
            networks: usize::from(task.network(rollout.variant, rollout.objective).is_some()),
            ..Self::default()
        };
        match rollout.variant {
            Variant::ContinuousAdversary => Self {
                constants: constant::count(dynamics.outputs()),
                // One member alone is the mean.
                members: if members > 1 { members } else { 0 },
                ..own
            },
            Variant::DiscreteAdversary1 => Self {
                members: members.max(1),
                turns: if members > 1 { TURNS } else { 0 },
                ..own
            },
            Variant::DiscreteAdversaryInf => Self {
                members: members.max(1),
                ..Self::default()
            },
            _ => Self {
                constants: 1,
                ..Self::default()
            },
        }
    }

    /// All of them, at least 1.
    pub fn count(&self) -> usize {
        self.untrained().saturating_add(self.networks).max(1)
    }

    /// Those that are no network.
    pub fn untrained(&self) -> usize {
        let fixed = self.constants.saturating_add(self.members);
        fixed.saturating_add(self.turns).saturating_add(self.found)
    }

    /// The start with this number.
    pub fn at(&self, number: usize) -> Start {
        if number < self.constants {
            return Start::Constant(number);
        }
        let number = number.saturating_sub(self.constants);
        if number < self.members {
            return Start::Member(number);
        }
        let number = number.saturating_sub(self.members);
        if number < self.turns {
            return Start::Turns(number);
        }
        let number = number.saturating_sub(self.turns);
        if number < self.found {
            Start::Found(number)
        } else {
            Start::Network
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use crate::example;
    use crate::model::{Ensemble, StatisticalModel};
    use crate::numeric::network::{Activation, NetworkShape};
    use crate::task::Objective;

    #[test]
    fn starts_are_numbered_kind_by_kind() {
        let starts = Starts {
            constants: 2,
            members: 1,
            turns: 2,
            found: 1,
            networks: 1,
        };
        let all: Vec<Start> = (0..starts.count())
            .map(|number| starts.at(number))
            .collect();
        assert_eq!(
            all,
            [
                Start::Constant(0),
                Start::Constant(1),
                Start::Member(0),
                Start::Turns(0),
                Start::Turns(1),
                Start::Found(0),
                Start::Network,
            ]
        );
        assert_eq!(starts.untrained(), 6);
        assert_eq!(Starts::default().count(), 1);
    }

    /// The starts of a variant in the example, and in one with a single member.
    fn starts(variant: Variant) -> [Starts; 2] {
        static ALONE: [[f32; 4]; 3] = [[0.1, -20.0, 0.0, 0.0], [0.0; 4], [1.0, 0.0, 0.0, 0.0]];
        let shape = NetworkShape::new(2, &[], 2, Activation::Relu).unwrap();
        let alone = Ensemble::new(shape, 1, (1e-3, 1.0), example::UNITS, &ALONE).unwrap();
        let (mut model, policy) = (example::model().unwrap(), example::policy().unwrap());
        let task = example::task().unwrap();
        let of = |model: &crate::model::Model<'_>| {
            Starts::of(&Rollout {
                model,
                policy: &policy,
                task: &task,
                variant,
                objective: Objective::Return,
            })
        };
        let pair = of(&model);
        model.dynamics = StatisticalModel::Ensemble(alone).into();
        [pair, of(&model)]
    }

    #[test]
    fn one_member_alone_is_the_mean_and_has_no_turns() {
        let none = Starts::default();
        let constants = Starts {
            constants: 3,
            ..none
        };
        let pair = Starts {
            members: 2,
            ..constants
        };
        assert_eq!(starts(Variant::ContinuousAdversary), [pair, constants]);
        let alone = Starts { members: 1, ..none };
        let pair = Starts {
            members: 2,
            turns: 6,
            ..none
        };
        assert_eq!(starts(Variant::DiscreteAdversary1), [pair, alone]);
        let pair = Starts { members: 2, ..none };
        assert_eq!(starts(Variant::DiscreteAdversaryInf), [pair, alone]);
        let neutral = Starts {
            constants: 1,
            ..none
        };
        assert_eq!(starts(Variant::Mean), [neutral; 2]);
    }
}
