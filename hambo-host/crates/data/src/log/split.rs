//! Withholding a part of a log.
//!
//! Rows of one episode resemble each other, so what judges a model must not come from an episode
//! that trained it. A log with fewer than five recordings is cut into stretches of rows
//! instead, so that some can be withheld. Stretches of one recording are still one recording:
//! what was drawn when it began, a payload or the charge of a battery, is the same in all of
//! them. Where a limit counts independent samples, stretches count by themselves only if the
//! task says that nothing changes between recordings.

use std::collections::HashSet;

use hambo_base::random::shuffle;

use super::rows::{Log, Transition};

/// Recordings, each with an episode number of its own, below which a log is split by stretches
/// of rows and cannot calibrate by itself.
pub const MINIMUM_RECORDINGS: usize = 5;
/// Stretches that such a log is cut into.
const STRETCHES: usize = 20;

/// A part of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPart {
    /// Its rows.
    pub log: Log,
    /// The group of each of them, an episode or a stretch, that is wholly in one part.
    pub groups: Vec<u32>,
    /// Whether stretches of one recording count as samples of their own.
    pub stretches_count: bool,
}

/// A log in two parts.
#[derive(Clone, Debug, PartialEq)]
pub struct Split {
    /// The rows that are left.
    pub kept: LogPart,
    /// The rows that were taken away.
    pub withheld: LogPart,
    /// Whether whole episodes were taken.
    pub by_episodes: bool,
    /// Recordings of the whole log.
    pub recordings: usize,
}

impl Split {
    /// Takes whole episodes, drawn at random, until at least `share` of the rows are withheld.
    #[must_use]
    pub fn new(log: &Log, share: f64, seed: u64) -> Self {
        Self::with_episodes(log, share, |_| 0, seed)
    }

    /// As [`Split::new`], and until at least as many episodes are withheld as `least` says of a
    /// log of this number of recordings, as long as any are left.
    #[must_use]
    pub fn with_episodes(log: &Log, share: f64, least: impl Fn(usize) -> usize, seed: u64) -> Self {
        let episodes = log.rows().map(|row| row.episode);
        let recordings = episodes.collect::<HashSet<_>>().len();
        let by_episodes = recordings >= MINIMUM_RECORDINGS;
        let whole = LogPart {
            log: log.clone(),
            groups: groups(log, by_episodes),
            stretches_count: false,
        };
        let all = whole.group_numbers().len();
        let (kept, withheld) = whole.take(share, (least(recordings), all), seed);
        Self {
            kept,
            withheld,
            by_episodes,
            recordings,
        }
    }

    /// The same where the task says that stretches of one recording are as good as recordings.
    #[must_use]
    pub fn counting_stretches(mut self, count: bool) -> Self {
        self.kept.stretches_count = count;
        self.withheld.stretches_count = count;
        self
    }
}

impl LogPart {
    /// All of a log, each episode a group.
    #[must_use]
    pub fn whole(log: &Log) -> Self {
        Self {
            groups: log.rows().map(|row| row.episode).collect(),
            log: log.clone(),
            stretches_count: false,
        }
    }

    /// The groups of a log with these numbers, which are episodes, or the stretches that a log of
    /// few episodes is cut into.
    #[must_use]
    pub fn of_groups(log: &Log, numbers: &[u32], by_episodes: bool) -> Self {
        let whole = Self {
            log: log.clone(),
            groups: groups(log, by_episodes),
            stretches_count: false,
        };
        whole.part(|group| numbers.contains(&group))
    }

    /// The independent sample that each row belongs to, for limits: its recording, or its
    /// stretch where these count.
    #[must_use]
    pub fn samples(&self) -> Vec<u32> {
        if self.stretches_count {
            return self.groups.clone();
        }
        self.log.rows().map(|row| row.episode).collect()
    }

