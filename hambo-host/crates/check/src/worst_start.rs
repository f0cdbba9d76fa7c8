//! Where in a box a controller starts worst (`[initial] kind = "worst"`): the adversary
//! chooses the initial state too.
//!
//! Starts are drawn in the box, scored by what constant adversaries and members do to the
//! controller without noise, moved to wherever the score falls, and scored again by the whole
//! search. The check then takes the worst of them, each with trajectories of its own.

use std::cmp::Ordering;

use hambo_core::adversary::{Starts, searches};
use hambo_core::image::Image;
use hambo_core::rollout::Rollout;
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Effort, Variant};

use super::case::Case;
use super::certify::WORST_STARTS;
use super::in_lanes::search_results;
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::Observer;
use hambo_base::random::Random;
use hambo_task::image::Adversaries;
use hambo_task::task::Initial;

/// Starts that are drawn for each objective, besides corners and the middle.
const DRAWN: usize = 1024;
/// The most corners of the box that are tried.
const MOST_CORNERS: usize = 64;
/// The worst of them, which are moved.
const MOVED: usize = 32;
/// Moves of each in a round. The first round reaches half the box, each other one half as far
/// as the one before.
const MOVES: usize = 16;
const ROUNDS: u32 = 10;
/// Sweeps of the search that has the last word.
const SWEEPS: u32 = 40;
/// Starts that are searched to the end, for each objective.
const SEARCHED: usize = 48;

/// A start and the least objective from it; minus infinity where it is no number.
#[derive(Clone, Debug)]
struct Scored {
    state: Vec<f32>,
    value: f32,
}

/// Finds the starts of a case whose task starts wherever it is worst; another case stays as it
/// is. The worst comes first, and every objective has its share of the list.
///
/// # Errors
/// If a part is bad, the task is too large or the observer stopped it.
pub fn find_worst_starts(case: &mut Case, observer: &mut dyn Observer) -> Result<(), Error> {
    if let Initial::Worst { low, high } = case.task.initial.clone() {
        let objectives = case.objectives().count() as u64;
        let meter = Meter::begin(observer, "worst starts", objectives * work(case)?);
        case.initial = worst_starts(case, &low, &high, &meter)?;
    }
    Ok(())
}

/// The worst initial states between `low` and `high`, one after the other.
fn worst_starts(
    case: &Case,
    low: &[f32],
    high: &[f32],
    meter: &Meter<'_>,
) -> Result<Vec<f32>, Error> {
    let all: Vec<Objective> = case.objectives().collect();
    let mut chosen: Vec<Vec<Scored>> = Vec::new();
    for (number, objective) in (0..).zip(&all) {
        let mut random = Random::new(case.effort.seed, number);
        chosen.push(of_objective(
            case,
            *objective,
            [low, high],
            &mut random,
            meter,
        )?);
    }
    // The worst of every objective, then the second of each, and so on.
    let mut states: Vec<Vec<f32>> = Vec::new();
    let deepest = chosen.iter().map(Vec::len).max().unwrap_or(0);
    for rank in 0..deepest {
        for scored in chosen.iter().filter_map(|one| one.get(rank)) {
            if states.len() < WORST_STARTS && !states.contains(&scored.state) {
                states.push(scored.state.clone());
            }
        }
    }
    Ok(states.concat())
}

/// Steps of the model for one objective; a step back counts as two.
fn work(case: &Case) -> Result<u64, Error> {
    let mut one = case.clone();
    // Any state does: only the adversary's starts are counted.
    one.task.initial = Initial::Data { always: false };
    one.initial = vec![0.0; case.task.state_names.len()];
    let bytes = one.image(&Adversaries::default())?;
    let image = Image::parse(bytes.as_bytes())?;
    let (variant, objective) = (comparing(case), Objective::Return);
    let starts = Starts::of(&Rollout {
        model: image.model(),
        policy: image.policy(),
        task: image.task(),
        variant,
        objective,
    });
    let corners = 1_usize.checked_shl(case.task.state_names.len() as u32);
    let tries = 1 + corners.unwrap_or(usize::MAX).min(MOST_CORNERS) + DRAWN;
    let forward = tries + ROUNDS as usize * MOVED * MOVES;
    let back = if searches(variant) { 3 * SWEEPS } else { 0 };
    let searched = MOVED.min(SEARCHED) * (1 + back as usize);
    Ok((forward + searched) as u64 * starts.count() as u64 * u64::from(case.task.horizon))
}

