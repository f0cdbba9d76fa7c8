//! The rows near a path, and by how much the set must be wider there.

use std::collections::BTreeSet;

use hambo_core::model::Support;
use serde::{Deserialize, Serialize};

use super::mean::{MeanResidual, Signed};
use super::rows::JudgingRows;
use super::whitened::{squared_distance, whitened};
use crate::calibration::korn_graubard::Share;
use crate::calibration::outcome::{MINIMUM_WITHHELD_ROWS, TESTED_EPISODES};
use crate::calibration::{LEAST_SHARE, noise_width};

/// A row is near if a step of the path is within this share of the support's limit, which is twice
/// the distance that holds 99 % of the withheld rows.
const NEAR: f64 = 0.5;
/// Steps of the path that rows are held against.
const STEPS: usize = 400;
/// Steps around which a mean of its own is taken, of this number of rows.
const PLACES: usize = 24;
const NEIGHBOURS: usize = 40;
/// A right set is widened with these probabilities at most: by the share of rows, by means over all
/// rows near the path, by means around places. Together 5 %.
const TAIL_OF_SHARE: f64 = 0.01;
const TAIL_OF_ALL: f64 = 0.02;
const TAIL_OF_PLACES: f64 = 0.02;

/// What withheld rows say of a controller's path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NearPath {
    /// Rows near it.
    pub rows: usize,
    /// Of how many episodes.
    pub episodes: usize,
    /// Of how many in all that judged.
    pub judging_episodes: usize,
    /// The factor on the set, of each state that the model moves; 1 where it is wide enough.
    pub widening: Vec<f32>,
    /// Why the set is wider; none if it is as it was.
    pub found: Option<Found>,
}

/// What the set does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Found {
    /// This share of the rows is inside set and noise.
    Share(f32),
    /// The mean residual of a state, by its place among those that the model moves, is this many
    /// times the half width of the set.
    Mean { state: usize, times: f32 },
}

impl NearPath {
    /// Whether there are rows enough to tell anything. Where not, the check's distance from the
    /// log decides, as it does without this look.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.rows >= MINIMUM_WITHHELD_ROWS && self.episodes >= TESTED_EPISODES
    }

    /// The largest factor.
    #[must_use]
    pub fn widest(&self) -> f32 {
        self.widening.iter().copied().fold(1.0, f32::max)
    }
}

/// Looks at the rows near a path, whose steps are inputs of the model one after the other; `radii`
/// are beta · tau of each state.
#[must_use]
pub fn look(rows: &JudgingRows, support: &Support<'_>, radii: &[f32], path: &[f32]) -> NearPath {
    let states = rows.states();
    let all: BTreeSet<u32> = rows.episodes.iter().copied().collect();
    let steps = evenly(&whitened(support, path), STEPS);
    let inputs = whitened(support, &rows.inputs);
    let mut near = near(&inputs, &steps, NEAR * f64::from(support.limit));
    near.retain(|row| (0..states).any(|state| rows.tells(*row, state)));
    let own: BTreeSet<u32> = near.iter().filter_map(|row| episode(rows, *row)).collect();
    let mut found = NearPath {
        rows: near.len(),
        episodes: own.len(),
        judging_episodes: all.len(),
        widening: vec![1.0; states],
        found: None,
    };
    let fits = rows.columns() == support.centre.len() && radii.len() == states && states > 0;
    if !found.tells() || !fits {
        return found;
    }
    let radii: Vec<f64> = radii.iter().map(|radius| f64::from(*radius)).collect();
    let (widening, share) = of_share(rows, &near, &radii);
    if widening > 1.0 {
        found.widening = vec![widening as f32; states];
        found.found = Some(Found::Share(share as f32));
    }
    let whole = signed_means(&near, &inputs, &steps);
    let places = places(&near, &inputs, &steps);
    for (sets, tail) in [(whole, TAIL_OF_ALL), (places, TAIL_OF_PLACES)] {
        let tail = tail / (sets.len() * states).max(1) as f64;
        for (set, state) in sets
            .iter()
            .flat_map(|set| (0..states).map(move |j| (set, j)))
        {
            let signed: Vec<Signed> = set
                .iter()
                .filter(|(row, _)| rows.tells(*row, state))
                .map(|(row, sign)| signed(rows, *row, state, *sign, &radii))
                .collect();
            let mean = MeanResidual::of(&signed).filter(|mean| mean.episodes >= TESTED_EPISODES);
            let required = mean.and_then(|mean| mean.required_widening(tail));
            let (Some(required), Some(own)) = (required, found.widening.get_mut(state)) else {
                continue;
            };
            // What is no number, and what no width holds, is more than anything.
            let required = if required.is_nan() {
                f64::INFINITY
            } else {
                required
            };
            if required > f64::from(*own) {
                *own = required as f32;
                let times = *own;
                found.found = Some(Found::Mean { state, times });
            }
        }
    }
    found
}