    /// The numbers of its groups.
    #[must_use]
    pub fn group_numbers(&self) -> Vec<u32> {
        let mut numbers = self.groups.clone();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The rows of this part whose group `other` has rows of too.
    #[must_use]
    pub fn of_same_groups(&self, other: &Self) -> Self {
        let numbers: HashSet<u32> = other.groups.iter().copied().collect();
        self.part(|group| numbers.contains(&group))
    }

    /// The rows that `revise` lets pass, by number, with the next state that it leaves them.
    #[must_use]
    pub fn revised(&self, mut revise: impl FnMut(usize, &mut [f32]) -> bool) -> Self {
        let mut part = Self {
            log: self.log.emptied(),
            groups: Vec::new(),
            stretches_count: self.stretches_count,
        };
        for (number, (row, group)) in self.log.rows().zip(&self.groups).enumerate() {
            let mut next = row.next_state.to_vec();
            if !revise(number, &mut next) {
                continue;
            }
            let row = Transition {
                next_state: &next,
                ..row
            };
            if part.log.push(row).is_ok() {
                part.groups.push(*group);
            }
        }
        part
    }

    /// Takes whole groups until at least `share` of the rows are withheld: what is left, and what
    /// was taken away.
    #[must_use]
    pub fn divide(&self, share: f64, seed: u64) -> (Self, Self) {
        self.divide_leaving(0, share, seed)
    }

    /// The same, but as many groups are left as `left` says, or all but one if there are fewer.
    #[must_use]
    pub fn divide_leaving(&self, left: usize, share: f64, seed: u64) -> (Self, Self) {
        let all = self.group_numbers().len();
        self.take(share, (0, all.saturating_sub(left).max(1)), seed)
    }

    /// Takes whole groups until `share` of the rows are withheld, but from `least` to `most` of
    /// them.
    fn take(&self, share: f64, (least, most): (usize, usize), seed: u64) -> (Self, Self) {
        let withheld = draw(&self.groups, share, (least, most), seed);
        let part = |wanted: bool| self.part(|group| withheld.contains(&group) == wanted);
        (part(false), part(true))
    }

    /// The rows of some groups.
    fn part(&self, wanted: impl Fn(u32) -> bool) -> Self {
        let mut part = Self {
            log: self.log.emptied(),
            groups: Vec::new(),
            stretches_count: self.stretches_count,
        };
        for (row, group) in self.log.rows().zip(&self.groups) {
            // Rows of a log are valid rows.
            if wanted(*group) && part.log.push(row).is_ok() {
                part.groups.push(*group);
            }
        }
        part
    }
}

/// The group of each row of a log.
fn groups(log: &Log, by_episodes: bool) -> Vec<u32> {
    if by_episodes {
        return log.rows().map(|row| row.episode).collect();
    }
    let length = log.len().div_ceil(STRETCHES).max(1);
    (0..log.len()).map(|row| (row / length) as u32).collect()
}

/// The groups that are withheld.
fn draw(groups: &[u32], share: f64, (least, most): (usize, usize), seed: u64) -> HashSet<u32> {
    let mut sizes = std::collections::BTreeMap::new();
    for group in groups {
        *sizes.entry(*group).or_insert(0_usize) += 1;
    }
    let mut order: Vec<(u32, usize)> = sizes.into_iter().collect();
    shuffle(seed, &mut order);
    let enough = (share * groups.len() as f64).ceil() as usize;
    let least = if share > 0.0 {
        least.min(order.len().saturating_sub(1))
    } else {
        0
    };
    let mut count = 0;
    let mut withheld = HashSet::new();
    for (group, size) in order {
        if withheld.len() >= most || (count >= enough && withheld.len() >= least) {
            break;
        }
        count += size;
        withheld.insert(group);
    }
    withheld
}

#[cfg(test)]
mod tests {
    use super::super::rows::Transition;
    use super::*;

    fn log(episodes: u32, steps: u32) -> Log {
        let mut log = Log::new(1, 1);
        for episode in 0..episodes {
            for step in 0..steps {
                let row = Transition {
                    state: &[(episode * steps + step) as f32],
                    action: &[1.0],
                    next_state: &[step as f32 + 1.0],
                    reward: 0.0,
                    episode,
                };
                assert_eq!(log.push(row), Ok(()));
            }
        }
        log
    }

    #[test]
    fn withholds_whole_episodes() {
        let split = Split::new(&log(10, 4), 0.25, 7);
        assert!(split.by_episodes);
        assert_eq!((split.kept.log.len(), split.withheld.log.len()), (28, 12));
        let episodes: HashSet<u32> = split.withheld.log.rows().map(|row| row.episode).collect();
        assert_eq!(episodes.len(), 3);
        assert!(
            split
                .kept
                .log
                .rows()
                .all(|row| !episodes.contains(&row.episode))
        );
        assert_eq!(Split::new(&log(10, 4), 0.25, 7), split);
    }

