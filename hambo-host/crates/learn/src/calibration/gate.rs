//! The gate: does the system that is simulated hold what was withheld?
//!
//! Three questions, on rows that chose neither the scales nor anything else. Do
//! set and noise hold a row in all dimensions at once in at least
//! [`LEAST_SHARE`] of the cases, by the lower 95 % limit? Do they leave out most of the rows in
//! at most [`MOST_EPISODES_OUTSIDE`] of the episodes, by the upper 95 % limit? And are the sums of
//! residuals over windows of rows held in [`NOMINAL_SHARE`] of the cases, or at
//! least not significantly less often? The set is widened until all hold.
//!
//! Going down from the widest set and stopping at the first failure keeps the
//! 95 %: wider sets hold more, so a set that holds too little is accepted only
//! if the test of the widest such set fails, and that is one test.

use serde::{Deserialize, Serialize};

use super::korn_graubard::{LEAST_CORRELATION, Share};
use super::mostly_outside::{MOST_EPISODES_OUTSIDE, MostlyOutside};
use super::required_widening::RequiredWidening;

/// The least share of rows that set and noise must hold, by its lower limit.
pub const LEAST_SHARE: f64 = 0.9;
/// The share that a right model's set and noise hold.
pub const NOMINAL_SHARE: f64 = 0.99;
/// Rows may lie outside set and noise in one dimension with this probability over the
/// number of dimensions, half of it on either side.
pub(super) const OUTSIDE: f64 = 1.0 - NOMINAL_SHARE;
/// The largest tau: the set may become this many times as wide as the model has it.
pub const MOST_WIDENING: f64 = 10.0;
/// The probability with which a limit fails.
const TAIL: f64 = 0.05;
/// Steps of the widening, evenly in the logarithm.
const STEPS: i32 = 60;

/// What the gate found at the widening in use.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Gate {
    /// The factor on the set.
    pub widening: f32,
    /// Rows that judged.
    pub rows: usize,
    /// Episodes that they come from, or stretches of one for a task that is stationary.
    pub episodes: usize,
    /// The share of rows inside set and noise, in all dimensions at once.
    pub share: f32,
    /// Its lower 95 % limit.
    pub share_lower: f32,
    /// Episodes with more than half of their rows outside.
    pub episodes_outside: usize,
    /// The upper 95 % limit of their share.
    pub episodes_outside_upper: f32,
    /// Windows of rows, by length.
    pub windows: Vec<WindowShare>,
}

/// How many windows of one length are held.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct WindowShare {
    /// Rows of a window.
    pub length: usize,
    pub windows: usize,
    /// Episodes that they come from, or stretches where there are too few.
    pub episodes: usize,
    /// The share whose sum of residuals the rollout could have produced.
    pub share: f32,
    /// Its upper limit, 95 % over all lengths together.
    pub share_upper: f32,
}

/// Why no widening is enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Refusal {
    /// More episodes might show that it is: this number, if they are like these.
    TooFewEpisodes(Option<usize>),
    /// Too many rows lie outside.
    RowsOutside,
    /// Errors add up over windows of this length.
    ErrorsStay(usize),
}

/// Widens the set until it passes, at most to `most`. Where episodes are `alike`, because the task
/// says so, rows count by the spread between them alone, and too few of them to bound the share of
/// those outside are no reason to refuse.
pub(super) fn widen(
    rows: &RequiredWidening,
    windows: &[RequiredWidening],
    (most, alike): (f64, bool),
) -> (Gate, Option<Refusal>) {
    let judge = |widening| judge(rows, windows, (widening, alike));
    let mut last = None;
    for step in (0..=STEPS).rev() {
        let widening = (most.ln() * f64::from(step) / f64::from(STEPS)).exp();
        let (gate, refusal) = judge(widening);
        match refusal {
            None => last = Some((gate, None)),
            // No width makes up for episodes.
            Some(Refusal::TooFewEpisodes(_)) if last.is_none() => {
                return (judge(1.0).0, refusal);
            }
            // What was passed before, or the refusal of the widest set.
            Some(_) => return last.unwrap_or((gate, refusal)),
        }
        if most <= 1.0 {
            break;
        }
    }
    last.unwrap_or_else(|| judge(1.0))
}

