//! Known states, a pair on the unit circle and features, against the recursion by hand.

#![allow(clippy::unwrap_used, reason = "tests")]

use heapless::Vec;

use super::{Buffers, Rollout};
use crate::example;
use crate::model::{
    ConfidenceSet, Ensemble, Model, Noise, Standardisation, StatisticalModel, Support, nested_beta,
};
use crate::numeric::dense::TILE;
use crate::numeric::network::{Activation, NetworkShape};
use crate::numeric::random::Stream;
use crate::policy::LaneByLane;
use crate::task::expression::{Op, Program, Variable as Input};
use crate::task::{
    InitialState, KnownState, Limits, ModelInputs, Objective, Physics, Task, Variant,
};

const STEPS: usize = 6;
const STATES: usize = 5;
/// x and i are known, c and s stay on the circle, v is learned.
const START: [f32; STATES] = [0.4, 0.6, 0.8, -0.3, 0.0];
/// The members' means lie so far from the model's.
const APART: f32 = 0.1;

/// Two members of one layer: six biases, then the weights of sin x, v, c and a on the means of
/// c, s and v and on three raw standard deviations.
const fn member(bias: f32) -> [[f32; TILE]; 10] {
    let none = [0.0; TILE];
    [
        [bias, bias, bias, -20.0],
        [-20.0, -20.0, 0.0, 0.0],
        [0.0, 0.05, 0.3, 0.0],
        [-0.3, 0.25, 0.0, 0.0],
        [0.0, 0.1, -0.05, 0.0],
        [0.0, 0.0, 1.0, 0.0],
        none,
        none,
        none,
        none,
    ]
}

static TILES: [[f32; TILE]; 20] = {
    let (first, second) = (member(APART), member(-APART));
    let mut tiles = [[0.0; TILE]; 20];
    let mut tile = 0;
    while tile < 10 {
        tiles[tile] = first[tile];
        tiles[tile + 10] = second[tile];
        tile += 1;
    }
    tiles
};

fn model() -> Model<'static> {
    let shape = NetworkShape::new(4, &[], 6, Activation::Relu).unwrap();
    let units = Standardisation {
        input_mean: &[0.0; 4],
        input_scale: &[1.0; 4],
        output_mean: &[0.0; 3],
        output_scale: &[1.0; 3],
        noise_scale: &[1.0; 3],
    };
    let ensemble = Ensemble::new(shape, 3, (1e-3, 1.0), units, &TILES).unwrap();
    Model {
        dynamics: StatisticalModel::Ensemble(ensemble).into(),
        confidence: ConfidenceSet {
            beta: nested_beta(2, &[1.0; 3]),
            calibration_scale: &[1.0; 3],
            tested_steps: u16::MAX,
            ..example::model().unwrap().confidence
        },
        noise: Noise::WHITE,
        support: Support {
            centre: &[0.0; 4],
            scale: &[1.0; 4],
            whitening: &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
            rows: &[0.0; 4],
            limit: 2.0,
            gaps: &[],
            exit_rate: 0.0,
        },
    }
}

fn task() -> Task<'static> {
    let ops = [
        // The features: sin x, v, c.
        Op::Variable(Input::State(0)),
        Op::Sine(0),
        Op::Variable(Input::State(3)),
        Op::Variable(Input::State(1)),
        // x′ = x + v′ / 2.
        Op::Variable(Input::Next(3)),
        Op::Constant(0.5),
        Op::Multiply(4, 5),
        Op::Add(0, 6),
        // i′ = 0.9 i + x′, within its limits.
        Op::Variable(Input::State(4)),
        Op::Constant(0.9),
        Op::Multiply(8, 9),
        Op::Variable(Input::Next(0)),
        Op::Add(10, 11),
        // The reward −x′² − i′ s′.
        Op::Multiply(11, 11),
        Op::Variable(Input::Next(4)),
        Op::Variable(Input::Next(2)),
        Op::Multiply(14, 15),
        Op::Add(13, 16),
        Op::Negate(17),
    ];
    let known = |state, slot| KnownState {
        state,
        slot,
        corrects: false,
    };
    Task {
        horizon: STEPS as u32,
        physics: Physics {
            inputs: ModelInputs::Features(Vec::from_slice(&[1, 2, 3]).unwrap()),
            known: Vec::from_slice(&[known(0, 7), known(4, 12)]).unwrap(),
            circles: Vec::from_slice(&[[1, 2]]).unwrap(),
        },
        state_limits: Limits {
            low: &[-9.0, -1.0, -1.0, -9.0, -0.6],
            high: &[9.0, 1.0, 1.0, 9.0, 0.6],
        },
        initial: InitialState {
            first: &START,
            ..example::task().unwrap().initial
        },
        program: Program::new(&ops, STATES, 1).unwrap(),
        reward: 18,
        constraints: Vec::new(),
        ..example::task().unwrap()
    }
}

