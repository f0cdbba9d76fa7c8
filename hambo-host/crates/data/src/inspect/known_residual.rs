//! Where a log disagrees with what the task says of its dynamics: known states and pairs on the
//! unit circle.

use hambo_core::task::expression::ProgramError;

use hambo_task::task::ModelView;

use super::spread::spread;
use crate::log::{KnownStates, Log, goes_on};

/// The largest residual that counts as rounding, as a share of the state's standard deviation.
pub(crate) const LARGEST_RESIDUAL: f64 = 1e-4;
/// The largest distance from the unit circle that counts as rounding.
const LARGEST_DISTANCE: f64 = 1e-3;

/// Where the log is farthest from what the task says of a state.
#[derive(Clone, Debug, PartialEq)]
pub struct KnownResidual {
    /// The state, by number; of a pair the first.
    pub state: usize,
    /// The row, from 0.
    pub row: usize,
    /// What the task says of its next value; of a pair its length, 1.
    pub computed: f32,
    /// What the log says.
    pub logged: f32,
    /// The residual as a share of the state's standard deviation; of a pair the distance from the
    /// circle.
    pub share: f64,
    /// Whether that is more than rounding.
    pub too_large: bool,
}

/// The largest residual of each known state that the log has.
///
/// # Errors
/// If the task's tape is bad.
pub fn known_residuals(view: &ModelView, log: &Log) -> Result<Vec<KnownResidual>, ProgramError> {
    let known = view.physics.known.iter();
    let places = known.map(|known| usize::from(known.state));
    // Those without an initial value, in the order of the states.
    let mut places: Vec<usize> = places.collect();
    places.sort_unstable();
    places.truncate(view.known.len());
    // Of a constant state a part of its size.
    let spreads = places.iter().map(|place| {
        let values = log.rows().filter_map(move |row| row.state.get(*place));
        let values = values.map(|x| f64::from(*x));
        let mean = values.clone().sum::<f64>() / log.len().max(1) as f64;
        spread(values).max(1e-3 * mean.abs()).max(1e-30)
    });
    let spreads: Vec<f64> = spreads.collect();
    let mut found: Vec<Option<KnownResidual>> = vec![None; places.len()];
    if places.is_empty() {
        return Ok(Vec::new());
    }
    let mut known = KnownStates::new(view)?;
    let (mut step, mut last): (u32, Option<(u32, &[f32])>) = (0, None);
    for (number, row) in log.rows().enumerate() {
        let follows = last.is_some_and(|(episode, reached)| {
            episode == row.episode && goes_on(reached, row.state, &view.wraps)
        });
        step = if follows { step + 1 } else { 0 };
        last = Some((row.episode, row.next_state));
        let mut computed = row.next_state.to_vec();
        known.compute((row.state, row.action), step, &mut computed);
        for ((place, spread), found) in places.iter().zip(&spreads).zip(&mut found) {
            let pair = computed.get(*place).zip(row.next_state.get(*place));
            let Some((computed, next)) = pair else {
                continue;
            };
            let near = match view.wraps.get(*place) {
                Some(Some(wrap)) => wrap.next_to(*next, *computed),
                _ => *next,
            };
            let share = f64::from((computed - near).abs()) / spread;
            let share = if share.is_nan() { f64::INFINITY } else { share };
            if found.as_ref().is_none_or(|found| share > found.share) {
                *found = Some(KnownResidual {
                    state: *place,
                    row: number,
                    computed: *computed,
                    logged: *next,
                    share,
                    too_large: share > LARGEST_RESIDUAL,
                });
            }
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// The largest distance of each pair from the unit circle.
#[must_use]
pub fn circle_residuals(view: &ModelView, log: &Log) -> Vec<KnownResidual> {
    let pairs = view
        .physics
        .circles
        .iter()
        .map(|pair| pair.map(usize::from));
    let farthest = pairs.filter_map(|[c, s]| {
        let rows = log.rows().enumerate();
        let lengths = rows.flat_map(|(row, one)| {
            let length = move |state: &[f32]| {
                let (c, s) = (state.get(c)?, state.get(s)?);
                Some((row, c.hypot(*s)))
            };
            [length(one.state), length(one.next_state)]
        });
        let distance = |length: f32| f64::from((length - 1.0).abs());
        let (row, length) = lengths
            .flatten()
            .max_by(|a, b| distance(a.1).total_cmp(&distance(b.1)))?;
        Some(KnownResidual {
            state: c,
            row,
            computed: 1.0,
            logged: length,
            share: distance(length),
            too_large: distance(length) > LARGEST_DISTANCE,
        })
    });
    farthest.collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use hambo_task::task::{TaskFile, Wrap};

    use super::*;
    use crate::log::Transition;

    fn view(known: &str) -> ModelView {
        let text = format!(
            "name = 'arm'\nhorizon = 5\n[state]\nnames = ['theta', 'omega', 'c', 's']\n\
             wrap = ['theta']\ncircle = [['c', 's']]\n\
             [action]\nnames = ['u']\nlow = [-1]\nhigh = [1]\n[known]\ntheta = '{known}'\n\
             [reward]\nexpr = '-theta^2'\n[initial]\nkind = 'data'\n"
        );
        TaskFile::parse(&text, "arm.toml").unwrap().model_view()
    }

    /// Across the end of the angle's interval; `wrong` is added to one next angle.
    fn log(wrong: f32, length: f32) -> Log {
        let mut log = Log::new(4, 1);
        let wrap = Wrap::RADIANS;
        for row in 0..200_u16 {
            let theta = wrap.inside(0.05 * f32::from(row));
            let omega = 1.0 + 0.01 * f32::from(row % 7);
            let next = wrap.inside(theta + 0.1 * omega + if row == 42 { wrong } else { 0.0 });
            let (c, s) = (length * theta.cos(), length * theta.sin());
            log.push(Transition {
                state: &[theta, omega, c, s],
                action: &[0.0],
                next_state: &[next, omega, c, s],
                reward: 0.0,
                episode: 0,
            })
            .unwrap();
        }
        log
    }

    #[test]
    fn the_row_that_disagrees_is_named() {
        let right = view("theta + 0.1 * omega");
        let found = known_residuals(&right, &log(0.0, 1.0)).unwrap();
        assert_eq!(found.len(), 1);
        assert!(!found[0].too_large && found[0].share < 1e-6, "{found:?}");
        let found = known_residuals(&right, &log(1e-3, 1.0)).unwrap();
        assert!(found[0].too_large && found[0].row == 42, "{found:?}");
        let found = known_residuals(&right, &log(1e-4, 1.0)).unwrap();
        assert!(!found[0].too_large && found[0].row == 42, "{found:?}");
        let wrong = view("theta + 0.101 * omega");
        assert!(known_residuals(&wrong, &log(0.0, 1.0)).unwrap()[0].too_large);
    }

    #[test]
    fn a_pair_off_the_circle_is_named() {
        let view = view("theta + 0.1 * omega");
        let near = circle_residuals(&view, &log(0.0, 1.0 + 5e-4));
        assert!(!near[0].too_large, "{near:?}");
        let far = circle_residuals(&view, &log(0.0, 0.99));
        assert!(far[0].too_large && far[0].state == 2, "{far:?}");
    }
}
