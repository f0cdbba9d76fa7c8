//! The robots against trajectories of Gymnasium 1.4.0 with the same engine; how they were made
//! stands in `tests/data/README.md`.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::collections::HashMap;

use super::half_cheetah::HalfCheetah;
use super::hopper::Hopper;
use super::model::Engine;
use crate::environment::system::Environment;

const TRAJECTORIES: usize = 5;
const STEPS: usize = 100;
const NEAR: f64 = 1e-9;

/// What both robots have for this test.
trait Robot: Environment {
    fn start(&self, positions: &[f64], velocities: &[f64]) -> Vec<f64>;
    fn advance(&self, state: &mut [f64], action: &[f64]) -> f64;
}

macro_rules! robot {
    ($name:ty) => {
        impl Robot for $name {
            fn start(&self, positions: &[f64], velocities: &[f64]) -> Vec<f64> {
                Self::start(self, positions, velocities)
            }
            fn advance(&self, state: &mut [f64], action: &[f64]) -> f64 {
                Self::advance(self, state, action)
            }
        }
    };
}

robot!(Hopper);
robot!(HalfCheetah);

/// The files' text of a robot.
struct Reference {
    steps: &'static str,
    states: &'static str,
}

const HOPPER: Reference = Reference {
    steps: include_str!("../../../../../../tests/data/mujoco/hopper_steps.csv"),
    states: include_str!("../../../../../../tests/data/mujoco/hopper_states.csv"),
};
const HALF_CHEETAH: Reference = Reference {
    steps: include_str!("../../../../../../tests/data/mujoco/half_cheetah_steps.csv"),
    states: include_str!("../../../../../../tests/data/mujoco/half_cheetah_states.csv"),
};

/// Replays all trajectories from their starts: rewards and ends at every step, positions and
/// velocities at every fifth. Returns the largest difference.
fn largest_difference(robot: &dyn Robot, engine: Engine, reference: &Reference) -> f64 {
    let (name, reward, ended) = match engine {
        Engine::V3 => ("v3", 4, 3),
        Engine::V4 => ("v4", 2, 1),
    };
    let cells = |line: &'static str| -> Vec<&'static str> { line.split(',').collect() };
    let number = |cell: &&str| -> f64 { cell.parse().unwrap() };
    let states: HashMap<[&str; 2], Vec<f64>> = (reference.states.lines().skip(1).map(cells))
        .filter(|row| row[0] == name)
        .map(|row| ([row[1], row[2]], row[3..].iter().map(number).collect()))
        .collect();
    assert_eq!(states.len(), TRAJECTORIES * (STEPS / 5 + 1));
    let steps: Vec<Vec<&str>> = reference.steps.lines().skip(1).map(cells).collect();
    assert_eq!(steps.len(), TRAJECTORIES * STEPS);
    let (mut worst, mut state, mut compared) = (0.0_f64, Vec::new(), 0);
    for row in steps {
        let (trajectory, step) = (row[0], row[1].parse::<usize>().unwrap());
        if step == 0 {
            let start = &states[&[trajectory, "0"]];
            let (positions, velocities) = start.split_at(start.len() / 2);
            state = robot.start(positions, velocities);
        }
        let action: Vec<f64> = row[2..row.len() - 4].iter().map(number).collect();
        let found = robot.advance(&mut state, &action);
        worst = worst.max((found - number(&row[row.len() - reward])).abs());
        let expected = row[row.len() - ended] == "1";
        assert_eq!(robot.has_ended(&state), expected, "{trajectory}, {step}");
        if let Some(expected) = states.get(&[trajectory, &(step + 1).to_string()]) {
            compared += 1;
            for (found, expected) in state.iter().zip(expected) {
                worst = worst.max((found - expected).abs());
            }
        }
    }
    assert_eq!(compared, TRAJECTORIES * STEPS / 5);
    worst
}

#[test]
fn hopper_equals_gymnasium() {
    for engine in [Engine::V3, Engine::V4] {
        let robot = Hopper::new(engine).unwrap();
        let worst = largest_difference(&robot, engine, &HOPPER);
        println!("Hopper of {engine:?}: at most {worst:e} from Gymnasium");
        assert!(worst < NEAR, "{engine:?}: {worst:e}");
    }
}

