//! Would one more search find less? Where no grid can tell the worst case, the search is
//! begun again from random signs, and each of these restarts is compared with all the others.
//!
//! A restart counts if the mean of the least returns, without it, would lie higher by more
//! than epsilon. Of exchangeable restarts the share that counts estimates the probability that
//! one more would count. This is a statement about the search: what no restart can find, none
//! of them shows.

use hambo_core::adversary::{Level, Starts};
use hambo_core::estimate::probability_limit;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use serde::{Deserialize, Serialize};

use super::parallel::{search_all, work_of};
use crate::case::parsed_case::{ParsedCase, encode_parts};
use crate::number::Number;
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::Observer;
use hambo_base::random::Random;
use hambo_task::image::{Adversaries, FoundAdversary};

/// Searches that begin from signs of their own.
pub const RESTARTS: usize = 20;

/// Epsilon, as a share of what the adversary takes from the neutral return.
pub const EPSILON: f64 = 0.01;

/// The limit of the probability fails with this probability.
const DELTA: f32 = 0.05;

/// Added to the check's seed.
const OTHER_SIGNS: u64 = 5 << 32;

/// What the restarts say of the search for the return's worst case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Restarts {
    /// How many there were.
    pub count: u32,
    /// How many of them lowered the mean by more than epsilon below what all other searches
    /// reached.
    pub lowered: u32,
    /// Epsilon, in units of the return.
    pub epsilon: Number,
    /// The upper 95 % limit of the probability that one more would (Clopper and Pearson).
    pub limit: Number,
    /// The mean that all searches together reached, on trajectories that are not the check's.
    pub least: Number,
    /// The same without the restarts.
    pub without: Number,
}

/// What the restarts say, and what they found.
pub struct Restarted {
    /// What they say.
    pub restarts: Restarts,
    /// The worst etas of every trajectory.
    pub sequences: Vec<Vec<f32>>,
}

/// Searches again from random signs, beside the search's own starts. None if the continuous
/// adversary is not among the variants.
///
/// # Errors
/// If a part is bad, the task is too large or the observer stopped it.
pub fn restarts(
    case: &ParsedCase<'_>,
    observer: &mut dyn Observer,
) -> Result<Option<Restarted>, Error> {
    let variant = Variant::ContinuousAdversary;
    let (task, dynamics) = (case.image.task(), &case.image.model().dynamics);
    if !task.plan.method.variants.contains(&variant) {
        return Ok(None);
    }
    let case = case.elsewhere();
    let length = dynamics.outputs() * task.horizon as usize;
    let seed = case.effort.seed.wrapping_add(OTHER_SIGNS);
    let sequences = (0..).take(RESTARTS).map(|stream| {
        let mut random = Random::new(seed, stream);
        let signs = (0..length).map(|_| if random.uniform() < 0.5 { -1.0 } else { 1.0 });
        signs.collect()
    });
    let parts = encode_parts(&Adversaries {
        networks: Vec::new(),
        found: vec![FoundAdversary {
            variant,
            objective: 0,
            sequences: sequences.collect(),
        }],
    })?;
    let case = case.with_adversaries(&parts)?;
    let system = case.system();
    let rollout = system.rollout(variant, Objective::Return);
    let meter = Meter::begin(
        observer,
        "restarts",
        work_of(&rollout, Level::Searched, Starts::of(&rollout).count()),
    );
    let (results, findings) = search_all(&rollout, u32::MAX, &meter)?;
    let starts = Starts::of(&rollout);
    let first = starts.constants + starts.members + starts.turns;
    let trajectories = results.chunks_exact(starts.count());
    let neutral = trajectories.clone().filter_map(|all| all.first());
    let neutral = mean(neutral.map(|one| f64::from(one.start_value)));
    let values: Vec<Vec<f64>> = trajectories
        .map(|searches| searches.iter().map(|one| f64::from(one.least)).collect())
        .collect();
    let worst = findings.worst().map(|choice| choice.eta.clone());
    Ok(Some(Restarted {
        restarts: judge(&values, first, neutral),
        sequences: worst.collect(),
    }))
}

/// `values` are the least returns of every search, trajectory by trajectory; those from
/// `first` on are restarts.
fn judge(values: &[Vec<f64>], first: usize, neutral: f64) -> Restarts {
    // The mean of the least that any search reached, but for one of them.
    let least_without = |left_out: &dyn Fn(usize) -> bool| {
        mean(values.iter().map(|searches| {
            let counted = searches.iter().enumerate();
            let counted = counted.filter(|(place, _)| !left_out(*place));
            counted.fold(f64::INFINITY, |least, (_, value)| {
                // A search that is not finite has found the worst.
                if value.is_nan() {
                    f64::NEG_INFINITY
                } else {
                    least.min(*value)
                }
            })
        }))
    };
    let least = least_without(&|_| false);
    let without = least_without(&|place| place >= first);
    let epsilon = EPSILON * (neutral - least);
    let searches = values.first().map_or(0, Vec::len);
    let lowers = |restart: &usize| {
        let others = least_without(&|place| place == *restart);
        // Whatever is not finite counts.
        let close = others - least <= epsilon;
        !close
    };
    let lowered = (first..searches).filter(lowers).count() as u32;
    let count = searches.saturating_sub(first) as u32;
    Restarts {
        count,
        lowered,
        epsilon: Number(epsilon),
        limit: Number(1.0 - f64::from(probability_limit(count, lowered, DELTA))),
        least: Number(least),
        without: Number(without),
    }
}

fn mean(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count();
    values.sum::<f64>() / count.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restarts_that_find_nothing_new_leave_what_20_can_say() {
        // Two searches of its own, then 20 restarts, on three trajectories.
        let values = vec![[[0.0, -10.0].as_slice(), &[-10.05; 20]].concat(); 3];
        let found = judge(&values, 2, 0.0);
        assert_eq!((found.count, found.lowered), (20, 0));
        // 0.95^(1/20).
        assert!((found.limit.0 - 0.139).abs() < 1e-3, "{found:?}");
        assert!((found.without.0 + 10.0).abs() < 1e-12);
        assert!((found.least.0 + 10.05).abs() < 1e-12);
    }

    #[test]
    fn each_restart_that_alone_finds_less_counts() {
        // Restarts 3 and 7 are the lowest on one trajectory each, 9 by less than epsilon.
        let mut values = vec![vec![-10.0; 22]; 3];
        for (trajectory, (restart, value)) in [(3, -14.0), (7, -12.0), (9, -10.01)]
            .into_iter()
            .enumerate()
        {
            values[trajectory][2 + restart] = value;
        }
        let found = judge(&values, 2, 0.0);
        assert_eq!(found.lowered, 2);
        assert!(found.limit.0 > 0.2 && found.limit.0 < 0.35, "{found:?}");
    }

    #[test]
    fn what_is_not_finite_counts() {
        let mut values = vec![vec![-10.0; 22]; 2];
        values[0][5] = f64::NAN;
        assert!(judge(&values, 2, 0.0).lowered > 0);
        assert!(judge(&vec![vec![-10.0; 22]; 2], 2, f64::NAN).lowered > 0);
    }
}
