//! The whole of `hambo check`: from a case to its result.

use hambo_core::task::Objective;

use super::estimates::{AdversaryResult, constraints_of, estimates_of};
use super::model_summary::ModelSummary;
use super::paths::{Paths, Walks, walk};
use super::result::{CheckResult, Decision, Evidence, Setting};
use crate::adversary::check_against_adversaries;
use crate::case::Case;
use crate::case::certify::Flags;
use crate::case::effort::EffortLevel;
use crate::case::options::CheckOptions;
use crate::case::parsed_case::ParsedCase;
use crate::evidence::first_order::first_order;
use crate::evidence::logged_return::logged_return;
use crate::evidence::near_path::look_near_path;
use crate::exact::{POINTS, exact, solvable};
use crate::search::restarts::restarts;
use crate::search::worst_start::find_worst_starts;
use hambo_base::Error;
use hambo_base::observer::Observer;
use hambo_learn::model_file::ModelFile;
use hambo_task::policy::HostPolicy;
use hambo_task::task::TaskFile;

/// What comes of a check, ready for `serde`.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckOutcome {
    /// Estimates, bound and verdict: the object of `hambo check --json`.
    pub result: CheckResult,
    /// Trajectories to draw; none if the check broke off before the first.
    pub paths: Option<Paths>,
    /// The trajectories themselves; none likewise.
    pub walks: Option<Walks>,
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
    if let Some(sentence) = case.demand().sentence(&case.plan.effort, Flags::HOST) {
        observer.note(&sentence);
    }
    find_worst_starts(&mut case, observer)?;
    look_near_path(&mut case)?;
    let questions = policy.range_questions(&case.task);
    let (result, walked) =
        case.parsed(|case| judge(case, (options, task.delta), questions, observer))?;
    let (paths, walks) = walked.unzip();
    Ok(CheckOutcome {
        result,
        paths,
        walks,
        model: ModelSummary::of(model.metadata()),
    })
}

fn judge(
    mut case: ParsedCase<'_>,
    (options, delta): (&CheckOptions<'_>, f32),
    questions: Vec<String>,
    observer: &mut dyn Observer,
) -> Result<(CheckResult, Option<(Paths, Walks)>), Error> {
    let thorough = options.effort == EffortLevel::Thorough;
    let (mut grid, mut again) = (None, None);
    if options.exact || (thorough && solvable(&case)) {
        let solved = exact(&case, POINTS, observer)?;
        case.tried = solved.sequences;
        grid = Some(solved.value);
    } else if thorough && let Some(found) = restarts(&case, observer)? {
        case.tried = found.sequences;
        again = Some(found.restarts);
    }
    let learning = options.effort.learning(options.seed);
    let checked = check_against_adversaries(&case, learning.as_ref(), observer)?;
    let (outcome, effort, task) = (&checked.outcome, checked.effort, &case.case.task);
    let walked = walk(&case, &checked, options.log, options.plan)?;
    let support = walked.as_ref().map(|walked| &walked.support);
    let farthest = support.and_then(|support| support.neutral.farthest.as_ref());
    let setting = Setting::of(case.case, options, delta, effort);
    let decision = Decision::of(&case, outcome, farthest);
    let (loss, support, log_next, drawn) = match walked {
        Some(one) => (
            Some(one.loss),
            Some(one.support),
            one.log_next,
            Some((one.paths, one.walks)),
        ),
        None => (None, None, Vec::new(), None),
    };
    let adversaries = checked.costs.iter();
    let noise_shares = &checked.noise_shares;
    let evidence = Evidence {
        logged_return: options
            .log
            .and_then(|log| logged_return(case.image.task(), log)),
        model_steps: checked.model_steps,
        estimates: estimates_of(outcome, Objective::Return, effort, noise_shares),
        adversaries: adversaries
            .map(|one| AdversaryResult::of(task, one))
            .collect(),
        tested_steps: u32::from(case.image.model().confidence.tested_steps),
        near_path: case.case.near_path.clone(),
        loss,
        support,
        log_next,
        first_order: first_order(&case.system())?,
        exact: grid,
        restarts: again,
        constraints: constraints_of(case.case, outcome, effort, noise_shares),
        questions,
        digest: format!("{:08x}", outcome.digest()),
    };
    let result = CheckResult {
        setting,
        evidence,
        decision,
    };
    Ok((result, drawn))
}