fn action(state: &[f64; STATES]) -> f64 {
    (-0.4 * state[0] - 0.3 * state[4] - 0.2 * state[3]).clamp(-1.0, 1.0)
}

/// The states and the return under a push at every step, by hand.
fn by_hand(eta: &[[f64; 3]; STEPS], radius: f64) -> ([f64; STATES], f64) {
    let mut state = START.map(f64::from);
    let mut sum = 0.0;
    for eta in eta {
        let a = action(&state);
        let [x, c, s, v, i] = state;
        let c_next = c - 0.3 * v + radius * eta[0];
        let s_next = s + 0.05 * x.sin() + 0.25 * v + 0.1 * c + radius * eta[1];
        let v_next = v + 0.3 * x.sin() - 0.05 * c + a + radius * eta[2];
        let length = c_next.hypot(s_next);
        let x_next = x + 0.5 * v_next;
        let i_next = (0.9 * i + x_next).clamp(-0.6, 0.6);
        state = [x_next, c_next / length, s_next / length, v_next, i_next];
        sum -= x_next * x_next + i_next * s_next / length;
    }
    (state, sum)
}

/// A few sequences of pushes.
fn pushes(seed: u32) -> [[f64; 3]; STEPS] {
    core::array::from_fn(|step| {
        core::array::from_fn(|j| {
            f64::from((step as u32 * 3 + j as u32 + 7 * seed) % 11) / 5.5 - 1.0
        })
    })
}

/// Last state, return and derivatives in eta, by the core.
fn by_the_core(eta: &[[f64; 3]; STEPS]) -> ([f64; STATES], f64, [[f64; 3]; STEPS]) {
    let (model, task) = (model(), task());
    let policy = LaneByLane::new(|state: &nalgebra::SVector<f32, STATES>| {
        let state: [f32; STATES] = (*state).into();
        nalgebra::SVector::from([action(&state.map(f64::from)) as f32])
    });
    let rollout = Rollout {
        model: &model,
        policy: &policy,
        task: &task,
        variant: Variant::ContinuousAdversary,
        objective: Objective::Return,
    };
    assert!(task.physics.is_sound(&task.program, STATES));
    let needed = Buffers::<1>::rows_needed(&model.dynamics, &task, &policy).unwrap();
    let mut rows = std::vec![[0.0; 1]; needed];
    let mut buffers = Buffers::carve(&mut rows, &model.dynamics, &task, &policy).unwrap();
    let streams = [Stream::new(0, 0)];
    rollout.start(&streams, &mut buffers);
    for (row, eta) in buffers.eta.iter_mut().zip(eta.as_flattened()) {
        *row = [*eta as f32];
    }
    let returns = rollout.forward(&streams, &mut buffers);
    assert!(returns.finite[0]);
    let last = STEPS * STATES;
    let state = core::array::from_fn(|j| f64::from(buffers.states[last + j][0]));
    let mut derivatives = [[0.0; 3]; STEPS];
    rollout.eta_gradient(&streams, &returns, 1.0, &mut buffers, |found| {
        derivatives[found.step as usize][found.component] = f64::from(found.derivative[0]);
    });
    (state, f64::from(returns.value[0]), derivatives)
}

fn radius() -> f64 {
    f64::from(model().confidence.beta * APART)
}

#[test]
fn states_and_returns_are_those_by_hand() {
    for seed in 0..5 {
        let eta = pushes(seed);
        let (state, value) = by_hand(&eta, radius());
        let (found, found_value, _) = by_the_core(&eta);
        for (wanted, found) in state.iter().zip(found) {
            assert!((wanted - found).abs() < 1e-4, "{seed}: {wanted} {found}");
        }
        assert!((value - found_value).abs() < 1e-4, "{value} {found_value}");
        assert!((found[1].hypot(found[2]) - 1.0).abs() < 1e-6);
    }
}

#[test]
fn derivatives_go_through_known_states_circles_and_features() {
    let mut held = 0;
    for seed in 0..5 {
        let eta = pushes(seed);
        let (_, _, derivatives) = by_the_core(&eta);
        for step in 0..STEPS {
            for component in 0..3 {
                let by = |push: f64| {
                    let mut eta = eta;
                    eta[step][component] += push;
                    by_hand(&eta, radius()).1
                };
                let slope = (by(1e-4) - by(-1e-4)) / 2e-4;
                let found = derivatives[step][component];
                assert!(
                    (slope - found).abs() < 2e-3 * (1.0 + slope.abs()),
                    "{seed} {step} {component}: {slope} {found}"
                );
                held += usize::from(slope.abs() > 0.01);
            }
        }
    }
    assert!(held > 60, "{held}");
}
