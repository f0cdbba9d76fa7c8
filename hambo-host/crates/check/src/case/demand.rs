//! What bounds of both levels can reach with given numbers of trajectories, and what they
//! charge where nothing goes wrong: known before any trajectory is walked.

use hambo_core::adversary::{complete_trajectories, searched_starts, searches};
use hambo_core::estimate::{ErrorBudget, charge_of_nothing_found, probability_limit};
use hambo_core::task::{Allocation, DistributionFree, Effort, Method};

use hambo_task::task::{Initial, NamedConstraint, TaskFile};

/// How many starts a check of a task that starts wherever it is worst has, each with
/// trajectories of its own.
pub const WORST_STARTS: usize = 32;

/// What decides how many trajectories a check takes.
///
/// ```
/// use hambo_check::amounts::{Usual, Wanted};
/// use hambo_check::demand::Demand;
/// use hambo_core::task::{Allocation, Method};
/// use hambo_task::task::TaskFile;
/// let task = |share: f32| {
///     let text = format!("name = 'cart'\nhorizon = 50\ndelta = 0.1\n[state]\nnames = ['x']\n\
///             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n\
///             [reward]\nexpr = '-abs(x)'\n[initial]\nkind = 'point'\nvalue = [0]\n\
///             [[constraint]]\nname = 'wall'\nexpr = 'x < 2'\nkind = 'always'\n\
///             probability = {share}\n");
///     TaskFile::parse(&text, "cart.toml")
/// };
/// let method = Method::default();
/// let effort = |task: &TaskFile| {
///     Demand::of(task, &method, &[]).effort(Wanted::default(), Usual::HOST)
/// };
/// let [lax, strict] = [effort(&task(0.9)?), effort(&task(0.99)?)];
/// assert_eq!((lax.trajectories, lax.searched), (4000, 128));
/// assert!(strict.searched > 500 && strict.allocation == Allocation::Tried);
/// # Ok::<(), hambo_task::task::TaskError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Demand<'a> {
    pub(super) task: &'a TaskFile,
    /// Whether a variant that decides searches.
    pub(super) searches: bool,
    /// What must hold for any distribution.
    pub(super) strictness: DistributionFree,
    /// First states of the log, for a task that starts from a sample of these.
    pub(super) first_states: Option<u32>,
}

/// Both numbers of trajectories.
#[derive(Clone, Copy, Debug)]
pub(super) struct Numbers {
    pub trajectories: u32,
    pub searched: u32,
}

impl<'a> Demand<'a> {
    /// That of a task under a method; `listed` are its first states, one after the other, where
    /// it starts from its data.
    #[must_use]
    pub fn of(task: &'a TaskFile, method: &Method, listed: &[f32]) -> Self {
        let logged = matches!(task.initial, Initial::Data { always: false });
        let states = listed.len() / task.state_names.len().max(1);
        Self {
            task,
            searches: method.variants.iter().copied().any(searches),
            strictness: task.strictness(listed),
            first_states: logged.then_some(states as u32),
        }
    }

    /// The share of its range that an objective's bound loses on the searched level if the
    /// search finds nothing: the largest of those whose bound must hold for any distribution.
    #[must_use]
    pub fn charge_of_search(&self, effort: &Effort) -> Option<f32> {
        let numbers = Numbers {
            trajectories: effort.trajectories,
            searched: effort.searched,
        };
        let delta = self.level_share(numbers, effort.allocation);
        let values = self.searched_values(effort.searched);
        let of_return = self.strictness >= DistributionFree::SharesAndReturn;
        if !self.searches {
            None
        } else if of_return {
            Some(charge_of_nothing_found(values, delta))
        } else {
            (self.has_share() && self.is_exact()).then(|| self.taken(numbers, delta))
        }
    }

    pub(super) fn has_share(&self) -> bool {
        with_probability(self.task).next().is_some()
    }

    /// Whether bounds of shares must hold for any distribution on both levels.
    pub(super) fn is_exact(&self) -> bool {
        self.strictness >= DistributionFree::Shares
    }

    /// Whether the number of searched trajectories limits what a share can reach.
    pub(super) fn counts_search(&self) -> bool {
        self.searches && self.is_exact()
    }

