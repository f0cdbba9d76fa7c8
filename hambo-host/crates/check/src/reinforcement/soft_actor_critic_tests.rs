//! Soft actor-critic against differences, known values and itself.

use rayon::ThreadPoolBuilder;

use super::differences::{assert_gradient, normals, outputs, shake, shake_twins, wide};
use super::replay::Batch;
use super::sac_step::{ActorCriticWeights, Rates, SacStep};
use super::toy_problems::{Count, Pay, Push};
use super::weights::{Twins, Weights, Work, widths};
use super::*;
use hambo_base::network::adam::Adam;
use hambo_base::network::perceptron::layer_shapes;
use hambo_base::random::Random;

const ROWS: usize = 9;
const SEEN: usize = 3;
const ACTED: usize = 2;
const TICK: f32 = 0.1;
const TEMPERATURE: f32 = 0.4;
const ENTROPY: f32 = -2.0;

/// ln of the density of a tanh-Gaussian draw, and the draw.
fn draw(output: &[f64], noise: &[f32]) -> (Vec<f64>, f64) {
    let mut log_density = 0.0;
    let actions = (0..ACTED).map(|j| {
        let noise = f64::from(noise[j]);
        let log_std = output[ACTED + j].clamp(-20.0, 2.0);
        let u = output[j] + log_std.exp() * noise;
        let normal = -0.5 * noise * noise - log_std - 0.5 * std::f64::consts::TAU.ln();
        log_density += normal - (1.0 / u.cosh().powi(2)).ln();
        u.tanh()
    });
    let actions = actions.collect();
    (actions, log_density)
}

/// Every loss of a gradient step against differences of its definition.
#[test]
fn gradients_match_finite_differences() {
    let hidden = [6, 5];
    let actor_widths = widths(SEEN, &hidden, 2 * ACTED);
    let critic_widths = widths(SEEN + 1 + ACTED, &hidden, 1);
    let (actor_layers, critic_layers) = (layer_shapes(&actor_widths), layer_shapes(&critic_widths));
    let mut random = Random::new(5, 7);
    let mut actor = Weights::new(&actor_layers, &mut random);
    shake(&mut actor, &mut random);
    // One standard deviation around its clamp.
    let last = actor.parameters.len() - 1;
    actor.parameters[last] = 2.0;
    let mut twins = Twins::new(&critic_layers, &mut random);
    shake_twins(&mut twins, &mut random);
    let temperature = Weights {
        parameters: vec![TEMPERATURE.ln()],
        adam: Adam::new(1),
    };

    let mut step = SacStep::new(&actor_layers, &critic_layers, ROWS);
    let mut batch = Batch::new(ROWS);
    batch.observation = normals(&mut random, ROWS * SEEN);
    batch.next = normals(&mut random, ROWS * SEEN);
    batch.action = normals(&mut random, ROWS * ACTED);
    batch.reward = normals(&mut random, ROWS);
    batch.time = (0..ROWS).map(|row| row as f32 * TICK).collect();
    batch.bootstrap = (0..ROWS).map(|row| (row % 3).min(1) as f32).collect();
    step.make_noise(&mut random);
    let rates = Rates {
        discount: 0.9,
        tick: Some(TICK),
        target_entropy: ENTROPY,
        // Nothing moves, so that every loss is taken at the same place.
        learning_rate: 0.0,
        actor_rate: Some(0.0),
        imitation: 0.0,
        temperature_rate: 0.0,
        polyak: 0.0,
    };
    let mut weights = ActorCriticWeights {
        actor,
        twins,
        temperature,
    };
    let loss = step.learn(&mut weights, &batch, &rates);
    let ActorCriticWeights { actor, twins, .. } = weights;

    let row_of = |numbers: &[f32], width: usize, row: usize| -> Vec<f64> {
        wide(&numbers[row * width..][..width])
    };
    let value = |parameters: &[f64], observation: &[f64], time: f64, action: &[f64]| {
        let input = [observation, &[time], action].concat();
        outputs(&critic_widths, parameters, &input)[0]
    };
    let act = |parameters: &[f64], observation: &[f64], noise: &[f32]| {
        draw(&outputs(&actor_widths, parameters, observation), noise)
    };
    let noise_of = |noise: &'_ [f32], row: usize| noise[row * ACTED..][..ACTED].to_vec();

    let policy = wide(&actor.parameters);
    let targets: Vec<f64> = (0..ROWS)
        .map(|row| {
            let next = row_of(&batch.next, SEEN, row);
            let (action, log_density) = act(&policy, &next, &noise_of(&step.next.noise, row));
            let time = f64::from(batch.time[row]) + f64::from(TICK);
            let values = [0, 1].map(|i| value(&wide(&twins.0[i].target), &next, time, &action));
            let soft = values[0].min(values[1]) - f64::from(TEMPERATURE) * log_density;
            f64::from(batch.reward[row]) + 0.9 * f64::from(batch.bootstrap[row]) * soft
        })
        .collect();
    for (found, expected) in step.targets.iter().zip(&targets) {
        assert!((f64::from(*found) - expected).abs() < 1e-4 * (1.0 + expected.abs()));
    }
    let mut total = 0.0;
    for (critic, work) in twins.0.iter().zip(&step.critics) {
        let loss = |parameters: &[f64]| -> f64 {
            let rows = targets.iter().enumerate().map(|(row, target)| {
                let observation = row_of(&batch.observation, SEEN, row);
                let action = row_of(&batch.action, ACTED, row);
                let time = f64::from(batch.time[row]);
                0.5 * (value(parameters, &observation, time, &action) - target).powi(2)
            });
            rows.sum::<f64>() / ROWS as f64
        };
        total += loss(&wide(&critic.weights.parameters));
        assert_gradient(&work.gradient, &critic.weights.parameters, &loss);
    }
    assert!((loss - total).abs() < 1e-3 * total, "{loss} {total}");

    let critics = [0, 1].map(|i| wide(&twins.0[i].weights.parameters));
    let actor_loss = |parameters: &[f64]| -> f64 {
        let rows = (0..ROWS).map(|row| {
            let observation = row_of(&batch.observation, SEEN, row);
            let noise = noise_of(&step.now.noise, row);
            let (action, log_density) = act(parameters, &observation, &noise);
            let time = f64::from(batch.time[row]);
            let values = [0, 1].map(|i| value(&critics[i], &observation, time, &action));
            f64::from(TEMPERATURE) * log_density - values[0].min(values[1])
        });
        rows.sum::<f64>() / ROWS as f64
    };
    assert_gradient(&step.actor.gradient, &actor.parameters, &actor_loss);
    let clamped = (0..ROWS).filter(|&row| {
        let observation = row_of(&batch.observation, SEEN, row);
        outputs(&actor_widths, &policy, &observation)[2 * ACTED - 1] > 2.0
    });
    let clamped = clamped.count();
    assert!(clamped > 0 && clamped < ROWS, "{clamped} clamped");

    let densities = (0..ROWS).map(|row| {
        let observation = row_of(&batch.observation, SEEN, row);
        act(&policy, &observation, &noise_of(&step.now.noise, row)).1
    });
    let density = densities.sum::<f64>() / ROWS as f64;
    let temperature_loss = |log: &[f64]| -log[0] * (density + f64::from(ENTROPY));
    assert_gradient(
        &[step.temperature_gradient],
        &[TEMPERATURE.ln()],
        &temperature_loss,
    );
}

