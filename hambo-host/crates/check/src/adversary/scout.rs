//! What a search finds on trajectories of its own, so that the check can try it on all of
//! its trajectories. Nothing found here is scored on the trajectory it was found on.

use hambo_core::adversary::{Focus, Level, Starts, searches};
use hambo_core::task::Objective;
use hambo_core::task::Variant;

use crate::case::parsed_case::{ParsedCase, encode_parts, searched_elsewhere};
use crate::case::system::System;
use crate::search::parallel::{search_all, search_promising, work_of};
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_task::image::{Adversaries, FoundAdversary};

/// Sequences that a check tries for each objective and variant.
const MOST_SEQUENCES: usize = 4;

/// Searches [other trajectories](ParsedCase::elsewhere), and picks the sequences that lower the
/// others most.
///
/// # Errors
/// If a part is bad or the task is too large.
pub(super) fn scout(
    case: &ParsedCase<'_>,
    meter: &Meter<'_>,
) -> Result<Vec<FoundAdversary>, Error> {
    let other = case.elsewhere();
    let system = other.system();
    let mut found = Vec::new();
    for (objective, variant) in searched(&system) {
        let mut sequences = sequences(&system, variant, objective, meter)?;
        if (variant, objective) == (Variant::ContinuousAdversary, Objective::Return) {
            sequences.extend(case.tried.iter().cloned());
        }
        let Some(number) = system.task.objective_number(objective) else {
            continue;
        };
        let tried = FoundAdversary {
            variant,
            objective: number,
            sequences,
        };
        let picked = pick(&other, tried, objective, meter)?;
        if !picked.sequences.is_empty() {
            found.push(picked);
        }
    }
    Ok(found)
}

/// Every objective under every variant that searches.
fn searched(system: &System<'_>) -> Vec<(Objective, Variant)> {
    let variants = system.task.plan.method.variants.iter().copied();
    let variants = variants.filter(|variant| searches(*variant));
    let all = system.task.objectives();
    all.flat_map(|objective| variants.clone().map(move |variant| (objective, variant)))
        .collect()
}

/// Steps of the model that a scout takes, but for the few that try what it found.
pub(super) fn work(system: &System<'_>) -> u64 {
    let mut system = system.clone();
    let effort = &mut system.task.plan.effort;
    effort.searched = searched_elsewhere(effort.searched);
    let system = &system;
    let each = searched(system).into_iter().map(|(objective, variant)| {
        let rollout = system.rollout(variant, objective);
        let starts = Starts::of(&rollout).count();
        match Focus::of(&rollout) {
            Some(Focus { searched, .. }) => work_of(&rollout, Level::Trial, starts)
                .saturating_add(work_of(&rollout, Level::Searched, searched)),
            None => work_of(&rollout, Level::Searched, starts),
        }
    });
    each.fold(0, u64::saturating_add)
}

/// The worst choice on every trajectory.
fn sequences(
    system: &System<'_>,
    variant: Variant,
    objective: Objective,
    meter: &Meter<'_>,
) -> Result<Vec<Vec<f32>>, Error> {
    let rollout = system.rollout(variant, objective);
    let findings = match Focus::of(&rollout) {
        Some(Focus { searched, .. }) => search_promising(&rollout, searched, meter)?,
        None => search_all(&rollout, u32::MAX, meter)?.1,
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

/// The few sequences that together lower the others' trajectories most, one after the
/// other; those that lower nothing are left.
fn pick(
    case: &ParsedCase<'_>,
    tried: FoundAdversary,
    objective: Objective,
    meter: &Meter<'_>,
) -> Result<FoundAdversary, Error> {
    let all = encode_parts(&Adversaries {
        networks: Vec::new(),
        found: vec![tried.clone()],
    })?;
    let mut forward = case.with_adversaries(&all)?;
    forward.effort.iterations = 0;
    let system = forward.system();
    let rollout = system.rollout(tried.variant, objective);
    let (results, _) = search_all(&rollout, 0, meter)?;
    let starts = Starts::of(&rollout);
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
