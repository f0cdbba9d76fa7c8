//! What a search finds on trajectories of its own, so that the check can try it on all of
//! its trajectories. Nothing found here is scored on the trajectory it was found on.

use hambo_core::adversary::{Focus, Level, SearchResult, Starts, searches};
use hambo_core::image::Image;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::Rollout;
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use crate::case::Case;
use crate::in_lanes::{search_all, search_promising, work_of};
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_task::image::{Adversaries, FoundAdversary};

/// Sequences that a check tries for each objective and variant.
const MOST_SEQUENCES: usize = 4;

/// Searches as many trajectories as the check will, and picks the sequences that lower
/// the others most.
///
/// # Errors
/// If a part is bad or the task is too large.
pub(super) fn scout(
    case: &Case,
    adversaries: &Adversaries,
    meter: &Meter<'_>,
) -> Result<Vec<FoundAdversary>, Error> {
    let other = case.elsewhere();
    let mut found = Vec::new();
    for (number, objective) in (0..).zip(case.objectives()) {
        let variants = case.task.method.variants.iter().copied();
        for variant in variants.filter(|variant| searches(*variant)) {
            let mut sequences = sequences(&other, adversaries, variant, objective, meter)?;
            if (variant, objective) == (Variant::ContinuousAdversary, Objective::Return) {
                sequences.extend(case.tried.iter().cloned());
            }
            let tried = FoundAdversary {
                variant,
                objective: number,
                sequences,
            };
            let picked = pick(&other, adversaries, tried, objective, meter)?;
            if !picked.sequences.is_empty() {
                found.push(picked);
            }
        }
    }
    Ok(found)
}

/// Steps of the model that a scout takes, but for the few that try what it found.
pub(super) fn work(case: &Case, adversaries: &Adversaries) -> Result<u64, Error> {
    let bytes = case.image(adversaries)?;
    let image = Image::parse(bytes.as_bytes())?;
    let variants = case.task.method.variants.iter().copied();
    let searching: Vec<Variant> = variants.filter(|variant| searches(*variant)).collect();
    let each = case.objectives().flat_map(|objective| {
        let of = searching.iter().map(move |variant| (objective, *variant));
        of.collect::<Vec<_>>()
    });
    let each = each.map(|(objective, variant)| {
        let rollout = rollout_of(&image, variant, objective);
        let starts = Starts::of(&rollout).count();
        match Focus::of(&rollout) {
            Some(Focus { searched, .. }) => work_of(&rollout, Level::Trial, starts)
                .saturating_add(work_of(&rollout, Level::Searched, searched)),
            None => work_of(&rollout, Level::Searched, starts),
        }
    });
    Ok(each.fold(0, u64::saturating_add))
}

/// The worst choice on every trajectory.
fn sequences(
    case: &Case,
    adversaries: &Adversaries,
    variant: Variant,
    objective: Objective,
    meter: &Meter<'_>,
) -> Result<Vec<Vec<f32>>, Error> {
    let bytes = case.image(adversaries)?;
    let image = Image::parse(bytes.as_bytes())?;
    let rollout = rollout_of(&image, variant, objective);
    let findings = match Focus::of(&rollout) {
        Some(Focus { searched, .. }) => search_promising(&image, &rollout, searched, meter)?,
        None => search_all(&image, &rollout, meter)?.1,
    };
    let worst = findings.worst().map(|choice| match variant {
        Variant::ContinuousAdversary => choice.eta.clone(),
        _ => choice
            .members
            .iter()
            .map(|member| f32::from(*member))
            .collect(),
    });
    Ok(worst.collect())
}

fn rollout_of<'i>(
    image: &'i Image<'i>,
    variant: Variant,
    objective: Objective,
) -> Rollout<'i, StoredPolicy<'i>> {
    Rollout {
        model: image.model(),
        policy: image.policy(),
        task: image.task(),
        variant,
        objective,
    }
}

fn search(
    case: &Case,
    adversaries: &Adversaries,
    variant: Variant,
    objective: Objective,
    meter: &Meter<'_>,
) -> Result<(Starts, Vec<SearchResult>), Error> {
    let bytes = case.image(adversaries)?;
    let image = Image::parse(bytes.as_bytes())?;
    let rollout = rollout_of(&image, variant, objective);
    let (results, _) = search_all(&image, &rollout, meter)?;
    Ok((Starts::of(&rollout), results))
}

/// The few sequences that together lower the others' trajectories most, one after the
/// other; those that lower nothing are left.
fn pick(
    case: &Case,
    adversaries: &Adversaries,
    tried: FoundAdversary,
    objective: Objective,
    meter: &Meter<'_>,
) -> Result<FoundAdversary, Error> {
    let mut forward = case.clone();
    forward.effort.iterations = 0;
    let all = Adversaries {
        found: vec![tried.clone()],
        ..adversaries.clone()
    };
    let (starts, results) = search(&forward, &all, tried.variant, objective, meter)?;
    let first = starts.constants + starts.members + starts.turns;
    let values: Vec<Vec<f32>> = results
        .chunks_exact(starts.count())
        .map(|trajectory| trajectory.iter().map(|one| one.start_value).collect())
        .collect();
    let picked = greedy(&values, first, tried.sequences.len());
    let sequences = picked
        .iter()
        .filter_map(|place| tried.sequences.get(*place));
    Ok(FoundAdversary {
        sequences: sequences.cloned().collect(),
        ..tried
    })
}

/// `values` are those of every start, trajectory by trajectory; sequence k, which was found
/// on trajectory k, is start `first + k`.
fn greedy(values: &[Vec<f32>], first: usize, sequences: usize) -> Vec<usize> {
    let own = |start: usize| (first..first + sequences).contains(&start);
    let mut least: Vec<f32> = values
        .iter()
        .map(|starts| {
            let others = starts.iter().enumerate().filter(|(start, _)| !own(*start));
            others
                .map(|(_, value)| *value)
                .fold(f32::INFINITY, f32::min)
        })
        .collect();
    let mut picked = Vec::new();
    while picked.len() < MOST_SEQUENCES {
        let gain = |sequence: usize| -> f64 {
            let trajectories = values.iter().zip(&least).enumerate();
            let others = trajectories.filter(|(trajectory, _)| *trajectory != sequence);
            let gains = others.map(|(_, (starts, least))| {
                let value = starts.get(first + sequence).copied().unwrap_or(*least);
                f64::from((least - value).max(0.0))
            });
            gains.sum()
        };
        let left = (0..sequences).filter(|sequence| !picked.contains(sequence));
        let best = left.max_by(|a, b| gain(*a).total_cmp(&gain(*b)));
        let Some(best) = best.filter(|best| gain(*best) > 0.0) else {
            break;
        };
        for (trajectory, (least, starts)) in least.iter_mut().zip(values).enumerate() {
            if let Some(value) = starts.get(first + best).filter(|_| trajectory != best) {
                *least = least.min(*value);
            }
        }
        picked.push(best);
    }
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lowers_the_others_is_picked_and_what_helps_only_at_home_is_not() {
        // One constant start, then the sequences found on trajectories 0, 1 and 2.
        let values = vec![
            vec![0.0, -9.0, -1.0, 0.0],
            vec![0.0, 0.0, -5.0, 0.0],
            vec![0.0, 0.0, -3.0, -8.0],
        ];
        assert_eq!(greedy(&values, 1, 3), [1]);
    }
}
