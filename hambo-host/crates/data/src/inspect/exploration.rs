//! How far actions are determined by states: what is left of an action where the state is nearly
//! the same.
//!
//! A log of one controller without noise ties the action to the state, and no model can tell from
//! it what either of them does alone. Around a row a plane is fitted to the actions of its nearest
//! neighbours in the space of states; the residual is what the states leave open.

use hambo_base::order::median;
use hambo_base::random::shuffle;

use super::spread::spread;
use crate::log::Log;

/// Below this share of the action's range a log counts as without exploration.
const LEAST_EXPLORATION: f64 = 0.01;
/// Rows around which a plane is fitted, and rows that neighbours are looked for among.
const PLANES: usize = 200;
const NEIGHBOURHOOD: usize = 3000;

/// One action.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exploration {
    /// The standard deviation that states leave, over the logged range of the action: the median
    /// over places.
    pub share_of_range: f64,
}

impl Exploration {
    /// Whether the states decide the action, so that a model cannot tell them apart.
    #[must_use]
    pub fn is_missing(self) -> bool {
        self.share_of_range < LEAST_EXPLORATION
    }

    /// The warning, if one is due.
    #[must_use]
    pub fn warning(self, action: &str) -> Option<String> {
        self.is_missing().then(|| {
            format!(
                "the log does not explore: `{action}` follows from the states but for {:.2} % of its range, so its effect cannot be told from theirs; log with noise on the actions (1 % of the range or more), or with several controllers",
                100.0 * self.share_of_range
            )
        })
    }
}

/// s and a.
pub(crate) struct StateAction {
    pub(crate) state: Vec<f64>,
    pub(crate) action: Vec<f64>,
}

impl StateAction {
    pub(crate) fn new(state: &[f32], action: &[f32]) -> Self {
        let wide = |values: &[f32]| values.iter().map(|x| f64::from(*x)).collect();
        Self {
            state: wide(state),
            action: wide(action),
        }
    }
}

/// The exploration of every action of a log.
#[must_use]
pub fn explorations(log: &Log) -> Vec<Option<Exploration>> {
    let rows = log.rows();
    explorations_of(
        rows.map(|row| StateAction::new(row.state, row.action))
            .collect(),
    )
}

/// The exploration of every action of some rows; `None` if there are too few to say.
pub(crate) fn explorations_of(mut rows: Vec<StateAction>) -> Vec<Option<Exploration>> {
    let first = rows.first();
    let (states, actions) = first.map_or((0, 0), |row| (row.state.len(), row.action.len()));
    let neighbours = 3 * (states + 1);
    rows.retain(|row| row.state.iter().chain(&row.action).all(|x| x.is_finite()));
    shuffle(0, &mut rows);
    rows.truncate(NEIGHBOURHOOD);
    if rows.len() < 4 * neighbours {
        return vec![None; actions];
    }
    let spreads = (0..states).map(|j| spread(rows.iter().map(move |row| row.state[j])));
    let scales: Vec<f64> = spreads.map(|x| if x > 0.0 { x } else { 1.0 }).collect();
    let mut left: Vec<Vec<f64>> = vec![Vec::new(); actions];
    for middle in rows.iter().take(PLANES) {
        let offset = |state: &[f64]| -> Vec<f64> {
            let pairs = state.iter().zip(&middle.state).zip(&scales);
            pairs.map(|((x, c), scale)| (x - c) / scale).collect()
        };
        let mut near: Vec<(f64, usize, Vec<f64>)> = rows
            .iter()
            .enumerate()
            .map(|(row, other)| {
                let offset = offset(&other.state);
                (offset.iter().map(|x| x * x).sum(), row, offset)
            })
            .collect();
        let closest = neighbours.min(near.len() - 1);
        near.select_nth_unstable_by(closest, |a, b| a.0.total_cmp(&b.0));
        near.truncate(neighbours);
        let offsets: Vec<&[f64]> = near.iter().map(|(_, _, offset)| &offset[..]).collect();
        for (action, left) in left.iter_mut().enumerate() {
            let values: Vec<f64> = near
                .iter()
                .map(|(_, row, _)| rows[*row].action[action])
                .collect();
            let squares = plane_residual(&offsets, &values);
            left.push((squares / (neighbours - states - 1) as f64).sqrt());
        }
    }
    let of = |(action, mut left): (usize, Vec<f64>)| {
        let values = || rows.iter().map(|row| row.action[action]);
        let range = values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min);
        let median = median(&mut left)?;
        (range > 0.0).then(|| Exploration {
            share_of_range: median / range,
        })
    };
    left.into_iter().enumerate().map(of).collect()
}

/// The sum of squares that a plane leaves of the values at these places.
fn plane_residual(places: &[&[f64]], values: &[f64]) -> f64 {
    let columns = places.first().map_or(0, |place| place.len()) + 1;
    // Gram and Schmidt on the columns 1, x_1, …, each taken off the values as well.
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let mut rest = values.to_vec();
    for column in 0..columns {
        let of = |place: &&[f64]| column.checked_sub(1).map_or(1.0, |j| place[j]);
        let mut own: Vec<f64> = places.iter().map(of).collect();
        let size = dot(&own, &own);
        for before in &basis {
            let share = dot(&own, before);
            own.iter_mut()
                .zip(before)
                .for_each(|(x, y)| *x -= share * y);
        }
        let left = dot(&own, &own);
        // A state that follows from the others says nothing new.
        if left <= 1e-12 * size {
            continue;
        }
        own.iter_mut().for_each(|x| *x /= left.sqrt());
        let share = dot(&rest, &own);
        rest.iter_mut().zip(&own).for_each(|(x, y)| *x -= share * y);
        basis.push(own);
    }
    dot(&rest, &rest)
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test stops where it fails")]
mod tests {
    use hambo_base::random::Random;

    use super::*;
    use crate::log::Transition;

    /// Two states, and the action tanh(2 x − y) with noise.
    fn log(noise: f32, rows: usize) -> Log {
        let mut random = Random::new(4, 4);
        let mut log = Log::new(2, 1);
        for row in 0..rows {
            let state = [random.normal(), 10.0 * random.normal()];
            let action = (2.0 * state[0] - 0.1 * state[1]).tanh() + noise * random.normal();
            let next_state = &state;
            log.push(Transition {
                state: &state,
                action: &[action],
                next_state,
                reward: 0.0,
                episode: row as u32 / 50,
            })
            .unwrap();
        }
        log
    }

    #[test]
    fn noise_on_the_actions_is_measured() {
        for noise in [0.1, 0.3] {
            let found = explorations(&log(noise, 2500))[0].unwrap();
            // The range is that of tanh and the noise.
            let share = found.share_of_range;
            let expected = f64::from(noise) / (2.0 + 7.0 * f64::from(noise));
            assert!((0.6..1.6).contains(&(share / expected)), "{noise}: {share}");
            assert!(found.warning("u").is_none());
        }
    }

    #[test]
    fn a_controller_without_noise_is_seen() {
        let found = explorations(&log(0.0, 2500))[0].unwrap();
        assert!(found.is_missing(), "{found:?}");
        let warning = found.warning("torque").unwrap();
        assert!(warning.contains("torque") && warning.contains("noise on the actions"));
    }

    #[test]
    fn few_rows_say_nothing() {
        assert_eq!(explorations(&log(0.0, 20)), [None]);
    }
}
