//! The region that a log covers: its rows in whitened coordinates, thinned
//! out, how far from them withheld rows lie, and the gaps of single inputs.

use super::gaps::gaps;
use super::tables::inputs;
use crate::calibration::common_run;
use crate::calibration::outcome::TESTED_EPISODES;
use hambo_base::random::shuffle;
use hambo_core::model::{LogPlace, Support};
use hambo_data::{Log, LogPart, Told, follows};
use hambo_task::image::LoggedRegion;
use hambo_task::task::ModelView;

/// Rows that are kept: a microcontroller holds a query against each of them.
const KEPT: usize = LoggedRegion::MOST_ROWS;
/// Rows that they are chosen from, and rows that the limit is measured on.
const LOOKED_AT: usize = 4000;
/// Directions in which the log is thinner than this, in standard deviations of an input,
/// count as this thick: redundant sensors do not agree to the last digit in a rollout.
const THINNEST: f64 = 0.01;
/// The limit is this number times the distance that holds [`HELD`] of the withheld rows …
const LIMIT: f64 = 2.0;
const HELD: f64 = 0.99;
/// … and at least this, in whitened units.
const LEAST_LIMIT: f64 = 0.5;

/// The region around the rows of a log. `withheld` are rows of the same system that say how
/// far from a thinned-out log its own rows lie.
pub(super) fn region(
    log: &Log,
    withheld: &LogPart,
    view: &ModelView,
    (horizon, seed): (usize, u64),
) -> LoggedRegion {
    let columns = view.features.len() + log.action_dimension();
    let rows = sampled(log, view, seed);
    let (centre, scale) = units(&rows, columns);
    let standardise = |row: &[f64]| -> Vec<f64> {
        let units = centre.iter().zip(&scale);
        row.iter()
            .zip(units)
            .map(|(x, (c, s))| (x - c) * s)
            .collect()
    };
    let standardised: Vec<Vec<f64>> = rows.iter().map(|row| standardise(row)).collect();
    let whitening = whitening(&standardised, columns);
    let whiten = |row: &Vec<f64>| -> Vec<f64> {
        let rows = whitening.iter();
        rows.map(|weights| weights.iter().zip(row).map(|(w, x)| w * x).sum())
            .collect()
    };
    let whitened: Vec<Vec<f64>> = standardised.iter().map(whiten).collect();
    let kept = spread_out(&whitened, KEPT);
    let mut distances: Vec<f64> = sampled(&withheld.log, view, seed)
        .iter()
        .map(|row| nearest(&whiten(&standardise(row)), &kept))
        .collect();
    distances.sort_unstable_by(f64::total_cmp);
    let place = (HELD * distances.len() as f64).ceil() as usize;
    let held = distances.get(place.saturating_sub(1)).copied();
    let deviations: Vec<f64> = scale.iter().map(|scale| 1.0 / scale).collect();
    let mut every_row = rows_of(log, view);
    every_row.extend(rows_of(&withheld.log, view));
    let narrow = |values: &[f64]| -> Vec<f32> { values.iter().map(|x| *x as f32).collect() };
    let mut region = LoggedRegion {
        centre: narrow(&centre),
        scale: narrow(&scale),
        whitening: whitening.iter().flat_map(|row| narrow(row)).collect(),
        rows: kept.iter().flat_map(|row| narrow(row)).collect(),
        limit: (LIMIT * held.unwrap_or(0.0)).max(LEAST_LIMIT) as f32,
        gaps: gaps(&every_row, &deviations),
        exit_rate: 0.0,
    };
    region.exit_rate = exit_rate(&region, withheld, view, horizon);
    region
}

