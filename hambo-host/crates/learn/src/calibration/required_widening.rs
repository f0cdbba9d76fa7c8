//! By how much the set would have to be widened to hold a row, or a window of
//! rows, as the rollout could have produced it.
//!
//! A rollout moves a state by at most beta · tau · sigma_e from the mean, and by
//! noise. Over a window of steps the adversary's moves add up, and so do the
//! variances of the noise: errors of the model that stay from step to step
//! leave the second sum behind.

use std::collections::BTreeMap;

use super::withheld::{Withheld, WithheldDimension};

/// The widening that each window needs.
#[derive(Debug, Clone)]
pub(super) struct RequiredWidening {
    /// Rows of a window.
    pub(super) length: usize,
    /// The windows' groups and factors.
    pub(super) windows: Vec<(u32, f64)>,
}

/// The set and the noise of a rollout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Simulated<'a> {
    /// beta · tau_j.
    pub(super) radii: &'a [f64],
    /// The scale of the noise in each dimension.
    pub(super) noise_scale: &'a [f64],
    /// Half the width of the interval of the noise, in standard deviations.
    pub(super) quantile: f64,
    /// The variance of what stays for an episode, in that of the noise, one for each state;
    /// empty where nothing is drawn that stays. Single rows come without it.
    pub(super) stays: &'a [f64],
}

impl Simulated<'_> {
    /// The least factor on the set with which it holds each window of `length` rows that
    /// follow each other, in all dimensions at once.
    pub(super) fn required_widening(&self, rows: &Withheld<'_>, length: usize) -> RequiredWidening {
        let mut starts = starts(rows.follows, length);
        starts.retain(|start| {
            let mut states = rows.dimensions.iter();
            states.any(|columns| tells(columns, *start, length))
        });
        let mut factors = vec![0.0_f64; starts.len()];
        for (dimension, columns) in rows.dimensions.iter().enumerate() {
            let own = self.of_dimension(columns, dimension, &starts, length);
            for (factor, own) in factors.iter_mut().zip(own) {
                *factor = factor.max(own);
            }
        }
        let groups = starts.iter().map(|start| rows.groups.get(*start).copied());
        let groups = groups.map(Option::unwrap_or_default);
        RequiredWidening {
            length,
            windows: groups.zip(factors).collect(),
        }
    }

    /// The same in one dimension.
    pub(super) fn required_widening_in(
        &self,
        rows: &Withheld<'_>,
        dimension: usize,
        length: usize,
    ) -> Vec<f64> {
        let columns = rows.dimensions.get(dimension);
        columns.map_or_else(Vec::new, |columns| {
            let mut starts = starts(rows.follows, length);
            starts.retain(|start| tells(columns, *start, length));
            self.of_dimension(columns, dimension, &starts, length)
        })
    }

    fn of_dimension(
        &self,
        columns: &WithheldDimension<'_>,
        dimension: usize,
        starts: &[usize],
        length: usize,
    ) -> Vec<f64> {
        let radius = self.radii.get(dimension).copied().unwrap_or(0.0);
        let noise = self.noise_scale.get(dimension).copied().unwrap_or(1.0);
        let stays = self.stays.get(dimension).copied().unwrap_or(0.0);
        let rows: Vec<_> = columns.rows().collect();
        let factor = |start: &usize| {
            let window = rows.iter().skip(*start).take(length);
            let (mut residual, mut set, mut variance, mut reach) = (0.0, 0.0, 0.0, 0.0);
            for row in window.filter(|row| !row.held) {
                residual += row.residual;
                set += radius * row.epistemic;
                variance += (noise * row.aleatoric).powi(2);
                reach += noise * row.aleatoric;
            }
            if length > 1 && stays > 0.0 {
                variance += stays * reach * reach;
            }
            let excess = residual.abs() - self.quantile * variance.sqrt();
            if excess <= 0.0 { 0.0 } else { excess / set }
        };
        starts.iter().map(factor).collect()
    }
}

/// The first rows of windows that do not overlap.
fn starts(follows: &[bool], length: usize) -> Vec<usize> {
    let mut starts = Vec::new();
    let mut run = 0;
    for (row, follows) in follows.iter().enumerate() {
        run = if *follows && run > 0 { run + 1 } else { 1 };
        if run == length {
            starts.push(row + 1 - length);
            run = 0;
        }
    }
    starts
}

