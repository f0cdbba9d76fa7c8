//! A drive against the rollout's own actions, and what ends one.

#![allow(clippy::unwrap_used, reason = "tests")]

use super::monitor::Trip;
use super::reread::Rounds;
use super::*;
use crate::example;
use crate::gate::code_words::OPEN;
use crate::gate::{Hashes, Key, Permit};
use crate::image::{Bundle, Image, MonitorSettings};
use crate::numeric::dense::TILE;
use crate::numeric::random::Stream;
use crate::numeric::{CapacityError, ParameterError};
use crate::policy::{ActionMap, Head, Linear, Spread, StoredPolicy};
use crate::rollout::{Buffers, Rollout};
use crate::task::expression::{Op, Program, Variable};
use crate::task::{InitialKind, InitialState, KnownState, Limits, ModelInputs, Objective, Variant};

/// One measurement after the other; none at the end is a failed sensor.
struct Script<'s> {
    samples: &'s [(Vec<f32>, bool)],
    reads: usize,
}

fn script(samples: &[(Vec<f32>, bool)]) -> Script<'_> {
    Script { samples, reads: 0 }
}

impl Sensor for Script<'_> {
    type Error = ();

    fn read(&mut self, state: &mut [f32]) -> Result<bool, ()> {
        let (sample, fresh) = self.samples.get(self.reads).ok_or(())?;
        self.reads += 1;
        if *fresh {
            state.copy_from_slice(sample);
        }
        Ok(*fresh)
    }
}

/// Remembers what it got, and fails after a number of actions.
#[derive(Default)]
struct Motor {
    actions: Vec<Vec<f32>>,
    fails_after: Option<usize>,
}

impl Actuator for Motor {
    type Error = ();

    fn apply(&mut self, action: &[f32]) -> Result<(), ()> {
        if self.fails_after == Some(self.actions.len()) {
            return Err(());
        }
        self.actions.push(action.to_vec());
        Ok(())
    }
}

fn settings(measured: usize) -> DriveSettings {
    DriveSettings {
        monitor: MonitorSettings {
            noise_width: 2.576,
            surprise_rate: 0.1,
            alpha: 0.01,
        },
        measured,
        seed: 3,
    }
}

fn fresh(numbers: &[f32]) -> Vec<(Vec<f32>, bool)> {
    numbers.iter().map(|x| (vec![*x], true)).collect()
}

/// The controller a = gain · s for one state.
fn linear(tiles: &'static [[f32; TILE]], states: usize) -> StoredPolicy<'static> {
    let actions = ActionMap::deterministic(&[1.0], &[0.0]);
    StoredPolicy::Linear(Linear::new(tiles, states, actions).unwrap())
}

/// Modes and actions of a drive over some samples.
fn drive(
    image: &Image<'_>,
    fallback: Option<&StoredPolicy<'_>>,
    samples: &[(Vec<f32>, bool)],
    ticks: usize,
) -> (Vec<Mode>, Vec<Vec<f32>>) {
    let measured = samples[0].0.len();
    let mut rows = vec![[7.0]; Drive::rows_needed(image, fallback).unwrap()];
    let mut drive = Drive::new(image, fallback, settings(measured), &mut rows).unwrap();
    let (mut sensor, mut motor) = (script(samples), Motor::default());
    let modes = (0..ticks).map(|_| drive.tick(&mut sensor, &mut motor).mode);
    let modes = modes.collect();
    (modes, motor.actions)
}

/// The states and actions of a rollout without chance but the controller's own.
fn rollout(image: &Image<'_>) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let rollout = Rollout {
        model: image.model(),
        policy: image.policy(),
        task: image.task(),
        variant: Variant::Mean,
        objective: Objective::Return,
    };
    let mut rows = [[0.0]; 512];
    let dynamics = &image.model().dynamics;
    let buffers = Buffers::carve(&mut rows, dynamics, image.task(), image.policy());
    let mut buffers = buffers.unwrap();
    let streams = [Stream::new(0, 0)];
    rollout.start(&streams, &mut buffers);
    let (mut states, mut actions) = (Vec::new(), Vec::new());
    for step in 0..image.task().horizon {
        let seen = rollout.observe(&streams, step, &mut buffers).unwrap();
        states.push(seen.state.as_flattened().to_vec());
        actions.push(seen.action.as_flattened().to_vec());
        rollout.transition(step, &mut buffers).unwrap();
    }
    (states, actions)
}

