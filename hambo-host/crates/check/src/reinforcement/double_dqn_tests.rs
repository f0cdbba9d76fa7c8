//! Clipped double DQN against differences, known optima and itself.

use rayon::ThreadPoolBuilder;

use super::differences::{assert_gradient, normals, outputs, shake, shake_twins, wide};
use super::dqn_step::{ChooserWeights, DqnStep, Rates};
use super::replay::Batch;
use super::toy_problems::{Harvest, Push};
use super::weights::{Twins, Weights, widths};
use super::*;
use hambo_base::network::perceptron::layer_shapes;
use hambo_base::random::Random;

const ROWS: usize = 9;
const SEEN: usize = 3;
const CHOICES: usize = 4;
const TICK: f32 = 0.1;

fn place_of_largest(numbers: &[f64]) -> usize {
    let places = 0..numbers.len();
    places
        .max_by(|&i, &j| numbers[i].total_cmp(&numbers[j]))
        .unwrap()
}

/// Every loss of a gradient step against differences of its definition.
#[test]
fn gradients_match_finite_differences() {
    let hidden = [6, 5];
    let chooser_widths = widths(SEEN, &hidden, CHOICES);
    let critic_widths = widths(SEEN + 1, &hidden, CHOICES);
    let chooser_layers = layer_shapes(&chooser_widths);
    let critic_layers = layer_shapes(&critic_widths);
    let mut random = Random::new(6, 7);
    let mut chooser = Weights::new(&chooser_layers, &mut random);
    shake(&mut chooser, &mut random);
    let mut twins = Twins::new(&critic_layers, &mut random);
    shake_twins(&mut twins, &mut random);

    let mut step = DqnStep::new(&chooser_layers, &critic_layers, ROWS);
    let mut batch = Batch::new(ROWS);
    batch.observation = normals(&mut random, ROWS * SEEN);
    batch.next = normals(&mut random, ROWS * SEEN);
    batch.action = (0..ROWS).map(|row| (row % CHOICES) as f32).collect();
    batch.reward = normals(&mut random, ROWS);
    batch.time = (0..ROWS).map(|row| row as f32 * TICK).collect();
    batch.bootstrap = (0..ROWS).map(|row| (row % 3).min(1) as f32).collect();
    let rates = Rates {
        discount: 0.9,
        tick: Some(TICK),
        learning_rate: 0.0,
        polyak: 0.0,
    };
    let mut weights = ChooserWeights { chooser, twins };
    let loss = step.learn(&mut weights, &batch, &rates);
    let ChooserWeights { chooser, twins } = weights;

    let row_of = |numbers: &[f32], row: usize| wide(&numbers[row * SEEN..][..SEEN]);
    let values = |parameters: &[f64], observation: &[f64], time: f64| {
        outputs(&critic_widths, parameters, &[observation, &[time]].concat())
    };
    let prefer =
        |parameters: &[f64], observation: &[f64]| outputs(&chooser_widths, parameters, observation);
    let targets: Vec<f64> = (0..ROWS)
        .map(|row| {
            let next = row_of(&batch.next, row);
            let time = f64::from(batch.time[row]) + f64::from(TICK);
            let choice = place_of_largest(&prefer(&wide(&chooser.parameters), &next));
            let found = [0, 1].map(|i| values(&wide(&twins.0[i].target), &next, time)[choice]);
            let bootstrap = 0.9 * f64::from(batch.bootstrap[row]);
            f64::from(batch.reward[row]) + bootstrap * found[0].min(found[1])
        })
        .collect();
    let mut total = 0.0;
    for (critic, work) in twins.0.iter().zip(&step.critics) {
        let loss = |parameters: &[f64]| -> f64 {
            let rows = targets.iter().enumerate().map(|(row, target)| {
                let time = f64::from(batch.time[row]);
                let found = values(parameters, &row_of(&batch.observation, row), time);
                0.5 * (found[batch.action[row] as usize] - target).powi(2)
            });
            rows.sum::<f64>() / ROWS as f64
        };
        total += loss(&wide(&critic.weights.parameters));
        assert_gradient(&work.gradient, &critic.weights.parameters, &loss);
    }
    assert!((loss - total).abs() < 1e-3 * total, "{loss} {total}");

    let critics = [0, 1].map(|i| wide(&twins.0[i].weights.parameters));
    let chooser_loss = |parameters: &[f64]| -> f64 {
        let rows = (0..ROWS).map(|row| {
            let observation = row_of(&batch.observation, row);
            let time = f64::from(batch.time[row]);
            let [one, two] = [0, 1].map(|i| values(&critics[i], &observation, time));
            let least: Vec<f64> = one.iter().zip(two).map(|(a, b)| a.min(b)).collect();
            let mean = least.iter().sum::<f64>() / CHOICES as f64;
            let errors = prefer(parameters, &observation);
            let errors = errors
                .iter()
                .zip(least)
                .map(|(f, q)| (f - (q - mean)).powi(2));
            0.5 * errors.sum::<f64>()
        });
        rows.sum::<f64>() / ROWS as f64
    };
    assert_gradient(&step.chooser.gradient, &chooser.parameters, &chooser_loss);
}