    #[test]
    fn revised_rows_keep_their_groups() {
        let whole = LogPart::whole(&log(3, 4));
        let revised = whole.revised(|number, next| {
            next[0] += 100.0;
            number % 4 != 1
        });
        assert_eq!(revised.groups, [0, 0, 0, 1, 1, 1, 2, 2, 2]);
        let next: Vec<f32> = revised.log.rows().map(|row| row.next_state[0]).collect();
        assert_eq!(next[..3], [101.0, 103.0, 104.0]);
        let one = whole.revised(|number, _| number == 5);
        assert_eq!(whole.of_same_groups(&one).groups, [1; 4]);
    }

    #[test]
    fn one_long_episode_is_cut_into_stretches() {
        let split = Split::new(&log(1, 200), 0.2, 1);
        assert!(!split.by_episodes);
        assert_eq!((split.kept.log.len(), split.withheld.log.len()), (160, 40));
        let states: Vec<i32> = split
            .withheld
            .log
            .rows()
            .map(|row| row.state[0] as i32)
            .collect();
        let neighbours = states.windows(2).filter(|pair| pair[1] == pair[0] + 1);
        assert!(neighbours.count() >= 36);
    }

    #[test]
    fn stretches_of_a_recording_are_one_sample_unless_the_task_says_otherwise() {
        let split = |count: bool| Split::new(&log(2, 200), 0.2, 1).counting_stretches(count);
        let samples = |part: &LogPart| part.samples().into_iter().collect::<HashSet<u32>>();
        let (plain, stationary) = (split(false), split(true));
        assert_eq!((plain.recordings, plain.by_episodes), (2, false));
        assert_eq!(plain.withheld.groups, stationary.withheld.groups);
        assert!(samples(&plain.withheld).len() <= 2);
        assert_eq!(samples(&plain.kept), HashSet::from([0, 1]));
        assert_eq!(samples(&stationary.withheld).len(), 4);
        // Parts of a part count as it does.
        let (left, taken) = stationary.withheld.divide(0.5, 3);
        assert!(left.stretches_count && taken.stretches_count);
        assert_eq!(samples(&left).len() + samples(&taken).len(), 4);
        // From five recordings on both are the recordings.
        let many = Split::new(&log(5, 40), 0.4, 1);
        assert_eq!((many.recordings, many.by_episodes), (5, true));
        let said = many.clone().counting_stretches(true);
        assert_eq!(many.withheld.samples(), said.withheld.samples());
    }

    #[test]
    fn enough_episodes_judge_where_there_are_enough() {
        let of = |episodes, share| {
            let least = |recordings: usize| if recordings >= 12 { 4 } else { 0 };
            let split = Split::with_episodes(&log(episodes, 5), share, least, 3);
            split.withheld.log.len() / 5
        };
        assert_eq!((of(12, 0.2), of(11, 0.2), of(40, 0.2)), (4, 3, 8));
        assert_eq!(of(12, 0.0), 0);
        // One is left.
        let all = Split::with_episodes(&log(6, 5), 0.2, |_| 9, 3);
        assert_eq!(all.kept.log.len(), 5);
    }

    #[test]
    fn as_many_are_left_as_must_be() {
        let part = LogPart::whole(&log(12, 5));
        let groups = |left, share| {
            let (kept, taken) = part.divide_leaving(left, share, 2);
            [kept, taken].map(|part| part.group_numbers().len())
        };
        assert_eq!((groups(0, 0.5), groups(10, 0.5)), ([6, 6], [10, 2]));
        assert_eq!(groups(10, 0.1), [10, 2]);
        // One is taken all the same.
        assert_eq!(groups(12, 0.5), [11, 1]);
    }

    #[test]
    fn nothing_withheld_is_everything_kept() {
        let split = Split::new(&log(6, 3), 0.0, 1);
        assert_eq!((split.kept.log.len(), split.withheld.log.len()), (18, 0));
    }
}
