//! All adversaries against one controller, and what each found at what cost.

use std::time::{Duration, Instant};

use hambo_core::adversary::{Focus, Level, Starts, searches};
use hambo_core::check::{Estimate, Outcome};
use hambo_core::image::Image;
use hambo_core::rollout::Rollout;
use hambo_core::task::ConstraintKind;
use hambo_core::task::Effort;
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use super::grow::grown;
use super::scout::{self, scout};
use super::{Learning, Trained, Usual, train};
use crate::case::Case;
use crate::findings::{Findings, TRACED_TRAJECTORIES};
use crate::in_lanes::{Checked, check_and_tell, work};
use crate::names::variant_name;
use crate::reinforcement::RoundReport;
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::{Observer, Progress, Unobserved};
use hambo_task::image::Adversaries;

/// Sweeps of the search that tells how much there is to be found.
const SHORT: u32 = 4;

/// What one adversary found, and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// Against what.
    pub objective: Objective,
    /// CA or DA1.
    pub variant: Variant,
    /// Who.
    pub name: &'static str,
    /// The mean it reached on the searched trajectories.
    pub mean: f32,
    /// Steps of the model; for a search at most, a step back counting as two.
    pub model_steps: u64,
    /// Gradient steps of a learner.
    pub gradient_steps: u64,
    /// Time of a learner; the others share the check's.
    pub time: Option<Duration>,
}

/// A check with every adversary.
#[derive(Debug)]
pub struct Contest {
    /// The estimates over all of them, and the verdict.
    pub outcome: Outcome,
    /// Networks that were trained, and sequences that were found, on the way.
    pub adversaries: Adversaries,
    /// What they chose on the first trajectories, for a report.
    pub findings: Vec<Findings>,
    /// What each found, objective by objective and variant by variant.
    pub contenders: Vec<Contender>,
    /// How long the check itself took.
    pub check_time: Duration,
    /// Steps of the model that the search on other trajectories and the check took, a step
    /// back counting as two.
    pub model_steps: u64,
    /// How many trajectories it sampled and searched.
    pub effort: Effort,
}

/// Judges a case: networks learn where `learning` says so, a search on trajectories of its
/// own finds what is worth a try on all of them, and the core checks with all of these.
/// `observer` is told how far it is, and may break off.
///
/// # Errors
/// If a part is bad, a number is not finite, or the observer broke off.
pub fn contest(
    case: &Case,
    learning: Option<&Learning>,
    observer: &mut dyn Observer,
) -> Result<Contest, Error> {
    let (trained, mut adversaries) = learned(case, learning, observer)?;
    let before = work_of_check(case, &adversaries)?;
    let scouted = scout::work(case, &adversaries)?;
    let planned = scouted.saturating_add(before);
    let meter = Meter::begin(observer, "search and check", planned);
    adversaries.found =
        tracing::info_span!("scout").in_scope(|| scout(case, &adversaries, &meter))?;
    let grown = grown(case, &adversaries)?;
    let case = &grown;
    // What was found is tried, and there may be more trajectories.
    let after = work_of_check(case, &adversaries)?;
    meter.plan(after.saturating_sub(before));
    let sweeps = case.effort.iterations;
    let check = || timed_check(case, &adversaries, TRACED_TRAJECTORIES, &meter);
    let (checked, check_time) = tracing::info_span!("check", sweeps).in_scope(check)?;
    let contenders = contenders(case, &adversaries, &checked.outcome, &trained)?;
    Ok(Contest {
        outcome: checked.outcome,
        adversaries,
        findings: checked.findings,
        contenders,
        check_time,
        model_steps: scouted.saturating_add(checked.model_steps),
        effort: case.effort,
    })
}

/// All that goes into a check's image before the check itself: networks that learned, and
/// sequences that were found on other trajectories.
///
/// # Errors
/// As [`contest`].
pub fn adversaries(
    case: &Case,
    learning: Option<&Learning>,
    observer: &mut dyn Observer,
) -> Result<(Vec<Trained>, Adversaries), Error> {
    let (trained, mut adversaries) = learned(case, learning, observer)?;
    let meter = Meter::begin(observer, "search", scout::work(case, &adversaries)?);
    adversaries.found =
        tracing::info_span!("scout").in_scope(|| scout(case, &adversaries, &meter))?;
    Ok((trained, adversaries))
}

/// The networks alone.
fn learned(
    case: &Case,
    learning: Option<&Learning>,
    observer: &mut dyn Observer,
) -> Result<(Vec<Trained>, Adversaries), Error> {
    let trained = match learning {
        Some(learning) => {
            tracing::info_span!("learn").in_scope(|| learn(case, learning, observer))?
        }
        None => Vec::new(),
    };
    let adversaries = Adversaries {
        networks: trained.iter().map(|one| one.adversary.clone()).collect(),
        found: Vec::new(),
    };
    Ok((trained, adversaries))
}

fn work_of_check(case: &Case, adversaries: &Adversaries) -> Result<u64, Error> {
    let bytes = case.image(adversaries)?;
    Ok(work(&Image::parse(bytes.as_bytes())?)?)
}

