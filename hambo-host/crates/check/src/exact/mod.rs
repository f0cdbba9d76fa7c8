//! The exact worst case where it can be had: for up to three states, backward dynamic
//! programming on a grid, through the core's own step.
//!
//! V_t(s) = min over eta of E[r + (1 − end) V_{t+1}(s′)] is the value of an adversary that
//! sees the state and knows nothing of the noise to come. The search of a check knows its
//! trajectory's noise, so with noise it may lie below; without noise the two are the same
//! number. The grid's own error shows in the difference to a grid of half as many points.
//!
//! | file | what |
//! |---|---|
//! | [`grid`] | points, and values between them |
//! | [`points`] | etas and noise that are tried |
//! | [`step`] | the core's step for these |
//! | [`backward`] | the recursion |
//! | [`greedy`] | the adversary that follows its values |

mod backward;
mod greedy;
mod grid;
mod points;
mod step;

use hambo_core::numeric::CapacityError;
use std::time::Instant;

use hambo_core::adversary::Level;
use hambo_core::policy::StoredPolicy;
use hambo_core::rollout::{Buffers, Rollout};
use hambo_core::task::InitialKind;
use hambo_core::task::Objective;
use hambo_core::task::Variant;
use serde::{Deserialize, Serialize};

pub use self::grid::MOST_STATES;
use crate::case::parsed_case::ParsedCase;
use crate::exact::backward::Values;
use crate::exact::greedy::Walk;
use crate::exact::grid::{Axis, Grid};
use crate::exact::points::{etas, etas_of_each, noise};
use crate::exact::step::LANES;
use crate::number::Number;
use hambo_base::Error;
use hambo_base::meter::Meter;
use hambo_base::observer::Observer;
use hambo_task::task::Wrap;

/// Points of each state at first.
pub const POINTS: usize = 61;

/// Choices at all points and steps, at most, of a grid that is made finer: some seconds.
const MOST_WORK: u64 = 300_000_000;

/// The same of one that is fine enough: a tenth of a second.
const LITTLE_WORK: u64 = 5_000_000;

/// Trajectories at whose starts the value is taken.
const STARTS: u32 = 256;

/// What is added to the box that they reach, as a share of its width, at each end.
const ROOM: f32 = 0.15;

/// How often the box is made wider at most.
const MOST_WIDENINGS: u32 = 8;

/// The largest difference of the two grids, as a share of the value.
const LARGEST_DIFFERENCE: f64 = 0.02;

/// What the grid says of the return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExactValue {
    /// The mean over the task's starts, or the least where it starts wherever it is worst.
    pub value: Number,
    /// How far the same on half as many points lies away.
    pub difference: Number,
    /// Whether that is more than 2 % of it, or the worst trajectories leave the grid.
    pub too_coarse: bool,
    /// Points of each state.
    pub points: usize,
    /// How long it took.
    pub seconds: Number,
}

/// The value, and the etas of the greedy adversary on a few trajectories.
pub struct Exact {
    pub value: ExactValue,
    /// One sequence for each.
    pub sequences: Vec<Vec<f32>>,
}

/// Trajectories for which a greedy sequence is made.
const SEQUENCES: u32 = 4;

/// Whether a case can be solved: few states, a controller without chance, CA among the
/// variants, and no noise that stays for an episode, which no state tells.
pub(crate) fn solvable(case: &ParsedCase<'_>) -> bool {
    let task = case.image.task();
    task.state_dimension() <= MOST_STATES
        && case.image.policy().is_deterministic()
        && case.image.model().noise.offsets.is_empty()
        && task
            .plan
            .method
            .variants
            .contains(&Variant::ContinuousAdversary)
}