fn options(value: Value) -> SoftActorCriticOptions {
    with_learning(LearningOptions {
        hidden: vec![32; 2],
        value,
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
        replay: 500,
        seed: 3,
        ..LearningOptions::default()
    })
}

fn with_learning(learning: LearningOptions) -> SoftActorCriticOptions {
    SoftActorCriticOptions {
        learning,
        ..SoftActorCriticOptions::default()
    }
}

const FINITE: Value = Value::Finite { discount: 1.0 };

fn bytes(learner: &SoftActorCritic) -> Vec<u8> {
    postcard::to_stdvec(learner.state()).unwrap()
}

/// Episode e ends after 1 + e mod 8 steps, or at the horizon of 6.
#[test]
fn steps_are_counted_where_episodes_end_early() {
    let mut problem = Count::new(1, 6);
    let mut options = options(Value::Endless { discount: 0.9 });
    options.learning.rounds = Rounds {
        rounds: 1000,
        episodes: 1,
        random_episodes: 2,
        evaluation_episodes: 0,
        most_steps: Some(60),
        ..Rounds::default()
    };
    let mut learner = SoftActorCritic::new(&problem, options).unwrap();
    let mut last = 0;
    while let Some(report) = learner.round(&mut problem).unwrap() {
        if last == 0 {
            // 1 + 2 + 3 + 4 + 5 are as many random steps as two horizons or more; then 6.
            assert_eq!(report.steps, 15 + 6);
        }
        last = report.steps;
    }
    assert!(last > 60 - 6 && last <= 60, "{last}");
}

