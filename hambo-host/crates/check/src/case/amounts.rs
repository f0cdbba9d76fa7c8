//! How many trajectories a check takes: what the user gives, else what is usual and as many
//! more as requirements and bounds for any distribution need.

use hambo_core::task::{Allocation, DistributionFree, Effort};

use super::demand::{Demand, Numbers, from};
use super::options::{DEFAULT_SEARCHED, DEFAULT_TRAJECTORIES};

/// Sampled trajectories that may break a constraint before its bound lies below the
/// probability that the task asks for, with the numbers that a check takes by itself.
const VIOLATIONS: u32 = 3;

/// Searched trajectories where a bound for any distribution decides.
const SEARCHED_FOR_ANY: u32 = 128;

/// The most searched trajectories that a check takes by itself.
const MOST_SEARCHED_ALONE: u32 = 1024;

/// More than these are searched after a trial, unless told otherwise.
const MOST_SEARCHED_EVENLY: u32 = 16;

/// Sampled trajectories that cost about as many steps as a search after a trial.
const COST_OF_A_SEARCH: u64 = 40;

/// More trajectories than any check has.
pub(super) const MOST: u32 = 1 << 24;

/// What a user asks for, where it is given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wanted {
    /// Sampled trajectories.
    pub trajectories: Option<u32>,
    /// Searched trajectories.
    pub searched: Option<u32>,
    /// How the adversary's starts share the steps of the model.
    pub allocation: Option<Allocation>,
}

/// The numbers where nothing asks for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Usual {
    trajectories: u32,
    /// Where Student's t bounds what the search finds.
    searched: u32,
}

impl Usual {
    /// Those of a check on the host.
    pub const HOST: Self = Self {
        trajectories: DEFAULT_TRAJECTORIES,
        searched: DEFAULT_SEARCHED,
    };
    /// Those of a device's own check.
    pub const DEVICE: Self = Self {
        trajectories: 400,
        searched: 8,
    };
}

impl Demand<'_> {
    /// What the user wants; where that is open the usual numbers, and as many more as
    /// requirements and bounds for any distribution need. Sweeps and seed are 0.
    #[must_use]
    pub fn effort(&self, wanted: Wanted, usual: Usual) -> Effort {
        let cap = MOST_SEARCHED_ALONE * self.searched_groups();
        let least = self.least_searched(usual);
        // Before the number of searches is known, the search after a trial stands for any.
        let allocation = wanted.allocation.unwrap_or(Allocation::Tried);
        let enough = |trajectories, searched| {
            let numbers = Numbers {
                trajectories,
                searched,
            };
            self.reaches(numbers, allocation, VIOLATIONS)
        };
        let searched_for = |trajectories| {
            let searched = from(least, cap, |searched| enough(trajectories, searched));
            searched.map(|searched| Numbers {
                trajectories,
                searched,
            })
        };
        let trajectories_for = |searched| {
            let found = from(usual.trajectories, MOST, |count| enough(count, searched));
            found.map(|trajectories| Numbers {
                trajectories,
                searched,
            })
        };
        let fallback = Numbers {
            trajectories: wanted.trajectories.unwrap_or(usual.trajectories),
            searched: wanted
                .searched
                .unwrap_or(if self.has_share() && self.is_exact() {
                    cap.min(self.most_searched()).max(least)
                } else {
                    least
                }),
        };
        let numbers = match (wanted.trajectories, wanted.searched) {
            (Some(_), Some(_)) => None,
            (Some(trajectories), None) => searched_for(trajectories),
            (None, Some(searched)) => trajectories_for(searched),
            (None, None) => {
                let more = std::iter::successors(Some(usual.trajectories), |count| {
                    Some(count + count / 4).filter(|next| *next < MOST)
                });
                let all = more.filter_map(searched_for);
                all.min_by_key(|numbers| {
                    u64::from(numbers.trajectories) + COST_OF_A_SEARCH * u64::from(numbers.searched)
                })
                .or_else(|| trajectories_for(fallback.searched))
            }
        };
        let numbers = numbers.unwrap_or(fallback);
        let usual_allocation = if numbers.searched <= MOST_SEARCHED_EVENLY {
            Allocation::Even
        } else {
            Allocation::Tried
        };
        Effort {
            trajectories: numbers.trajectories,
            searched: numbers.searched,
            iterations: 0,
            seed: 0,
            allocation: wanted.allocation.unwrap_or(usual_allocation),
        }
    }

    /// Searched trajectories where no requirement asks for more.
    fn least_searched(&self, usual: Usual) -> u32 {
        let of_return = self.strictness >= DistributionFree::SharesAndReturn;
        let any = self.searches && (of_return || (self.has_share() && self.is_exact()));
        if !any {
            return usual.searched;
        }
        let least = SEARCHED_FOR_ANY * self.searched_groups();
        least.min(self.most_searched()).max(usual.searched)
    }
}