#[test]
fn the_actions_are_the_rollouts_to_the_bit() {
    for start in [0.1_f32, 1.0, -1.7, 3.3] {
        let image = example::image_with(|task| {
            task.horizon = 40;
            task.initial.kind = InitialKind::Point;
            task.initial.first = Box::leak(Box::new([start]));
        })
        .unwrap();
        let (states, actions) = rollout(&image);
        let samples: Vec<_> = states.into_iter().map(|state| (state, true)).collect();
        let (modes, driven) = drive(&image, None, &samples, 40);
        assert!(modes.iter().all(|mode| *mode == Mode::Driving), "{modes:?}");
        let bits =
            |all: &[Vec<f32>]| -> Vec<u32> { all.iter().flatten().map(|a| a.to_bits()).collect() };
        assert_eq!(bits(&driven), bits(&actions));
    }
}

/// a = −s / 2 − integral / 4.
static WITH_MEMORY: [[f32; TILE]; 3] = [[0.0; TILE], [-0.5, 0.0, 0.0, 0.0], [-0.25, 0.0, 0.0, 0.0]];

/// The example's robot with an integral that nobody measures.
fn image_with_memory() -> Image<'static> {
    let mut task = example::task().unwrap();
    let ops = [
        // integral′ = 0.9 integral + s′.
        Op::Variable(Variable::State(1)),
        Op::Constant(0.9),
        Op::Multiply(0, 1),
        Op::Variable(Variable::Next(0)),
        Op::Add(2, 3),
        Op::Variable(Variable::State(0)),
        Op::Negate(5),
    ];
    task.program = Program::new(&ops, 2, 1).unwrap();
    task.reward = 6;
    task.constraints.clear();
    task.horizon = 30;
    task.physics.inputs = ModelInputs::States(1);
    task.physics
        .known
        .push(KnownState {
            state: 1,
            slot: 4,
            corrects: false,
        })
        .unwrap();
    task.state_limits = Limits {
        low: &[-5.0, -0.6],
        high: &[5.0, 0.6],
    };
    task.initial = InitialState {
        kind: InitialKind::Point,
        first: &[1.0, 0.125],
        second: &[],
    };
    let policy = linear(&WITH_MEMORY, 2);
    Image::of(example::model().unwrap(), task, policy)
}

#[test]
fn a_memory_is_carried_as_in_the_rollout() {
    let image = image_with_memory();
    let (states, actions) = rollout(&image);
    let samples: Vec<_> = states.iter().map(|state| (vec![state[0]], true)).collect();
    let (modes, driven) = drive(&image, None, &samples, 30);
    assert_eq!(modes, [Mode::Driving; 30]);
    assert_eq!(driven, actions);
    // The limit was felt, so the memory counts.
    assert!(states.iter().any(|state| state[1] == 0.6));
    // A state that nobody measures must be known.
    let mut rows = [[0.0]; 512];
    let error = Drive::new(&image, None, settings(0), &mut rows);
    assert_eq!(error.err(), Some(DriveError::NotMeasured(0)));
    let error = Drive::new(&image, None, settings(3), &mut rows);
    let size = DriveError::Parameter(ParameterError::Size("measured"));
    assert_eq!(error.err(), Some(size));
}

/// The fallback a = −s.
static HARDER: [[f32; TILE]; 2] = [[0.0; TILE], [-1.0, 0.0, 0.0, 0.0]];

#[test]
fn the_fallback_acts_in_the_period_that_the_trip_is_seen_in() {
    let image = example::image().unwrap();
    let fallback = linear(&HARDER, 1);
    // The model says 0.5 ± 0.1; 0.9 is far away.
    let samples = fresh(&[1.0, 0.5, 0.9, 0.8, 0.7]);
    let (modes, actions) = drive(&image, Some(&fallback), &samples, 5);
    let trip = Mode::Fallback(Trip::Far(0));
    assert_eq!(modes, [Mode::Driving, Mode::Driving, trip, trip, trip]);
    let actions: Vec<f32> = actions.into_iter().flatten().collect();
    assert_eq!(actions, [-0.5, -0.25, -0.9, -0.8, -0.7]);
    // Without a fallback nobody acts in that period or later.
    let (modes, actions) = drive(&image, None, &samples, 5);
    let stopped = Mode::Stopped(Stop::Trip(Trip::Far(0)));
    assert_eq!(modes[2..], [stopped; 3]);
    assert_eq!(actions.len(), 2);
}