fn episode(rows: &JudgingRows, row: usize) -> Option<u32> {
    rows.episodes.get(row).copied()
}

/// At most `most` of some values, evenly over them.
fn evenly<T: Clone>(values: &[T], most: usize) -> Vec<T> {
    let kept = values.len().min(most);
    let places = (0..kept).map(|number| number * values.len() / kept.max(1));
    places
        .filter_map(|place| values.get(place).cloned())
        .collect()
}

/// The rows within a distance of any step.
fn near(inputs: &[Vec<f64>], steps: &[Vec<f64>], distance: f64) -> Vec<usize> {
    let square = distance * distance;
    let close = |row: &[f64]| {
        let mut steps = steps.iter();
        steps.any(|step| squared_distance(row, step) <= square)
    };
    let rows = inputs.iter().enumerate();
    rows.filter(|(_, row)| close(row))
        .map(|(place, _)| place)
        .collect()
}

/// The least widening at which the share of rows inside set and noise is not significantly below
/// [`LEAST_SHARE`], and that share as the set is.
fn of_share(rows: &JudgingRows, near: &[usize], radii: &[f64]) -> (f64, f64) {
    let quantile = f64::from(noise_width(radii.len()));
    let required: Vec<(u32, f64)> = near
        .iter()
        .map(|row| {
            let told = radii.iter().enumerate();
            let told = told.filter(|(state, _)| rows.tells(*row, *state));
            let of_state = told.map(|(state, radius)| {
                let residual = rows.at(&rows.residuals, *row, state).abs();
                let noise = quantile * rows.at(&rows.noise_std, *row, state);
                let set = radius * rows.at(&rows.epistemic_std, *row, state);
                if residual <= noise {
                    0.0
                } else {
                    (residual - noise) / set
                }
            });
            let most = of_state.fold(0.0, |most: f64, own| {
                if own.is_nan() {
                    f64::INFINITY
                } else {
                    most.max(own)
                }
            });
            (episode(rows, *row).unwrap_or_default(), most)
        })
        .collect();
    let share = |widening: f64| {
        let inside = required.iter();
        Share::of(inside.map(|(episode, factor)| (*episode, *factor <= widening)))
    };
    let enough = |widening: f64| share(widening).upper(TAIL_OF_SHARE) >= LEAST_SHARE;
    let mut factors: Vec<f64> = required.iter().map(|(_, factor)| *factor).collect();
    factors.sort_unstable_by(f64::total_cmp);
    let wider = factors.into_iter().filter(|factor| *factor > 1.0);
    let mut tried = std::iter::once(1.0).chain(wider);
    let widening = tried.find(|widening| enough(*widening));
    (widening.unwrap_or(f64::INFINITY), share(1.0).value)
}

/// A set of rows, each with the sign of its residual.
type SignedRows = Vec<(usize, f64)>;

/// All rows near the path: as they are, and with the sign of each input about the path's mean.
fn signed_means(near: &[usize], inputs: &[Vec<f64>], steps: &[Vec<f64>]) -> Vec<SignedRows> {
    let columns = steps.first().map_or(0, Vec::len);
    let mut sets = vec![near.iter().map(|row| (*row, 1.0)).collect()];
    for input in 0..columns {
        let of = |row: &Vec<f64>| row.get(input).copied().unwrap_or(0.0);
        let middle = steps.iter().map(of).sum::<f64>() / steps.len().max(1) as f64;
        let sign = |row: &usize| {
            let value = inputs.get(*row).map_or(0.0, of);
            (*row, if value < middle { -1.0 } else { 1.0 })
        };
        sets.push(near.iter().map(sign).collect());
    }
    sets
}

/// The rows nearest to each of some steps.
fn places(near: &[usize], inputs: &[Vec<f64>], steps: &[Vec<f64>]) -> Vec<SignedRows> {
    let of_step = |step: Vec<f64>| -> SignedRows {
        let mut by_distance: Vec<(f64, usize)> = near
            .iter()
            .filter_map(|row| Some((squared_distance(inputs.get(*row)?, &step), *row)))
            .collect();
        by_distance.sort_by(|a, b| a.0.total_cmp(&b.0));
        let nearest = by_distance.into_iter().take(NEIGHBOURS);
        nearest.map(|(_, row)| (row, 1.0)).collect()
    };
    evenly(steps, PLACES).into_iter().map(of_step).collect()
}

fn signed(rows: &JudgingRows, row: usize, state: usize, sign: f64, radii: &[f64]) -> Signed {
    let radius = radii.get(state).copied().unwrap_or(0.0);
    Signed {
        episode: episode(rows, row).unwrap_or_default(),
        residual: sign * rows.at(&rows.residuals, row, state),
        radius: radius * rows.at(&rows.epistemic_std, row, state),
    }
}

#[cfg(test)]
mod tests;
