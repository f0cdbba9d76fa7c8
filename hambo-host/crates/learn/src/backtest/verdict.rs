//! From the answers of all windows to a verdict.

use serde::{Deserialize, Serialize};

use super::simulate::Answers;
use crate::calibration::korn_graubard::Share;

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Backtest {
    /// The share of windows that was allowed to fail.
    pub delta: f32,
    /// Episodes that the windows come from, or stretches of one for a task that is stationary.
    pub episodes: usize,
    /// The answers by the windows' length, shortest first.
    pub lengths: Vec<LengthResult>,
    /// All of them taken together.
    pub verdict: Verdict,
}

/// The probability with which a right model fails at most.
const TAIL: f64 = 0.05;

/// Length, group and answers of a window.
pub(super) type Question = (usize, u32, Answers);

/// What all windows of one length say to one question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The share of the windows that are as a right model would have them.
    pub share: f32,
    /// The upper 95 % limit of it.
    pub upper: f32,
    /// Whether it is below 1 − delta, all lengths and questions taken together.
    pub failed: bool,
}

/// The windows of one length.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct LengthResult {
    /// Steps of a window.
    pub length: usize,
    pub windows: usize,
    /// Episodes that they come from, or stretches of one.
    pub episodes: usize,
    /// Does the logged path stay in the tube?
    pub path: Answer,
    /// Does the logged return lie above the quantile of the adversarial ones?
    pub returns: Answer,
}

/// All lengths taken together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// No question was answered with no.
    Passed,
    /// The windows of at least one length leave the tube, or fall below the quantile, more
    /// often than they may.
    Failed {
        /// The shortest such length.
        length: usize,
    },
    /// A model that is wrong in every second episode could have passed.
    TooFewEpisodes {
        /// Episodes that would show it.
        needed: usize,
    },
}

/// Takes the answers together. Holm over lengths and questions: a right model fails in at
/// most 5 % of all logs.
pub(super) fn judge(questions: &[Question], delta: f32) -> Backtest {
    let mut lengths: Vec<usize> = questions.iter().map(|(length, ..)| *length).collect();
    lengths.sort_unstable();
    lengths.dedup();
    let wanted = 1.0 - f64::from(delta);
    let ask = |of: fn(&Answers) -> bool, length: usize| {
        let own = questions
            .iter()
            .filter(move |question| question.0 == length);
        Share::of(own.map(|(_, group, answers)| (*group, of(answers))))
    };
    let shares: Vec<[Share; 2]> = lengths
        .iter()
        .map(|length| [ask(|a| a.path, *length), ask(|a| a.returns, *length)])
        .collect();
    let failed = holm(
        shares
            .iter()
            .flatten()
            .map(|share| probability(share, wanted)),
    );
    let mut failed = failed.into_iter();
    let lengths: Vec<LengthResult> = lengths
        .iter()
        .zip(&shares)
        .map(|(length, [path, returns])| {
            let mut answer = |share: &Share| Answer {
                share: share.value as f32,
                upper: share.upper(TAIL) as f32,
                failed: failed.next() == Some(true),
            };
            LengthResult {
                length: *length,
                windows: path.rows,
                episodes: path.groups,
                path: answer(path),
                returns: answer(returns),
            }
        })
        .collect();
    let mut groups: Vec<u32> = questions.iter().map(|(_, group, _)| *group).collect();
    groups.sort_unstable();
    groups.dedup();
    let blind = lengths
        .iter()
        .find(|of| of.path.failed || of.returns.failed);
    let needed = episodes_needed(2 * lengths.len().max(1), wanted);
    let verdict = match blind {
        Some(of) => Verdict::Failed { length: of.length },
        None if groups.len() < needed => Verdict::TooFewEpisodes { needed },
        None => Verdict::Passed,
    };
    Backtest {
        delta,
        episodes: groups.len(),
        lengths,
        verdict,
    }
}

/// The least tail at which the upper limit of a share lies below `wanted`.
fn probability(share: &Share, wanted: f64) -> f64 {
    let below = |tail: f64| share.upper(tail) < wanted;
    if !below(0.5) {
        return 1.0;
    }
    let (mut low, mut high) = (0.0, 0.5);
    for _ in 0..40 {
        let middle = 0.5 * (low + high);
        if below(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    high
}

/// Which of several hypotheses are rejected when at most [`TAIL`] of all families of true
/// ones may lose any (Holm, 1979).
fn holm(probabilities: impl Iterator<Item = f64>) -> Vec<bool> {
    let probabilities: Vec<f64> = probabilities.collect();
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|a, b| probabilities[*a].total_cmp(&probabilities[*b]));
    let mut rejected = vec![false; probabilities.len()];
    for (rank, place) in order.into_iter().enumerate() {
        let left = (probabilities.len() - rank) as f64;
        if probabilities[place] > TAIL / left {
            break;
        }
        rejected[place] = true;
    }
    rejected
}

/// Episodes at which a model that fails in every second one would be found, if each episode
/// counts once and `questions` are asked.
fn episodes_needed(questions: usize, wanted: f64) -> usize {
    let found = |episodes: &usize| {
        let half = (0..*episodes as u32).map(|episode| (episode, episode % 2 == 0));
        probability(&Share::of(half), wanted) <= TAIL / questions as f64
    };
    (2..1000).find(found).unwrap_or(1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `episodes` episodes with one window each of 1 and of 10 steps; the longer ones leave
    /// the tube in all but `held`.
    fn questions(episodes: u32, held: u32) -> Vec<Question> {
        let each = (0..episodes).flat_map(|episode| {
            [(1, true), (10, episode < held)].map(|(length, path)| {
                let returns = true;
                (length, episode, Answers { path, returns })
            })
        });
        each.collect()
    }

    #[test]
    fn long_windows_that_leave_the_tube_fail_and_are_named() {
        let found = judge(&questions(20, 8), 0.1);
        assert_eq!(found.verdict, Verdict::Failed { length: 10 });
        let [short, long] = found.lengths[..] else {
            return assert_eq!(found.lengths.len(), 2);
        };
        assert!(!short.path.failed && long.path.failed && !long.returns.failed);
        assert_eq!((long.windows, long.path.share), (20, 0.4));
    }

    #[test]
    fn one_in_ten_is_allowed() {
        assert_eq!(judge(&questions(20, 18), 0.1).verdict, Verdict::Passed);
    }

    #[test]
    fn few_episodes_say_nothing() {
        let found = judge(&questions(4, 4), 0.1);
        let needed = episodes_needed(4, 0.9);
        assert!((5..12).contains(&needed), "{needed}");
        assert_eq!(found.verdict, Verdict::TooFewEpisodes { needed });
        assert_eq!(judge(&[], 0.1).episodes, 0);
    }

    #[test]
    fn holm_by_hand() {
        // 0.05 / 3, 0.05 / 2, 0.05: the third is not reached.
        let found = holm([0.03, 0.001, 0.026].into_iter());
        assert_eq!(found, [false, true, false]);
        assert_eq!(holm([0.03, 0.001, 0.02].into_iter()), [true, true, true]);
    }
}