#[test]
fn the_fallback_ends_the_drive_where_power_off_is_safe() {
    let mut task = example::task().unwrap();
    // The tape's first slot is the state itself: anywhere but at 0 power-off is safe.
    task.power_off = Some(0);
    let policy = example::image().unwrap().policy().clone();
    let image = Image::of(example::model().unwrap(), task, policy);
    let fallback = linear(&HARDER, 1);
    // The checked controller is not stopped by it; the trip comes at 0.
    let samples = fresh(&[1.0, 0.5, 0.25, 0.9, 0.0, 0.0, 0.3, 0.0]);
    let (modes, actions) = drive(&image, Some(&fallback), &samples, 8);
    let trip = Trip::Far(0);
    let stopped = Mode::Stopped(Stop::PowerOff(trip));
    assert_eq!(modes[..3], [Mode::Driving; 3]);
    // The trip itself comes where power-off is safe: the fallback has nothing to do.
    assert_eq!(modes[3..], [stopped; 5]);
    assert_eq!(actions.len(), 3);

    let samples = fresh(&[1.0, 0.0, 0.0, 0.3, 0.0]);
    let (modes, actions) = drive(&image, Some(&fallback), &samples, 5);
    let tripped = Mode::Fallback(trip);
    assert_eq!(modes, [Mode::Driving, tripped, tripped, stopped, stopped]);
    assert_eq!(actions.len(), 3);
}

#[test]
fn what_is_not_finite_stops_and_nothing_is_actuated_any_more() {
    let image = example::image().unwrap();
    let fallback = linear(&HARDER, 1);
    for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        for place in 0..3 {
            let mut numbers = [1.0, 0.5, 0.25, 0.125];
            numbers[place] = bad;
            let (modes, actions) = drive(&image, Some(&fallback), &fresh(&numbers), 4);
            assert_eq!(
                modes[place..],
                vec![Mode::Stopped(Stop::NotFinite); 4 - place]
            );
            assert_eq!(actions.len(), place);
        }
    }
}

#[test]
fn sensors_and_actuators_that_fail_stop() {
    let image = example::image().unwrap();
    let (modes, actions) = drive(&image, None, &fresh(&[1.0, 0.5]), 4);
    assert_eq!(modes[2..], [Mode::Stopped(Stop::Sensor); 2]);
    assert_eq!(actions.len(), 2);

    let mut rows = [[0.0]; 512];
    let mut drive = Drive::new(&image, None, settings(1), &mut rows).unwrap();
    let samples = fresh(&[1.0, 0.5, 0.25]);
    let mut sensor = script(&samples);
    let mut motor = Motor {
        fails_after: Some(1),
        ..Motor::default()
    };
    assert_eq!(drive.tick(&mut sensor, &mut motor).mode, Mode::Driving);
    let tick = drive.tick(&mut sensor, &mut motor);
    assert_eq!(tick.mode, Mode::Stopped(Stop::Actuator));
    assert_eq!(tick.action, None);
    drive.tick(&mut sensor, &mut motor);
    assert_eq!((sensor.reads, motor.actions.len()), (2, 1));
    // The first reason stays.
    drive.stop(Stop::Asked);
    assert_eq!(drive.mode(), Mode::Stopped(Stop::Actuator));
}

#[test]
fn a_loop_elsewhere_may_apply_the_checked_controllers_action_alone() {
    let image = example::image().unwrap();
    for (claims, stops) in [
        ([&[-0.5][..], &[-0.25][..]], false),
        ([&[-0.5], &[-0.250_000_03]], true),
        ([&[-0.5], &[]], true),
        ([&[-0.5], &[-0.25, 0.0]], true),
        ([&[-0.5], &[f32::NAN]], true),
    ] {
        let mut rows = [[0.0]; 512];
        let mut drive = Drive::new(&image, None, settings(1), &mut rows).unwrap();
        let samples = fresh(&[1.0, 0.5]);
        let mut sensor = script(&samples);
        let first = drive.tick(&mut sensor, &mut Claimed(claims[0]));
        assert_eq!(first.mode, Mode::Driving);
        let second = drive.tick(&mut sensor, &mut Claimed(claims[1])).mode;
        let stopped = Mode::Stopped(Stop::Actuator);
        assert_eq!(second == stopped, stops, "{claims:?}");
    }
}

