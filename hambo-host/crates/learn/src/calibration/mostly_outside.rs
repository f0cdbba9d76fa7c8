//! The share of episodes that lie mostly outside of set and noise.
//!
//! A limit of the share of rows says little of whole episodes: where six episodes judge and none
//! fails, 15 % of all episodes may be wholly outside in 37 % of the logs. So whole episodes have
//! an upper limit of their own, Clopper and Pearson's: each counts once, whatever its length.

use std::collections::BTreeMap;

use super::distributions::beta_quantile;

/// The largest share of episodes that may lie mostly outside, by its upper limit.
pub const MOST_EPISODES_OUTSIDE: f64 = 0.15;
/// Episodes that must judge: the upper 95 % limit for none of 19 is 0.146, for none of 18 0.153.
pub const JUDGING_EPISODES: usize = 19;

/// Episodes, and how many of them have more than half of their rows outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MostlyOutside {
    pub(super) outside: usize,
    pub(super) episodes: usize,
}

impl MostlyOutside {
    /// Of rows that are inside or not, each with its episode.
    pub(super) fn of(rows: impl Iterator<Item = (u32, bool)>) -> Self {
        let mut episodes: BTreeMap<u32, [usize; 2]> = BTreeMap::new();
        for (episode, inside) in rows {
            let [all, held] = episodes.entry(episode).or_default();
            *all += 1;
            *held += usize::from(inside);
        }
        let outside = episodes.values().filter(|[all, held]| 2 * held < *all);
        Self {
            outside: outside.count(),
            episodes: episodes.len(),
        }
    }

    /// The upper limit of their share; it lies below the truth with probability `tail`.
    pub(super) fn upper(self, tail: f64) -> f64 {
        limit(self.outside as f64, self.episodes as f64, tail)
    }

    /// How many episodes like these would bring the upper limit to
    /// [`MOST_EPISODES_OUTSIDE`]; none if their share is not below it.
    pub(super) fn needed(self, tail: f64) -> Option<usize> {
        let share = self.outside as f64 / self.episodes.max(1) as f64;
        if share >= MOST_EPISODES_OUTSIDE {
            return None;
        }
        let enough = |episodes: &usize| {
            let count = *episodes as f64;
            limit(share * count, count, tail) <= MOST_EPISODES_OUTSIDE
        };
        (self.episodes.max(1)..100_000).find(enough)
    }
}

fn limit(outside: f64, episodes: f64, tail: f64) -> f64 {
    let inside = episodes - outside;
    if inside < 1e-9 {
        return 1.0;
    }
    beta_quantile(outside + 1.0, inside, 1.0 - tail)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(outside: usize, episodes: usize) -> MostlyOutside {
        MostlyOutside { outside, episodes }
    }

    #[test]
    fn half_of_an_episode_is_not_mostly() {
        // Two of four rows, three of four, none of one.
        let rows = [(0, 2, 4), (1, 1, 4), (2, 0, 1), (3, 3, 3)];
        let rows = rows
            .into_iter()
            .flat_map(|(episode, held, all)| (0..all).map(move |row| (episode, row < held)));
        assert_eq!(MostlyOutside::of(rows), of(2, 4));
    }

    #[test]
    fn limits_by_hand() {
        // None of n: 1 − 0.05^(1/n).
        assert!((of(0, 6).upper(0.05) - 0.393).abs() < 1e-3);
        assert!((of(0, 18).upper(0.05) - 0.1533).abs() < 1e-4);
        assert!((of(0, 19).upper(0.05) - 0.1459).abs() < 1e-4);
        // One of 30 and one of 29, by the tables.
        assert!(of(1, 30).upper(0.05) < 0.15 && of(1, 29).upper(0.05) > 0.15);
        assert_eq!((of(0, 0).upper(0.05), of(3, 3).upper(0.05)), (1.0, 1.0));
    }

    #[test]
    fn as_many_as_are_needed() {
        assert_eq!(of(0, 6).needed(0.05), Some(JUDGING_EPISODES));
        assert_eq!(of(0, 25).needed(0.05), Some(25));
        assert_eq!(of(3, 20).needed(0.05), None);
        // A tenth of them.
        let needed = of(2, 20).needed(0.05);
        assert!((100..160).contains(&needed.unwrap_or(0)), "{needed:?}");
    }
}
