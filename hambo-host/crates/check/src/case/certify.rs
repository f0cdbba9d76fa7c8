//! Says what the searched level costs before the work begins, and refuses numbers of
//! trajectories with which nothing could be certified.

use hambo_core::task::{Allocation, Effort};

use hambo_base::Error;

use super::amounts::MOST;
use super::demand::{Demand, Numbers, from, with_probability};

/// The flags with which a user changes the numbers.
#[derive(Clone, Copy, Debug)]
pub struct Flags {
    /// Of the sampled trajectories.
    pub trajectories: &'static str,
    /// Of the searched trajectories.
    pub searched: &'static str,
}

impl Flags {
    /// Those of a check on the host.
    pub const HOST: Self = Self {
        trajectories: "--trajectories",
        searched: "--searched",
    };
    /// Those of a device's own check.
    pub const DEVICE: Self = Self {
        trajectories: "--device-trajectories",
        searched: "--device-searched",
    };
}

impl Demand<'_> {
    /// Refuses numbers of trajectories with which no controller could reach the probability of
    /// a constraint, since not even a check without any violation would. A task that starts
    /// from its data has as many independent values as the log has first states, at most.
    ///
    /// # Errors
    /// Which constraint it is and how many are needed.
    pub fn ensure_certifiable(&self, effort: &Effort, flags: Flags) -> Result<(), Error> {
        let numbers = Numbers {
            trajectories: effort.trajectories,
            searched: effort.searched,
        };
        let reached = self.best(numbers, effort.allocation, 0);
        for (constraint, share) in with_probability(self.task) {
            if reached >= share {
                continue;
            }
            let (problem, help) = self.shortfall(share, effort, flags);
            return Err(Error::Usage(format!(
                "the constraint {} asks for a probability of {share}, and {problem}\nhelp: {help}",
                constraint.name
            )));
        }
        Ok(())
    }

    /// What is said of the searched trajectories before the work begins, where their number was
    /// not left to Student's t.
    #[must_use]
    pub fn sentence(&self, effort: &Effort, flags: Flags) -> Option<String> {
        let charge = self.charge_of_search(effort)?;
        Some(format!(
            "{} trajectories are searched: where nothing is found on them, the bound is lowered by \
             {:.1} % of the range ({} changes it)",
            effort.searched,
            100.0 * charge,
            flags.searched
        ))
    }

    /// What is missing for a share, and what to do.
    fn shortfall(&self, share: f32, effort: &Effort, flags: Flags) -> (String, String) {
        if let Some(states) = self.first_states {
            let enough = |states: u32| {
                let numbers = Numbers {
                    trajectories: states,
                    searched: states,
                };
                let all = Self {
                    first_states: Some(states),
                    ..*self
                };
                all.best(numbers, Allocation::Even, 0) >= share
            };
            let could = from(1, MOST, enough);
            if let Some(could) = could.filter(|could| states < *could) {
                return (
                    format!("the {states} first states of the log cannot show that: {could} could"),
                    "log more episodes, ask for less in the task file, or say where the robot \
                     starts with [initial] kind = \"uniform\", \"gaussian\" or \"point\""
                        .to_owned(),
                );
            }
        }
        let enough = |trajectories, searched| {
            let numbers = Numbers {
                trajectories,
                searched,
            };
            self.best(numbers, effort.allocation, 0) >= share
        };
        let fewest = from(effort.trajectories, MOST, |count| enough(count, MOST));
        let with = |searched| from(effort.trajectories, MOST, |count| enough(count, searched));
        let Some(fewest) = fewest else {
            return (
                "no check can show that".to_owned(),
                "ask for less in the task file".to_owned(),
            );
        };
        let problem = if self.counts_search() {
            format!(
                "{} trajectories with {} searched cannot show that",
                effort.trajectories, effort.searched
            )
        } else {
            format!("{} trajectories cannot show that", effort.trajectories)
        };
        let (sampled, searched) = (flags.trajectories, flags.searched);
        // One of the numbers alone, where it is enough; else both, with half of the room each.
        let help = if let Some(count) = from(effort.searched, MOST, |count| {
            enough(effort.trajectories, count)
        })
        .filter(|_| self.counts_search())
        {
            format!("give {searched} {count} or more")
        } else if let Some(count) = with(effort.searched) {
            format!("give {sampled} {count} or more")
        } else {
            let trajectories = fewest.saturating_mul(2);
            let count = from(effort.searched, MOST, |count| enough(trajectories, count));
            format!(
                "give {sampled} {trajectories} and {searched} {} or more",
                count.unwrap_or(MOST)
            )
        };
        (problem, format!("{help}, or ask for less in the task file"))
    }
}

#[cfg(test)]
#[path = "certify_tests.rs"]
mod tests;
