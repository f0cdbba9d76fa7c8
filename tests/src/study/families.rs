//! Random systems of eight kinds, and controllers that suit them.

use super::plant::{End, Feature, MOST, Plant, Shape, State};
use super::simulate::{Controller, Quantity, truth};
use crate::fixture::Draw;

/// Seconds of a step.
const DT: f32 = 0.1;

/// The kinds of systems.
pub const FAMILIES: [fn(&mut Draw) -> Plant; 8] = [
    |draw| {
        let mut matrix = [[0.0; MOST]; MOST];
        matrix[0][0] = draw.between(0.85, 1.02);
        Plant::linear(
            "linear 1",
            1,
            matrix,
            [draw.between(0.05, 0.3), 0.0, 0.0, 0.0],
        )
    },
    |draw| {
        let mut matrix = [[0.0; MOST]; MOST];
        let mut input = [0.0; MOST];
        for j in 0..2 {
            matrix[j][j] = draw.between(0.85, 1.0);
            matrix[j][1 - j] = draw.between(-0.15, 0.15);
            input[j] = draw.between(-0.2, 0.2);
        }
        Plant::linear("linear 2", 2, matrix, input)
    },
    |draw| {
        let (spring, damping) = (draw.between(0.5, 4.0), draw.between(0.05, 0.5));
        second_order("oscillator", spring, damping)
    },
    |draw| {
        let mut plant = second_order("pendulum", 0.0, draw.between(0.05, 0.5));
        let upright = draw.below(2) == 0;
        let gravity = draw.between(1.0, 4.0) * if upright { 1.0 } else { -1.0 };
        plant.feature = Feature::Gravity(DT * gravity);
        plant.start = [[-0.6, -0.5, 0.0, 0.0], [0.6, 0.5, 0.0, 0.0]];
        plant.most_action = 5.0;
        plant
    },
    |draw| {
        let mut plant = second_order("double integrator", 0.0, 0.0);
        plant.input[1] = DT * draw.between(0.5, 2.0);
        plant
    },
    |draw| {
        let (drag, lag) = (draw.between(0.0, 0.5), draw.between(0.5, 3.0));
        let matrix = [
            [1.0, DT, 0.0, 0.0],
            [0.0, 1.0 - DT * drag, DT, 0.0],
            [0.0, 0.0, 1.0 - DT * lag, 0.0],
            [0.0; MOST],
        ];
        let mut plant = Plant::linear("chain of 3", 3, matrix, [0.0, 0.0, DT * lag, 0.0]);
        plant.start = [[-1.0, -0.3, -0.3, 0.0], [1.0, 0.3, 0.3, 0.0]];
        plant
    },
    |draw| {
        let (spring, drag) = (draw.between(1.0, 4.0), draw.between(0.1, 0.5));
        let (pull, left) = (DT * spring, 1.0 - DT * drag);
        let matrix = [
            [1.0, DT, 0.0, 0.0],
            [-pull, left, pull, 0.0],
            [0.0, 0.0, 1.0, DT],
            [pull, 0.0, -pull, left],
        ];
        let mut plant = Plant::linear("two masses", 4, matrix, [0.0, DT, 0.0, 0.0]);
        plant.start = [[-0.8, -0.3, -0.8, -0.3], [0.8, 0.3, 0.8, 0.3]];
        plant.cost.state = [1.0, 0.1, 1.0, 0.1];
        plant
    },
    |draw| {
        let mut plant = second_order("cart with friction", 0.0, draw.between(0.1, 0.6));
        plant.feature = Feature::Friction(DT * draw.between(0.1, 0.6), draw.between(1.5, 4.0));
        plant
    },
];

/// Position and speed with a spring and a damper.
fn second_order(name: &'static str, spring: f32, damping: f32) -> Plant {
    let mut matrix = [[0.0; MOST]; MOST];
    matrix[0] = [1.0, DT, 0.0, 0.0];
    matrix[1] = [-DT * spring, 1.0 - DT * damping, 0.0, 0.0];
    let mut plant = Plant::linear(name, 2, matrix, [0.0, DT, 0.0, 0.0]);
    plant.start = [[-1.0, -0.5, 0.0, 0.0], [1.0, 0.5, 0.0, 0.0]];
    plant
}

/// A random system of a family: its noise, what it is paid for, where it ends and how far
/// its states can go.
pub fn random(family: usize, draw: &mut Draw) -> Plant {
    let mut plant = FAMILIES[family % FAMILIES.len()](draw);
    if draw.below(2) == 0 {
        let level = draw.between(0.002, 0.02);
        for j in 0..plant.states {
            plant.noise[j] = level * plant.start[1][j];
        }
    }
    plant.most_action *= draw.between(0.7, 1.5);
    plant.cost.action = draw.between(0.001, 0.03);
    let shapes = [Shape::Quadratic, Shape::Absolute, Shape::Bump];
    plant.cost.shape = shapes[draw.below(3)];
    let far = |by: f32| plant.start[1][0] * by;
    plant.end = match (draw.below(3), plant.cost.shape) {
        (0, Shape::Bump) => Some(End {
            limit: far(draw.between(1.05, 1.5)),
            penalty: 0.0,
        }),
        (0, _) => Some(End {
            limit: far(draw.between(1.05, 1.5)),
            penalty: draw.between(2.0, 10.0),
        }),
        _ => None,
    };
    if draw.below(2) == 0 {
        let edge: State = plant.start[1].map(|x| 6.0 * x);
        plant.limits = Some([edge.map(|x| -x), edge]);
    }
    plant
}

/// The best of many random linear controllers, then of many near it: a reasonable one.
pub fn tuned(plant: &Plant, horizon: usize, draw: &mut Draw) -> Controller {
    const EPISODES: usize = 64;
    let value = |controller: &Controller| {
        let truth = truth(plant, controller, horizon, Quantity::Action, EPISODES, 7);
        truth.value.mean
    };
    let mut best = Controller::IDLE;
    let mut most = value(&best);
    for round in 0..120 {
        let mut candidate = best;
        for (j, gain) in candidate.gain.iter_mut().take(plant.states).enumerate() {
            let scale = plant.most_action / plant.start[1][j];
            *gain = if round < 60 {
                scale * draw.normal()
            } else {
                *gain + 0.2 * scale * draw.normal()
            };
        }
        let found = value(&candidate);
        if found > most {
            (best, most) = (candidate, found);
        }
    }
    best
}
