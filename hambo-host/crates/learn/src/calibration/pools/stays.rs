//! What stays for an episode: a payload, which no state tells.
//!
//! The mean of an episode's scores is what stays and the mean of its noise. It is drawn if its
//! variance between episodes is significant and large, and if what is left is white, or little
//! beside what stays: sums over windows have at most 1.2 times the variance of white noise's and
//! a twentieth of that of what stays. Coloured noise has a mean in every episode too, but what is
//! left of it is neither.
//!
//! A model that was trained while something stayed has learnt a part of it, because states that
//! drift tell of it. `trend` takes out what is linear in the inputs within episodes, so that
//! the model can be trained again without what stays.

use std::collections::BTreeMap;

use super::scores::rows_of_groups;
use crate::calibration::distributions::chi_square_quantile;

/// Recordings below which nothing is said of what stays.
const FEWEST_GROUPS: usize = 20;
/// Rows of a recording whose mean counts.
const FEWEST_ROWS: usize = 4;
/// The share of logs without anything that stays in which the test finds something.
const TAIL: f64 = 1e-3;
/// The standard deviation between episodes from which on it matters, in those of the noise.
const LARGE: f64 = 0.5;
/// Variance of sums over windows, over that of white noise, of what counts as white.
const WHITE: f64 = 1.2;
/// The part of what stays that may be left: a model that is trained anew follows a little of what
/// the first one took out wrongly.
const LEFT: f64 = 0.05;
/// The same as [`WHITE`] where a trend was taken out, of which only the linear part is known: it decides
/// no more than whether a second training is worth its time.
const NEARLY_WHITE: f64 = 2.0;
/// How far what stays must reach beyond the model's own uncertainty, in standard deviations.
const BEYOND_SET: f64 = 2.0;

/// What stays, state by state, in predicted standard deviations times the state's scale.
#[derive(Clone, Debug, Default)]
pub(super) struct Stays {
    /// The mean of each recording; 0 in states in which nothing stays.
    pub means: BTreeMap<u32, Vec<f64>>,
    /// The variance between recordings.
    pub variance: Vec<f64>,
}

/// One state for [`Stays::of`].
pub(super) struct State<'a> {
    /// Scores over the scale of the noise.
    pub scores: &'a [f64],
    pub of_noise: bool,
    /// The median of the model's own uncertainty, in the same unit.
    pub epistemic: f64,
}

