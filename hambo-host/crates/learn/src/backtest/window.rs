//! Windows of consecutive rows.

use std::collections::BTreeMap;

use hambo_data::{LogPart, Transition, follows};
use hambo_task::task::Wrap;

/// Rows that follow each other.
pub(super) struct Window<'a> {
    pub(super) rows: Vec<Transition<'a>>,
    /// The independent sample: the episode, or a stretch of one for a task that is stationary.
    pub(super) group: u32,
}

impl Window<'_> {
    pub(super) fn steps(&self) -> usize {
        self.rows.len()
    }
}

/// 1, 2, 5, 10, … up to the horizon.
fn lengths(horizon: usize) -> impl Iterator<Item = usize> {
    let decades = (0..).map(|power| 10_usize.saturating_pow(power));
    let all = decades.flat_map(|decade| [1, 2, 5].map(|times| decade.saturating_mul(times)));
    all.take_while(move |length| *length <= horizon)
}

/// Windows of every length that the rows hold, none of which overlaps another of its
/// length; at most `most` of all lengths together, from as many groups as can be.
pub(super) fn choose<'a>(
    rows: &'a LogPart,
    wraps: &[Option<Wrap>],
    horizon: usize,
    most: usize,
) -> Vec<Window<'a>> {
    let runs = runs(rows, wraps);
    let longest = runs.iter().map(Window::steps).max().unwrap_or(0);
    let lengths: Vec<usize> = lengths(horizon.min(longest)).collect();
    let each = (most / lengths.len().max(1)).max(1);
    lengths
        .into_iter()
        .flat_map(|length| {
            let windows = runs.iter().flat_map(|run| {
                let whole = run.rows.chunks_exact(length);
                whole.map(|rows| (run.group, rows))
            });
            some(windows, each)
        })
        .map(|(group, rows)| Window {
            rows: rows.to_vec(),
            group,
        })
        .collect()
}

/// The longest stretches of rows of which each follows the one before it.
fn runs<'a>(rows: &'a LogPart, wraps: &[Option<Wrap>]) -> Vec<Window<'a>> {
    let mut runs: Vec<Window<'a>> = Vec::new();
    let samples = rows.samples();
    // A return so far has no path that a tube could hold.
    let follows = if rows.log.counts_anew() {
        vec![false; rows.log.len()]
    } else {
        follows(rows, wraps)
    };
    for ((row, group), follows) in rows.log.rows().zip(samples).zip(follows) {
        match runs.last_mut() {
            Some(run) if follows => run.rows.push(row),
            _ => runs.push(Window {
                rows: vec![row],
                group,
            }),
        }
    }
    runs
}

/// `most` of the windows: of every group the same number, or all if it has fewer, spread evenly
/// over the group.
fn some<T>(windows: impl Iterator<Item = (u32, T)>, most: usize) -> Vec<(u32, T)> {
    let mut groups: BTreeMap<u32, Vec<T>> = BTreeMap::new();
    for (group, window) in windows {
        groups.entry(group).or_default().push(window);
    }
    let mut left = most;
    let mut groups_left = groups.len();
    // The smallest groups first: what they cannot give, others do.
    let mut groups: Vec<(u32, Vec<T>)> = groups.into_iter().collect();
    groups.sort_by_key(|(group, windows)| (windows.len(), *group));
    let mut chosen = Vec::new();
    for (group, windows) in groups {
        let share = left
            .div_ceil(groups_left.max(1))
            .min(windows.len())
            .min(left);
        let count = windows.len();
        let picked = windows
            .into_iter()
            .enumerate()
            // Where the share's next step is reached.
            .filter(|(place, _)| (place + 1) * share / count > place * share / count)
            .map(|(_, window)| (group, window));
        chosen.extend(picked);
        left -= share;
        groups_left -= 1;
    }
    chosen
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use hambo_data::Log;

    /// Episodes of `steps` rows that count up; the third row of each is missing.
    fn rows(episodes: u32, steps: u32) -> LogPart {
        let mut log = Log::new(1, 1);
        for episode in 0..episodes {
            for step in (0..steps).filter(|step| *step != 2) {
                log.push(Transition {
                    state: &[step as f32],
                    action: &[0.0],
                    next_state: &[step as f32 + 1.0],
                    reward: 0.0,
                    episode,
                })
                .unwrap();
            }
        }
        LogPart::whole(&log)
    }

    #[test]
    fn lengths_go_up_to_the_horizon() {
        assert_eq!(lengths(60).collect::<Vec<_>>(), [1, 2, 5, 10, 20, 50]);
        assert_eq!(lengths(0).count(), 0);
    }

    #[test]
    fn windows_do_not_reach_over_a_gap() {
        let rows = rows(2, 8);
        let windows = choose(&rows, &[], 100, 1000);
        // Runs of 2 and of 5 rows in each episode.
        let of = |length: usize| windows.iter().filter(|w| w.steps() == length).count();
        assert_eq!((of(1), of(2), of(5), of(10)), (14, 6, 2, 0));
        for window in &windows {
            for pair in window.rows.windows(2) {
                assert_eq!(pair[0].next_state, pair[1].state);
            }
        }
    }

    #[test]
    fn few_windows_come_from_all_episodes() {
        let rows = rows(4, 40);
        let windows = choose(&rows, &[], 2, 16);
        for length in [1, 2] {
            for group in 0..4 {
                let own = |w: &&Window<'_>| w.group == group && w.steps() == length;
                assert_eq!(windows.iter().filter(own).count(), 2, "{length} {group}");
            }
        }
    }
}
