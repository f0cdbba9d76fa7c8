//! A small system with everything that a search must cope with: an angle that
//! wraps and a speed with limits, three networks that disagree, chance in the
//! system and in the controller, whose action is clipped, a reward with a step,
//! an end, and a constraint.

use heapless::Vec;

use crate::image::Image;
use crate::model::{
    Calibration, ConfidenceSet, Ensemble, Model, Noise, Standardisation, StatisticalModel, Support,
};
use crate::numeric::dense::TILE;
use crate::numeric::network::{Activation, NetworkShape, Perceptrons};
use crate::numeric::random::Stream;
use crate::policy::{ActionMap, Head, Linear, Spread, StoredPolicy};
use crate::task::expression::{Op, Program, Variable};
use crate::task::{
    Allocation, Constraint, DistributionFree, Effort, FoundChoices, InitialKind, InitialState,
    Limits, Method, NetworkAdversary, Physics, Plan, Task, Variant, Wraps,
};

pub(in crate::check) const HORIZON: u32 = 12;
/// The slot of the constraint 1.2 − |v|.
pub(in crate::check) const CONSTRAINT: u16 = 19;
pub(in crate::check) const MEMBERS: usize = 3;
pub(in crate::check) const STATES: usize = 2;

/// Numbers in (−1, 1), the same everywhere; kept until the tests end.
pub(in crate::check) fn numbers(stream: u32, count: usize) -> &'static [f32] {
    let mut stream = Stream::new(1, stream);
    let numbers = (0..count).map(|_| 2.0 * stream.uniform() - 1.0);
    numbers.collect::<std::vec::Vec<f32>>().leak()
}

pub(in crate::check) fn tiles(stream: u32, count: usize) -> &'static [[f32; TILE]] {
    let (tiles, _) = numbers(stream, count * TILE).as_chunks();
    tiles
}

/// Three networks of four hidden units; `beta` is the set's width.
pub(in crate::check) fn model(beta: f32) -> Model<'static> {
    let shape = NetworkShape::new(3, &[4], 4, Activation::Tanh).unwrap();
    let units = Standardisation {
        input_mean: &[0.1, -0.1, 0.0],
        input_scale: &[0.7, 0.9, 1.1],
        output_mean: &[0.02, -0.01],
        output_scale: &[0.4, 0.35],
        noise_scale: &[0.06, 0.08],
    };
    // Four tiles for the hidden layer of a member and five for its outputs.
    let ensemble = Ensemble::new(shape, 2, (1e-3, 1.0), units, tiles(0, 9 * MEMBERS)).unwrap();
    Model {
        dynamics: StatisticalModel::Ensemble(ensemble).into(),
        confidence: ConfidenceSet {
            beta,
            calibration_scale: &[1.0, 1.3],
            calibration: Calibration::Passed,
            tested_steps: u16::MAX,
        },
        noise: Noise::WHITE,
        support: Support {
            centre: &[0.0; 3],
            scale: &[1.0; 3],
            whitening: &[1.0, 0.0, 1.0, 0.0, 0.0, 1.0],
            rows: &[0.0, 0.0, 0.0, 0.5, 0.3, -0.2],
            limit: 0.9,
            gaps: &[],
            exit_rate: 0.0,
        },
    }
}

/// A squashed linear controller whose spread depends on the state.
pub(in crate::check) fn policy() -> StoredPolicy<'static> {
    static GAIN: [[f32; TILE]; 3] = [
        [0.1, -1.2, 0.0, 0.0],
        [-0.6, 0.2, 0.0, 0.0],
        [-0.8, -0.3, 0.0, 0.0],
    ];
    let actions = ActionMap {
        head: Head::Gaussian(Spread::OfState),
        squash: true,
        log_std: &[],
        scale: &[1.0],
        offset: &[0.05],
    };
    StoredPolicy::Linear(Linear::new(&GAIN, STATES, actions).unwrap())
}

