use super::*;
use crate::example;
use crate::image::{Image, MonitorSettings};
use crate::numeric::random::Stream;
use crate::numeric::{CapacityError, ParameterError};
use crate::task::expression::{Op, Program, Variable};
use crate::task::{KnownState, Limits, Wraps};

const SETTINGS: MonitorSettings = MonitorSettings {
    noise_width: 2.6,
    surprise_rate: 0.05,
    alpha: 0.01,
};

/// The example's radius: both members lie 0.1 from the mean, and the noise is at its
/// floor.
const RADIUS: f32 = 0.1 + 2.6e-3;

fn monitor<'m>(image: &'m Image<'m>, rows: &'m mut [[f32; 1]]) -> Monitor<'m> {
    Monitor::new(image.model(), image.task(), SETTINGS, rows).unwrap()
}

fn observe(monitor: &mut Monitor<'_>, state: f32, action: f32, next_state: f32) -> Observation {
    monitor.observe(&Measured {
        state: &[state],
        action: &[action],
        next_state: &[next_state],
        is_fresh: true,
    })
}

#[test]
fn the_residual_is_that_of_the_rule() {
    let image = example::image().unwrap();
    let mut rows = [[0.0]; 32];
    let mut stream = Stream::new(5, 0);
    for _ in 0..1000 {
        let mut monitor = monitor(&image, &mut rows);
        let [x, u, e] = [0, 1, 2].map(|_| 2.0 * stream.uniform() - 1.0);
        let next = x + u + 0.5 * e;
        let seen = observe(&mut monitor, x, u, next);
        let wanted = ((f64::from(next) - f64::from(x) - f64::from(u)) / f64::from(RADIUS)).abs();
        assert!(
            (f64::from(seen.residual) - wanted).abs() < 1e-4,
            "{x} {u} {e}"
        );
        assert_eq!(seen.surprise, seen.residual > 1.0);
        assert_eq!(seen.trip.is_some(), seen.residual > 3.0);
        assert!(!seen.outside);
    }
}

#[test]
fn far_away_trips_at_once_and_for_good() {
    let image = example::image().unwrap();
    let mut rows = [[0.0]; 32];
    let mut monitor = monitor(&image, &mut rows);
    assert_eq!(
        observe(&mut monitor, 0.5, 0.0, 0.5 + 2.9 * RADIUS).trip,
        None
    );
    let far = observe(&mut monitor, 0.5, 0.0, 0.5 - 3.1 * RADIUS);
    assert_eq!(far.trip, Some(Trip::Far(0)));
    assert_eq!(
        observe(&mut monitor, 0.5, 0.0, 0.5).trip,
        Some(Trip::Far(0))
    );
    let counts = monitor.counts();
    assert_eq!((counts.steps, counts.surprises, counts.far), (3, 2, 1));
}

#[test]
fn what_is_not_finite_or_of_another_size_trips() {
    let image = example::image().unwrap();
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in 0..3 {
            let mut numbers = [0.5, 0.0, 0.5];
            numbers[place] = bad;
            let [state, action, next] = numbers;
            let mut rows = [[0.0]; 32];
            let mut monitor = monitor(&image, &mut rows);
            let seen = observe(&mut monitor, state, action, next);
            assert_eq!(seen.trip, Some(Trip::NotFinite), "{numbers:?}");
            assert!(seen.surprise && seen.residual.is_nan());
        }
    }
    // A difference that overflows.
    let mut rows = [[0.0]; 32];
    let mut one = monitor(&image, &mut rows);
    assert!(observe(&mut one, f32::MAX, 0.0, f32::MIN).trip.is_some());
    let sizes: [[&[f32]; 3]; 4] = [
        [&[], &[0.0], &[0.0]],
        [&[0.0; 2], &[0.0], &[0.0]],
        [&[0.0], &[], &[0.0]],
        [&[0.0], &[0.0], &[0.0; 2]],
    ];
    for [state, action, next_state] in sizes {
        let mut rows = [[0.0]; 32];
        let mut monitor = monitor(&image, &mut rows);
        let seen = monitor.observe(&Measured {
            state,
            action,
            next_state,
            is_fresh: true,
        });
        assert_eq!(seen.trip, Some(Trip::NotFinite));
    }
}

#[test]
fn stale_samples_are_surprises_and_never_far() {
    let image = example::image().unwrap();
    let mut rows = [[0.0]; 32];
    let mut monitor = monitor(&image, &mut rows);
    let stale = Measured {
        state: &[0.5],
        action: &[0.0],
        next_state: &[0.9],
        is_fresh: false,
    };
    let first = monitor.observe(&stale);
    assert!(first.surprise && first.trip.is_none());
    let tripped = (0..10).find_map(|_| monitor.observe(&stale).trip);
    assert_eq!(tripped, Some(Trip::Surprises));
    assert_eq!(monitor.counts().stale, monitor.counts().surprises);
    assert_eq!(monitor.counts().far, 0);
}