/// Whether a window holds a row that says something of a state.
fn tells(columns: &WithheldDimension<'_>, start: usize, length: usize) -> bool {
    (start..start + length).any(|row| !columns.held.at(row))
}

/// The longest run of rows that follow each other.
pub(super) fn longest_run(follows: &[bool]) -> usize {
    let mut run = 0;
    let lengths = follows.iter().map(|follows| {
        run = if *follows { run + 1 } else { 1 };
        run
    });
    lengths.max().unwrap_or(0)
}

/// The longest run that at least `least` groups have, or that all have if they are fewer.
pub(crate) fn common_run(follows: &[bool], groups: &[u32], least: usize) -> usize {
    let mut longest: BTreeMap<u32, usize> = BTreeMap::new();
    let mut run = 0;
    for (follows, group) in follows.iter().zip(groups) {
        run = if *follows { run + 1 } else { 1 };
        let own = longest.entry(*group).or_default();
        *own = run.max(*own);
    }
    let mut longest: Vec<usize> = longest.into_values().collect();
    longest.sort_unstable_by(|a, b| b.cmp(a));
    let place = least.min(longest.len()).saturating_sub(1);
    longest.get(place).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hambo_base::Held;

    const FOLLOWS: [bool; 7] = [false, true, true, true, false, true, true];

    #[test]
    fn windows_stay_in_their_episode() {
        assert_eq!(starts(&FOLLOWS, 1), [0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(starts(&FOLLOWS, 2), [0, 2, 4]);
        assert_eq!(starts(&FOLLOWS, 3), [0, 4]);
        assert_eq!(starts(&FOLLOWS, 4), [0]);
        assert_eq!(longest_run(&FOLLOWS), 4);
    }

    #[test]
    fn a_run_that_one_group_alone_has_is_not_common() {
        // Runs of 4 and 3 rows.
        let groups = [0, 0, 0, 0, 1, 1, 1];
        assert_eq!(common_run(&FOLLOWS, &groups, 1), 4);
        assert_eq!(common_run(&FOLLOWS, &groups, 2), 3);
        assert_eq!(common_run(&FOLLOWS, &groups, 4), 3);
        assert_eq!(common_run(&[], &[], 4), 0);
    }

    #[test]
    fn factors_by_hand() {
        // Set 2 · 0.1 and noise 2 · 0.3 a row; residuals 1, 1, 1, 0.5.
        let rows = Withheld {
            dimensions: vec![WithheldDimension {
                mean: &[0.0; 4],
                epistemic_std: &[0.1; 4],
                aleatoric_std: &[0.3; 4],
                observed: &[1.0, 1.0, 1.0, 0.5],
                held: Held::NONE,
            }],
            groups: &[3; 4],
            follows: &[false, true, true, true],
        };
        let simulated = Simulated {
            radii: &[2.0],
            noise_scale: &[1.0],
            quantile: 2.0,
            stays: &[],
        };
        let close = |found: &[(u32, f64)], expected: &[f64]| {
            let pairs = found.iter().zip(expected);
            assert_eq!(found.len(), expected.len());
            assert!(
                pairs.into_iter().all(|(a, b)| (a.1 - b).abs() < 1e-5),
                "{found:?}"
            );
        };
        close(
            &simulated.required_widening(&rows, 1).windows,
            &[2.0, 2.0, 2.0, 0.0],
        );
        // (2 − 2 · 0.3 · √2) / 0.4, (1.5 − …) / 0.4.
        close(
            &simulated.required_widening(&rows, 2).windows,
            &[2.878_680, 1.628_680],
        );
        close(
            &simulated.required_widening(&rows, 4).windows,
            &[(3.5 - 1.2) / 0.8],
        );
        // What stays adds the square of what it adds up to: 0.36 · 2 of noise, 0.36 · 4 of it.
        let staying = Simulated {
            stays: &[1.0],
            ..simulated
        };
        close(
            &staying.required_widening(&rows, 2).windows,
            &[
                (2.0 - 2.0 * 0.54_f64.sqrt()) / 0.4,
                (1.5 - 2.0 * 0.54_f64.sqrt()) / 0.4,
            ],
        );
        assert_eq!(
            staying.required_widening(&rows, 1).windows,
            simulated.required_widening(&rows, 1).windows
        );
        // A certain model that is wrong cannot be widened.
        let certain = Simulated {
            radii: &[0.0],
            ..simulated
        };
        assert_eq!(
            certain.required_widening(&rows, 1).windows[0].1,
            f64::INFINITY
        );
    }
}
