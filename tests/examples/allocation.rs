//! What a focused search costs and finds, beside an even one: on PointSafety and on the pendulum,
//! or on the files of any check.
//! `cargo run --release -p hambo-tests --example allocation [TASK MODEL POLICY LOG...]`

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use hambo_core::rollout::Objective;
use hambo_core::task::{Allocation, Variant};
use hambo_host::check::adversary::contest;
use hambo_host::check::case::Case;
use hambo_host::check::{CheckOptions, DEFAULT_TRAJECTORIES};
use hambo_host::environment::Pendulum;
use hambo_host::formats::log::read_task_logs;
use hambo_host::formats::policy::HostPolicy;
use hambo_host::formats::task::TaskFile;
use hambo_host::foundation::observer::Unobserved;
use hambo_host::learn::model_file::ModelFile;
use hambo_tests::systems;

const VARIANTS: [Variant; 2] = [Variant::ContinuousAdversary, Variant::DiscreteAdversary1];

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    if let [task, model, policy, logs @ ..] = files.as_slice() {
        let task = TaskFile::read(task)?;
        let log = read_task_logs(logs, &task)?;
        let options = CheckOptions {
            log: Some(&log),
            variants: &VARIANTS,
            // A search of many states takes long enough with a tenth.
            trajectories: Some(DEFAULT_TRAJECTORIES / 10),
            ..CheckOptions::default()
        };
        let model = ModelFile::read(model)?;
        let policy = HostPolicy::read(policy, &task)?;
        return show(
            &task.name.clone(),
            Case::new(&task, &model, &policy, &options)?,
        );
    }
    for y in [1.1, 1.6] {
        let case = systems::point_safety(0, y, &VARIANTS)?;
        show(&format!("PointSafety, pi_{y}"), case)?;
    }
    let system = Pendulum::new()?;
    let log = systems::pendulum_log(&system, 20, 0)?;
    let mut case = systems::pendulum(&system, &log, 3000, 0)?;
    case.task.method.variants.clear();
    case.task.method.variants.extend(VARIANTS);
    show("Pendulum, a damping controller", case)
}

/// Both, one after the other.
fn show(name: &str, mut case: Case) -> Result<(), Box<dyn Error>> {
    println!("{name}");
    println!(
        "  {:8} {:>14} {:>8}  {:4} {:>12} {:>12} {:>12}",
        "", "model steps", "seconds", "", "searched", "mean", "lower bound"
    );
    for (name, allocation) in [("even", Allocation::Even), ("focused", Allocation::Focused)] {
        case.effort.allocation = allocation;
        let time = Instant::now();
        let found = contest(&case, None, &mut Unobserved)?;
        let seconds = time.elapsed().as_secs_f64();
        for estimate in &found.outcome.estimates {
            if estimate.objective == Objective::Return && VARIANTS.contains(&estimate.variant) {
                println!(
                    "  {name:8} {:>14} {seconds:>8.1}  {:4} {:>12.3} {:>12.3} {:>12.3}",
                    found.model_steps,
                    match estimate.variant {
                        Variant::ContinuousAdversary => "CA",
                        _ => "DA1",
                    },
                    estimate.found.search,
                    estimate.mean,
                    estimate.lower
                );
            }
        }
    }
    println!();
    Ok(())
}