#[test]
fn one_and_two_threads_give_the_same_bits() {
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| {
            // More lanes than one part of them.
            let mut problem = Push::new(300, Actions::Continuous(1), 5);
            let mut learner = SoftActorCritic::new(&problem, options(FINITE)).unwrap();
            while learner.round(&mut problem).unwrap().is_some() {}
            bytes(&learner)
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn a_saved_learner_goes_on_as_if_never_stopped() {
    let problem = || Push::new(4, Actions::Continuous(1), 20);
    let mut learner = SoftActorCritic::new(&problem(), options(FINITE)).unwrap();
    let mut lived = problem();
    for _ in 0..2 {
        learner.round(&mut lived).unwrap();
    }
    let saved = bytes(&learner);
    while learner.round(&mut lived).unwrap().is_some() {}
    let state: SoftActorCriticState = postcard::from_bytes(&saved).unwrap();
    let mut other = SoftActorCritic::resume(&problem(), state).unwrap();
    let mut lived = problem();
    while other.round(&mut lived).unwrap().is_some() {}
    assert!(bytes(&learner) == bytes(&other));
    assert_ne!(saved.len(), 0);
    assert_eq!(learner.actor(), other.actor());
}

#[test]
fn refuses_states_and_problems_that_do_not_fit() {
    let problem = Push::new(4, Actions::Continuous(1), 20);
    let learner = SoftActorCritic::new(&problem, options(FINITE)).unwrap();
    let state = learner.state().clone();
    let other = Push::new(4, Actions::Continuous(2), 20);
    let error = SoftActorCritic::resume(&other, state).err();
    assert!(matches!(error, Some(ReinforcementError::Checkpoint(_))));
    let choices = Push::new(4, Actions::Discrete(3), 20);
    let error = SoftActorCritic::new(&choices, options(FINITE))
        .err()
        .unwrap();
    assert!(
        error.to_string().contains("choose the other learner"),
        "{error}"
    );
    let endless = options(Value::Endless { discount: 1.0 });
    let error = SoftActorCritic::new(&problem, endless).err().unwrap();
    assert!(error.to_string().contains("`discount`"), "{error}");
}

/// The smaller of the critics' values, for an input in the networks' units.
fn value_at(learner: &SoftActorCritic, input: &[f32]) -> f32 {
    let hidden = &learner.state().options().learning.hidden;
    let layers = layer_shapes(&widths(input.len(), hidden, 1));
    let values = learner.weights().twins.0.iter().map(|critic| {
        let mut network = Work::new(&layers, 1).network;
        network.forward(&critic.weights.parameters, input)[0]
    });
    values.fold(f32::INFINITY, f32::min)
}

/// Pays 1 a step: the value is what is left of the horizon, or 1 / (1 −
/// discount) without an end, or less where the episode terminates.
#[test]
fn values_end_where_they_should() {
    let learn = |value: Value, terminates: bool| {
        let mut problem = Pay::new(8, 5, terminates);
        let rounds = Rounds {
            rounds: 12,
            gradient_steps: 100,
            ..options(value).learning.rounds
        };
        let learning = LearningOptions {
            rounds,
            polyak: 0.05,
            ..options(value).learning
        };
        let options = SoftActorCriticOptions {
            temperature: 1e-4,
            temperature_rate: 0.0,
            ..with_learning(learning)
        };
        let mut learner = SoftActorCritic::new(&problem, options).unwrap();
        while learner.round(&mut problem).unwrap().is_some() {}
        move |time: f32| match value {
            Value::Finite { .. } => value_at(&learner, &[0.5, time, 0.0]),
            Value::Endless { .. } => value_at(&learner, &[0.5, 0.0]),
        }
    };
    let finite = learn(FINITE, false);
    for step in 0..5 {
        let found = finite(step as f32 / 5.0);
        assert!((found - (5 - step) as f32).abs() < 0.25, "{step}: {found}");
    }
    let endless = learn(Value::Endless { discount: 0.5 }, false)(0.0);
    assert!((endless - 2.0).abs() < 0.1, "{endless}");
    let terminated = learn(Value::Endless { discount: 0.5 }, true)(0.0);
    assert!((terminated - 1.0).abs() < 0.1, "{terminated}");
}

/// The best way is known: straight to 0.5.
#[test]
fn learns_to_push() {
    let mut problem = Push::new(10, Actions::Continuous(1), 10);
    let rounds = Rounds {
        rounds: 15,
        episodes: 10,
        gradient_steps: 100,
        evaluation_episodes: 40,
        ..options(FINITE).learning.rounds
    };
    let options = SoftActorCriticOptions {
        temperature: 0.02,
        ..with_learning(LearningOptions {
            rounds,
            replay: 10_000,
            ..options(FINITE).learning
        })
    };
    let mut learner = SoftActorCritic::new(&problem, options).unwrap();
    let best = problem.best_mean(40);
    let mut found = f64::NEG_INFINITY;
    while let Some(report) = learner.round(&mut problem).unwrap() {
        found = found.max(report.evaluation_return.unwrap());
    }
    assert!(
        found <= best + 1e-4 && found > best - 0.25,
        "{found} of {best}"
    );
}