/// The gate at one widening.
fn judge(
    rows: &RequiredWidening,
    windows: &[RequiredWidening],
    (widening, alike): (f64, bool),
) -> (Gate, Option<Refusal>) {
    let held = |required: &RequiredWidening| -> Vec<(u32, bool)> {
        let windows = required.windows.iter();
        windows
            .map(|(group, factor)| (*group, *factor <= widening))
            .collect()
    };
    let inside = |required: &RequiredWidening| Share::of(held(required).into_iter());
    let share = inside(rows);
    let episodes = MostlyOutside::of(held(rows).into_iter());
    let tail = TAIL / windows.len().max(1) as f64;
    let windows: Vec<WindowShare> = windows
        .iter()
        .map(|required| {
            let share = inside(required);
            WindowShare {
                length: required.length,
                windows: share.rows,
                episodes: share.groups,
                share: share.value as f32,
                share_upper: share.upper(tail) as f32,
            }
        })
        .collect();
    let stays = windows
        .iter()
        .find(|window| f64::from(window.share_upper) < NOMINAL_SHARE);
    let correlation = if alike { 0.0 } else { LEAST_CORRELATION };
    let (lower, upper) = (share.lower(TAIL, correlation), episodes.upper(TAIL));
    let rows_are_held = lower >= LEAST_SHARE;
    let episodes_are_held = upper <= MOST_EPISODES_OUTSIDE || (alike && episodes.outside == 0);
    let refusal = if let Some(window) = stays {
        Some(Refusal::ErrorsStay(window.length))
    } else if rows_are_held && episodes_are_held {
        None
    } else if share.value > LEAST_SHARE {
        Some(Refusal::TooFewEpisodes(needed_episodes(
            (&share, correlation),
            episodes,
        )))
    } else {
        Some(Refusal::RowsOutside)
    };
    let gate = Gate {
        widening: widening as f32,
        rows: share.rows,
        episodes: share.groups,
        share: share.value as f32,
        share_lower: lower as f32,
        episodes_outside: episodes.outside,
        episodes_outside_upper: upper as f32,
        windows,
    };
    (gate, refusal)
}