/// A stale sample says nothing of the robot, so that one which looks right counts too.
#[test]
fn a_stale_sample_is_a_surprise_even_where_the_prediction_agrees() {
    let image = example::image().unwrap();
    let mut rows = [[0.0]; 32];
    let mut monitor = monitor(&image, &mut rows);
    let right = |is_fresh| Measured {
        state: &[0.5],
        action: &[0.0],
        next_state: &[0.5],
        is_fresh,
    };
    assert!(!monitor.observe(&right(true)).surprise);
    let stale = monitor.observe(&right(false));
    assert!(stale.surprise && stale.residual == 0.0);
    assert_eq!(monitor.counts().surprises, 1);
    let tripped = (0..10).find_map(|_| monitor.observe(&right(false)).trip);
    assert_eq!(tripped, Some(Trip::Surprises));
}

/// Ville's inequality for each, and a union bound over the two: they share alpha.
#[test]
fn both_wagers_together_trip_falsely_no_more_often_than_alpha() {
    let image = example::image().unwrap();
    for alpha in [0.001, 0.01, 0.2] {
        let mut rows = [[0.0]; 32];
        let settings = MonitorSettings { alpha, ..SETTINGS };
        let monitor = Monitor::new(image.model(), image.task(), settings, &mut rows).unwrap();
        let wagers = [&monitor.surprises, &monitor.outside];
        let false_alarms: f32 = wagers.map(|wager| 1.0 / wager.limit).iter().sum();
        assert!((false_alarms / alpha - 1.0).abs() < 1e-5, "{false_alarms}");
    }
}

/// A wealth of 2 / alpha trips, and no less.
#[test]
fn the_wealth_at_a_trip_is_that_of_alpha() {
    let image = example::image().unwrap();
    let limit = 2.0 / SETTINGS.alpha;
    let mut nearest = 0.0_f32;
    // A surprise in every second step, every third, and so on.
    for period in 2..10 {
        let mut rows = [[0.0]; 32];
        let mut monitor = monitor(&image, &mut rows);
        let mut before = 0.0;
        for step in 0..1000 {
            let off = if step % period == 0 { 1.5 } else { 0.0 };
            if observe(&mut monitor, 0.5, 0.0, 0.5 + off * RADIUS)
                .trip
                .is_some()
            {
                break;
            }
            before = monitor.wealth();
            nearest = nearest.max(before);
        }
        assert_eq!(monitor.trip(), Some(Trip::Surprises), "{period}");
        assert!(before < limit && monitor.wealth() >= limit, "{period}");
    }
    // Half of it did not trip.
    assert!(nearest >= 0.5 * limit, "{nearest}");
}

#[test]
fn too_long_outside_the_data_trips() {
    let image = example::image().unwrap();
    let mut rows = [[0.0]; 32];
    let mut monitor = monitor(&image, &mut rows);
    // The model is right there, but the log has no data: |s| is above 2.
    let seen = observe(&mut monitor, 2.5, 0.0, 2.5);
    assert!(seen.outside && !seen.surprise && seen.trip.is_none());
    let tripped = (0..10).find_map(|_| observe(&mut monitor, 2.5, 0.0, 2.5).trip);
    assert_eq!(tripped, Some(Trip::OutsideSupport));
}

#[test]
fn a_limit_stops_the_prediction_too() {
    let image = example::image_with(|task| {
        task.state_limits = Limits {
            low: &[-1.0],
            high: &[1.0],
        };
    });
    let image = image.unwrap();
    let residual = |state: f32, action: f32, next: f32| {
        let mut rows = [[0.0]; 32];
        observe(&mut monitor(&image, &mut rows), state, action, next).residual
    };
    // The model points beyond the limit, and the state stops there.
    assert_eq!(residual(0.9, 0.9, 1.0), 0.0);
    assert_eq!(residual(-0.9, -0.9, -1.0), 0.0);
    // A sensor that reads a little beyond it.
    assert_eq!(residual(0.9, 0.9, 1.01), 0.0);
    // It should have reached the limit.
    assert!((residual(0.9, 0.9, 0.9) - 0.9 / RADIUS).abs() < 1e-3);
    // It should not have.
    assert!((residual(0.8, 0.0, 1.0) - 0.2 / RADIUS).abs() < 1e-3);
    assert!((residual(-0.8, 0.0, -1.0) - 0.2 / RADIUS).abs() < 1e-3);
}

