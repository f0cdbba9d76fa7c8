//! Withheld rows without what is drawn beside white noise.

use super::drawn::Drawn;
use super::kept_rows::KeptRows;
use super::scores::{rows_of_groups, scores};
use crate::calibration::withheld::Withheld;
use hambo_base::Held;

/// Single rows: those that are extreme are left out, and what stays in the rows' own
/// episode is taken out, so that the set is judged without the help of what is drawn.
pub(in crate::calibration) fn rows(rows: &Withheld<'_>, drawn: &Drawn) -> KeptRows {
    let extreme = drawn.flags(rows);
    let stays = own_stays(rows, drawn, &extreme);
    let kept = |row: &usize| extreme.get(*row) != Some(&true);
    let places: Vec<usize> = (0..rows.groups.len()).filter(kept).collect();
    less_noise(rows, drawn, &places, |j, row| {
        drawn.centre.get(j).unwrap_or(&0.0)
            + stays.get(j).and_then(|of| of.get(row)).unwrap_or(&0.0)
    })
}

/// Rows of windows: an extreme row counts as one without noise, and what stays is left to
/// the variance of sums.
pub(in crate::calibration) fn windows(rows: &Withheld<'_>, drawn: &Drawn) -> KeptRows {
    let extreme = drawn.flags(rows);
    let places: Vec<usize> = (0..rows.groups.len()).collect();
    let scores: Vec<Vec<f64>> = (0..rows.dimensions.len())
        .map(|j| scores(rows, j))
        .collect();
    less_noise(rows, drawn, &places, |j, row| {
        if extreme.get(row) == Some(&true) {
            let noise = drawn.noise.get(j).copied().unwrap_or(1.0);
            scores.get(j).and_then(|of| of.get(row)).unwrap_or(&0.0) / noise
        } else {
            drawn.centre.get(j).copied().unwrap_or(0.0)
        }
    })
}

/// The rows at `places`, less noise of `less` standard deviations.
fn less_noise(
    rows: &Withheld<'_>,
    drawn: &Drawn,
    places: &[usize],
    less: impl Fn(usize, usize) -> f64,
) -> KeptRows {
    let all = places.len() == rows.groups.len();
    let at = |numbers: &[f32]| -> Vec<f32> {
        places
            .iter()
            .filter_map(|row| numbers.get(*row).copied())
            .collect()
    };
    let columns = rows.dimensions.iter().zip(&drawn.noise).enumerate();
    let columns = columns.map(|(j, (of, noise))| {
        let observed = places.iter().filter_map(|row| {
            let sigma = noise * f64::from(*of.aleatoric_std.get(*row)?);
            Some((f64::from(*of.observed.get(*row)?) - less(j, *row) * sigma) as f32)
        });
        [
            at(of.mean),
            at(of.epistemic_std),
            at(of.aleatoric_std),
            observed.collect(),
        ]
    });
    let held = rows.dimensions.iter();
    let held = held.map(|of| of.held.take(places.iter().copied()));
    KeptRows {
        columns: columns.collect(),
        held: held.collect(),
        places: places.to_vec(),
        groups: places
            .iter()
            .filter_map(|row| rows.groups.get(*row).copied())
            .collect(),
        follows: if all {
            rows.follows.to_vec()
        } else {
            vec![false; places.len()]
        },
    }
}

/// What stays in each row's own episode, state by state, in standard deviations of ordinary
/// noise: the mean of its ordinary rows.
fn own_stays(rows: &Withheld<'_>, drawn: &Drawn, extreme: &[bool]) -> Vec<Vec<f64>> {
    let groups = rows_of_groups(rows.groups);
    let states = drawn
        .stays
        .iter()
        .zip(&drawn.noise)
        .zip(&drawn.centre)
        .enumerate();
    states
        .map(|(j, ((variance, noise), centre))| {
            let scores = scores(rows, j);
            let held = rows.dimensions.get(j).map_or(Held::NONE, |of| of.held);
            let mut stays = vec![0.0; scores.len()];
            for own in groups.values().filter(|_| *variance > 0.0) {
                let ordinary = own.iter().filter(|row| extreme.get(**row) != Some(&true));
                let told = ordinary.filter(|row| !held.at(**row));
                let (mut sum, mut count) = (0.0, 0.0);
                for score in told.filter_map(|row| scores.get(*row)) {
                    sum += score / noise - centre;
                    count += 1.0;
                }
                for row in own {
                    if let Some(stays) = stays.get_mut(*row) {
                        *stays = if count > 0.0 { sum / count } else { 0.0 };
                    }
                }
            }
            stays
        })
        .collect()
}

/// The mean of the ordinary rows of each group in each state, with their number.
pub(super) fn means_of_groups(rows: &Withheld<'_>, drawn: &Drawn) -> Vec<Vec<(f64, f64)>> {
    let extreme = drawn.flags(rows);
    let stays = own_stays(rows, drawn, &extreme);
    let groups = rows_of_groups(rows.groups);
    let of_state = |stays: &Vec<f64>| {
        let groups = groups.values().filter_map(|own| {
            let first = own.first().and_then(|row| stays.get(*row)).copied()?;
            let ordinary = own.iter().filter(|row| extreme.get(**row) != Some(&true));
            Some((first, ordinary.count() as f64))
        });
        groups.filter(|(_, count)| *count > 0.0).collect()
    };
    stays.iter().map(of_state).collect()
}