/// Episodes like these that would be enough for both limits, if any number is.
fn needed_episodes((share, correlation): (&Share, f64), episodes: MostlyOutside) -> Option<usize> {
    let rows = share.groups_for(LEAST_SHARE, TAIL, correlation)?;
    Some(rows.max(episodes.needed(TAIL)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 30 episodes of 20 rows; every tenth row needs `factor`.
    fn rows(factor: f64) -> RequiredWidening {
        RequiredWidening {
            length: 1,
            windows: (0..600)
                .map(|row| (row / 20, if row % 10 == 3 { factor } else { 0.5 }))
                .collect(),
        }
    }

    #[test]
    fn it_widens_as_far_as_it_must() {
        let (gate, refusal) = widen(&rows(0.9), &[], (MOST_WIDENING, false));
        assert_eq!((gate.widening, refusal), (1.0, None));
        assert_eq!((gate.rows, gate.episodes, gate.share), (600, 30, 1.0));
        let (gate, refusal) = widen(&rows(3.0), &[], (MOST_WIDENING, false));
        assert!(
            refusal.is_none() && (3.0..3.2).contains(&gate.widening),
            "{gate:?}"
        );
        // A tenth of the rows stays outside whatever is done.
        let (gate, refusal) = widen(&rows(11.0), &[], (MOST_WIDENING, false));
        assert_eq!(refusal, Some(Refusal::RowsOutside));
        assert!((gate.share - 0.9).abs() < 1e-6);
        // Nothing may be widened.
        assert!(widen(&rows(3.0), &[], (1.0, false)).1.is_some());
    }

    #[test]
    fn few_episodes_are_named() {
        let few = RequiredWidening {
            length: 1,
            windows: (0..24).map(|row| (row / 6, 0.5)).collect(),
        };
        let (gate, refusal) = widen(&few, &[], (MOST_WIDENING, false));
        let Some(Refusal::TooFewEpisodes(Some(enough))) = refusal else {
            panic!("{gate:?} {refusal:?}");
        };
        assert_eq!(enough, 19);
    }

    /// Six episodes that all hold: if 15 % of all are wholly outside, that happens in 37 % of
    /// the logs.
    #[test]
    fn episodes_that_all_hold_say_little_if_they_are_few() {
        let rows = |episodes: u32, outside: u32| RequiredWidening {
            length: 1,
            windows: (0..episodes * 50)
                .map(|row| (row / 50, if row / 50 < outside { 20.0 } else { 0.5 }))
                .collect(),
        };
        let judged = |episodes, outside, alike| {
            let (gate, refusal) = widen(&rows(episodes, outside), &[], (MOST_WIDENING, alike));
            assert_eq!(gate.episodes_outside, outside as usize);
            refusal
        };
        let few = Some(Refusal::TooFewEpisodes(Some(19)));
        assert_eq!(judged(6, 0, false), few);
        assert_eq!(judged(18, 0, false), few);
        assert_eq!(judged(19, 0, false), None);
        // The task may say that six are as good as any number, but not where one is outside.
        assert_eq!(judged(12, 0, true), None);
        assert!(judged(12, 1, true).is_some());
        // Of 40 one may be outside for this limit, of 30 not for that of the rows.
        assert_eq!(judged(60, 1, false), None);
    }

    #[test]
    fn errors_that_stay_are_found_in_long_windows() {
        // Single rows are fine; a third of the windows of 8 need a factor of 4.
        let windows = |factor: f64| RequiredWidening {
            length: 8,
            windows: (0..60)
                .map(|window| (window / 2, if window % 3 == 0 { factor } else { 0.1 }))
                .collect(),
        };
        let (gate, refusal) = widen(&rows(0.5), &[windows(4.0)], (MOST_WIDENING, false));
        assert!(
            refusal.is_none() && (4.0..4.2).contains(&gate.widening),
            "{gate:?}"
        );
        let (_, refusal) = widen(&rows(0.5), &[windows(12.0)], (MOST_WIDENING, false));
        assert_eq!(refusal, Some(Refusal::ErrorsStay(8)));
    }

    #[test]
    fn what_passed_when_it_was_wider_stays_though_episodes_are_few() {
        // Twenty episodes of 12 rows; one row in fifteen needs 3. Below that the share is
        // 0.93, which so few rows do not show to be above 0.9.
        let rows = RequiredWidening {
            length: 1,
            windows: (0..240)
                .map(|row| (row / 12, if row % 15 == 3 { 3.0 } else { 0.5 }))
                .collect(),
        };
        let (gate, refusal) = widen(&rows, &[], (MOST_WIDENING, false));
        assert_eq!(refusal, None);
        assert!((3.0..3.2).contains(&gate.widening), "{gate:?}");
        // Where even the widest set has too few, it is shown as it is.
        let few = RequiredWidening {
            length: 1,
            windows: (0..24).map(|row| (row / 6, 0.5)).collect(),
        };
        assert_eq!(widen(&few, &[], (MOST_WIDENING, false)).0.widening, 1.0);
    }

    #[test]
    fn lengths_share_the_tail() {
        let windows = |length| RequiredWidening {
            length,
            windows: (0..60).map(|window| (window / 2, 0.5)).collect(),
        };
        let mut lengths = [windows(2), windows(4)];
        // One window of sixty is not held.
        lengths[0].windows[7].1 = 2.0;
        let (gate, _) = judge(&rows(0.5), &lengths, (1.0, false));
        let held = lengths[0].windows.iter();
        let share = Share::of(held.map(|(group, factor)| (*group, *factor <= 1.0)));
        assert_eq!(gate.windows[0].share_upper, share.upper(0.025) as f32);
        let (gate, _) = judge(&rows(0.5), &lengths[..1], (1.0, false));
        assert_eq!(gate.windows[0].share_upper, share.upper(0.05) as f32);
    }
}