#[test]
fn stale_samples_are_surprises_until_the_monitor_trips() {
    let image = example::image().unwrap();
    let fallback = linear(&HARDER, 1);
    let mut samples = fresh(&[1.0, 0.5]);
    samples.extend((0..30).map(|_| (vec![0.0], false)));
    let (modes, actions) = drive(&image, Some(&fallback), &samples, 32);
    let tripped = modes.iter().position(|mode| *mode != Mode::Driving);
    assert!(tripped.is_some_and(|at| (3..12).contains(&at)), "{modes:?}");
    assert_eq!(modes[31], Mode::Fallback(Trip::Surprises));
    // The last measurement stays in use.
    assert_eq!(actions[2], [-0.25]);
    assert_eq!(actions[31], [-0.5]);
}

#[test]
fn the_last_transitions_end_with_the_one_that_tripped() {
    let image = example::image().unwrap();
    let fallback = linear(&HARDER, 1);
    let mut rows = [[0.0]; 512];
    let mut drive = Drive::new(&image, Some(&fallback), settings(1), &mut rows).unwrap();
    let mut numbers: Vec<f32> = (0..100)
        .map(|n| if n % 2 == 0 { 0.01 } else { 0.005 })
        .collect();
    numbers.extend([0.9, 0.1, 0.2]);
    let samples = fresh(&numbers);
    let mut sensor = script(&samples);
    let mut motor = Motor::default();
    let mut digests = Vec::new();
    for _ in 0..103 {
        drive.tick(&mut sensor, &mut motor);
        digests.push(drive.digest());
    }
    let kept: Vec<&[f32]> = drive.last_transitions().collect();
    assert_eq!(kept.len(), KEPT);
    assert_eq!(kept[KEPT - 1], [0.005, -0.0025, 0.9]);
    assert_eq!(kept[KEPT - 2], [0.01, -0.005, 0.005]);
    assert_eq!(drive.counts().far, 1);
    assert_eq!(drive.ticks(), 103);
    // A digest changes with every period and depends on the action's bits.
    digests.sort_unstable();
    digests.dedup();
    assert_eq!(digests.len(), 103);
}

#[test]
fn chance_in_a_controller_is_drawn_and_repeats() {
    let actions = ActionMap {
        head: Head::Gaussian(Spread::Fixed),
        squash: false,
        log_std: &[-2.0],
        scale: &[1.0],
        offset: &[0.0],
    };
    let policy = StoredPolicy::Linear(Linear::new(&HARDER, 1, actions).unwrap());
    let image = Image::of(example::model().unwrap(), example::task().unwrap(), policy);
    let samples = fresh(&[0.5, 0.5]);
    let (_, first) = drive(&image, None, &samples, 2);
    assert_eq!(drive(&image, None, &samples, 2).1, first);
    let expected = -0.5 + libm::expf(-2.0) * Stream::new(3, 0).standard_normal();
    assert!((first[0][0] - expected).abs() < 1e-6);
}

#[test]
fn rows_that_are_too_few_and_other_sizes_are_refused() {
    let image = example::image().unwrap();
    let needed = Drive::rows_needed(&image, None).unwrap();
    let mut rows = vec![[0.0]; needed];
    assert!(Drive::new(&image, None, settings(1), &mut rows).is_ok());
    let error = Drive::new(&image, None, settings(1), &mut rows[1..]).err();
    let capacity = CapacityError {
        needed,
        available: needed - 1,
    };
    assert_eq!(error, Some(DriveError::Capacity(capacity)));
    let other = linear(&WITH_MEMORY, 2);
    let error = Drive::new(&image, Some(&other), settings(1), &mut rows).err();
    assert_eq!(error, Some(DriveError::Fallback));
    let mut settings = settings(1);
    settings.monitor.alpha = 0.0;
    let error = Drive::new(&image, None, settings, &mut rows).err();
    assert!(matches!(error, Some(DriveError::Parameter(_))));
}