    /// More than one from each first state of a log show nothing more.
    pub(super) fn most_searched(&self) -> u32 {
        self.first_states.unwrap_or(u32::MAX)
    }

    /// Initial states that each need the whole number of searched trajectories.
    pub(super) fn searched_groups(&self) -> u32 {
        match self.task.initial {
            Initial::Worst { .. } => searched_starts(u32::MAX),
            _ => 1,
        }
    }

    /// Independent values of the searched level.
    fn searched_values(&self, searched: u32) -> u32 {
        match self.task.initial {
            Initial::Worst { .. } => searched / searched_starts(searched),
            _ => searched.min(self.most_searched()),
        }
    }

    /// Whether every share can be reached with so many violations on the sampled level.
    pub(super) fn reaches(
        &self,
        numbers: Numbers,
        allocation: Allocation,
        violations: u32,
    ) -> bool {
        let reached = self.best(numbers, allocation, violations);
        let mut shares = with_probability(self.task);
        shares.all(|(_, share)| reached >= share)
    }

    /// The greatest lower bound of a share: with so many violations on the sampled level, and
    /// nothing beyond them found by the starts that a focused check leaves out or by the search.
    pub(super) fn best(&self, numbers: Numbers, allocation: Allocation, violations: u32) -> f32 {
        let delta = self.level_share(numbers, allocation);
        let count = numbers.trajectories;
        let sampled = match self.first_states {
            Some(states) if count > states => 1.0 - charge_of_nothing_found(states, delta),
            _ => probability_limit(count / self.starts_of_their_own(), violations, delta),
        };
        let left_out = if self.leaves_out(numbers, allocation) {
            1.0 - probability_limit(complete_trajectories(count), 0, delta)
        } else {
            0.0
        };
        let taken = if self.counts_search() {
            self.taken(numbers, delta)
        } else {
            0.0
        };
        sampled - left_out - taken
    }

    /// What a search that finds nothing takes off a share.
    fn taken(&self, numbers: Numbers, delta: f32) -> f32 {
        let values = self.searched_values(numbers.searched);
        match self.first_states {
            // Several trajectories from one state are one value that is bet on.
            Some(states) if numbers.searched > states => charge_of_nothing_found(values, delta),
            _ => 1.0 - probability_limit(values, 0, delta),
        }
    }

    /// What each level of an objective may spend.
    fn level_share(&self, numbers: Numbers, allocation: Allocation) -> f32 {
        let budget = ErrorBudget {
            delta: self.task.delta,
            objectives: self.task.constraints.len() + 1,
        };
        let leaves_out = self.leaves_out(numbers, allocation);
        budget.level(1 + u8::from(self.searches) + u8::from(leaves_out))
    }

    /// Whether a focused check leaves starts out of most of its sampled trajectories.
    fn leaves_out(&self, numbers: Numbers, allocation: Allocation) -> bool {
        let in_turn = self.first_states.is_some() || self.starts_of_their_own() > 1;
        let count = numbers.trajectories;
        self.searches
            && allocation == Allocation::Focused
            && !in_turn
            && complete_trajectories(count) < count
    }

    /// Initial states that each need the whole number of trajectories.
    fn starts_of_their_own(&self) -> u32 {
        match self.task.initial {
            Initial::Worst { .. } => WORST_STARTS as u32,
            _ => 1,
        }
    }
}

pub(super) fn with_probability(task: &TaskFile) -> impl Iterator<Item = (&NamedConstraint, f32)> {
    let constraints = task.constraints.iter();
    constraints.filter_map(|one| Some((one, one.constraint.probability?)))
}

/// The least number from `least` to `most` that is enough, where more are never worse.
pub(super) fn from(least: u32, most: u32, enough: impl Fn(u32) -> bool) -> Option<u32> {
    if enough(least) {
        return Some(least);
    }
    let [mut low, mut high] = [least, least.max(1)];
    while !enough(high) {
        if high >= most {
            return None;
        }
        low = high;
        high = high.saturating_mul(2).min(most);
    }
    while high - low > 1 {
        let middle = low.midpoint(high);
        if enough(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