/// Solves a case's return on a grid of `points` for each state, or finer. The sequences are
/// found on trajectories that are not the check's.
///
/// # Errors
/// If the task has more than three states, the controller is left to chance or something stays
/// for an episode, or the task is too large to be counted.
pub fn exact(
    case: &ParsedCase<'_>,
    points: usize,
    observer: &mut dyn Observer,
) -> Result<Exact, Error> {
    let states = case.image.task().state_dimension();
    if !solvable(case) {
        let text = format!(
            "--exact: a grid takes at most {MOST_STATES} states, a controller without chance, \
             --variant ca and a model whose noise does not stay for an episode, and the task \
             has {states} states\n\
             help: leave it out; --effort thorough begins the search again and says whether one \
             more would find less"
        );
        return Err(Error::Usage(text));
    }
    let begin = Instant::now();
    let system = case.elsewhere();
    let system = system.system();
    let rollout = system.rollout(Variant::ContinuousAdversary, Objective::Return);
    let (task, wraps) = (rollout.task, &case.case.task.wraps);
    let noisy = task.plan.method.aleatoric_noise;
    let mut ends = reached(&rollout)?;
    let moved = task.moved_states();
    let [fine_etas, coarse_etas] = etas_of_each(moved);
    let work = |points: usize, etas: usize| {
        let of_point = etas.pow(moved as u32) * noise(moved, noisy, &rollout.model.noise).len();
        let each = of_point as u64 * u64::from(task.horizon);
        (points.saturating_pow(states as u32) as u64).saturating_mul(each)
    };
    let least = work(points.div_ceil(2), coarse_etas).saturating_add(work(points, fine_etas));
    let meter = Meter::begin(observer, "grid", least);
    let solve = |ends: &[[f32; 2]], points: usize, etas: usize| -> Result<Values, Error> {
        let grid = grid(ends, wraps, points);
        let values = Values::new(&rollout, grid, etas, &meter)?;
        meter.ensure_not_stopped()?;
        Ok(values)
    };
    let walks = |values: &Values| -> Result<Vec<Walk>, CapacityError> {
        spread(task.plan.effort.searched, SEQUENCES)
            .map(|trajectory| values.greedy(&rollout, trajectory))
            .collect()
    };
    // The worst trajectories may go farther than those that showed the box.
    let mut points = points;
    let mut coarse = solve(&ends, points.div_ceil(2), coarse_etas)?;
    for _ in 0..MOST_WIDENINGS {
        if !widen(&mut ends, &walks(&coarse)?, wraps) {
            break;
        }
        meter.plan(work(points.div_ceil(2), coarse_etas));
        coarse = solve(&ends, points.div_ceil(2), coarse_etas)?;
    }
    let mut fine = solve(&ends, points, fine_etas)?;
    // Twice as fine, as long as it is too coarse and does not take long, or takes no time.
    loop {
        let next = work(2 * points - 1, fine_etas);
        let most = if too_coarse(&rollout, [&fine, &coarse]) {
            MOST_WORK
        } else {
            LITTLE_WORK
        };
        if next > most {
            break;
        }
        meter.plan(next);
        points = 2 * points - 1;
        coarse = std::mem::replace(&mut fine, solve(&ends, points, fine_etas)?);
    }
    let [value, other] = [&fine, &coarse].map(|values| at_starts(&rollout, values));
    let walks = walks(&fine)?;
    let left = widen(&mut ends, &walks, wraps);
    Ok(Exact {
        value: ExactValue {
            value: Number(value),
            difference: Number((value - other).abs()),
            too_coarse: left || too_coarse(&rollout, [&fine, &coarse]),
            points,
            seconds: Number(begin.elapsed().as_secs_f64()),
        },
        sequences: walks.into_iter().map(|walk| walk.etas).collect(),
    })
}

/// Whether two grids differ by more than 2 %.
fn too_coarse(rollout: &Rollout<'_, StoredPolicy<'_>>, grids: [&Values; 2]) -> bool {
    let [value, other] = grids.map(|values| at_starts(rollout, values));
    let allowed = LARGEST_DIFFERENCE * value.abs();
    // A NaN is too coarse.
    let fine = (value - other).abs() <= allowed;
    !fine
}

/// Makes the box twice as wide wherever a walk leaves it; whether one does.
fn widen(ends: &mut [[f32; 2]], walks: &[Walk], wraps: &[Option<Wrap>]) -> bool {
    let mut left = false;
    for (state, ends) in ends.iter_mut().enumerate() {
        if wraps.get(state).is_some_and(Option::is_some) {
            continue;
        }
        let [low, high] = *ends;
        let visited = walks.iter().flat_map(|walk| &walk.states);
        let visited = visited.filter_map(|one| one.get(state).copied());
        let (below, above) = visited.fold((false, false), |(below, above), x| {
            (below || x < low, above || x > high)
        });
        left |= below || above;
        let width = high - low;
        ends[0] -= if below { width } else { 0.0 };
        ends[1] += if above { width } else { 0.0 };
    }
    left
}

