//! What a margin over logged first states is made of, and what makes it smaller.

use hambo_core::check::Estimate;
use serde::{Deserialize, Serialize};

use crate::number::Number;
use crate::search::logged_starts::NoiseShare;

/// The parts of a margin where trajectories start from a log's first states: they add up to
/// what lies between an estimate's mean and its lower bound.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct MarginShares {
    /// For first states that the log does not have; more logged episodes cure it.
    pub starts: Number,
    /// For the noise of trajectories from the same first states; more trajectories cure it.
    pub noise: Number,
    /// For what the search may find on other trajectories.
    pub search: Option<Number>,
    /// First states of the log that the margin counts.
    pub first_states: u32,
    /// Those that the search started from.
    pub searched_states: Option<u32>,
}

impl MarginShares {
    /// Those of an estimate, if its noise was told apart. Two bounds of the same mean may cross
    /// where the starts are alike: then nothing is left to them.
    pub(super) fn of(estimate: &Estimate, noise_shares: &[NoiseShare]) -> Option<Self> {
        let mut shares = noise_shares.iter();
        let own = shares
            .find(|one| one.objective == estimate.objective && one.variant == estimate.variant)?;
        let sampled = &estimate.sampled;
        let margin = f64::from(sampled.mean) - f64::from(sampled.lower);
        if !margin.is_finite() {
            return None;
        }
        let noise = f64::from(own.margin).min(margin);
        let search = estimate.correction;
        Some(Self {
            starts: Number(margin - noise),
            noise: Number(noise),
            search: search.map(|one| Number(f64::from(one.mean) - f64::from(one.lower))),
            first_states: sampled.count,
            searched_states: search.map(|one| one.count),
        })
    }

    /// Which part is the widest, and what cures it.
    #[must_use]
    pub fn cure(&self) -> &'static str {
        let search = self.search.map_or(f64::NEG_INFINITY, |search| search.0);
        let searched = self.searched_states.unwrap_or(self.first_states);
        if search > self.starts.0.max(self.noise.0) {
            if searched < self.first_states {
                "the search is the widest, and more --searched cure it"
            } else {
                "the search is the widest; it starts from every first state, so log more episodes"
            }
        } else if self.starts.0 >= self.noise.0 {
            "the first states are the widest, and only more logged episodes cure that"
        } else {
            "the noise is the widest, and more --trajectories cure it"
        }
    }

    /// A sentence without its full stop.
    #[must_use]
    pub fn sentence(&self) -> String {
        self.sentence_with(|number| format!("{number:.3}"))
    }

    /// The same with numbers as a reader wants them.
    #[must_use]
    pub fn sentence_with(&self, number: impl Fn(Number) -> String) -> String {
        let search = self.search.map(|search| {
            let states = self.searched_states.unwrap_or_default();
            format!(" and {} for the search ({states} of them)", number(search))
        });
        format!(
            "of the margin {} is for first states that the log does not have (it has {}), {} for \
             noise{}; {}",
            number(self.starts),
            self.first_states,
            number(self.noise),
            search.unwrap_or_default(),
            self.cure()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_part_says_what_cures_it() {
        let shares = |starts: f64, noise: f64, search: f64, searched: u32| MarginShares {
            starts: Number(starts),
            noise: Number(noise),
            search: Some(Number(search)),
            first_states: 100,
            searched_states: Some(searched),
        };
        let cure = |one: MarginShares| one.sentence();
        let starts = cure(shares(3.0, 1.0, 2.0, 16));
        assert!(starts.contains("3.000 is for first states"), "{starts}");
        assert!(
            starts.ends_with("only more logged episodes cure that"),
            "{starts}"
        );
        let noise = cure(shares(0.0, 1.0, 0.5, 16));
        assert!(noise.ends_with("more --trajectories cure it"), "{noise}");
        let search = cure(shares(1.0, 1.0, 2.0, 16));
        assert!(search.ends_with("more --searched cure it"), "{search}");
        // One search from each first state is all that they can show.
        let all = cure(shares(1.0, 1.0, 2.0, 100));
        assert!(all.ends_with("so log more episodes"), "{all}");
    }
}
