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
pub mod parallel;
pub mod parsed_case;
pub mod paths;
pub mod reinforcement;
pub mod restarts;
pub mod result;
pub mod saved_run;
pub mod support;
pub mod system;
pub mod trace;
pub mod worst_start;

#[cfg(test)]
mod tests;

pub use hambo_core::gate::Verdict;
use hambo_core::task::Allocation;
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use adversary::{EffortLevel, check_against_adversaries};
use case::Case;
use estimates::{AdversaryResult, constraints_of, estimates_of};
use exact::{POINTS, solvable};
use hambo_base::Error;
use hambo_base::observer::Observer;
use hambo_data::Log;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;
use logged_return::logged_return;
use model_summary::ModelSummary;
use parsed_case::ParsedCase;
use paths::{Paths, walk};
pub use result::{CheckResult, Decision, Evidence, Setting};
use worst_start::find_worst_starts;

/// Sampled trajectories of a check, unless told otherwise.
pub const DEFAULT_TRAJECTORIES: u32 = 4000;

/// The most sampled trajectories that a check takes by itself.
pub const MOST_GROWN: u32 = 100_000;

/// Places to log that are proposed if nobody says how many.
pub const DEFAULT_PLAN: usize = 5;

/// Searched trajectories of a check, unless told otherwise.
pub const DEFAULT_SEARCHED: u32 = 16;

/// What a check is told beside task, model and controller.
#[derive(Clone, Copy, Debug)]
pub struct CheckOptions<'a> {
    /// The log: first states for a task that starts from its data, the widths of the task's
    /// comparisons in the adversary's search, and the logged range in the report.
    pub log: Option<&'a Log>,
    /// What decides, the lowest of them; for a Gaussian process those that need networks
    /// are left out. If empty, what the task says: CA.
    pub variants: &'a [Variant],
    /// How hard the worst case is looked for.
    pub effort: EffortLevel,
    /// Sweeps of the core's search, instead of the effort's.
    pub sweeps: Option<u32>,
    /// Trajectories that are sampled: forward only, from every start of the adversary. If
    /// none is given, [`DEFAULT_TRAJECTORIES`], and up to [`MOST_GROWN`] where that makes a
    /// margin without assumptions possible.
    pub trajectories: Option<u32>,
    /// Other trajectories that are searched; as many again are searched to find what is
    /// tried on all of them.
    pub searched: u32,
    /// How the steps of the model are shared among the adversary's starts.
    pub allocation: Allocation,
    /// Seed of the trajectories and of the learners.
    pub seed: u64,
    /// How many places to log are proposed.
    pub plan: usize,
    /// Whether the worst case of the return is solved on a grid as well, for at most three
    /// states; [`EffortLevel::Thorough`] does it where it can, and begins the search again
    /// from random signs where it cannot.
    pub exact: bool,
}

impl Default for CheckOptions<'_> {
    fn default() -> Self {
        Self {
            log: None,
            variants: &[],
            effort: EffortLevel::Normal,
            sweeps: None,
            trajectories: None,
            searched: DEFAULT_SEARCHED,
            allocation: Allocation::Even,
            seed: 0,
            plan: DEFAULT_PLAN,
            exact: false,
        }
    }
}

/// What comes of a check, ready for `serde`.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOutcome {
    /// Estimates, bound and verdict: the object of `hambo check --json`.
    pub result: CheckResult,
    /// Trajectories to draw; none if the check broke off before the first.
    pub paths: Option<Paths>,
    /// The model and its calibration.
    pub model: ModelSummary,
}

/// Checks a controller as `hambo check` does. `observer` is told how far it is, and may break
/// off.
///
/// # Errors
/// If the parts do not belong together, the task needs a log and there is none, a number is
/// not finite, or the observer broke off.
pub fn run(
    task: &TaskFile,
    model: &ModelFile,
    policy: &HostPolicy,
    options: &CheckOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<CheckOutcome, Error> {
    let mut case = Case::new(task, model, policy, options)?;
    find_worst_starts(&mut case, observer)?;
    let questions = policy.range_questions(&case.task);
    let (result, paths) = case.parsed(|case| judge(case, options, questions, observer))?;
    Ok(CheckOutcome {
        result,
        paths,
        model: ModelSummary::of(model.metadata()),
    })
}

fn judge(
    mut case: ParsedCase<'_>,
    options: &CheckOptions<'_>,
    questions: Vec<String>,
    observer: &mut dyn Observer,
) -> Result<(CheckResult, Option<Paths>), Error> {
    let thorough = options.effort == EffortLevel::Thorough;
    let (mut exact, mut restarts) = (None, None);
    if options.exact || (thorough && solvable(&case)) {
        let solved = exact::exact(&case, POINTS, observer)?;
        case.tried = solved.sequences;
        exact = Some(solved.value);
    } else if thorough && let Some(again) = restarts::restarts(&case, observer)? {
        case.tried = again.sequences;
        restarts = Some(again.restarts);
    }
    let learning = options.effort.learning(options.seed);
    let checked = check_against_adversaries(&case, learning.as_ref(), observer)?;
    let (outcome, effort, task) = (&checked.outcome, checked.effort, &case.case.task);
    let walked = walk(&case, &checked, options.log, options.plan)?;
    let support = walked.as_ref().map(|walked| &walked.support);
    let farthest = support.and_then(|support| support.neutral.farthest.as_ref());
    let setting = Setting::of(case.case, options.effort, effort);
    let decision = Decision::of(case.case, outcome, farthest);
    let (loss, support, log_next, paths) = match walked {
        Some(one) => (
            Some(one.loss),
            Some(one.support),
            one.log_next,
            Some(one.paths),
        ),
        None => (None, None, Vec::new(), None),
    };
    let adversaries = checked.costs.iter();
    let evidence = Evidence {
        logged_return: options
            .log
            .and_then(|log| logged_return(case.image.task(), log)),
        model_steps: checked.model_steps,
        estimates: estimates_of(outcome, Objective::Return, effort),
        adversaries: adversaries
            .map(|one| AdversaryResult::of(task, one))
            .collect(),
        loss,
        support,
        log_next,
        exact,
        restarts,
        constraints: constraints_of(task, outcome, effort),
        questions,
        digest: format!("{:08x}", outcome.digest()),
    };
    let result = CheckResult {
        setting,
        evidence,
        decision,
    };
    Ok((result, paths))
}
