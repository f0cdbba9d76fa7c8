//! `--allocation`: how the adversary's starts share the steps of the model.

use clap::ValueEnum;
use hambo_core::task::Allocation;

/// As the flag takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AllocationArgument {
    /// Every start on every trajectory, each searched to the end.
    Even,
    /// Every start on every sampled trajectory; on each searched one the search
    /// goes on from those that a trial brought lowest.
    Tried,
    /// The same search, and most sampled trajectories from the promising starts:
    /// about two fifths of the steps.
    Focused,
}

impl From<AllocationArgument> for Allocation {
    fn from(argument: AllocationArgument) -> Self {
        match argument {
            AllocationArgument::Even => Self::Even,
            AllocationArgument::Tried => Self::Tried,
            AllocationArgument::Focused => Self::Focused,
        }
    }
}
