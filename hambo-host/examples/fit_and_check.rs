//! From a log to verdicts, with the library's calls:
//! `cargo run --release -p hambo-host --example fit_and_check`.
//!
//! The log comes from a built-in system, so that the true return is known. For a log and a
//! controller of your own: `hambo_host::data::read_task_logs` and `HostPolicy::read`.

use hambo_host::Error;
use hambo_host::base::observer::Unobserved;
use hambo_host::check::adversary::EffortLevel;
use hambo_host::check::{self, CheckOptions, Verdict};
use hambo_host::lab::environment::{named, rollout};
use hambo_host::learn::fit::{FitOptions, fit};
use hambo_host::task::policy::HostPolicy;

/// A point must go around the unit disc: one controller does, the other cuts through it.
const CONTROLLERS: [(&str, &str); 2] = [
    ("pi_1.6", include_str!("../tasks/pi_1.6.toml")),
    ("pi_1.1", include_str!("../tasks/pi_1.1.toml")),
];

/// A controller's true return, and what the check says of it.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) name: &'static str,
    pub(crate) truth: f64,
    pub(crate) bound: f64,
    pub(crate) verdict: Option<Verdict>,
}

pub(crate) fn judge() -> Result<Vec<Judged>, Error> {
    let system = named("point_safety")?;
    let task = system.task();

    // 60 episodes of a safe controller, with noise of a fifth of the actions' half range.
    let (name, safe) = CONTROLLERS[0];
    let safe = HostPolicy::parse(safe, name, task)?;
    let log = rollout(&*system, &safe, 60, 0.2, 0)?.log;

    let (model, _) = fit(task, &log, &FitOptions::demo(), &mut Unobserved)?;

    let options = CheckOptions {
        log: Some(&log),
        effort: EffortLevel::Quick,
        trajectories: Some(400),
        ..CheckOptions::default()
    };
    let judged = CONTROLLERS.map(|(name, text)| {
        let policy = HostPolicy::parse(text, name, task)?;
        let result = check::run(task, &model, &policy, &options, &mut Unobserved)?.result;
        Ok(Judged {
            name,
            truth: rollout(&*system, &policy, 1, 0.0, 0)?.returns[0],
            bound: result.decision.bound.0,
            verdict: result.decision.verdict,
        })
    });
    judged.into_iter().collect()
}

fn main() -> Result<(), Error> {
    for judged in judge()? {
        let verdict = judged.verdict.map_or("none", Verdict::name);
        println!(
            "{}: {verdict}, bound {:.3}, truth {:.3}",
            judged.name, judged.bound, judged.truth
        );
    }
    Ok(())
}
