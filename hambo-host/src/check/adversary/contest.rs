//! All adversaries against one controller, and what each found at what cost.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use hambo_core::adversary::{constant_starts, searches};
use hambo_core::check::{Estimate, Outcome};
use hambo_core::image::Image;
use hambo_core::rollout::Objective;
use hambo_core::variant::Variant;

use super::{Learning, Trained, Usual, train};
use crate::Error;
use crate::check::case::Case;
use crate::check::findings::{Findings, TRACED_TRAJECTORIES};
use crate::check::in_lanes::check_and_keep;
use crate::formats::image::TrainedAdversary;
use crate::reinforcement::RoundReport;

/// Sweeps of the search that tells how much there is to be found.
const SHORT: u32 = 4;

/// What one adversary found, and what it cost.
#[derive(Clone, Debug, PartialEq)]
pub struct Contender {
    /// CA or DA1.
    pub variant: Variant,
    /// Who.
    pub name: &'static str,
    /// The mean return it reached on the trajectories that are judged.
    pub mean: f32,
    /// Steps of the model; for a search at most, a step back counting as two.
    pub model_steps: u64,
    /// Gradient steps of a learner.
    pub gradient_steps: u64,
    /// Time.
    pub time: Duration,
}

/// A check with every adversary.
#[derive(Debug)]
pub struct Contest {
    /// The estimates over all of them, and the verdict.
    pub outcome: Outcome,
    /// Networks that were trained on the way.
    pub adversaries: Vec<TrainedAdversary>,
    /// What they chose on the first trajectories, for a report.
    pub findings: Vec<Findings>,
    /// What each found, variant by variant.
    pub contenders: Vec<Contender>,
}

/// Judges a case: constants first, then networks where `learning` says so,
/// then the core's search from all of them. `watch` is told of every round of
/// learning, and may break off.
///
/// # Errors
/// If a part is bad, a number is not finite, or the watcher broke off.
pub fn contest(
    case: &Case,
    learning: Option<&Learning>,
    watch: &mut dyn FnMut(Variant, &RoundReport) -> ControlFlow<()>,
) -> Result<Contest, Error> {
    let constants = || timed_check(&with_sweeps(case, 0), &[], 0);
    let (_, _, constant_time) = tracing::info_span!("constants").in_scope(constants)?;
    let trained = match learning {
        Some(learning) => tracing::info_span!("learn").in_scope(|| learn(case, learning, watch))?,
        None => Vec::new(),
    };
    let adversaries: Vec<_> = trained.iter().map(|one| one.adversary.clone()).collect();
    let sweeps = case.effort.iterations;
    let search = || timed_check(case, &adversaries, TRACED_TRAJECTORIES);
    let (outcome, findings, search_time) =
        tracing::info_span!("search", sweeps).in_scope(search)?;
    let times = [constant_time, search_time];
    let contenders = contenders(case, &outcome, &trained, times)?;
    Ok(Contest {
        outcome,
        adversaries,
        findings,
        contenders,
    })
}

/// Trains a network for every variant of a case that has one. `watch` is told
/// of every round, and may break off.
///
/// # Errors
/// As [`train`].
pub fn learn(
    case: &Case,
    learning: &Learning,
    watch: &mut dyn FnMut(Variant, &RoundReport) -> ControlFlow<()>,
) -> Result<Vec<Trained>, Error> {
    let (short, ..) = timed_check(&with_sweeps(case, SHORT), &[], 0)?;
    let variants = case.task.method.variants.iter();
    let trained = variants
        .filter(|variant| searches(**variant))
        .map(|variant| {
            let found = short.estimates.iter().find(|estimate| {
                estimate.variant == *variant && estimate.objective == Objective::Return
            });
            let usual = Usual {
                neutral: short.neutral,
                worst: found.map_or(short.neutral, |found| found.mean),
            };
            let mut watch = |report: &RoundReport| watch(*variant, report);
            train(case, *variant, usual, learning, &mut watch)
        });
    trained.collect()
}

fn with_sweeps(case: &Case, sweeps: u32) -> Case {
    let mut case = case.clone();
    case.effort.iterations = sweeps;
    case
}

fn timed_check(
    case: &Case,
    adversaries: &[TrainedAdversary],
    keep: u32,
) -> Result<(Outcome, Vec<Findings>, Duration), Error> {
    let bytes = case.image(adversaries)?;
    let image = Image::parse(bytes.as_bytes())?;
    let start = Instant::now();
    let (outcome, findings) = check_and_keep(&image, keep)?;
    Ok((outcome, findings, start.elapsed()))
}

fn contenders(
    case: &Case,
    outcome: &Outcome,
    trained: &[Trained],
    [constant_time, search_time]: [Duration; 2],
) -> Result<Vec<Contender>, Error> {
    let bytes = case.image(&[])?;
    let image = Image::parse(bytes.as_bytes())?;
    let steps = u64::from(case.task.horizon) * u64::from(case.effort.trajectories);
    let searched = |estimate: &&Estimate| {
        estimate.objective == Objective::Return && searches(estimate.variant)
    };
    let mut contenders = Vec::new();
    for estimate in outcome.estimates.iter().filter(searched) {
        let variant = estimate.variant;
        let walked = steps * constant_starts(variant, &image.model().dynamics) as u64;
        let sweeps = 1 + 3 * u64::from(case.effort.iterations);
        let [each, search, learner] = match variant {
            Variant::ContinuousAdversary => ["constants", "adjoint search", "soft actor-critic"],
            _ => ["single members", "sequence search", "clipped double DQN"],
        };
        let network = trained.iter().find(|one| one.adversary.variant == variant);
        let network = network.zip(estimate.network_mean);
        let contender = |name, mean, model_steps, gradient_steps, time| Contender {
            variant,
            name,
            mean,
            model_steps,
            gradient_steps,
            time,
        };
        contenders.extend([
            contender(each, estimate.start_mean, walked, 0, constant_time),
            contender(
                search,
                estimate.search_mean,
                walked * sweeps,
                0,
                search_time,
            ),
        ]);
        contenders.extend(network.map(|(one, mean)| {
            contender(learner, mean, one.model_steps, one.gradient_steps, one.time)
        }));
    }
    Ok(contenders)
}
