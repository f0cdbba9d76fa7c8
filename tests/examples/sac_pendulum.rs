//! Soft actor-critic on Pendulum-v1: five seeds, 10,000 steps each, then 100
//! episodes with the mean action; −200 or more on average counts as solved.
//! `cargo run --release -p hambo-tests --example sac_pendulum [SEEDS]`

use std::error::Error;
use std::time::Instant;

use hambo_check::reinforcement::{
    LearningOptions, Rounds, SoftActorCritic, SoftActorCriticOptions, Value,
};
use hambo_lab::environment::{Environment, Pendulum, rollout};
use hambo_lab::environment_problem::EnvironmentProblem;
use hambo_task::policy::HostPolicy;

const EPISODES: usize = 50;
const RANDOM_EPISODES: usize = 5;
const SOLVED: f64 = -200.0;

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 5,
    };
    let pendulum = Pendulum::new()?;
    let mut solved = 0;
    for seed in 0..seeds {
        let start = Instant::now();
        let (steps, mean) = train(&pendulum, seed)?;
        let time = start.elapsed().as_secs_f64();
        println!("seed {seed}: {steps} steps, mean return {mean:.1} ({time:.0} s)");
        solved += u64::from(mean >= SOLVED);
    }
    println!("solved (mean return at least {SOLVED}): {solved} of {seeds}");
    Ok(())
}

/// Steps taken, and the mean return of what was learnt, as the core drives it.
fn train(pendulum: &Pendulum, seed: u64) -> Result<(u64, f64), Box<dyn Error>> {
    let mut problem = EnvironmentProblem::new(pendulum, 1, seed);
    let learning = LearningOptions {
        value: Value::Endless { discount: 0.99 },
        rounds: Rounds {
            rounds: EPISODES - RANDOM_EPISODES,
            episodes: 1,
            gradient_steps: 200,
            random_episodes: RANDOM_EPISODES,
            // The last weights count: nothing is chosen by looking.
            evaluation_episodes: 0,
            ..Rounds::default()
        },
        batch: 256,
        seed,
        ..LearningOptions::default()
    };
    let options = SoftActorCriticOptions {
        learning,
        temperature_rate: 1e-3,
        ..SoftActorCriticOptions::default()
    };
    let mut learner = SoftActorCritic::new(&problem, options)?;
    let mut steps = 0;
    while let Some(report) = learner.round(&mut problem)? {
        steps = report.steps;
    }
    let task = pendulum.task();
    let policy = learner.actor().policy(&task.action_low, &task.action_high);
    let run = rollout(
        pendulum,
        &HostPolicy::Perceptron(policy),
        100,
        0.0,
        1_000_000 + seed,
    )?;
    Ok((
        steps,
        run.returns.iter().sum::<f64>() / run.returns.len() as f64,
    ))
}
