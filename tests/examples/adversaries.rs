//! What constants, the core's searches and networks find on PointSafety and on
//! a model of the pendulum, and what each costs.
//! `cargo run --release -p hambo-tests --example adversaries [thorough]`

use std::error::Error;

use hambo_base::observer::Unobserved;
use hambo_check::adversary::{AdversaryCost, EffortLevel, check_against_adversaries};
use hambo_check::case::Case;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use hambo_lab::environment::Pendulum;
use hambo_tests::systems;

const VARIANTS: [Variant; 3] = [
    Variant::ContinuousAdversary,
    Variant::DiscreteAdversary1,
    Variant::DiscreteAdversaryInf,
];
/// Sweeps with which the search is tried, to see when it reaches the network.
const SWEEPS: [u32; 8] = [0, 1, 2, 4, 8, 16, 40, 100];

fn main() -> Result<(), Box<dyn Error>> {
    let level = match std::env::args().nth(1).as_deref() {
        None => EffortLevel::Quick,
        Some("thorough") => EffortLevel::Thorough,
        Some(other) => return Err(format!("{other}: say nothing, or thorough").into()),
    };
    for y in [1.1, 1.6] {
        let case = systems::point_safety(0, y, &VARIANTS)?;
        show(&format!("PointSafety, pi_{y}"), case, level)?;
    }
    let system = Pendulum::new()?;
    let log = systems::pendulum_log(&system, 20, 0)?;
    let mut case = systems::pendulum(&system, &log, 3000, 0)?;
    case.plan.method.variants.clear();
    case.plan.method.variants.extend(VARIANTS);
    show("Pendulum, a damping controller", case, level)
}

fn show(name: &str, mut case: Case, level: EffortLevel) -> Result<(), Box<dyn Error>> {
    case.plan.effort.iterations = level.sweeps();
    let learning = level.learning(0);
    let learning = learning.unwrap_or_else(|| systems::twelve_rounds(0));
    let found =
        case.parsed(|case| check_against_adversaries(&case, Some(&learning), &mut Unobserved))?;
    println!("{name}: neutral {:.3}", found.outcome.neutral);
    println!(
        "  {:6} {:20} {:>12} {:>14} {:>15} {:>9}",
        "", "adversary", "mean return", "model steps", "gradient steps", "seconds"
    );
    for one in &found.costs {
        println!(
            "  {:6} {:20} {:>12.3} {:>14} {:>15} {:>9.2}",
            short(one.variant),
            one.name,
            one.mean,
            one.model_steps,
            one.gradient_steps,
            one.time.map_or(f64::NAN, |time| time.as_secs_f64())
        );
    }
    for estimate in &found.outcome.estimates {
        if estimate.objective == Objective::Return && VARIANTS.contains(&estimate.variant) {
            println!(
                "  {:6} {:20} {:>12.3}",
                short(estimate.variant),
                "reported: all",
                estimate.mean
            );
        }
    }
    for network in found.costs.iter().filter(|one| one.gradient_steps > 0) {
        reach(&case, network)?;
    }
    println!();
    Ok(())
}

/// The fewest sweeps with which the search alone finds what a network found.
fn reach(case: &Case, network: &AdversaryCost) -> Result<(), Box<dyn Error>> {
    let mut case = case.clone();
    case.plan.method.variants.clear();
    case.plan.method.variants.extend([network.variant]);
    for sweeps in SWEEPS {
        case.plan.effort.iterations = sweeps;
        let alone = case.parsed(|case| check_against_adversaries(&case, None, &mut Unobserved))?;
        let mut searches = alone.costs.iter();
        let Some(search) = searches.find(|one| one.name.ends_with("search")) else {
            continue;
        };
        if search.mean <= network.mean {
            let steps = search.model_steps;
            println!(
                "  {}: the search reaches what {} found with {sweeps} sweeps, {steps} model steps, {:.2} of its",
                short(network.variant),
                network.name,
                steps as f64 / network.model_steps as f64
            );
            return Ok(());
        }
    }
    println!(
        "  {}: the search does not reach what {} found with {} sweeps",
        short(network.variant),
        network.name,
        SWEEPS[SWEEPS.len() - 1]
    );
    Ok(())
}

fn short(variant: Variant) -> &'static str {
    match variant {
        Variant::ContinuousAdversary => "CA",
        Variant::DiscreteAdversary1 => "DA1",
        _ => "DAinf",
    }
}
