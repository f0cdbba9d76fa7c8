//! Where in a box a controller starts worst (`[initial] kind = "worst"`): the adversary
//! chooses the initial state too.
//!
//! Starts are drawn in the box, scored by what constant adversaries and members do to the
//! controller without noise, moved to wherever the score falls, at random and down the
//! derivative in the start, and scored again by the whole search. The check then takes the
//! worst of them, each with trajectories of its own.

use std::cmp::Ordering;

use hambo_core::adversary::{Starts, searches};
use hambo_core::task::Objective;
use hambo_core::task::{Allocation, Variant};

use super::parallel::search_all;
use super::start_slope::{WALK, slopes};
use crate::case::Case;
use crate::case::demand::WORST_STARTS;
use crate::case::parsed_case::ParsedCase;
use crate::case::system::System;
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::Observer;
use hambo_base::random::Random;
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
/// Rounds of moves down the derivative: along its signs and along itself, each of these parts of
/// the box far.
const DESCENTS: usize = 6;
const REACHES: [f32; 8] = [
    0.5,
    0.25,
    0.125,
    0.0625,
    0.031_25,
    0.015_625,
    0.003_906_25,
    0.000_976_562_5,
];
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
    let Initial::Worst { low, high } = case.task.initial.clone() else {
        return Ok(());
    };
    let mut tried = case.clone();
    // One searched trajectory without noise from each listed state; the list is replaced.
    tried.task.initial = Initial::Data { always: false };
    tried.plan.method.aleatoric_noise = false;
    tried.initial.clone_from(&low);
    tried.plan.effort.trajectories = 1;
    // Every start of the adversary is looked at.
    tried.plan.effort.allocation = Allocation::Even;
    case.initial = tried.parsed(|tried| worst_starts(&tried, [&low, &high], observer))?;
    Ok(())
}