/// s′ = max(the model's, 0.3): a stop.
#[test]
fn a_correction_is_held_against_what_it_makes_of_the_prediction() {
    let (model, mut task) = (example::model().unwrap(), example::task().unwrap());
    let stop = [
        Op::Variable(Variable::Learned(0)),
        Op::Constant(0.3),
        Op::Maximum(6, 7),
    ];
    let ops = [task.program.ops(), &stop].concat();
    task.program = Program::new(&ops, 1, 1).unwrap();
    let known = KnownState {
        state: 0,
        slot: 8,
        corrects: true,
    };
    task.physics.known.push(known).unwrap();
    let mut rows = vec![[0.0]; Monitor::rows_needed(&model, &task).unwrap()];
    let mut radii = |state: f32, next: f32| {
        let mut monitor = Monitor::new(&model, &task, SETTINGS, &mut rows).unwrap();
        observe(&mut monitor, state, 0.0, next).residual
    };
    let near = |found: f32, wanted: f32| (found - wanted).abs() < 1e-3;
    // The model says 0.1 and the stop 0.3.
    assert_eq!(radii(0.1, 0.3), 0.0);
    // Behind the stop is not at it.
    assert!(near(radii(0.1, 0.25), 0.05 / RADIUS));
    // Off the stop, where the model says it should be at it, and the other way round.
    assert!(near(radii(0.1, 0.4), 0.3 / RADIUS));
    assert!(near(radii(0.4, 0.3), 0.1 / RADIUS));
    // Elsewhere nothing changes.
    assert!(near(radii(0.5, 0.6), 0.1 / RADIUS));
}

#[test]
fn an_angle_is_compared_the_short_way_round() {
    let image = example::image_with(|task| {
        task.wraps = Wraps {
            low: &[-1.0],
            period: &[2.0],
        };
        task.state_limits = Limits {
            low: &[-1.0],
            high: &[1.0],
        };
    });
    let image = image.unwrap();
    let mut rows = [[0.0]; 32];
    let mut monitor = monitor(&image, &mut rows);
    // 0.95 + 0.1 is −0.95 after a turn.
    let seen = observe(&mut monitor, 0.95, 0.1, -0.95);
    assert!(seen.residual < 1e-3, "{seen:?}");
    let seen = observe(&mut monitor, -0.95, -0.1, 0.9);
    assert!((seen.residual - 0.05 / RADIUS).abs() < 1e-3, "{seen:?}");
}

/// In runs whose residuals are usual, and in those of another robot.
#[test]
#[cfg_attr(miri, ignore = "a rate needs hundreds of runs")]
fn usual_runs_go_on_and_another_robot_is_found() {
    let image = example::image().unwrap();
    let trips = |scale: f32, seed: u64| {
        let mut steps = Vec::new();
        for run in 0..400 {
            let mut rows = [[0.0]; 32];
            let mut monitor = monitor(&image, &mut rows);
            let mut stream = Stream::new(seed, run);
            let found = (0..200).find(|_| {
                let x = 2.0 * stream.uniform() - 1.0;
                let u = 0.4 * stream.uniform() - 0.2;
                // One in twenty lies beyond one radius, and none beyond three.
                let error = scale * RADIUS * (2.0 * stream.uniform() - 1.0) / 0.95;
                observe(&mut monitor, x, u, x + u + error).trip.is_some()
            });
            steps.extend(found);
        }
        steps.sort_unstable();
        steps
    };
    // alpha / 2 of 400 is 2.
    let usual = trips(1.0, 1);
    assert!(usual.len() <= 6, "{usual:?}");
    // Half of the residuals are surprises now.
    let other = trips(2.0, 2);
    assert!(other.len() >= 395, "{}", other.len());
    assert!(other[other.len() / 2] <= 20, "{}", other[other.len() / 2]);
}

#[test]
fn settings_and_sizes_that_cannot_be_are_refused() {
    let image = example::image().unwrap();
    let needed = Monitor::rows_needed(image.model(), image.task()).unwrap();
    let new = |settings, rows: usize| {
        let mut rows = vec![[0.0]; rows];
        Monitor::new(image.model(), image.task(), settings, &mut rows).map(|_| ())
    };
    assert_eq!(new(SETTINGS, needed), Ok(()));
    let capacity = CapacityError {
        needed,
        available: needed - 1,
    };
    assert_eq!(
        new(SETTINGS, needed - 1),
        Err(MonitorError::Capacity(capacity))
    );
    let bad = |name| Err(MonitorError::Parameter(ParameterError::Number(name)));
    for noise_width in [-1.0, f32::NAN, f32::INFINITY] {
        let settings = MonitorSettings {
            noise_width,
            ..SETTINGS
        };
        assert_eq!(new(settings, needed), bad("noise_width"));
    }
    let settings = MonitorSettings {
        alpha: 0.0,
        ..SETTINGS
    };
    assert_eq!(new(settings, needed), bad("alpha"));
    let settings = MonitorSettings {
        surprise_rate: 1.0,
        ..SETTINGS
    };
    assert_eq!(new(settings, needed), bad("rate"));
}