fn options() -> DoubleDqnOptions {
    let learning = LearningOptions {
        hidden: vec![32; 2],
        rounds: Rounds {
            rounds: 4,
            episodes: 6,
            gradient_steps: 20,
            random_episodes: 2,
            evaluation_episodes: 3,
            patience: 9,
            ..Rounds::default()
        },
        batch: 64,
        replay: 10_000,
        seed: 3,
        ..LearningOptions::default()
    };
    DoubleDqnOptions {
        learning,
        epsilon_rounds: 5,
        ..DoubleDqnOptions::default()
    }
}

fn bytes(learner: &DoubleDqn) -> Vec<u8> {
    postcard::to_stdvec(learner.state()).unwrap()
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            let mut problem = Push::new(300, Actions::Discrete(3), 5);
            let mut learner = DoubleDqn::new(&problem, options()).unwrap();
            while learner.round(&mut problem).unwrap().is_some() {}
            bytes(&learner)
        })
    };
    assert!(run(1) == run(2));
}

#[test]
fn a_saved_learner_goes_on_as_if_never_stopped() {
    let problem = || Push::new(4, Actions::Discrete(3), 20);
    let mut learner = DoubleDqn::new(&problem(), options()).unwrap();
    let mut lived = problem();
    learner.round(&mut lived).unwrap();
    let saved = bytes(&learner);
    while learner.round(&mut lived).unwrap().is_some() {}
    let state: DoubleDqnState = postcard::from_bytes(&saved).unwrap();
    let mut other = DoubleDqn::resume(&problem(), state).unwrap();
    let mut lived = problem();
    while other.round(&mut lived).unwrap().is_some() {}
    assert!(bytes(&learner) == bytes(&other));
    // A choice that does not exist would be an index out of bounds.
    let state: DoubleDqnState = postcard::from_bytes(&saved).unwrap();
    let fewer = Push::new(4, Actions::Discrete(2), 20);
    assert!(DoubleDqn::resume(&fewer, state).is_err());
    let numbers = Push::new(4, Actions::Continuous(1), 20);
    assert!(DoubleDqn::new(&numbers, options()).is_err());
}

/// The best evaluation of a longer run.
fn best_of(problem: &mut dyn Problem, seed: u64) -> f64 {
    let learning = LearningOptions {
        rounds: Rounds {
            rounds: 40,
            episodes: 10,
            gradient_steps: 200,
            evaluation_episodes: 40,
            patience: 40,
            ..options().learning.rounds
        },
        replay: 100_000,
        seed,
        ..options().learning
    };
    let options = DoubleDqnOptions {
        learning,
        epsilon_rounds: 20,
        ..options()
    };
    let mut learner = DoubleDqn::new(problem, options).unwrap();
    let mut best = f64::NEG_INFINITY;
    while let Some(report) = learner.round(problem).unwrap() {
        best = best.max(report.evaluation_return.unwrap());
    }
    best
}

#[test]
fn learns_to_push() {
    let mut problem = Push::new(10, Actions::Discrete(3), 10);
    let best = problem.best_mean(40);
    let found = best_of(&mut problem, 1);
    assert!(
        found <= best + 1e-4 && found > best - 0.1,
        "{found} of {best}"
    );
}

/// Growing pays later, harvesting at once: when to turn depends on the time,
/// which the chooser must read off the state. Critics that do not see the time
/// get 0.7 to 0.8 of the best here.
#[test]
fn learns_when_to_turn() {
    let mut problem = Harvest::new(10, 20);
    let best = problem.best_mean(40);
    let found = best_of(&mut problem, 1);
    assert!(
        found <= best + 1e-3 && found > 0.9 * best,
        "{found} of {best}"
    );
}
