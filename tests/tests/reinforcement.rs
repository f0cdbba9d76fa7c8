//! Soft actor-critic on a system that others have solved with it.
#![allow(clippy::unwrap_used, reason = "tests")]

use hambo_check::reinforcement::{
    LearningOptions, Rounds, SoftActorCritic, SoftActorCriticOptions, Value,
};
use hambo_lab::environment::Pendulum;
use hambo_lab::environment_problem::EnvironmentProblem;

/// The example `sac_pendulum` in small: networks of 2 × 64, 6,000 steps.
#[test]
fn swings_the_pendulum_up() {
    let pendulum = Pendulum::new().unwrap();
    let mut problem = EnvironmentProblem::new(&pendulum, 1, 1);
    let learning = LearningOptions {
        hidden: vec![64; 2],
        value: Value::Endless { discount: 0.98 },
        rounds: Rounds {
            rounds: 27,
            episodes: 1,
            gradient_steps: 400,
            random_episodes: 3,
            evaluation_episodes: 0,
            ..Rounds::default()
        },
        batch: 128,
        seed: 1,
        ..LearningOptions::default()
    };
    let options = SoftActorCriticOptions {
        temperature_rate: 1e-3,
        learning,
        ..SoftActorCriticOptions::default()
    };
    let mut learner = SoftActorCritic::new(&problem, options).unwrap();
    while learner.round(&mut problem).unwrap().is_some() {}
    let mut many = EnvironmentProblem::new(&pendulum, 50, 2);
    let returns = learner.evaluate(&mut many, 50).unwrap();
    let mean = returns.iter().sum::<f64>() / 50.0;
    assert!(mean > -250.0, "{mean}");
}
