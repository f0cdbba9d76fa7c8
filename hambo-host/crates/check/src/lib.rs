//! From task, model and controller to an outcome: all of `hambo check` but its command
//! line.
//!
//! **In:** a [`TaskFile`], a [`ModelFile`], a controller ([`HostPolicy`]) and
//! [`CheckOptions`], the log among them. **Out:** a [`CheckOutcome`]: every estimate, the
//! bound, the verdict and its reasons, what each adversary found, where it took the return
//! away, and the trajectories to draw. **It may use** the formats, the models and the
//! learners; it knows nothing of commands and pages.
//!
//! [`run`] goes through the files of this folder in this order:
//!
//! | file | what it does |
//! |---|---|
//! | [`case`] | holds that the parts belong together; widths of comparisons and first states from the log |
//! | [`exact`], [`restarts`] | how strong the search is: held against a grid, or begun again |
//! | [`adversary`] | constants, trained networks, the core's search |
//! | [`parsed_case`] | the image, encoded and parsed once for all of these |
//! | [`parallel`] | the core's check over all processor cores, similar trajectories side by side |
//! | [`findings`] | what the adversaries chose on the first trajectories |
//! | [`trace`] | those trajectories, step by step |
//! | [`assumption`] | what the bound assumes |
//! | [`result`], [`estimates`] | setting, evidence and decision: the object of `--json` |
//! | [`fitness`] | whether the evidence can be relied on |
//! | [`logged_return`] | what the log's own controllers returned |
//! | [`loss`], [`support`], [`paths`] | where the return is lost; how far from the log; what is drawn |
//! | [`bundle`] | what a device gets if the controller passes |
//! | [`saved_run`] | the file of `--save`, from which the report is made |
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
//! let options = CheckOptions { log: Some(&log), searched: 32, ..CheckOptions::default() };
//! let outcome = hambo_check::run(&task, &model, &policy, &options, &mut Unobserved)?;
//! let decision = &outcome.result.decision;
//! println!("with probability {} the return is at least {}", 1.0 - task.delta, decision.bound);
//! if decision.verdict != Some(Verdict::Deploy) {
//!     println!("keep the old controller: {}", decision.reasons.join("; "));
//! }
//! # Ok::<(), hambo_base::Error>(())
//! ```

pub mod adversary;
pub mod assumption;
pub mod bundle;
pub mod case;
pub mod certify;
pub mod estimates;
pub mod exact;
pub mod findings;
pub mod fitness;
pub mod floor;
pub mod improve;
pub mod log_next;
pub mod logged_return;
pub mod loss;
pub mod model_summary;
pub mod names;
mod neighbours;
pub mod number;
mod options;
pub mod parallel;
pub mod parsed_case;
pub mod paths;
pub mod reinforcement;
pub mod restarts;
pub mod result;
mod run;
pub mod saved_run;
pub mod support;
pub mod system;
#[cfg(test)]
mod tests;
pub mod trace;
pub mod worst_start;

pub use hambo_core::gate::Verdict;
pub use options::{CheckOptions, DEFAULT_PLAN, DEFAULT_SEARCHED, DEFAULT_TRAJECTORIES, MOST_GROWN};
pub use result::{CheckResult, Decision, Evidence, Setting};

pub use run::{CheckOutcome, run};