/// Trains a network against every objective under every variant of a case that has one.
/// `observer` is told of every round, and may break off.
///
/// # Errors
/// As [`train`].
pub fn learn(
    case: &Case,
    learning: &Learning,
    observer: &mut dyn Observer,
) -> Result<Vec<Trained>, Error> {
    let mut short = case.clone();
    short.effort.iterations = SHORT;
    short.effort.trajectories = short.effort.searched;
    // A learner is told of margins, not of shares.
    for constraint in &mut short.task.constraints {
        constraint.constraint.probability = None;
    }
    let mut nobody = Unobserved;
    let unmetered = Meter::begin(&mut nobody, "check", 0);
    let (short, _) = timed_check(&short, &Adversaries::default(), 0, &unmetered)?;
    let short = short.outcome;
    let mut trained = Vec::new();
    let all = (0..).zip(case.objectives());
    let known: Vec<_> = all
        .filter(|(_, objective)| learnable(case, *objective))
        .collect();
    let searching = case.task.method.variants.iter();
    let learners = searching.filter(|one| searches(**one)).count() * known.len();
    let planned = learners * learning.rounds.rounds;
    observer.report(Progress {
        done: 0,
        planned,
        message: "learning adversaries".to_owned(),
    })?;
    for (number, objective) in known {
        let of = |variant| {
            let mut all = short.estimates.iter();
            let found = all.find(|one| one.variant == variant && one.objective == objective);
            let steps = match objective {
                Objective::Return => 1.0,
                // Of a constraint's mean the adversary earns the sum.
                Objective::Constraint(_) => case.task.horizon as f32,
            };
            found.map_or(f32::NAN, |found| steps * found.mean)
        };
        for variant in case.task.method.variants.iter().copied() {
            if !searches(variant) {
                continue;
            }
            let usual = Usual {
                neutral: of(Variant::Mean),
                worst: of(variant),
            };
            let before = trained.len() * learning.rounds.rounds;
            let mut watch = |report: &RoundReport| {
                let progress = report.progress(variant_name(variant));
                observer.progress(Progress {
                    done: before + progress.done,
                    planned,
                    ..progress
                })
            };
            let mut one = train(case, variant, objective, usual, learning, &mut watch)?;
            one.adversary.objective = number;
            trained.push(one);
        }
    }
    Ok(trained)
}

/// Whether an objective is a sum over the steps, which is what the learners know.
fn learnable(case: &Case, objective: Objective) -> bool {
    match objective {
        Objective::Return => true,
        Objective::Constraint(place) => {
            let constraint = case.task.constraints.get(usize::from(place));
            constraint.is_some_and(|one| one.constraint.kind == ConstraintKind::Mean)
        }
    }
}

fn timed_check(
    case: &Case,
    adversaries: &Adversaries,
    keep: u32,
    meter: &Meter<'_>,
) -> Result<(Checked, Duration), Error> {
    let bytes = case.image(adversaries)?;
    let image = Image::parse(bytes.as_bytes())?;
    let start = Instant::now();
    let checked = check_and_tell(&image, keep, meter)?;
    Ok((checked, start.elapsed()))
}

fn contenders(
    case: &Case,
    adversaries: &Adversaries,
    outcome: &Outcome,
    trained: &[Trained],
) -> Result<Vec<Contender>, Error> {
    let bytes = case.image(adversaries)?;
    let image = Image::parse(bytes.as_bytes())?;
    let (model, task, policy) = (image.model(), image.task(), image.policy());
    let mut contenders = Vec::new();
    let searched = |estimate: &&Estimate| searches(estimate.variant);
    for estimate in outcome.estimates.iter().filter(searched) {
        let (variant, objective) = (estimate.variant, estimate.objective);
        let rollout = Rollout {
            model,
            policy,
            task,
            variant,
            objective,
        };
        let starts = Starts::of(&rollout);
        let walk = u64::from(task.horizon) * u64::from(Level::Searched.trajectories(task));
        let walked = |starts: usize| walk * starts as u64;
        let sweeps = |level: Level| 1 + 3 * u64::from(level.sweeps(variant, task));
        let search_steps = match Focus::of(&rollout) {
            Some(Focus { searched, .. }) => {
                walked(starts.untrained()) * sweeps(Level::Trial)
                    + walked(searched) * sweeps(Level::Searched)
            }
            None => walked(starts.untrained()) * sweeps(Level::Searched),
        };
        let number = task.objective_number(objective);
        let mut networks = trained.iter();
        let network = networks.find(|one| {
            one.adversary.variant == variant && Some(one.adversary.objective) == number
        });
        let [search, learner] = match variant {
            Variant::ContinuousAdversary => ["adjoint search", "soft actor-critic"],
            _ => ["sequence search", "clipped double DQN"],
        };
        let found = &estimate.found;
        let rows = [
            ("constants", found.constant, walked(starts.constants)),
            ("single members", found.member, walked(starts.members)),
            ("found elsewhere", found.elsewhere, walked(starts.found)),
            (search, Some(found.search), search_steps),
        ];
        let contender = |name, mean, model_steps| Contender {
            objective,
            variant,
            name,
            mean,
            model_steps,
            gradient_steps: 0,
            time: None,
        };
        let rows = rows.into_iter();
        contenders.extend(
            rows.filter_map(|(name, mean, steps)| mean.map(|mean| contender(name, mean, steps))),
        );
        contenders.extend(found.network.zip(network).map(|(mean, one)| Contender {
            gradient_steps: one.gradient_steps,
            time: Some(one.time),
            ..contender(learner, mean, one.model_steps)
        }));
    }
    Ok(contenders)
}
