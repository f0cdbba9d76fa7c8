//! All adversaries against one controller, and what each found at what cost.

use std::time::{Duration, Instant};

use hambo_core::adversary::{Focus, Level, Starts, searches};
use hambo_core::check::{Estimate, Outcome};
use hambo_core::task::ConstraintKind;
use hambo_core::task::Effort;
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use super::grow::trajectories;
use super::scout::{self, scout};
use super::train::{Trained, Usual, train};
use crate::case::effort::Learning;
use crate::case::parsed_case::{ParsedCase, encode_parts};
use crate::case::system::System;
use crate::names::variant_name;
use crate::reinforcement::RoundReport;
use crate::search::findings::{Findings, TRACED_TRAJECTORIES};
use crate::search::logged_starts::NoiseShare;
use crate::search::parallel::{LANES, Watch, check, work};
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::{Observer, Progress};
use hambo_task::image::{Adversaries, AlignedBytes};
use hambo_task::task::TaskFile;

/// Sweeps of the search that tells how much there is to be found.
const SHORT: u32 = 4;

/// What one adversary found, and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct AdversaryCost {
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
pub struct AdversarialCheck {
    /// The estimates over all of them, and the verdict.
    pub outcome: Outcome,
    /// Networks that were trained, and sequences that were found, on the way.
    pub adversaries: Adversaries,
    /// The same, encoded.
    pub(crate) parts: Vec<AlignedBytes>,
    /// What they chose on the first trajectories, for a report.
    pub findings: Vec<Findings>,
    /// What the noise takes off each bound over logged starts.
    pub noise_shares: Vec<NoiseShare>,
    /// What each found, objective by objective and variant by variant.
    pub costs: Vec<AdversaryCost>,
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
pub fn check_against_adversaries(
    case: &ParsedCase<'_>,
    learning: Option<&Learning>,
    observer: &mut dyn Observer,
) -> Result<AdversarialCheck, Error> {
    let (trained, mut adversaries) = learned(case, learning, observer)?;
    let parts = encode_parts(&adversaries)?;
    let with_networks = case.with_adversaries(&parts)?;
    let system = with_networks.system();
    let (before, scouted) = (work(&system)?, scout::work(&system));
    observer.note(&steps_sentence(scouted.saturating_add(before)));
    let meter = Meter::begin(observer, "search and check", scouted.saturating_add(before));
    adversaries.found = tracing::info_span!("scout").in_scope(|| scout(&with_networks, &meter))?;
    let found = encode_parts(&Adversaries {
        networks: Vec::new(),
        found: adversaries.found.clone(),
    })?;
    let mut armed = with_networks.with_adversaries(&found)?;
    armed.effort.trajectories = trajectories(&armed)?;
    let (effort, system) = (armed.effort, armed.system());
    // What was found is tried, and there may be more trajectories.
    meter.plan(work(&system)?.saturating_sub(before));
    let watch = Watch {
        keep: TRACED_TRAJECTORIES,
        meter: Some(&meter),
    };
    let start = Instant::now();
    let check = || check::<LANES>(system.clone(), watch);
    let checked = tracing::info_span!("check", sweeps = effort.iterations).in_scope(check)?;
    let check_time = start.elapsed();
    let costs = costs(&system, &checked.outcome, &trained);
    Ok(AdversarialCheck {
        outcome: checked.outcome,
        adversaries,
        parts: [parts.as_slice(), &found].concat(),
        findings: checked.findings,
        noise_shares: checked.noise_shares,
        costs,
        check_time,
        model_steps: scouted.saturating_add(checked.model_steps),
        effort,
    })
}

/// What is said of the work before it begins.
fn steps_sentence(steps: u64) -> String {
    format!(
        "about {:.1} million steps of the model (--effort, --trajectories, --searched and --sweeps \
         change that)",
        steps as f64 / 1e6
    )
}

/// All that goes into a check's image before the check itself: networks that learned, and
/// sequences that were found on other trajectories.
///
/// # Errors
/// As [`check_against_adversaries`].
pub fn find_adversaries(
    case: &ParsedCase<'_>,
    learning: Option<&Learning>,
    observer: &mut dyn Observer,
) -> Result<Adversaries, Error> {
    let (_, mut adversaries) = learned(case, learning, observer)?;
    let parts = encode_parts(&adversaries)?;
    let case = case.with_adversaries(&parts)?;
    let meter = Meter::begin(observer, "search", scout::work(&case.system()));
    adversaries.found = tracing::info_span!("scout").in_scope(|| scout(&case, &meter))?;
    Ok(adversaries)
}

/// The networks alone.
fn learned(
    case: &ParsedCase<'_>,
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

/// Trains a network against every objective under every variant of a case that has one.
/// `observer` is told of every round, and may break off.
///
/// # Errors
/// As [`train`].
pub fn learn(
    case: &ParsedCase<'_>,
    learning: &Learning,
    observer: &mut dyn Observer,
) -> Result<Vec<Trained>, Error> {
    let mut short = case.system();
    let task = &mut short.task;
    task.plan.effort.iterations = SHORT;
    task.plan.effort.trajectories = task.plan.effort.searched;
    // A learner is told of margins, not of shares.
    for constraint in &mut task.constraints {
        constraint.probability = None;
    }
    let short = check::<LANES>(short, Watch::NONE)?.outcome;
    let task = &case.case.task;
    let mut trained = Vec::new();
    let all = (0..).zip(case.case.objectives());
    let known: Vec<_> = all
        .filter(|(_, objective)| learnable(task, *objective))
        .collect();
    let searching = case.case.plan.method.variants.iter().copied();
    let searching: Vec<Variant> = searching.filter(|one| searches(*one)).collect();
    let planned = searching.len() * known.len() * learning.rounds.rounds;
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
                Objective::Constraint(_) => task.horizon as f32,
            };
            found.map_or(f32::NAN, |found| steps * found.mean)
        };
        for variant in searching.iter().copied() {
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
fn learnable(task: &TaskFile, objective: Objective) -> bool {
    match objective {
        Objective::Return => true,
        Objective::Constraint(place) => {
            let constraint = task.constraints.get(usize::from(place));
            constraint.is_some_and(|one| one.constraint.kind == ConstraintKind::Mean)
        }
    }
}

fn costs(system: &System<'_>, outcome: &Outcome, trained: &[Trained]) -> Vec<AdversaryCost> {
    let task = &system.task;
    let mut costs = Vec::new();
    let searched = |estimate: &&Estimate| searches(estimate.variant);
    for estimate in outcome.estimates.iter().filter(searched) {
        let (variant, objective) = (estimate.variant, estimate.objective);
        let rollout = system.rollout(variant, objective);
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
        let cost = |name, mean, model_steps| AdversaryCost {
            objective,
            variant,
            name,
            mean,
            model_steps,
            gradient_steps: 0,
            time: None,
        };
        let rows = rows.into_iter();
        costs.extend(
            rows.filter_map(|(name, mean, steps)| mean.map(|mean| cost(name, mean, steps))),
        );
        costs.extend(found.network.zip(network).map(|(mean, one)| AdversaryCost {
            gradient_steps: one.gradient_steps,
            time: Some(one.time),
            ..cost(learner, mean, one.model_steps)
        }));
    }
    costs
}
