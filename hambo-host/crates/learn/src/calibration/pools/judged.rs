//! Whether the rows that judge agree with what is drawn.

use hambo_core::numeric::random::normal_quantile_of_tail;

use super::cleaned::means_of_groups;
use super::drawn::Drawn;
use super::scores::scores;
use crate::calibration::distributions::chi_square_quantile;
use crate::calibration::korn_graubard::Share;
use crate::calibration::withheld::Withheld;

/// The share of logs that are refused though what is drawn is right: for the share of events, for
/// their sizes, and for what stays. With 5 % for the first, two of four logs of the tests were
/// refused: a model leaves a little less of the rows that it was trained on.
const RARE: f64 = 0.01;

/// Whether extreme rows are no more frequent and no larger than those that are drawn, and what
/// stays no more than what is drawn of it.
pub(in crate::calibration) fn agrees(drawn: &Drawn, judging: &Withheld<'_>) -> bool {
    let extreme = drawn.flags(judging);
    let flagged = judging.groups.iter().copied().zip(extreme.iter().copied());
    let share = Share::of(flagged).lower(RARE, 0.0);
    share <= drawn.extreme_share()
        && !are_larger(&sizes(judging, drawn, &extreme), &drawn.sizes)
        && !stays_more(drawn, judging)
}

/// How far each extreme row goes, in standard deviations of ordinary noise.
fn sizes(judging: &Withheld<'_>, drawn: &Drawn, extreme: &[bool]) -> Vec<f64> {
    let mut sizes = vec![0.0_f64; extreme.len()];
    for (j, noise) in drawn.noise.iter().enumerate() {
        for (size, score) in sizes.iter_mut().zip(scores(judging, j)) {
            *size = size.max(score.abs() / noise);
        }
    }
    let pairs = sizes.into_iter().zip(extreme);
    pairs
        .filter(|(_, extreme)| **extreme)
        .map(|(size, _)| size)
        .collect()
}

/// Mann and Whitney's test, one-sided.
fn are_larger(judging: &[f64], drawn: &[f64]) -> bool {
    let (n, m) = (judging.len() as f64, drawn.len() as f64);
    if judging.len() < 3 || drawn.is_empty() {
        return false;
    }
    let above: usize = (judging.iter())
        .map(|size| drawn.iter().filter(|other| *other < size).count())
        .sum();
    let spread = (n * m * (n + m + 1.0) / 12.0).sqrt();
    let z = f64::from(normal_quantile_of_tail(RARE as f32));
    above as f64 - 0.5 * n * m > z * spread
}

/// Whether the means of the judging episodes lie farther apart than those that are drawn.
fn stays_more(drawn: &Drawn, judging: &Withheld<'_>) -> bool {
    let states = means_of_groups(judging, drawn);
    let states = states.iter().zip(drawn.stays.iter().zip(&drawn.mean));
    let count = drawn
        .stays
        .iter()
        .filter(|variance| **variance > 0.0)
        .count();
    states
        .filter(|(_, (variance, _))| **variance > 0.0)
        .any(|(means, (variance, mean))| {
            let squares = means
                .iter()
                .map(|(x, rows)| (x - mean).powi(2) / (variance + 1.0 / rows));
            let tail = RARE / count.max(1) as f64;
            squares.sum::<f64>() > chi_square_quantile(means.len() as f64, tail)
        })
}