#[test]
fn half_cheetah_equals_gymnasium() {
    for engine in [Engine::V3, Engine::V4] {
        let robot = HalfCheetah::new(engine).unwrap();
        let worst = largest_difference(&robot, engine, &HALF_CHEETAH);
        println!("HalfCheetah of {engine:?}: at most {worst:e} from Gymnasium");
        assert!(worst < NEAR, "{engine:?}: {worst:e}");
    }
}

/// The test above sees the difference between the engines.
#[test]
fn the_engines_differ() {
    let robot = HalfCheetah::new(Engine::V3).unwrap();
    assert!(largest_difference(&robot, Engine::V4, &HALF_CHEETAH) > 1e-3);
    let robot = Hopper::new(Engine::V4).unwrap();
    // Their trajectories end at the same steps.
    assert!(largest_difference(&robot, Engine::V3, &HOPPER) > 1e-3);
}

/// A step depends on the state alone: not on what the engine's memory did before, nor on who
/// else uses it.
#[test]
fn steps_repeat_from_their_states() {
    use hambo_core::numeric::random::Stream;
    use rayon::prelude::*;

    for (name, _) in super::MUJOCO_ENVIRONMENTS {
        let system = super::named(name).unwrap().unwrap();
        let actions = system.task().action_names.len();
        let walk = |number: u32| {
            let mut stream = Stream::new(5, number);
            let mut state = system.reset(&mut stream);
            let mut path = vec![state.clone()];
            for _ in 0..30 {
                let action: Vec<f32> = (0..actions).map(|_| 2.0 * stream.uniform() - 1.0).collect();
                system.step(&mut state, &action);
                path.push(state.clone());
            }
            path
        };
        let alone: Vec<Vec<Vec<f64>>> = (0..8).map(walk).collect();
        let together: Vec<Vec<Vec<f64>>> = (0..8).into_par_iter().map(walk).collect();
        assert_eq!(alone, together, "{name}");
        assert_eq!(
            system.observe(&alone[0][0]).len(),
            system.task().names().states.len()
        );
    }
}

#[test]
fn a_hopper_that_falls_has_ended() {
    let robot = Hopper::new(Engine::V3).unwrap();
    let upright = [0.0, 1.25, 0.0, 0.0, 0.0, 0.0];
    let ended = |place: usize, value: f64, speed: f64| {
        let mut positions = upright;
        positions[place] = value;
        robot.has_ended(&robot.start(&positions, &[speed; 6]))
    };
    assert!(!ended(1, 1.25, 0.0) && !ended(1, 0.71, 0.0) && !ended(2, -0.19, 0.0));
    assert!(ended(1, 0.7, 0.0) && ended(2, 0.2, 0.0) && ended(2, -0.21, 0.0));
    assert!(ended(3, -101.0, 0.0) && ended(1, 1.25, 100.0) && !ended(0, 500.0, 99.0));
    assert!(robot.has_ended(&[f64::NAN; 18]));
}

/// The task file's termination is the system's own.
#[test]
fn the_task_knows_when_a_hopper_has_fallen() {
    use hambo_base::one_lane::one_lane;
    use hambo_core::task::expression::{Comparison, Inputs};

    let robot = Hopper::new(Engine::V4).unwrap();
    let task = robot.task();
    let program = task.program().unwrap();
    let slot = usize::from(task.termination.unwrap());
    let mut counts = [0; 2];
    for line in HOPPER.states.lines().skip(1) {
        let cells = line.split(',').skip(3);
        let numbers: Vec<f64> = cells.map(|cell| cell.parse().unwrap()).collect();
        let state = robot.start(&numbers[..6], &numbers[6..]);
        let mut seen = robot.observe(&state);
        seen.resize(task.state_names.len(), 0.0);
        let mut values = vec![[0.0; 1]; program.len()];
        let inputs = Inputs {
            state: one_lane(&seen),
            action: one_lane(&[0.0; 3]),
            next: one_lane(&seen),
            step: 0.0,
        };
        program.evaluate(Comparison::Exact, inputs, &mut values);
        let ended = robot.has_ended(&state);
        assert_eq!(values[slot], [f32::from(u8::from(ended))], "{line}");
        counts[usize::from(ended)] += 1;
    }
    assert!(counts[0] > 20 && counts[1] > 20, "{counts:?}");
}