/// The reward cos x′ − 0.3 v′² + 0.3 [v < 0.3] − 0.3 a², over as soon as
/// v′ > 0.9, with the constraint 1.2 − |v|.
fn program() -> Program {
    let ops = [
        Op::Variable(Variable::State(0)),
        Op::Variable(Variable::State(1)),
        Op::Variable(Variable::Action(0)),
        Op::Variable(Variable::Next(0)),
        Op::Variable(Variable::Next(1)),
        Op::Multiply(4, 4),
        Op::Cosine(3),
        Op::Constant(0.3),
        Op::Multiply(5, 7),
        Op::Subtract(6, 8),
        Op::Less {
            left: 1,
            right: 7,
            width: 0.5,
        },
        Op::Multiply(7, 10),
        Op::Add(9, 11),
        Op::Multiply(2, 2),
        Op::Multiply(13, 7),
        Op::Subtract(12, 14),
        Op::Constant(1.2),
        Op::Absolute(1),
        Op::Constant(0.9),
        Op::Subtract(16, 17),
        Op::Less {
            left: 18,
            right: 4,
            width: 0.4,
        },
    ];
    Program::new(&ops, 2, 1).unwrap()
}

/// The task, as `change` has made another one of it.
pub(in crate::check) fn task(change: impl FnOnce(&mut Task<'static>)) -> Task<'static> {
    use core::f32::consts::{PI, TAU};
    let mut task = Task {
        horizon: HORIZON,
        discount: 0.95,
        delta: 0.1,
        threshold: Some(0.0),
        distribution_free: DistributionFree::Shares,
        reward_bounds: None,
        return_bounds: None,
        constraint_bounds: Vec::new(),
        wraps: Wraps {
            low: &[-PI, 0.0],
            period: &[TAU, 0.0],
        },
        physics: Physics::learned_alone(2),
        state_limits: Limits {
            low: &[f32::NEG_INFINITY, -1.0],
            high: &[f32::INFINITY, 1.0],
        },
        action_limits: Limits {
            low: &[-0.6],
            high: &[0.5],
        },
        initial: InitialState {
            kind: InitialKind::Uniform,
            first: &[-3.0, -0.5],
            second: &[3.0, 0.5],
        },
        program: program(),
        reward: 15,
        termination: Some(20),
        power_off: None,
        constraints: Vec::from_slice(&[Constraint::mean(CONSTRAINT)]).unwrap(),
        plan: Plan::new(
            Effort {
                trajectories: 6,
                searched: 3,
                iterations: 40,
                seed: 3,
                allocation: Allocation::Even,
            },
            Method::default(),
        ),
    };
    change(&mut task);
    task
}

/// Gives the task what was trained and found elsewhere, against the return.
pub(in crate::check) fn with_adversaries(task: &mut Task<'_>) {
    let (horizon, continuous) = (HORIZON as usize, Variant::ContinuousAdversary);
    let discrete = Variant::DiscreteAdversary1;
    for (variant, outputs, stream) in [(continuous, STATES, 10), (discrete, MEMBERS, 11)] {
        let shape = NetworkShape::new(3, &[], outputs, Activation::Tanh).unwrap();
        let network = Perceptrons::new(shape, tiles(stream, 4), &[0.0; 3], &[1.0; 3]).unwrap();
        let adversary = NetworkAdversary {
            variant,
            objective: 0,
            network,
        };
        task.plan.networks.push(adversary).unwrap();
    }
    let etas = numbers(12, 2 * horizon * STATES);
    let found = FoundChoices::new(continuous, 0, horizon * STATES, etas);
    task.plan.found.push(found).unwrap();
    static SEQUENCES: [f32; 2 * HORIZON as usize] = [
        0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 0.0, 1.0, //
        2.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 1.0, 2.0, 0.0,
    ];
    let found = FoundChoices::new(discrete, 0, horizon, &SEQUENCES);
    task.plan.found.push(found).unwrap();
}

/// All three.
pub(in crate::check) fn image(
    beta: f32,
    change: impl FnOnce(&mut Task<'static>),
) -> Image<'static> {
    Image::of(model(beta), task(change), policy())
}
