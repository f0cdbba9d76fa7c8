//! What a focused search costs and finds, beside an even one: on PointSafety and on the pendulum,
//! or on the files of any check.
//! `cargo run --release -p hambo-tests --example allocation [SEEDS [learning] [TASK MODEL POLICY
//! LOG...]]`; with `learning` networks learn to hurt beside the search, in twelve rounds.
//!
//! A search that has many local minima finds another one with every seed of its trajectories, so
//! both are held against each other on `SEEDS` of them (one, if nothing is said).

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use hambo_base::observer::Unobserved;
use hambo_check::adversary::{AdversarialCheck, EffortLevel, check_against_adversaries};
use hambo_check::case::Case;
use hambo_check::{CheckOptions, DEFAULT_TRAJECTORIES};
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Variant};
use hambo_data::read_task_logs;
use hambo_lab::environment::{MeanReturn, Pendulum};
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use hambo_tests::systems;

const VARIANTS: [Variant; 2] = [Variant::ContinuousAdversary, Variant::DiscreteAdversary1];

fn main() -> Result<(), Box<dyn Error>> {
    let mut given = std::env::args_os().skip(1);
    let seeds: u64 = match given.next() {
        Some(seeds) => seeds.to_string_lossy().parse().map_err(|_| {
            let given = seeds.to_string_lossy();
            format!("{given} is no number of seeds: give it before the files of a check")
        })?,
        None => 1,
    };
    let mut given = given.peekable();
    let learns = given.next_if(|word| word == "learning").is_some();
    let files: Vec<PathBuf> = given.map(PathBuf::from).collect();
    if let [task, model, policy, logs @ ..] = files.as_slice() {
        let task = TaskFile::read(task)?;
        let log = read_task_logs(logs, &task)?;
        let options = CheckOptions {
            log: Some(&log),
            variants: &VARIANTS,
            effort: EffortLevel::Quick,
            // A search of many states takes long enough with a tenth.
            trajectories: Some(DEFAULT_TRAJECTORIES / 10),
            ..CheckOptions::default()
        };
        let model = ModelFile::read(model)?;
        let policy = HostPolicy::read(policy, &task)?;
        let case = Case::new(&task, &model, &policy, &options)?;
        return show(&task.name, case, seeds, learns);
    }
    for y in [1.1, 1.6] {
        let case = systems::point_safety(0, y, &VARIANTS)?;
        show(&format!("PointSafety, pi_{y}"), case, seeds, learns)?;
    }
    let system = Pendulum::new()?;
    let log = systems::pendulum_log(&system, 20, 0)?;
    let mut case = systems::pendulum(&system, &log, 3000, 0)?;
    case.plan.method.variants.clear();
    case.plan.method.variants.extend(VARIANTS);
    show("Pendulum, a damping controller", case, seeds, learns)
}

/// Both, one after the other, with every seed; then their means.
fn show(name: &str, mut case: Case, seeds: u64, learns: bool) -> Result<(), Box<dyn Error>> {
    println!("{name}");
    println!(
        "  {:>4} {:8} {:>14} {:>8}  {:4} {:>12} {:>12} {:>12}",
        "seed", "", "model steps", "seconds", "", "searched", "mean", "lower bound"
    );
    let mut pairs = Vec::new();
    let first = case.plan.effort.seed;
    for seed in first..first + seeds {
        case.plan.effort.seed = seed;
        let learning = learns.then(|| systems::twelve_rounds(seed));
        let mut check = |name, allocation| -> Result<AdversarialCheck, Box<dyn Error>> {
            case.plan.effort.allocation = allocation;
            let time = Instant::now();
            let one = case.parsed(|case| {
                check_against_adversaries(&case, learning.as_ref(), &mut Unobserved)
            })?;
            let seconds = time.elapsed().as_secs_f64();
            for (variant, [searched, mean, lower]) in of_return(&one) {
                println!(
                    "  {seed:>4} {name:8} {:>14} {seconds:>8.1}  {variant:4} {searched:>12.3} \
                     {mean:>12.3} {lower:>12.3}",
                    one.model_steps,
                );
            }
            Ok(one)
        };
        let even = check("even", Allocation::Even)?;
        pairs.push([even, check("focused", Allocation::Focused)?]);
    }
    summary(&pairs);
    Ok(())
}

/// Searched mean, mean and lower bound of the return under each variant.
fn of_return(found: &AdversarialCheck) -> Vec<(&'static str, [f64; 3])> {
    let estimates = found.outcome.estimates.iter();
    let wanted = estimates
        .filter(|one| one.objective == Objective::Return && VARIANTS.contains(&one.variant));
    wanted
        .map(|one| {
            let name = match one.variant {
                Variant::ContinuousAdversary => "CA",
                _ => "DA1",
            };
            let numbers = [one.found.search, one.mean, one.lower];
            (name, numbers.map(f64::from))
        })
        .collect()
}

/// Means over seeds, and how much less the focused search takes than the even one, with its
/// standard error, beside what the even one takes from the mean model's return.
fn summary(pairs: &[[AdversarialCheck; 2]]) {
    let steps = |place: usize| -> u64 { pairs.iter().map(|pair| pair[place].model_steps).sum() };
    println!(
        "  focused: {:.1} % of the steps",
        100.0 * steps(1) as f64 / steps(0) as f64
    );
    for (place, name) in ["CA", "DA1"].into_iter().enumerate() {
        let numbers =
            |one: &AdversarialCheck| of_return(one).get(place).map_or([f64::NAN; 3], |one| one.1);
        // Of an even search and a focused one, number by number.
        let mean = |search: usize, number: usize| {
            let each = pairs.iter().map(|pair| numbers(&pair[search])[number]);
            MeanReturn::of(&each.collect::<Vec<f64>>()).mean
        };
        let neutral = pairs.iter().map(|pair| f64::from(pair[0].outcome.neutral));
        let taken = MeanReturn::of(&neutral.collect::<Vec<f64>>()).mean - mean(0, 0);
        let misses = pairs.iter().map(|pair| {
            let [even, focused] = [&pair[0], &pair[1]].map(|one| numbers(one)[0]);
            focused - even
        });
        let missing = MeanReturn::of(&misses.collect::<Vec<f64>>());
        println!(
            "  {name:4} searched {:.3} and {:.3}, missing {:.3} ± {:.3} of {taken:.3}; \
             lower bound {:.3} and {:.3}",
            mean(0, 0),
            mean(1, 0),
            missing.mean,
            missing.std_error,
            mean(0, 2),
            mean(1, 2),
        );
    }
    println!();
}
