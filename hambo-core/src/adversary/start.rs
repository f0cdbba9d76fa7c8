//! Where a search starts from: what an adversary does on the first sweep.

use super::constant;
use crate::rollout::Rollout;
use crate::variant::Variant;

/// The largest number of starts on one trajectory.
pub(crate) const MAX_STARTS: usize = 128;

/// Members in turn for 1, 2, 4 … 32 steps: what pays only in rhythm.
const TURNS: usize = 6;

/// One start of an adversary.
///
/// ```
/// use hambo_core::adversary::{Start, Starts};
/// use hambo_core::rollout::{Objective, Rollout};
/// use hambo_core::task::Variant;
/// let image = hambo_core::example::image()?;
/// let starts = Starts::of(&Rollout {
///     model: image.model(),
///     policy: image.policy(),
///     task: image.task(),
///     variant: Variant::ContinuousAdversary,
///     objective: Objective::Return,
/// });
/// // eta = 0, −1 and 1, then the two members of the ensemble.
/// assert_eq!(starts.count(), 5);
/// assert_eq!(starts.at(0), Start::Constant(0));
/// assert_eq!(starts.at(4), Start::Member(1));
/// # Ok::<(), &str>(())
/// ```
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
    #[must_use]
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
                constants: constant::count(dynamics.state_dimension()),
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
    #[must_use]
    pub fn count(&self) -> usize {
        self.untrained().saturating_add(self.networks).max(1)
    }

    /// Those that are no network.
    #[must_use]
    pub fn untrained(&self) -> usize {
        let fixed = self.constants.saturating_add(self.members);
        fixed.saturating_add(self.turns).saturating_add(self.found)
    }

    /// The start with this number.
    #[must_use]
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