fn grid(ends: &[[f32; 2]], wraps: &[Option<Wrap>], points: usize) -> Grid {
    let wraps = wraps.iter().copied().chain(std::iter::repeat(None));
    let axes = ends.iter().zip(wraps);
    Grid {
        axes: axes
            .map(|(ends, wrap)| Axis::new(*ends, wrap, points))
            .collect(),
    }
}

/// The value at the task's starts: on average, or at the worst of those that are listed as
/// the worst.
fn at_starts(rollout: &Rollout<'_, StoredPolicy<'_>>, values: &Values) -> f64 {
    let (level, task) = (Level::Sampled, rollout.task);
    let dimension = task.state_dimension();
    let each = spread(level.trajectories(task), STARTS).map(|trajectory| {
        let mut state = vec![[0.0_f32; 1]; dimension];
        level.start(task, trajectory, 0, &mut state);
        f64::from(values.at(0, state.iter().map(|[x]| *x)))
    });
    let each: Vec<f64> = each.collect();
    match task.initial.kind {
        InitialKind::Worst => each.iter().copied().fold(f64::INFINITY, f64::min),
        _ => each.iter().sum::<f64>() / each.len() as f64,
    }
}

/// At most `most` of all trajectories, spread from the first to the last: neighbours start
/// from the same listed state.
fn spread(all: u32, most: u32) -> impl Iterator<Item = u32> + Clone {
    let count = all.clamp(1, most);
    (0..count).map(move |one| (u64::from(one) * u64::from(all) / u64::from(count)) as u32)
}

/// The box that trajectories reach until they end, under every constant push and none, with
/// some room, inside the task's limits.
fn reached(rollout: &Rollout<'_, StoredPolicy<'_>>) -> Result<Vec<[f32; 2]>, CapacityError> {
    let (dynamics, task, policy) = (&rollout.model.dynamics, rollout.task, rollout.policy);
    let states = task.state_dimension();
    let mut ends = vec![[f32::INFINITY, f32::NEG_INFINITY]; states];
    let needed = Buffers::<LANES>::rows_needed(dynamics, task, policy)?;
    let mut rows = vec![[0.0; LANES]; needed];
    let all = Level::Sampled.trajectories(task);
    let mut lanes = spread(all, LANES as u32).cycle();
    let lanes: [u32; LANES] = std::array::from_fn(|_| lanes.next().unwrap_or(0));
    let streams = lanes.map(|trajectory| Level::Sampled.stream(task, trajectory));
    for push in etas(task.moved_states(), 3) {
        let mut buffers = Buffers::carve(&mut rows, dynamics, task, policy)?;
        let first = buffers.states.get_mut(..states).unwrap_or_default();
        for (lane, trajectory) in lanes.iter().enumerate() {
            Level::Sampled.start(task, *trajectory, lane, first);
        }
        for (row, eta) in buffers.eta.iter_mut().zip(push.iter().cycle()) {
            *row = [*eta; LANES];
        }
        let mut ended = [false; LANES];
        for step in 0..task.horizon {
            let from = step as usize * states;
            let now = buffers.states.iter().skip(from).take(states);
            for (ends, row) in ends.iter_mut().zip(now) {
                let going = row
                    .iter()
                    .zip(ended)
                    .filter(|(x, ended)| !ended && x.is_finite());
                for (x, _) in going {
                    *ends = [ends[0].min(*x), ends[1].max(*x)];
                }
            }
            let Some(result) = rollout.step(&streams, step, &mut buffers) else {
                break;
            };
            for (ended, terminal) in ended.iter_mut().zip(result.terminal) {
                *ended |= terminal;
            }
        }
    }
    let limits = task.state_limits.low.iter().zip(task.state_limits.high);
    let ends = ends.into_iter().zip(limits);
    let ends = ends.map(|([low, high], (least, most))| {
        let room = (ROOM * (high - low)).max(1e-3);
        [(low - room).max(*least), (high + room).min(*most)]
    });
    Ok(ends.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_of_many_trajectories_reach_from_the_first_to_the_last_starts() {
        let of = |all, most| spread(all, most).collect::<Vec<_>>();
        assert_eq!(of(3, 4), [0, 1, 2]);
        assert_eq!(of(8, 4), [0, 2, 4, 6]);
        assert_eq!(of(4000, 2), [0, 2000]);
        assert_eq!(of(0, 4), [0]);
    }
}