/// The variant by which starts are compared: without one that searches, mean propagation,
/// since whole members are numbered in another order.
fn comparing(case: &Case) -> Variant {
    let mut variants = case.task.method.variants.iter().copied();
    let variant = variants.find(|variant| searches(*variant));
    variant.unwrap_or(Variant::Mean)
}

/// The worst starts for one objective, worst first.
fn of_objective(
    case: &Case,
    objective: Objective,
    ends: [&[f32]; 2],
    random: &mut Random,
    meter: &Meter<'_>,
) -> Result<Vec<Scored>, Error> {
    let mut starts = score(case, objective, first_tries(ends, random), 0, meter)?;
    starts.sort_by(worst_first);
    starts.truncate(MOVED);
    for round in 1..=ROUNDS {
        let reach = 0.5_f32.powi(round as i32);
        let near = starts.iter().flat_map(|one| {
            let moved = (0..MOVES).map(|_| moved(&one.state, ends, reach, random));
            moved.collect::<Vec<_>>()
        });
        let near = score(case, objective, near.collect(), 0, meter)?;
        for (start, near) in starts.iter_mut().zip(near.chunks(MOVES)) {
            let best = near.iter().min_by(|a, b| worst_first(a, b));
            if let Some(best) = best.filter(|best| worst_first(best, start) == Ordering::Less) {
                *start = best.clone();
            }
        }
    }
    starts.sort_by(worst_first);
    starts.truncate(SEARCHED);
    let states = starts.into_iter().map(|one| one.state).collect();
    let mut starts = score(case, objective, states, SWEEPS, meter)?;
    starts.sort_by(worst_first);
    Ok(starts)
}

fn worst_first(a: &Scored, b: &Scored) -> Ordering {
    a.value.total_cmp(&b.value)
}

/// The middle, corners, and states that are drawn.
fn first_tries([low, high]: [&[f32]; 2], random: &mut Random) -> Vec<Vec<f32>> {
    let ends = || low.iter().zip(high);
    let middle = ends().map(|(low, high)| 0.5 * (low + high)).collect();
    let corners = 1_usize.checked_shl(low.len() as u32).unwrap_or(usize::MAX);
    let corner = |number: usize| -> Vec<f32> {
        let sides = ends().enumerate();
        let side = |(place, (low, high)): (usize, (&f32, &f32))| match number >> (place % 64) & 1 {
            0 => *low,
            _ => *high,
        };
        sides.map(side).collect()
    };
    let mut states = vec![middle];
    states.extend((0..corners.min(MOST_CORNERS)).map(corner));
    for _ in 0..DRAWN {
        states.push(
            ends()
                .map(|(low, high)| low + (high - low) * random.uniform())
                .collect(),
        );
    }
    states
}

/// A state near another, inside the box.
fn moved(state: &[f32], [low, high]: [&[f32]; 2], reach: f32, random: &mut Random) -> Vec<f32> {
    let ends = low.iter().zip(high);
    let places = state.iter().zip(ends);
    let moved = places.map(|(x, (low, high))| {
        let by = (2.0 * random.uniform() - 1.0) * reach * (high - low);
        (x + by).clamp(*low, *high)
    });
    moved.collect()
}

/// The least objective from each state over all starts of the adversary, after so many
/// sweeps of its search, without the system's own noise.
fn score(
    case: &Case,
    objective: Objective,
    states: Vec<Vec<f32>>,
    sweeps: u32,
    meter: &Meter<'_>,
) -> Result<Vec<Scored>, Error> {
    let variant = comparing(case);
    let mut tried = case.clone();
    // One searched trajectory from each.
    tried.task.initial = Initial::Data { always: false };
    tried.task.method.aleatoric_noise = false;
    tried.initial = states.concat();
    tried.effort = Effort {
        trajectories: 1,
        searched: states.len() as u32,
        iterations: sweeps,
        // Every start of the adversary is looked at.
        allocation: Allocation::Even,
        ..case.effort
    };
    let bytes = tried.image(&Adversaries::default())?;
    let image = Image::parse(bytes.as_bytes())?;
    let rollout = Rollout {
        model: image.model(),
        policy: image.policy(),
        task: image.task(),
        variant,
        objective,
    };
    let results = search_results(&image, &rollout, meter)?;
    let starts = Starts::of(&rollout).count();
    let values = results.chunks(starts).map(|of_state| {
        let values = of_state.iter().map(|one| match one.least.is_nan() {
            true => f32::NEG_INFINITY,
            false => one.least,
        });
        values.fold(f32::INFINITY, f32::min)
    });
    let scored = states.into_iter().zip(values);
    Ok(scored
        .map(|(state, value)| Scored { state, value })
        .collect())
}
