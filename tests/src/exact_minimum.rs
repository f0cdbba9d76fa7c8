//! The least return of a [`Terminating`] system over all choices of an
//! adversary, in f64.

use hambo_core::task::Variant;

use crate::terminating::{Exact, Terminating, Vector, dot};

/// The least return.
#[must_use]
pub fn exact_minimum(system: &Terminating, variant: Variant) -> f64 {
    match &system.exact {
        Exact::FirstExit {
            functional,
            limit,
            both,
        } => {
            let other = functional.map(|x| -x);
            let signs = [Some(*functional), both.then_some(other)];
            let exits = signs.into_iter().flatten();
            exits
                .map(|functional| first_exit(system, variant, &functional, *limit))
                .fold(system.neutral(), f64::min)
        }
        Exact::Cells => cheapest_cells(system, variant, CELL, CHOICES),
        Exact::NeverEnds(direction) => {
            let push = |state: &Vector| system.farthest(variant, &direction(state));
            system.walk(|_, state| push(state))
        }
    }
}

const CELL: f64 = 1e-4;
/// Etas on each side of 0.
const CHOICES: i32 = 80;

/// The return when the functional exceeds its limit as soon as it can.
fn first_exit(system: &Terminating, variant: Variant, functional: &Vector, limit: f64) -> f64 {
    // weights[i] is how a push i steps earlier shows in the functional.
    let mut weights = vec![*functional];
    let mut farthest = 0.0;
    let mut unpushed = system.start;
    for step in 0..system.horizon as usize {
        let weight = weights[step];
        farthest += dot(&weight, &system.farthest(variant, &weight));
        unpushed = system.next(&unpushed, &Vector::default());
        if dot(functional, &unpushed) + farthest > limit {
            return system.walk(|now, _| system.farthest(variant, &weights[step - now]));
        }
        weights.push(back(system, &weight));
    }
    f64::INFINITY
}

/// The transposed closed loop.
fn back(system: &Terminating, weight: &Vector) -> Vector {
    let action = dot(&system.input, weight);
    std::array::from_fn(|j| {
        let column: Vector = std::array::from_fn(|i| system.matrix[i][j]);
        weight[j] + dot(&column, weight) + system.gain[j] * action
    })
}

/// Every kept way is a real one, so the result is never below the minimum.
#[must_use]
pub fn cheapest_cells(system: &Terminating, variant: Variant, cell: f64, choices: i32) -> f64 {
    const REACH: f64 = 2.0;
    let pushes: Vec<Vector> = if variant == Variant::ContinuousAdversary {
        let etas = (-choices..=choices).map(|eta| f64::from(eta) / f64::from(choices));
        etas.map(|eta| system.push(&[eta, 0.0, 0.0])).collect()
    } else {
        system.offsets.to_vec()
    };
    let cells = (2.0 * REACH / cell) as usize + 1;
    let mut kept = vec![None; cells];
    kept[cells / 2] = Some((system.start, 0.0));
    let (mut least, mut weight) = (f64::INFINITY, 1.0);
    for step in 1..=system.horizon {
        let mut later: Vec<Option<(Vector, f64)>> = vec![None; cells];
        for (state, sum) in kept.iter().flatten() {
            for push in &pushes {
                let next = system.next(state, push);
                let (reward, ended) = (system.judge)(state, &next);
                let sum = sum + weight * reward;
                if ended || step == system.horizon {
                    least = least.min(sum);
                    continue;
                }
                let place = ((next[0] + REACH) / cell).clamp(0.0, cells as f64 - 1.0);
                let slot = &mut later[place as usize];
                if slot.is_none_or(|(_, other)| sum < other) {
                    *slot = Some((next, sum));
                }
            }
        }
        weight *= system.discount;
        kept = later;
    }
    least
}

/// The least return over every sequence of members, or over CA's box with
/// `levels` etas on each side of 0 in every dimension. For few steps.
#[must_use]
pub fn brute_force(system: &Terminating, variant: Variant, levels: usize) -> f64 {
    let pushes: Vec<Vector> = if variant == Variant::ContinuousAdversary {
        let etas = 2 * levels + 1;
        let places = 0..etas.pow(system.dimension() as u32);
        let eta = |place: usize, j: usize| {
            let number = place / etas.pow(j as u32) % etas;
            number as f64 / levels as f64 - 1.0
        };
        let etas = places.map(|place| std::array::from_fn(|j| eta(place, j)));
        etas.map(|eta| system.push(&eta)).collect()
    } else {
        system.offsets.to_vec()
    };
    try_all(system, &pushes, &system.start, system.horizon)
}

fn try_all(system: &Terminating, pushes: &[Vector], state: &Vector, steps: u32) -> f64 {
    if steps == 0 {
        return 0.0;
    }
    let returns = pushes.iter().map(|push| {
        let next = system.next(state, push);
        let (reward, ended) = (system.judge)(state, &next);
        if ended {
            reward
        } else {
            reward + system.discount * try_all(system, pushes, &next, steps - 1)
        }
    });
    returns.fold(f64::INFINITY, f64::min)
}