/// How often per step withheld rows go far outside a region, as the core judges them: with q the
/// share of their windows of L steps that have such a row, −ln(1 − q) / L. L is the horizon, or the
/// longest run that enough episodes have.
fn exit_rate(region: &LoggedRegion, withheld: &LogPart, view: &ModelView, horizon: usize) -> f32 {
    let follows = follows(withheld, &view.wraps);
    let length = common_run(&follows, &withheld.groups, TESTED_EPISODES).min(horizon);
    let far = far_outside(region, &withheld.log, view);
    let mut runs: Vec<Vec<bool>> = Vec::new();
    for (far, follows) in far.into_iter().zip(follows) {
        match runs.last_mut() {
            Some(run) if follows => run.push(far),
            _ => runs.push(vec![far]),
        }
    }
    let windows = runs.iter().flat_map(|run| run.chunks_exact(length.max(1)));
    let left: Vec<bool> = windows.map(|window| window.contains(&true)).collect();
    let count = left.iter().filter(|left| **left).count() as f64;
    // Where all leave it: as if half a window more had not.
    let share = count / (left.len() as f64).max(count + 0.5);
    (-(1.0 - share).ln() / length.max(1) as f64) as f32
}

/// Which rows lie far outside a region, by the core.
fn far_outside(region: &LoggedRegion, log: &Log, view: &ModelView) -> Vec<bool> {
    let gaps = region.gap_numbers();
    let support = Support {
        centre: &region.centre,
        scale: &region.scale,
        whitening: &region.whitening,
        rows: &region.rows,
        limit: region.limit,
        gaps: &gaps,
        exit_rate: region.exit_rate,
    };
    let columns = region.centre.len().max(1);
    let mut scratch = vec![[0.0; 1]; support.scratch_rows()];
    let (inputs, told) = (inputs(log, view), Told::of(log, view));
    let rows = inputs.chunks_exact(columns).enumerate();
    let rows = rows.map(|(number, row)| {
        let row: Vec<[f32; 1]> = row.iter().map(|x| [*x]).collect();
        let [place] = support.places(&row, &[], &mut scratch);
        // What says nothing is no leave to go there.
        told.tells_all(number) && place == LogPlace::FarOutside
    });
    rows.collect()
}

/// Some rows at random.
fn sampled(log: &Log, view: &ModelView, seed: u64) -> Vec<Vec<f64>> {
    let mut rows = rows_of(log, view);
    shuffle(seed, &mut rows);
    rows.truncate(LOOKED_AT);
    rows
}

/// The inputs of each row.
fn rows_of(log: &Log, view: &ModelView) -> Vec<Vec<f64>> {
    let columns = view.features.len() + log.action_dimension();
    let (inputs, told) = (inputs(log, view), Told::of(log, view));
    let rows = inputs.chunks_exact(columns.max(1)).enumerate();
    let rows = rows.filter(|(number, _)| told.tells_all(*number));
    rows.map(|(_, row)| row)
        .map(|row| row.iter().map(|x| f64::from(*x)).collect())
        .collect()
}

/// Mean, and one over the standard deviation, of each column; 1 for a constant one.
fn units(rows: &[Vec<f64>], columns: usize) -> (Vec<f64>, Vec<f64>) {
    let count = rows.len().max(1) as f64;
    let column = |j: usize| rows.iter().filter_map(move |row| row.get(j).copied());
    let of = |j: usize| {
        let mean = column(j).sum::<f64>() / count;
        let variance = column(j).map(|x| (x - mean).powi(2)).sum::<f64>() / count;
        let smallest = 1e-6 * mean.abs().max(1e-30);
        let scale = match variance.sqrt() {
            std if std > smallest => 1.0 / std,
            _ => 1.0,
        };
        (mean, scale)
    };
    (0..columns).map(of).unzip()
}

/// The lower triangle W with W C Wᵀ = I for the correlations C of standardised rows, of
/// which no direction is thinner than [`THINNEST`].
fn whitening(rows: &[Vec<f64>], columns: usize) -> Vec<Vec<f64>> {
    let count = rows.len().max(1) as f64;
    let covariance = |i: usize, j: usize| {
        let sum: f64 = rows.iter().map(|row| row[i] * row[j]).sum();
        sum / count + if i == j { THINNEST * THINNEST } else { 0.0 }
    };
    let matrix: Vec<Vec<f64>> = (0..columns)
        .map(|i| (0..columns).map(|j| covariance(i, j)).collect())
        .collect();
    // Gram and Schmidt in the inner product xᵀ C y: each row of W is a unit vector less
    // what the rows before it have of it.
    let product = |x: &[f64], y: &[f64]| -> f64 {
        let rows = x.iter().zip(&matrix);
        rows.map(|(x, row)| x * row.iter().zip(y).map(|(c, y)| c * y).sum::<f64>())
            .sum()
    };
    let mut found: Vec<Vec<f64>> = Vec::new();
    for i in 0..columns {
        let mut row = vec![0.0; columns];
        row[i] = 1.0;
        // Twice, for what rounding left of it.
        for _ in 0..2 {
            for before in &found {
                let share = product(&row, before);
                row.iter_mut()
                    .zip(before)
                    .for_each(|(x, y)| *x -= share * y);
            }
        }
        let size = product(&row, &row).max(f64::MIN_POSITIVE).sqrt();
        row.iter_mut().for_each(|x| *x /= size);
        found.push(row);
    }
    for (i, row) in found.iter_mut().enumerate() {
        row.truncate(i + 1);
    }
    found
}

