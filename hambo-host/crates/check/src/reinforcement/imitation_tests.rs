//! Learning from a log beside the problem.

use super::toy_problems::Push;
use super::*;
use hambo_base::network::Layer;

fn options(value: Value) -> SoftActorCriticOptions {
    SoftActorCriticOptions {
        learning: LearningOptions {
            hidden: vec![32; 2],
            value,
            rounds: Rounds {
                rounds: 4,
                episodes: 6,
                gradient_steps: 20,
                evaluation_episodes: 0,
                ..Rounds::default()
            },
            batch: 64,
            replay: 500,
            seed: 3,
            ..LearningOptions::default()
        },
        ..SoftActorCriticOptions::default()
    }
}

const ENDLESS: Value = Value::Endless { discount: 0.9 };

/// Logged steps of a controller a = −0.6 sign(x) at places x.
fn logged(problem: &Push) -> (Vec<Vec<f32>>, Vec<Vec<f32>>) {
    let size = problem.observation_size();
    let states = (0..40).map(|row| vec![row as f32 / 20.0 - 0.975; size]);
    let states: Vec<Vec<f32>> = states.collect();
    let actions = states.iter().map(|state| vec![-0.6 * state[0].signum()]);
    let actions = actions.collect();
    (states, actions)
}

fn steps<'a>(
    (states, actions): &'a (Vec<Vec<f32>>, Vec<Vec<f32>>),
) -> impl Iterator<Item = LoggedStep<'a>> {
    states
        .iter()
        .zip(actions)
        .map(|(state, action)| LoggedStep {
            state,
            action,
            next_state: state,
            reward: 0.0,
        })
}

#[test]
fn an_actor_imitates_a_log_and_waits_for_its_critics() {
    let mut problem = Push::new(4, Actions::Continuous(1), 20);
    let mut learner = SoftActorCritic::new(&problem, options(ENDLESS)).unwrap();
    // Without a log there is nothing to imitate.
    let before = learner.last_actor();
    learner.imitate(5);
    assert_eq!(learner.last_actor(), before);

    let log = logged(&problem);
    learner.learn_from_log(steps(&log), 0.25).unwrap();
    learner.imitate(400);
    let imitator = learner.last_actor();
    let policy = imitator.policy(&[-1.0], &[1.0]);
    for (state, action) in log.0.iter().zip(&log.1).filter(|(s, _)| s[0].abs() > 0.2) {
        let input: Vec<f64> = state.iter().copied().map(f64::from).collect();
        let found = policy_output(&policy.layers, &input).tanh();
        assert!(
            (found - f64::from(action[0])).abs() < 0.15,
            "{state:?} {found}"
        );
    }

    learner.set_actor_rate(None);
    learner.round(&mut problem).unwrap();
    assert_eq!(learner.last_actor(), imitator);
    learner.set_actor_rate(Some(1e-3));
    learner.round(&mut problem).unwrap();
    assert_ne!(learner.last_actor(), imitator);
}

/// The first output of a network of rectified units.
fn policy_output(layers: &[Layer], input: &[f64]) -> f64 {
    let mut values = input.to_vec();
    for (place, layer) in layers.iter().enumerate() {
        let rows = layer.weights.chunks_exact(layer.inputs).zip(&layer.bias);
        let next = rows.map(|(row, bias)| {
            let products = row.iter().zip(&values).map(|(w, x)| f64::from(*w) * x);
            let sum = f64::from(*bias) + products.sum::<f64>();
            if place + 1 < layers.len() {
                sum.max(0.0)
            } else {
                sum
            }
        });
        values = next.collect();
    }
    values[0]
}

#[test]
fn a_log_of_other_sizes_is_refused() {
    let problem = Push::new(4, Actions::Continuous(1), 20);
    let mut learner = SoftActorCritic::new(&problem, options(ENDLESS)).unwrap();
    let (states, mut actions) = logged(&problem);
    actions[3].push(0.0);
    let error = learner.learn_from_log(steps(&(states, actions)), 0.5);
    let text = error.unwrap_err().to_string();
    assert!(text.contains("logged state and action"), "{text}");
}

#[test]
fn a_log_does_not_know_when_values_end() {
    let problem = Push::new(4, Actions::Continuous(1), 20);
    let finite = Value::Finite { discount: 1.0 };
    let mut learner = SoftActorCritic::new(&problem, options(finite)).unwrap();
    let log = logged(&problem);
    let text = learner.learn_from_log(steps(&log), 0.5).unwrap_err();
    assert!(text.to_string().contains("without an end"), "{text}");
}

/// Values of logged rewards reach the critics: an actor that may only imitate or learn from
/// the log keeps to what it paid for.
#[test]
fn the_weight_of_imitation_holds_the_actor_at_the_log() {
    let problem = || Push::new(4, Actions::Continuous(1), 20);
    let log = logged(&problem());
    let distance = |imitation: f32| {
        let mut options = options(ENDLESS);
        options.imitation = imitation;
        options.learning.rounds.gradient_steps = 100;
        let mut learner = SoftActorCritic::new(&problem(), options).unwrap();
        learner.learn_from_log(steps(&log), 0.5).unwrap();
        learner.imitate(400);
        let mut lived = problem();
        while learner.round(&mut lived).unwrap().is_some() {}
        let policy = learner.last_actor().policy(&[-1.0], &[1.0]);
        let away = log.0.iter().zip(&log.1).map(|(state, action)| {
            let input: Vec<f64> = state.iter().copied().map(f64::from).collect();
            (policy_output(&policy.layers, &input).tanh() - f64::from(action[0])).abs()
        });
        away.sum::<f64>() / log.0.len() as f64
    };
    let (free, held) = (distance(0.0), distance(10.0));
    assert!(held < 0.5 * free && held < 0.2, "{held} {free}");
}
