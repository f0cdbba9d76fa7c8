//! Whether what is extreme lies together: a wall or a contact is an error of the model in a
//! place, and no noise.

use crate::calibration::distributions::lower_limit;

/// Rows of other episodes that are looked at around each extreme row.
const NEAREST: usize = 5;
/// Extreme rows that are looked at, at most, and rows around them.
const MOST_ASKED: usize = 200;
const MOST_ROWS: usize = 20_000;
/// How many times as often as anywhere the nearest rows must be extreme.
const FACTOR: f64 = 2.0;
/// The share of logs in which they are by chance.
const TAIL: f64 = 1e-3;

/// Whether the rows nearest to extreme ones, of other groups, are extreme significantly more
/// than twice as often as all are.
pub(super) fn lie_together(inputs: &[Vec<f64>], groups: &[u32], extreme: &[bool]) -> bool {
    let all = extreme.len().max(1);
    let share = extreme.iter().filter(|extreme| **extreme).count() as f64 / all as f64;
    let others: Vec<usize> = (0..all).step_by(all.div_ceil(MOST_ROWS)).collect();
    let asked: Vec<usize> = (0..all)
        .filter(|row| extreme.get(*row) == Some(&true))
        .collect();
    let each = asked.len().div_ceil(MOST_ASKED).max(1);
    let (mut near, mut extreme_near) = (0_usize, 0_usize);
    for row in asked.into_iter().step_by(each) {
        let (Some(own), Some(group)) = (inputs.get(row), groups.get(row)) else {
            continue;
        };
        let foreign = others
            .iter()
            .filter(|other| groups.get(**other) != Some(group));
        let mut distances: Vec<(f64, usize)> = foreign
            .filter_map(|other| {
                let pairs = own.iter().zip(inputs.get(*other)?);
                Some((pairs.map(|(x, y)| (x - y).powi(2)).sum::<f64>(), *other))
            })
            .collect();
        if distances.len() <= NEAREST {
            continue;
        }
        distances.select_nth_unstable_by(NEAREST - 1, |a, b| a.0.total_cmp(&b.0));
        for (_, other) in distances.iter().take(NEAREST) {
            near += 1;
            extreme_near += usize::from(extreme.get(*other) == Some(&true));
        }
    }
    lower_limit(extreme_near, near, TAIL) > FACTOR * share
}

/// Rows of inputs in units in which none counts more than another: each column less its mean
/// over its standard deviation.
pub(super) fn standardised(inputs: &[f32], columns: usize) -> Vec<Vec<f64>> {
    let mut rows: Vec<Vec<f64>> = inputs
        .chunks_exact(columns.max(1))
        .map(|row| row.iter().map(|x| f64::from(*x)).collect())
        .collect();
    let count = rows.len().max(1) as f64;
    for c in 0..columns {
        let of = |row: &Vec<f64>| row.get(c).copied().unwrap_or(0.0);
        let mean = rows.iter().map(of).sum::<f64>() / count;
        let variance = rows.iter().map(|row| (of(row) - mean).powi(2)).sum::<f64>() / count;
        let unit = variance.sqrt().max(f64::MIN_POSITIVE);
        for x in rows.iter_mut().filter_map(|row| row.get_mut(c)) {
            *x = (*x - mean) / unit;
        }
    }
    rows
}