/// At most `most` rows, each the one that is farthest from those before it.
fn spread_out(rows: &[Vec<f64>], most: usize) -> Vec<Vec<f64>> {
    let mut distances = vec![f64::INFINITY; rows.len()];
    let mut kept: Vec<Vec<f64>> = Vec::new();
    while kept.len() < most {
        let farthest = distances.iter().enumerate();
        let Some((place, distance)) = farthest.max_by(|a, b| a.1.total_cmp(b.1)) else {
            break;
        };
        if *distance <= 0.0 {
            break;
        }
        let row = rows[place].clone();
        for (distance, other) in distances.iter_mut().zip(rows) {
            *distance = distance.min(squared(other, &row));
        }
        kept.push(row);
    }
    kept
}

fn nearest(row: &[f64], kept: &[Vec<f64>]) -> f64 {
    let squares = kept.iter().map(|other| squared(row, other));
    squares.fold(f64::INFINITY, f64::min).sqrt()
}

fn squared(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use super::*;
    use hambo_base::random::Random;
    use hambo_data::Transition;
    use hambo_task::task::TaskFile;

    const TASK: &str = "name = 'cart'\nhorizon = 5\n[state]\nnames = ['x', 'y']\n\
        [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[reward]\nexpr = 'x'\n\
        [initial]\nkind = 'data'\n";

    fn view() -> ModelView {
        TaskFile::parse(TASK, "cart.toml").unwrap().model_view()
    }

    /// States uniform in [−1, 1] × [10, 30] but for a hole, actions from the state.
    fn log(exploration: f32, hole: f32, seed: u64) -> Log {
        let mut random = Random::new(seed, 7);
        let mut log = Log::new(2, 1);
        while log.len() < 1500 {
            let between = |random: &mut Random| 2.0 * random.uniform() - 1.0;
            let (x, y) = (between(&mut random), between(&mut random));
            if x.hypot(y) < hole {
                continue;
            }
            let action = 0.5 * x - y + exploration * between(&mut random);
            let row = Transition {
                state: &[x, 20.0 + 10.0 * y],
                action: &[action],
                next_state: &[x, y],
                reward: 0.0,
                episode: log.len() as u32 / 30,
            };
            log.push(row).unwrap();
        }
        log
    }

    fn part(exploration: f32, hole: f32, seed: u64) -> LogPart {
        LogPart::whole(&log(exploration, hole, seed))
    }

    fn outside(region: &LoggedRegion, x: f32, y: f32, action: f32) -> bool {
        let support = Support {
            centre: &region.centre,
            scale: &region.scale,
            whitening: &region.whitening,
            rows: &region.rows,
            limit: region.limit,
            gaps: &[],
            exit_rate: 0.0,
        };
        let state = [[x], [20.0 + 10.0 * y]];
        support.outside(&state, &[[action]], &mut [[0.0]; 3])[0]
    }

    #[test]
    fn another_controller_is_outside_a_log_without_exploration() {
        let tied = region(&log(0.0, 0.0, 1), &part(0.0, 0.0, 2), &view(), (5, 0));
        assert!(!outside(&tied, 0.3, 0.2, 0.5 * 0.3 - 0.2));
        assert!(outside(&tied, 0.3, 0.2, 0.5 * 0.3 - 0.2 + 0.15));
        let free = region(&log(0.5, 0.0, 1), &part(0.5, 0.0, 2), &view(), (5, 0));
        assert!(!outside(&free, 0.3, 0.2, 0.5 * 0.3 - 0.2 + 0.15));
    }

    #[test]
    fn far_states_and_holes_are_outside() {
        let whole = region(&log(0.3, 0.0, 1), &part(0.3, 0.0, 2), &view(), (5, 0));
        let hollow = region(&log(0.3, 0.6, 1), &part(0.3, 0.6, 2), &view(), (5, 0));
        assert!(!outside(&whole, 0.0, 0.0, 0.0) && outside(&hollow, 0.0, 0.0, 0.0));
        for (x, y) in [(2.5, 0.0), (-2.5, 0.0), (0.0, 2.5), (0.0, -2.5)] {
            assert!(outside(&whole, x, y, 0.5 * x - y), "{x} {y}");
        }
    }

    #[test]
    fn nearly_all_of_another_log_is_inside() {
        let region = region(&log(0.3, 0.0, 1), &part(0.3, 0.0, 2), &view(), (5, 0));
        let other = log(0.3, 0.0, 3);
        let out = other.rows().filter(|row| {
            outside(
                &region,
                row.state[0],
                (row.state[1] - 20.0) / 10.0,
                row.action[0],
            )
        });
        assert_eq!(out.count(), 0);
        assert_eq!(region.rows.len(), 3 * KEPT);
    }

    #[test]
    fn what_the_model_does_not_see_does_not_count() {
        let text = TASK.replace("[reward]", "[model]\ninputs = ['2 * x']\n[reward]");
        let view = TaskFile::parse(&text, "cart.toml").unwrap().model_view();
        let region = region(&log(0.3, 0.0, 1), &part(0.3, 0.0, 2), &view, (5, 0));
        assert_eq!((region.centre.len(), region.rows.len()), (2, 2 * KEPT));
        // In units of what it sees: 2 x has twice the spread of x.
        let plain = super::region(&log(0.3, 0.0, 1), &part(0.3, 0.0, 2), &self::view(), (5, 0));
        assert!((2.0 * region.scale[0] / plain.scale[0] - 1.0).abs() < 1e-4);
    }

    /// `episodes` of 10 rows at the origin of a unit ball, some of whose last rows lie outside.
    fn leaving(episodes: u32, steps: u32, outside: impl Fn(u32, u32) -> bool) -> LogPart {
        let mut log = Log::new(2, 1);
        for (episode, step) in (0..episodes * steps).map(|row| (row / steps, row % steps)) {
            let x = if outside(episode, step) { 2.0 } else { 0.0 };
            let next = if step + 1 < steps && outside(episode, step + 1) {
                2.0
            } else {
                0.0
            };
            let row = Transition {
                state: &[x, 0.0],
                action: &[0.0],
                next_state: &[next, 0.0],
                reward: 0.0,
                episode,
            };
            log.push(row).unwrap();
        }
        LogPart::whole(&log)
    }

    #[test]
    fn a_rate_by_hand() {
        let ball = LoggedRegion::ball(3, 1.0);
        let rate = |part: &LogPart, horizon| f64::from(exit_rate(&ball, part, &view(), horizon));
        let close = |found: f64, wanted: f64| assert!((found - wanted).abs() < 1e-6, "{found}");
        assert_eq!(rate(&leaving(20, 10, |_, _| false), 10), 0.0);
        // Two of twenty windows of 10 steps, whether they leave once or twice.
        let few = leaving(20, 10, |episode, step| {
            episode < 2 && (step == 9 || (episode == 0 && step == 2))
        });
        close(rate(&few, 10), -(0.9_f64.ln()) / 10.0);
        // Three of forty windows of 5.
        close(rate(&few, 5), -((37.0_f64 / 40.0).ln()) / 5.0);
        // A longer horizon has no longer windows than the log.
        close(rate(&few, 100), -(0.9_f64.ln()) / 10.0);
        // All of them: a number all the same.
        let all = leaving(20, 10, |_, step| step == 5);
        close(rate(&all, 10), -((1.0 - 20.0 / 20.5_f64).ln()) / 10.0);
    }
}
