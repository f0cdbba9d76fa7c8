//! The tube around a window: from the least to the greatest value of each state at each
//! step that an adversary reaches without noise, and how far noise carries beyond.

use hambo_core::task::Physics;

use super::trajectories::Trajectories;
use hambo_task::task::Wrap;

/// Of every state at every step, in the order of a path.
pub(super) struct Tube {
    places: Vec<Place>,
}

struct Place {
    low: f32,
    high: f32,
    /// What distances from the tube are counted in: the spread of the noise.
    unit: f32,
    /// Where the state wraps: in this way, and the turn of this value is looked at.
    turn: Option<(Wrap, f32)>,
}

impl Place {
    fn on_turn(&self, x: f32) -> f32 {
        self.turn.map_or(x, |(wrap, other)| wrap.next_to(x, other))
    }
}

impl Tube {
    /// Around `calm`, the trajectories without noise, in units of `noisy`. What wraps is
    /// taken on the logged path's own turn. `wraps` has an entry for every state.
    pub(super) fn new(
        wraps: &[Option<Wrap>],
        logged: &[f32],
        calm: &Trajectories,
        noisy: &Trajectories,
    ) -> Self {
        let states = wraps.iter().cycle();
        let places = logged.iter().zip(states).enumerate();
        let places = places.map(|(place, (logged, wrap))| {
            let mut own = Place {
                low: f32::INFINITY,
                high: f32::NEG_INFINITY,
                unit: 1.0,
                turn: wrap.map(|wrap| (wrap, *logged)),
            };
            let at = |path: &Vec<f32>| path.get(place).copied().unwrap_or(f32::NAN);
            for x in calm.paths.iter().map(at) {
                let x = own.on_turn(x);
                own.low = own.low.min(x);
                own.high = own.high.max(x);
            }
            let neutral = noisy.paths.iter().step_by(noisy.starts).map(at);
            let neutral: Vec<f32> = neutral.map(|x| own.on_turn(x)).collect();
            own.unit = unit(&neutral, own.low, own.high);
            own
        });
        Self {
            places: places.collect(),
        }
    }

    /// Without the states that are known: they follow from the others, and a rounding of the
    /// log would lie outside a tube that has no width.
    pub(super) fn of_moved(mut self, physics: &Physics, states: usize) -> Self {
        for (place, own) in self.places.iter_mut().enumerate() {
            if physics.knows(place % states.max(1)) {
                (own.low, own.high) = (f32::NEG_INFINITY, f32::INFINITY);
            }
        }
        self
    }

    /// The farthest that a path leaves the tube, in units of the noise; 0 inside.
    pub(super) fn exceeds(&self, path: &[f32]) -> f32 {
        let places = self.places.iter().zip(path);
        let distances = places.map(|(place, x)| {
            let x = place.on_turn(*x);
            (place.low - x).max(x - place.high) / place.unit
        });
        // A model that is not finite holds everything: other tests refuse it.
        distances.filter(|d| !d.is_nan()).fold(0.0, f32::max)
    }
}

/// The standard deviation, and where there is none a small part of the tube's width or of
/// its numbers: ranks do not depend on it, but it must not be 0.
fn unit(values: &[f32], low: f32, high: f32) -> f32 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    let squares = values.iter().map(|x| (f64::from(*x) - mean).powi(2));
    let std = (squares.sum::<f64>() / count).sqrt() as f32;
    let width = 1e-3 * (high - low);
    let rounding = 1e-6 * low.abs().max(high.abs());
    let unit = std.max(width).max(rounding).max(f32::MIN_POSITIVE);
    if unit.is_finite() { unit } else { f32::MAX }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hambo_core::task::KnownState;

    fn trajectories(starts: usize, paths: &[&[f32]]) -> Trajectories {
        Trajectories {
            starts,
            paths: paths.iter().map(|path| path.to_vec()).collect(),
            returns: vec![0.0; paths.len()],
        }
    }

    #[test]
    fn a_path_inside_exceeds_nothing_and_one_outside_by_units_of_the_noise() {
        let calm = trajectories(2, &[&[0.0, 0.0], &[1.0, 2.0]]);
        // The first starts spread by 0.5.
        let noisy = trajectories(2, &[&[-0.5, 0.0], &[9.0, 9.0], &[0.5, 1.0], &[9.0, 9.0]]);
        let tube = Tube::new(&[None], &[0.0, 0.0], &calm, &noisy);
        assert_eq!(tube.exceeds(&[0.5, 1.9]), 0.0);
        assert_eq!(tube.exceeds(&[0.5, 3.0]), 2.0);
        assert_eq!(tube.exceeds(&[-1.0, 0.0]), 2.0);
    }

    #[test]
    fn what_is_known_is_not_looked_at() {
        let calm = trajectories(1, &[&[0.0, 5.0]]);
        let noisy = trajectories(1, &[&[0.0, 5.5], &[0.0, 4.5]]);
        let tube = || Tube::new(&[None, None], &[0.1, 5.0], &calm, &noisy);
        assert!(tube().exceeds(&[0.1, 5.0]) > 0.0);
        let mut physics = Physics::learned_alone(2);
        let known = KnownState {
            state: 0,
            slot: 0,
            corrects: false,
        };
        assert!(physics.known.push(known).is_ok());
        let tube = tube().of_moved(&physics, 2);
        assert_eq!(tube.exceeds(&[0.1, 5.0]), 0.0);
        assert!(tube.exceeds(&[0.1, 7.0]) > 0.0);
    }

    #[test]
    fn an_angle_is_taken_on_the_logged_turn() {
        let turn = Some(Wrap {
            low: -180.0,
            period: 360.0,
        });
        let calm = trajectories(1, &[&[175.0], &[-175.0]]);
        let noisy = trajectories(1, &[&[178.0], &[-178.0]]);
        let tube = Tube::new(&[turn], &[-179.0], &calm, &noisy);
        assert_eq!(tube.exceeds(&[-179.0]), 0.0);
        assert!(tube.exceeds(&[-170.0]) > 2.0);
    }
}