impl Stays {
    /// None where nothing stays, or what is left is not white. `inputs` are rows of numbers
    /// that a trend may depend on; none for no trend.
    pub(super) fn of(
        states: &[State<'_>],
        groups: &[u32],
        follows: &[bool],
        ordinary: &[bool],
        inputs: Option<&[Vec<f64>]>,
    ) -> Option<Self> {
        let by_group = rows_of_groups(groups);
        let usual = |row: &usize| ordinary.get(*row) == Some(&true);
        let by_group: BTreeMap<u32, Vec<usize>> = by_group
            .into_iter()
            .map(|(group, rows)| (group, rows.into_iter().filter(usual).collect::<Vec<_>>()))
            .filter(|(_, rows)| rows.len() >= FEWEST_ROWS)
            .collect();
        if by_group.len() < FEWEST_GROUPS {
            return None;
        }
        let mut found = Self::default();
        for (j, state) in states.iter().enumerate() {
            let scores = match inputs {
                Some(inputs) => less_trend(state.scores, inputs, &by_group),
                None => state.scores.to_vec(),
            };
            let at = |row: &usize| scores.get(*row).copied().unwrap_or(0.0);
            let means: BTreeMap<u32, f64> = by_group
                .iter()
                .map(|(group, rows)| {
                    let sum: f64 = rows.iter().map(at).sum();
                    (*group, sum / rows.len() as f64)
                })
                .collect();
            let variance = between(&means, &by_group).filter(|variance| {
                let reach = variance.sqrt();
                state.of_noise && reach >= LARGE && reach >= BEYOND_SET * state.epistemic
            });
            let most = if inputs.is_some() {
                NEARLY_WHITE
            } else {
                WHITE
            };
            let stays = variance.unwrap_or(0.0);
            let sums = sums_over_windows(&scores, (&means, stays), &by_group, follows);
            if variance.is_some() && sums > most {
                return None;
            }
            for (group, mean) in means {
                let rows = by_group.get(&group).map_or(1, Vec::len) as f64;
                // Shrunk, so that the variance of all is that between episodes.
                let own = variance.map_or(0.0, |variance| {
                    mean * (variance / (variance + 1.0 / rows)).sqrt()
                });
                let of_group = found.means.entry(group).or_default();
                of_group.resize(j, 0.0);
                of_group.push(own);
            }
            found.variance.push(variance.unwrap_or(0.0));
        }
        found.variance.iter().any(|x| *x > 0.0).then_some(found)
    }
}

/// The variance between groups beyond that of the means of noise, if it is significant.
fn between(means: &BTreeMap<u32, f64>, rows: &BTreeMap<u32, Vec<usize>>) -> Option<f64> {
    let count = means.len() as f64;
    let mean = means.values().sum::<f64>() / count;
    let squares: f64 = means.values().map(|x| (x - mean).powi(2)).sum();
    let of_noise = rows
        .values()
        .map(|rows| 1.0 / rows.len() as f64)
        .sum::<f64>()
        / count;
    let freedom = count - 1.0;
    let significant = squares / of_noise > chi_square_quantile(freedom, TAIL);
    let variance = squares / freedom - of_noise;
    (significant && variance > 0.0).then_some(variance)
}

/// The largest variance of sums over windows of what is left, over that of white noise with
/// [`LEFT`] of what stays.
fn sums_over_windows(
    scores: &[f64],
    (means, stays): (&BTreeMap<u32, f64>, f64),
    rows: &BTreeMap<u32, Vec<usize>>,
    follows: &[bool],
) -> f64 {
    let longest = rows.values().map(Vec::len).max().unwrap_or(0) / 2;
    let lengths = std::iter::successors(Some(2_usize), |length| Some(2 * length));
    let lengths = lengths.take_while(|length| *length <= longest);
    let ratios = lengths.map(|length| {
        let (mut squares, mut expected) = (0.0, 0.0);
        for (group, rows) in rows {
            let mean = means.get(group).copied().unwrap_or(0.0);
            let count = rows.len() as f64;
            for window in rows.chunks_exact(length) {
                let joined = window.windows(2).all(|pair| match pair {
                    [a, b] => *b == *a + 1 && follows.get(*b) == Some(&true),
                    _ => true,
                });
                if joined {
                    let at = |row: &usize| scores.get(*row).copied().unwrap_or(0.0) - mean;
                    squares += window.iter().map(at).sum::<f64>().powi(2);
                    // The mean of all rows of the episode was taken out.
                    let white = length as f64 * (1.0 - length as f64 / count);
                    expected += white * (1.0 + LEFT * stays * length as f64);
                }
            }
        }
        if expected > 0.0 {
            squares / expected
        } else {
            0.0
        }
    });
    ratios.fold(0.0, f64::max)
}

/// Scores less what is linear in the inputs within groups, least squares with a small ridge.
fn less_trend(scores: &[f64], inputs: &[Vec<f64>], groups: &BTreeMap<u32, Vec<usize>>) -> Vec<f64> {
    let columns = inputs.first().map_or(0, Vec::len);
    let mut matrix = vec![vec![0.0; columns + 1]; columns];
    let count = inputs.len().max(1) as f64;
    let overall: Vec<f64> = (0..columns)
        .map(|c| inputs.iter().filter_map(|row| row.get(c)).sum::<f64>() / count)
        .collect();
    for rows in groups.values() {
        let size = rows.len().max(1) as f64;
        let mean_of = |value: &dyn Fn(usize) -> f64| -> f64 {
            rows.iter().map(|row| value(*row)).sum::<f64>() / size
        };
        let input = |row: usize, c: usize| -> f64 {
            inputs
                .get(row)
                .and_then(|row| row.get(c))
                .copied()
                .unwrap_or(0.0)
        };
        let score = |row: usize| scores.get(row).copied().unwrap_or(0.0);
        let means: Vec<f64> = (0..columns)
            .map(|c| mean_of(&|row| input(row, c)))
            .collect();
        let mean = mean_of(&score);
        for row in rows {
            let own: Vec<f64> = (0..columns)
                .zip(&means)
                .map(|(c, mean)| input(*row, c) - mean)
                .collect();
            let target = score(*row) - mean;
            for (line, x) in matrix.iter_mut().zip(&own) {
                for (entry, y) in line.iter_mut().zip(own.iter().chain([&target])) {
                    *entry += x * y;
                }
            }
        }
    }
    let slopes = solve(matrix);
    let mut left = scores.to_vec();
    for (value, row) in left.iter_mut().zip(inputs) {
        let places = row.iter().zip(&overall).zip(&slopes);
        *value -= places
            .map(|((x, mean), slope)| slope * (x - mean))
            .sum::<f64>();
    }
    left
}

/// The solution of a positive semidefinite system, the right side its last column.
fn solve(mut matrix: Vec<Vec<f64>>) -> Vec<f64> {
    let count = matrix.len();
    let largest = matrix.iter().enumerate().filter_map(|(i, row)| row.get(i));
    let ridge = 1e-6 * largest.fold(0.0_f64, |most, x| most.max(*x)) + 1e-12;
    for i in 0..count {
        if let Some(entry) = matrix.get_mut(i).and_then(|row| row.get_mut(i)) {
            *entry += ridge;
        }
    }
    for i in 0..count {
        let Some(pivot) = matrix.get(i).cloned() else {
            continue;
        };
        let diagonal = pivot.get(i).copied().unwrap_or(1.0);
        for (k, row) in matrix.iter_mut().enumerate() {
            let factor = row.get(i).copied().unwrap_or(0.0) / diagonal;
            if k != i {
                for (entry, own) in row.iter_mut().zip(&pivot) {
                    *entry -= factor * own;
                }
            }
        }
    }
    let rows = matrix.iter().enumerate();
    rows.map(|(i, row)| match (row.get(count), row.get(i)) {
        (Some(right), Some(diagonal)) => right / diagonal,
        _ => 0.0,
    })
    .collect()
}
