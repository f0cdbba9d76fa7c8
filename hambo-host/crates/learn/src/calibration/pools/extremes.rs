//! Rare events: rows whose noise no Gaussian explains, if they come anywhere and at any time.

use super::neighbours::lie_together;
use super::scores::rows_of_groups;
use crate::calibration::distributions::{chi_square_quantile, lower_limit};

/// Deviations beyond which a row is extreme: of Gaussian noise one row in a thousand is.
pub(super) const BEYOND: f64 = 3.3;
/// The share of Gaussian noise beyond it, either way.
const GAUSSIAN: f64 = 9.7e-4;
/// How many times as many as Gaussian noise has there must be, significantly: its deviation is
/// an estimate.
const MORE: f64 = 2.0;
/// Rows below which there is no pool.
const FEWEST: usize = 5;
/// The share of logs in which a test finds by chance what it looks for.
const TAIL: f64 = 1e-3;

/// What extreme rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extremeness {
    /// Not significantly more than Gaussian noise has.
    Few,
    /// Rare events: no more often in one episode than in another, in one place than in another,
    /// or right after each other.
    Noise,
    /// More often somewhere or at some time: an error of the model, or noise that nothing here
    /// simulates.
    Error,
}

impl Extremeness {
    /// Of rows that are `extreme` in any of `states`.
    pub(super) fn of(
        extreme: &[bool],
        states: usize,
        (inputs, groups, follows): (&[Vec<f64>], &[u32], &[bool]),
    ) -> Self {
        let rows = extreme.len();
        let count = extreme.iter().filter(|extreme| **extreme).count();
        let usual = MORE * GAUSSIAN * states as f64;
        if count < FEWEST || lower_limit(count, rows, TAIL) <= usual {
            Self::Few
        } else if follow_each_other(extreme, follows)
            || differ_between(extreme, groups)
            || lie_together(inputs, groups, extreme)
        {
            Self::Error
        } else {
            Self::Noise
        }
    }
}

/// Whether an extreme row makes the next one extreme significantly more than twice as often.
fn follow_each_other(extreme: &[bool], follows: &[bool]) -> bool {
    let share = extreme.iter().filter(|extreme| **extreme).count() as f64 / extreme.len() as f64;
    let pairs = extreme.windows(2).zip(follows.iter().skip(1));
    let after: Vec<bool> = pairs
        .filter_map(|(pair, follows)| match pair {
            [true, after] if *follows => Some(*after),
            _ => None,
        })
        .collect();
    let again = after.iter().filter(|again| **again).count();
    lower_limit(again, after.len(), TAIL) > 2.0 * share
}

/// Whether episodes differ in their share by more than chance.
fn differ_between(extreme: &[bool], groups: &[u32]) -> bool {
    let share = extreme.iter().filter(|extreme| **extreme).count() as f64 / extreme.len() as f64;
    let groups = rows_of_groups(groups);
    let (mut squares, mut freedom) = (0.0, -1.0);
    let (mut expected, mut observed) = (0.0, 0.0);
    // Episodes are taken together until one more event is expected: of rarer ones the squares
    // have no chi-square distribution.
    for rows in groups.values() {
        let own = rows.iter().filter(|row| extreme.get(**row) == Some(&true));
        expected += share * rows.len() as f64;
        observed += own.count() as f64;
        if expected >= 1.0 {
            let difference: f64 = observed - expected;
            squares += difference.powi(2) / (expected * (1.0 - share));
            freedom += 1.0;
            (expected, observed) = (0.0, 0.0);
        }
    }
    freedom >= 1.0 && squares > chi_square_quantile(freedom, TAIL)
}
