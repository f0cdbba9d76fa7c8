//! From task, model and controller to an outcome: all of `hambo check` but its command
//! line.
//!
//! **In:** a [`TaskFile`](hambo_task::task::TaskFile), a
//! [`ModelFile`](hambo_learn::model_file::ModelFile), a controller
//! ([`HostPolicy`](hambo_task::policy::HostPolicy)) and [`CheckOptions`], the log among them.
//! **Out:** a [`CheckOutcome`]: setting, evidence and decision, and the trajectories to draw.
//!
//! | folder, each uses only those above it | what it does |
//! |---|---|
//! | [`reinforcement`] | soft actor-critic and clipped double DQN |
//! | [`case`] | whether the parts belong together; their image, encoded and parsed once |
//! | [`search`] | the core's check and search over all processor cores; worst starts; restarts |
//! | [`exact`] | the worst case on a grid |
//! | [`adversary`] | constants, trained networks and the core's search against one controller |
//! | [`evidence`] | trajectories step by step: what they lose, and how far they leave the log |
//! | [`outcome`] | [`run`], the object of `--json` and the file of `--save` |
//! | [`ranking`] | several controllers: which to try first |
//! | [`improve`], [`bundle`], [`floor`] | better controllers; what a device gets; what a robot asks |
//!
//! ```no_run
//! use hambo_check::{CheckOptions, Verdict};
//! use hambo_data::read_task_logs;
//! use hambo_task::policy::HostPolicy;
//! use hambo_task::task::TaskFile;
//! use hambo_base::observer::Unobserved;
//! use hambo_learn::model_file::ModelFile;
//!
//! let task = TaskFile::read("task.toml")?;
//! let model = ModelFile::read("model.hambo".as_ref())?;
//! let policy = HostPolicy::read("controller.onnx", &task)?;
//! let log = read_task_logs(&["log.csv".into()], &task)?;
//! let options = CheckOptions { log: Some(&log), searched: Some(32), ..CheckOptions::default() };
//! let outcome = hambo_check::run(&task, &model, &policy, &options, &mut Unobserved)?;
//! let decision = &outcome.result.decision;
//! println!("with probability {} the return is at least {}", 1.0 - task.delta, decision.bound);
//! if decision.verdict != Some(Verdict::Deploy) {
//!     println!("keep the old controller: {}", decision.reasons.join("; "));
//! }
//! # Ok::<(), hambo_base::Error>(())
//! ```

pub mod adversary;
pub mod bundle;
pub mod case;
pub mod evidence;
pub mod exact;
pub mod floor;
pub mod improve;
pub mod names;
pub mod number;
pub mod outcome;
pub mod ranking;
pub mod reinforcement;
pub mod search;

pub use case::options::{
    CheckOptions, DEFAULT_PLAN, DEFAULT_SEARCHED, DEFAULT_TRAJECTORIES, MOST_GROWN,
};
pub use case::{amounts, assumption, certify, demand, parsed_case, system};
pub use evidence::{first_order, fitness, log_next, logged_return, loss, support, trace};
pub use hambo_core::gate::Verdict;
pub use outcome::result::{CheckResult, Decision, Evidence, Setting};
pub use outcome::run::{CheckOutcome, run};
pub use outcome::{estimates, margin_shares, model_summary, paths, reasons, result, saved_run};
pub use search::{findings, logged_starts, parallel, restarts, worst_start};
