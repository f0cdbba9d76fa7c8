//! Offline RL on a log of mediocre controllers of the pendulum: is the
//! controller at least as good as the best of them, and is its bound one?
//! `cargo run --release -p hambo-tests --example improve_pendulum [SEEDS]`

use std::error::Error;
use std::time::Instant;

use hambo_base::observer::Unobserved;
use hambo_check::adversary::{EffortLevel, check_against_adversaries};
use hambo_check::improve::{ImproveOptions, improve};
use hambo_core::task::Variant;
use hambo_lab::environment::{Environment, Pendulum, rollout};
use hambo_task::image::encode_policy;
use hambo_task::policy::HostPolicy;
use hambo_tests::systems;

/// Episodes that tell the true return.
const EPISODES: u32 = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let seeds: u64 = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 5,
    };
    let system = Pendulum::new()?;
    let mut best = f64::NEG_INFINITY;
    for gain in systems::MEDIOCRE {
        let policy = systems::linear(system.task(), gain)?;
        let mean = true_return(&system, &policy)?;
        println!("logging controller {gain:?}: true return {mean:.1}");
        best = best.max(mean);
    }
    for variant in [Variant::ContinuousAdversary, Variant::DiscreteAdversary1] {
        let mut good = 0;
        for seed in 0..seeds {
            let start = Instant::now();
            let (bound, truth) = run(&system, variant, seed)?;
            let (better, below) = (truth >= best, f64::from(bound) < truth);
            good += u64::from(better && below);
            println!(
                "{variant:?}, seed {seed}: bound {bound:.1}, true return {truth:.1} ({:.0} s)",
                start.elapsed().as_secs_f64()
            );
        }
        println!("{variant:?}: better than all logged, and above its bound: {good} of {seeds}");
    }
    Ok(())
}

fn run(system: &Pendulum, variant: Variant, seed: u64) -> Result<(f32, f64), Box<dyn Error>> {
    let log = systems::pendulum_log(system, 20, seed)?;
    let mut case = systems::pendulum(system, &log, 3000, seed)?;
    case.plan.method.variants.clear();
    case.plan.method.variants.extend([variant]);
    case.plan.effort.iterations = 10;
    let options = ImproveOptions {
        variant,
        seed,
        ..ImproveOptions::default()
    };
    let improved = improve(&case, &log, &options, &mut Unobserved)?;
    let policy = HostPolicy::Perceptron(improved.policy);
    case.policy_part = encode_policy(&policy)?;
    case.plan.effort.iterations = EffortLevel::Quick.sweeps();
    // Not the trajectories by which the controller was chosen.
    case.plan.effort.seed = seed + (1 << 33);
    let judged = case.parsed(|case| check_against_adversaries(&case, None, &mut Unobserved))?;
    Ok((judged.outcome.bound, true_return(system, &policy)?))
}

fn true_return(system: &Pendulum, policy: &HostPolicy) -> Result<f64, Box<dyn Error>> {
    let run = rollout(system, policy, EPISODES, 0.0, 1 << 40)?;
    Ok(run.returns.iter().sum::<f64>() / run.returns.len() as f64)
}