/// The worst initial states between `low` and `high`, one after the other.
fn worst_starts(
    case: &ParsedCase<'_>,
    ends: [&[f32]; 2],
    observer: &mut dyn Observer,
) -> Result<Vec<f32>, Error> {
    let system = case.system();
    let all: Vec<Objective> = system.task.objectives().collect();
    let meter = Meter::begin(observer, "worst starts", all.len() as u64 * work(&system));
    let mut chosen: Vec<Vec<Scored>> = Vec::new();
    for (number, objective) in (0..).zip(&all) {
        let mut random = Random::new(case.effort.seed, number);
        chosen.push(of_objective(
            &system,
            *objective,
            ends,
            &mut random,
            &meter,
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
fn work(system: &System<'_>) -> u64 {
    let variant = comparing(system);
    let starts = Starts::of(&system.rollout(variant, Objective::Return));
    let (states, horizon) = (system.task.state_dimension(), system.task.horizon);
    let corners = 1_usize.checked_shl(states as u32);
    let tries = 1 + corners.unwrap_or(usize::MAX).min(MOST_CORNERS) + DRAWN;
    let forward = tries + ROUNDS as usize * MOVED * MOVES;
    let back = if searches(variant) { 3 * SWEEPS } else { 0 };
    let searched = MOVED.min(SEARCHED) * (1 + back as usize);
    let descents = if descends(variant) { DESCENTS } else { 0 };
    let down = descents * MOVED * (1 + 2 * REACHES.len());
    let all = (forward + searched + down) as u64 * starts.count() as u64;
    (all + (descents * MOVED) as u64 * WALK) * u64::from(horizon)
}

/// Whether a variant has the derivative of a return in the start with its pushes held.
fn descends(variant: Variant) -> bool {
    variant == Variant::ContinuousAdversary
}

/// The variant by which starts are compared: without one that searches, mean propagation,
/// since whole members are numbered in another order.
fn comparing(system: &System<'_>) -> Variant {
    let mut variants = system.task.plan.method.variants.iter().copied();
    let variant = variants.find(|variant| searches(*variant));
    variant.unwrap_or(Variant::Mean)
}

/// The worst starts for one objective, worst first.
fn of_objective(
    system: &System<'_>,
    objective: Objective,
    ends: [&[f32]; 2],
    random: &mut Random,
    meter: &Meter<'_>,
) -> Result<Vec<Scored>, Error> {
    let mut starts = score(system, objective, first_tries(ends, random), 0, meter)?;
    starts.sort_by(worst_first);
    starts.truncate(MOVED);
    for round in 1..=ROUNDS {
        let reach = 0.5_f32.powi(round as i32);
        let near = starts.iter().flat_map(|one| {
            let moved = (0..MOVES).map(|_| moved(&one.state, ends, reach, random));
            moved.collect::<Vec<_>>()
        });
        let near = score(system, objective, near.collect(), 0, meter)?;
        keep_worse(&mut starts, &near, MOVES);
    }
    let descents = if descends(comparing(system)) {
        DESCENTS
    } else {
        0
    };
    for _ in 0..descents {
        let states: Vec<&[f32]> = starts.iter().map(|one| one.state.as_slice()).collect();
        let slopes = slopes(system, objective, &states, meter)?;
        let lower = starts.iter().zip(&slopes);
        let lower = lower.flat_map(|(one, slope)| down(&one.state, slope, ends));
        let lower = score(system, objective, lower.collect(), 0, meter)?;
        keep_worse(&mut starts, &lower, 2 * REACHES.len());
    }
    starts.sort_by(worst_first);
    starts.truncate(SEARCHED);
    let states = starts.into_iter().map(|one| one.state).collect();
    let mut starts = score(system, objective, states, SWEEPS, meter)?;
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

/// Takes the worst of the tries of each start where it is worse than the start itself.
fn keep_worse(starts: &mut [Scored], tries: &[Scored], each: usize) {
    for (start, tries) in starts.iter_mut().zip(tries.chunks(each)) {
        let worst = tries.iter().min_by(|a, b| worst_first(a, b));
        if let Some(worst) = worst.filter(|worst| worst_first(worst, start) == Ordering::Less) {
            *start = worst.clone();
        }
    }
}

/// States down a slope from another, inside the box.
fn down(state: &[f32], slope: &[f32], [low, high]: [&[f32]; 2]) -> Vec<Vec<f32>> {
    // In units of the box, so that the step does not depend on a state's own.
    let ends = || low.iter().zip(high);
    let scaled: Vec<f32> = slope
        .iter()
        .zip(ends())
        .map(|(slope, (low, high))| slope * (high - low))
        .map(|slope| if slope.is_finite() { slope } else { 0.0 })
        .collect();
    let steepest = scaled.iter().fold(0.0_f32, |most, x| most.max(x.abs()));
    let step = |direction: &dyn Fn(f32) -> f32, reach: f32| -> Vec<f32> {
        let places = state.iter().zip(&scaled).zip(ends());
        let moved = places.map(|((x, slope), (low, high))| {
            (x - reach * (high - low) * direction(*slope)).clamp(*low, *high)
        });
        moved.collect()
    };
    let sign = |slope: f32| if slope == 0.0 { 0.0 } else { slope.signum() };
    let itself = |slope: f32| {
        if steepest > 0.0 {
            slope / steepest
        } else {
            0.0
        }
    };
    let directions: [&dyn Fn(f32) -> f32; 2] = [&sign, &itself];
    let all = directions.into_iter();
    all.flat_map(|direction| REACHES.map(|reach| step(direction, reach)))
        .collect()
}

/// The least objective from each state over all starts of the adversary, after `sweeps`
/// of its search, without the system's own noise.
fn score(
    system: &System<'_>,
    objective: Objective,
    states: Vec<Vec<f32>>,
    sweeps: u32,
    meter: &Meter<'_>,
) -> Result<Vec<Scored>, Error> {
    let listed = states.concat();
    let mut system = system.clone();
    let task = &mut system.task;
    task.initial.first = &listed;
    task.plan.effort.searched = states.len() as u32;
    task.plan.effort.iterations = sweeps;
    let rollout = system.rollout(comparing(&system), objective);
    let (results, _) = search_all(&rollout, 0, meter)?;
    let starts = Starts::of(&rollout).count();
    let values = results.chunks(starts).map(|of_state| {
        let values = of_state.iter().map(|one| {
            if one.least.is_nan() {
                f32::NEG_INFINITY
            } else {
                one.least
            }
        });
        values.fold(f32::INFINITY, f32::min)
    });
    let scored = states.into_iter().zip(values);
    Ok(scored
        .map(|(state, value)| Scored { state, value })
        .collect())
}