/// A drive of four periods in which `change` happens between the second and the third.
fn disturbed(change: impl Fn(&mut Drive<'_>)) -> (Vec<Mode>, usize) {
    let image = example::image().unwrap();
    let mut rows = vec![[0.0]; Drive::rows_needed(&image, None).unwrap()];
    let mut drive = Drive::new(&image, None, settings(1), &mut rows).unwrap();
    let samples = fresh(&[1.0, 0.5, 0.25, 0.125]);
    let mut sensor = script(&samples);
    let mut motor = Motor::default();
    let mut modes = Vec::new();
    for period in 0..4 {
        if period == 2 {
            change(&mut drive);
        }
        modes.push(drive.tick(&mut sensor, &mut motor).mode);
    }
    (modes, motor.actions.len())
}

#[test]
fn what_changes_between_two_periods_ends_the_drive() {
    assert_eq!(disturbed(|_| ()), (vec![Mode::Driving; 4], 4));
    let changes: [fn(&mut Drive<'_>); 10] = [
        |drive| drive.ticks ^= 1 << 31,
        |drive| drive.digest ^= 1,
        |drive| drive.has_before = false,
        |drive| drive.was_fresh = false,
        |drive| drive.measured = 0,
        |drive| drive.mode = Mode::Fallback(Trip::Surprises),
        |drive| drive.rows.before[0][0] = -0.0,
        |drive| drive.rows.action[0][0] += 0.25,
        |drive| drive.stream = Stream::new(4, 0),
        |drive| drive.seal = drive.seal.map(|seal| seal ^ 1 << 7),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let (modes, actions) = disturbed(change);
        let stopped = Mode::Stopped(Stop::Memory);
        let expected = [Mode::Driving, Mode::Driving, stopped, stopped];
        assert_eq!((modes.as_slice(), actions), (&expected[..], 2), "{at}");
    }
}

/// A permit for a bundle, as a check of it would give.
fn permit_of(bundle: &Bundle<'_>) -> Permit {
    let hashes = Hashes {
        floor: [3; 32],
        bundle: *bundle.image().hash(),
        policy: Some(*bundle.policy_hash()),
        read: bundle.checksum().unwrap(),
    };
    let key = Key::of(OPEN, OPEN, hashes).unwrap();
    Permit::new(key, bundle.fallback_hash().copied())
}

#[test]
fn a_drive_takes_the_controller_that_its_permit_names_and_no_other() {
    let bundle = example::bundle().unwrap();
    let with_fallback = example::bundle_with(example::policy().ok(), |_| {}).unwrap();
    let mut rows = vec![[0.0]; 512];
    let mut refused = |permit: &Permit, bundle: &Bundle<'_>| {
        Drive::permitted(permit, bundle, 1, 0, &mut rows).err()
    };
    assert_eq!(refused(&permit_of(&bundle), &bundle), None);
    assert_eq!(refused(&permit_of(&with_fallback), &with_fallback), None);
    let not = Some(DriveError::NotPermitted);
    assert_eq!(refused(&permit_of(&bundle), &with_fallback), not);
    assert_eq!(refused(&permit_of(&with_fallback), &bundle), not);
    let own = Hashes {
        floor: [3; 32],
        bundle: *bundle.image().hash(),
        policy: Some(*bundle.policy_hash()),
        read: bundle.checksum().unwrap(),
    };
    for change in 0..4 {
        let mut hashes = own;
        match change {
            0 => hashes.bundle = [9; 32],
            1 => hashes.policy = Some([9; 32]),
            2 => hashes.read ^= 1 << 9,
            _ => hashes.policy = None,
        }
        let permit = Permit::new(Key::of(OPEN, OPEN, hashes).unwrap(), None);
        assert_eq!(refused(&permit, &bundle), not, "{change}");
    }
}

#[test]
fn a_pulse_is_of_a_drive_with_a_permit_that_goes_on() {
    let bundle = example::bundle().unwrap();
    let samples = fresh(&[1.0, 0.5, 0.25, f32::NAN]);
    let mut rows = vec![[0.0]; 512];
    let permit = permit_of(&bundle);
    let mut drive = Drive::permitted(&permit, &bundle, 1, 0, &mut rows).unwrap();
    let (mut sensor, mut motor) = (script(&samples), Motor::default());
    for period in 0..3 {
        drive.tick(&mut sensor, &mut motor);
        let pulse = drive.pulse().unwrap();
        assert_eq!((pulse.ticks, pulse.observed), (period + 1, period));
        assert_eq!(pulse.bundle, bundle.image().hash());
        assert_eq!(pulse.policy, bundle.policy_hash());
    }
    drive.tick(&mut sensor, &mut motor);
    assert_eq!(drive.mode(), Mode::Stopped(Stop::NotFinite));
    assert_eq!(drive.pulse(), None);
    // The same periods without a permit.
    let mut rows = vec![[0.0]; 512];
    let mut drive = Drive::new(bundle.image(), None, settings(1), &mut rows).unwrap();
    let (mut sensor, mut motor) = (script(&samples), Motor::default());
    drive.tick(&mut sensor, &mut motor);
    assert_eq!((drive.mode(), drive.pulse()), (Mode::Driving, None));
}

#[test]
fn what_a_permit_named_is_part_of_the_seal() {
    let bundle = example::bundle().unwrap();
    let changes: [fn(&mut Drive<'_>); 2] = [
        |drive| drive.permitted.as_mut().unwrap().bundle[3] ^= 1,
        |drive| drive.permitted.as_mut().unwrap().policy[31] ^= 128,
    ];
    for change in changes {
        let mut rows = vec![[0.0]; 512];
        let permit = permit_of(&bundle);
        let mut drive = Drive::permitted(&permit, &bundle, 1, 0, &mut rows).unwrap();
        let samples = fresh(&[1.0, 0.5]);
        let (mut sensor, mut motor) = (script(&samples), Motor::default());
        drive.tick(&mut sensor, &mut motor);
        change(&mut drive);
        let mode = drive.tick(&mut sensor, &mut motor).mode;
        assert_eq!(mode, Mode::Stopped(Stop::Memory));
    }
}

/// A drive of four periods in which `change` happens after the second; why it stopped.
fn with_permit(change: impl Fn(&mut Drive<'_>)) -> Mode {
    let bundle = example::bundle().unwrap();
    let mut rows = vec![[0.0]; 512];
    let permit = permit_of(&bundle);
    let mut drive = Drive::permitted(&permit, &bundle, 1, 0, &mut rows).unwrap();
    let samples = fresh(&[1.0, 0.5, 0.25, 0.125]);
    let (mut sensor, mut motor) = (script(&samples), Motor::default());
    for period in 0..4 {
        drive.tick(&mut sensor, &mut motor);
        drive.reread();
        if period == 1 {
            change(&mut drive);
        }
    }
    drive.mode()
}

#[test]
fn what_was_read_must_stay_as_it_was_checked() {
    assert_eq!(with_permit(|_| ()), Mode::Driving);
    // Another bundle in memory than the one of the permit, however well it is remembered.
    static OTHER: std::sync::LazyLock<Bundle<'static>> =
        std::sync::LazyLock::new(|| example::bundle_with(None, |task| task.horizon = 5).unwrap());
    let other = with_permit(|drive| {
        drive.permitted.as_mut().unwrap().read = &OTHER;
        drive.seal = drive.checksum();
    });
    assert_eq!(other, Mode::Stopped(Stop::Memory));
}

#[test]
fn bytes_of_another_hash_end_the_drive_and_what_they_are_is_remembered() {
    let flash = with_permit(|drive| {
        drive.permitted.as_mut().unwrap().rounds = Rounds::new(&[1; 200], [0; 32]);
        drive.seal = drive.checksum();
    });
    assert_eq!(flash, Mode::Stopped(Stop::Flash));
    // And so is how far they were read.
    let moved = with_permit(|drive| {
        drive.permitted.as_mut().unwrap().rounds = Rounds::new(&[], [0; 32]);
    });
    assert_eq!(moved, Mode::Stopped(Stop::Memory));
    // What changed before a piece is not sealed with it.
    let changed = with_permit(|drive| {
        drive.ticks ^= 4;
        drive.reread();
        drive.ticks ^= 4;
    });
    assert_eq!(changed, Mode::Stopped(Stop::Memory));
}

#[test]
fn every_piece_is_part_of_the_pulse() {
    let bundle = example::bundle().unwrap();
    let mut rows = vec![[0.0]; 512];
    let permit = permit_of(&bundle);
    let mut drive = Drive::permitted(&permit, &bundle, 1, 0, &mut rows).unwrap();
    let pieces = |drive: &Drive<'_>| drive.pulse().unwrap().reread.pieces;
    assert_eq!(pieces(&drive), 0);
    drive.reread();
    drive.reread();
    assert_eq!(pieces(&drive), 2);
    assert_eq!(drive.pulse().unwrap().reread.found, bundle.image().hash());
}
